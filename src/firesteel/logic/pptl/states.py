"""States as users give them: the set of names that hold, or a mapping of names to bools.

A name that is not known is an error, because it is most often a misspelt one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from difflib import get_close_matches
from itertools import compress
from typing import Any, TypeAlias

from firesteel.errors import InvalidArgument, described
from firesteel.logic.pptl.formulas import Formula
from firesteel.values.answers import as_bool

State: TypeAlias = Set[str] | Mapping[str, bool]
"""The set of names that hold, or a mapping of every name to whether it holds."""


_BOOLS = {bool}


def names_of(names: Any, argument: str) -> frozenset[str]:
    """A collection of names that a user gave."""
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        raise InvalidArgument(f'{described(argument, names)} is not a collection of names: write ["request", "reply"]')
    found = frozenset(names)
    for name in found:
        if not isinstance(name, str):
            raise InvalidArgument(f"{described(argument, names)} has {name!r}, which is not a name")
    return found


def groups_of(exclusive: Any) -> frozenset[frozenset[str]]:
    """Groups of names of which at most one holds."""
    if isinstance(exclusive, (str, bytes)) or not isinstance(exclusive, Iterable):
        raise InvalidArgument(
            f'{described("exclusive", exclusive)} is not a collection of groups of names: write [("open", "closed")]'
        )
    return frozenset(names_of(group, "a group of exclusive") for group in exclusive)


class Known:
    """The names that a state may have, and the groups of which at most one holds."""

    def __init__(
        self, formula: Formula, names: Collection[str] = (), exclusive: frozenset[frozenset[str]] = frozenset()
    ) -> None:
        self.needed = formula.names
        self.exclusive = exclusive
        self.names = self.needed.union(names_of(names, "names"), *exclusive)

    def letters(self, trace: Any) -> Iterator[frozenset[str]]:
        """The names that hold, state by state."""
        if isinstance(trace, (str, bytes, Mapping, Set)) or not isinstance(trace, Iterable):
            raise InvalidArgument(
                f'{described("trace", trace)} is not a trace: write a list of states, such as [{{"p"}}, {{"p", "q"}}]'
            )
        for index, state in enumerate(trace):
            yield self.letter(state, index)

    def letter(self, state: Any, index: int) -> frozenset[str]:
        """The names that hold in the state with this index; an error where a name is not known."""
        usual = type(state) is dict and not self.exclusive and state.keys() == self.names
        if usual and set(map(type, state.values())) == _BOOLS:
            return frozenset(compress(state, state.values()))  # the same as below, in a third of the time
        if isinstance(state, Mapping):
            holding = self._mapped(state, index)
        elif isinstance(state, Set):
            holding = frozenset(state)
        else:
            raise InvalidArgument(
                f"{described(f'state {index}', state)} is not a state: write the set of names that hold, such as "
                '{"request"}, or a mapping such as {"request": True, "reply": False}'
            )
        if not holding <= self.names:
            self._refuse(holding - self.names, index)
        for group in self.exclusive:
            if len(group & holding) > 1:
                raise InvalidArgument(
                    f"state {index} has {_listed(group & holding)} together, and exclusive= says that at most one of "
                    f"{_listed(group)} holds"
                )
        return holding

    def _mapped(self, state: Mapping[Any, Any], index: int) -> frozenset[str]:
        missing = self.needed - state.keys()
        unknown = state.keys() - self.names
        if unknown:
            self._refuse(unknown, index)
        if missing:
            raise InvalidArgument(
                f"state {index} does not say whether {_listed(missing)} holds: give every name of the formula a bool, "
                "or write the set of names that hold"
            )
        holding = set()
        for name, value in state.items():
            answer = as_bool(value)
            if answer is None:
                raise InvalidArgument(f"{described(f'{name} in state {index}', value)} is not a bool")
            if answer:
                holding.add(name)
        return frozenset(holding)

    def _refuse(self, unknown: Collection[Any], index: int) -> None:
        name = min(unknown, key=repr)
        near = get_close_matches(name, self.names, n=1) if isinstance(name, str) else []
        raise InvalidArgument(
            f"state {index} has {name!r}, which is not a name of the formula: {_listed(self.names)}"
            f"{f' (is {near[0]!r} meant?)' if near else ''}. If it is right, declare it: names=[{name!r}]"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(map(repr, names))) or "no names"
