"""What a check is asked, as a report names it: the programs, and how they are run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firesteel.evidence.report import Asked, Program
from firesteel.names import name_of, place_of
from firesteel.spark.engines.subject import Subject
from firesteel.spark.running import Running

# The options of a run that a line of code needs to show the same.
_SHOWN = ("engine", "output_mode", "batch_interval", "over", "close", "state")


def asked(function: str, programs: Mapping[str, Subject], version: str, how: Running, **claimed: Any) -> Asked:
    """What is asked of programs, by what they are to the check, on this version of Spark."""
    usual = Running()
    return Asked(
        function,
        programs=tuple(Program(role, name_of(each), place_of(each), each) for role, each in programs.items()),
        engine=how.engine,
        output_mode=how.output_mode,
        version=version,
        options={name: getattr(how, name) for name in _SHOWN if getattr(how, name) != getattr(usual, name)},
        **claimed,
    )
