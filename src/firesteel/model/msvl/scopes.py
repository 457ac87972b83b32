"""What a name means in a place of the program, and how it is found while the program runs.

While it runs, an activation is a dict: for each variable of a function its key, for each parameter its value, or the
location that it stands for. Variables of the whole program have keys that are known when it is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeAlias

from firesteel.model.msvl import tree as t
from firesteel.model.msvl.values import UNSET

Activation: TypeAlias = dict[str, Any]


class Key:
    """A variable while the program runs. Two activations of a function have keys of their own."""

    __slots__ = ("blank", "label")

    def __init__(self, label: str, blank: Any = UNSET) -> None:
        self.label = label
        self.blank = blank
        """What it is before anything is assigned: an array or a structure without values, or nothing at all."""

    def __repr__(self) -> str:
        return self.label


class Kind(Enum):
    GLOBAL = "global"
    LOCAL = "local"
    VALUE = "value"
    """A parameter, or the like: a value that stays."""
    ALIAS = "alias"
    """A parameter that is an array: it stands for the location that was handed over."""


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """What a name means. Each is itself only."""

    kind: Kind
    slot: str
    """Where an activation has it."""
    key: Key | None = None
    """The variable, where it is one of the whole program."""
    declared: t.Declared | None = None

    def found(self, activation: Activation) -> Key | None:
        """The variable that it is, or is a part of; None for a value."""
        match self.kind:
            case Kind.GLOBAL:
                return self.key
            case Kind.LOCAL:
                return activation[self.slot]  # type: ignore[no-any-return]
            case Kind.ALIAS:
                return activation[self.slot][0]  # type: ignore[no-any-return]
            case _:
                return None


@dataclass(frozen=True)
class Scope:
    """The names that are known in a place, and what is known of the program around it."""

    names: Mapping[str, Name]
    structs: Mapping[str, t.Struct]
    functions: Mapping[str, t.Function]
    where: str = ""
    """The function, for messages; empty for the program itself."""
    definitions: Mapping[str, Any] = field(default_factory=dict)
    """What `define` defines, by name."""
    deeper: int = field(default=0)
    """How many `exist` are around it."""

    def within(self, names: Mapping[str, Name], where: str | None = None) -> Scope:
        """The same with more names."""
        return replace(
            self,
            names={**self.names, **names},
            where=self.where if where is None else where,
            deeper=self.deeper + (where is None),
        )
