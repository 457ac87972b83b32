"""The zoo: operators whose true answers are known, each argued in a line.

`no` are the properties that an operator violates, `yes` those of which it is a right look-alike. What is in neither is
not claimed here. The other modules `zoo_*` hold the instances by the way they are fed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from firesteel.operators import Operator

SIX = ("deterministic", "one_to_one", "non_blocking", "stateless", "commutative", "partition_isolated")
OTHERS = (
    "associative",
    "zero_is_identity",
    "seq_comb_agree",
    "idempotent",
    "row_wise",
    "batch_independent",
    "keeps_columns",
    "null_safe",
    "nan_safe",
    "pure",
    "total",
    "picklable",
)


@dataclass(frozen=True)
class Instance:
    """An operator and its true answers."""

    name: str
    operator: Operator
    why: str
    no: tuple[str, ...]
    yes: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


class Zoo:
    """Collects instances."""

    def __init__(self) -> None:
        self.instances: list[Instance] = []

    def add(self, operator: Operator, why: str, *, no: str = "", yes: str = "", name: str = "", **options: Any) -> None:
        name = f"{operator.kind.value}: {name or operator.name}"
        taken = sum(each.name.split("#")[0] == name for each in self.instances)
        full = f"{name}#{taken + 1}" if taken else name
        self.instances.append(Instance(full, operator, why, tuple(no.split()), tuple(yes.split()), options))


@cache
def instances() -> tuple[Instance, ...]:
    """All of them."""
    from tests.operators import zoo_calls, zoo_columns, zoo_folds, zoo_frames, zoo_ports, zoo_values

    zoos = (zoo_calls, zoo_values, zoo_folds, zoo_columns, zoo_frames, zoo_ports)
    return tuple(each for zoo in zoos for each in zoo.ZOO.instances)


def pairs(*, violated: bool) -> list[tuple[Instance, str]]:
    """Every instance with each property that it violates, or of which it is a look-alike."""
    return [(each, name) for each in instances() for name in (each.no if violated else each.yes)]
