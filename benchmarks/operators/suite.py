"""What an instance of the suite is, and the table of all answers.

`no` are the properties that an operator violates, `yes` those that it keeps, both argued in `why`. What is in neither
is not claimed here. `surprise` says what a reader would think instead; it is empty where nobody errs.

Records have no nulls (every column is NOT NULL), and outputs are compared as the model of operators on Spark says:
as multisets; in update mode the last row of each key counts, in complete mode the last table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from firesteel.operators.onspark.operator import SparkKind, SparkOperator

SIX = ("deterministic", "one_to_one", "non_blocking", "stateless", "commutative", "partition_isolated")
TABLE = Path(__file__).with_name("answers.json")


@dataclass(frozen=True)
class Instance:
    """An operator and its true answers."""

    name: str
    operator: SparkOperator
    why: str
    no: tuple[str, ...]
    yes: tuple[str, ...]
    surprise: str = ""
    like: str = ""
    """Which of the paper's kinds it is; "failed: ..." where the paper had no answer."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Its kind, and of a transformation its engine."""
        kind = self.operator.kind
        engine = self.operator.engine
        return kind.value if kind is not SparkKind.TRANSFORMATION else f"{kind.value}, {engine}"

    @property
    def fires(self) -> bool:
        """Is one record a firing, so that what is stateless has no order and no other keys either?"""
        return self.operator.streams and self.operator.kind is not SparkKind.SINK

    def reached(self, property: str) -> bool:
        """Does the testing order come to a check of this property, if every earlier answer is right?"""
        if property == "deterministic":
            return True
        if "deterministic" in self.no:
            return False
        if property == "stateless":
            return "non_blocking" not in self.no
        if property in ("commutative", "partition_isolated") and self.fires:
            return "stateless" not in self.yes
        return True


class Suite:
    """Collects instances."""

    def __init__(self) -> None:
        self.instances: list[Instance] = []

    def add(
        self,
        name: str,
        operator: SparkOperator,
        why: str,
        *,
        no: str = "",
        yes: str = "",
        surprise: str = "",
        like: str = "",
        **options: Any,
    ) -> None:
        """One more. `options` are what `fs.analyze` is given with it."""
        made = Instance(name, operator, why, tuple(no.split()), tuple(yes.split()), surprise, like, options)
        self.instances.append(made)


@cache
def instances() -> tuple[Instance, ...]:
    """All of them."""
    from benchmarks.operators import clocks, holding, inside, jobs, keyed, plain, ports, sinks, timed

    suites = (clocks, plain, keyed, inside, timed, ports, holding, jobs, sinks)
    return tuple(each for suite in suites for each in suite.SUITE.instances)


def answers(some: Iterable[Instance]) -> list[dict[str, Any]]:
    """The table: a line for every instance, in plain data."""
    return [
        {
            "name": each.name,
            "kind": each.kind,
            "ports": [port.name for port in each.operator.ports],
            "key": list(each.operator.key),
            "output_mode": each.operator.output_mode,
            "answers": {name: _answer(each, name) for name in SIX},
            "why": each.why,
            "surprise": each.surprise,
            "like": each.like,
        }
        for each in some
    ]


def _answer(instance: Instance, property: str) -> bool | None:
    """True where it keeps the property, False where it violates it, None where nothing is claimed."""
    return False if property in instance.no else True if property in instance.yes else None


def as_text(some: Iterable[Instance]) -> str:
    """The table as it stands in answers.json."""
    return json.dumps(answers(some), indent=1) + "\n"


if __name__ == "__main__":
    TABLE.write_text(as_text(instances()))
