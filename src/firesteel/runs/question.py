"""`Question`: what is to be checked of streams, and how. Plain values; nothing is imported that starts Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firesteel.evidence.events import Listener, nobody

if TYPE_CHECKING:
    from hypothesis import settings as Settings
    from pyspark.sql import SparkSession

    from firesteel.evidence.report import Asked
    from firesteel.runs.claims import Claim, Runner
    from firesteel.values.cases import Case


@dataclass(frozen=True)
class Checking:
    """How a claim is checked on generated cases, as the options of a check say it."""

    cases: int | None = None
    settings: Settings | None = None
    examples: tuple[Any, ...] = ()
    replay: Case | None = None
    """The only case to be run, of a replay line."""
    name: str | None = None
    bulk: bool = True
    shrink_seconds: float | None = None
    shrink_candidates: int | None = None
    on_inconclusive: str = "fail"
    on_vacuous: str = "fail"


@dataclass(frozen=True)
class Question:
    """What is to be checked, and how."""

    streams: Any
    """A strategy of streams, of dicts of them, or of cases."""
    claim: Claim
    runner: Runner
    spark: SparkSession
    asked: Asked
    """What is asked, for the report."""
    key: str
    """What tells this check from others of the same test: the same from run to run."""
    checking: Checking = Checking()
    tell: Listener = nobody
