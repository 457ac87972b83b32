"""Runs that have to agree: what is fed, what of the result is looked at, and when two results differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from firesteel.operators.outcomes import Gave, Opaque, Seen
from firesteel.values.equality import EXACT, Equality
from firesteel.values.records import canonical


@dataclass(frozen=True)
class Look:
    """Which outputs of a run matter: those of some firings, at some places, with some values; all if left out."""

    firings: tuple[int, ...] | None = None
    places: tuple[int, ...] | None = None
    where: tuple[tuple[str, Any], ...] = ()
    """Only rows with these values in these columns."""

    def at(self, seen: Seen) -> tuple[Any, ...] | None:
        """The outputs; None where a firing that matters gave none because it raised, was late or died."""
        if self.firings is None:
            if not seen.is_whole:
                return None
            outputs = seen.all_outputs
        else:
            if len(seen.outcomes) <= max(self.firings, default=-1):
                return None
            chosen = [seen.outcomes[number] for number in self.firings]
            if not all(isinstance(outcome, Gave) for outcome in chosen):
                return None
            outputs = tuple(o for outcome in chosen if isinstance(outcome, Gave) for o in outcome.outputs)
        if self.places is not None:
            if len(outputs) <= max(self.places, default=-1):
                return None
            outputs = tuple(outputs[place] for place in self.places)
        if self.where:
            if not all(isinstance(row, dict) and all(name in row for name, _ in self.where) for row in outputs):
                return None
            outputs = tuple(row for row in outputs if all(row[name] == value for name, value in self.where))
        return None if any(isinstance(output, Opaque) for output in outputs) else outputs


ALL = Look()


@dataclass(frozen=True)
class Side:
    """One run, and what of it matters."""

    run: tuple[Any, ...]
    look: Look = ALL
    elsewhere: bool = False


@dataclass(frozen=True)
class Pair:
    """Two runs that have to give the same."""

    left: Side
    right: Side
    ordered: bool = False
    """Does the order of the outputs matter?"""
    port: str | None = None


def differ(left: tuple[Any, ...], right: tuple[Any, ...], pair: Pair, equal: Equality) -> bool:
    """Do the outputs of two runs differ?

    >>> from firesteel.operators.comparing import Pair, Side
    >>> pair = Pair(Side(()), Side(()))
    >>> differ((1, 2), (2, 1), pair, EXACT), differ((1, 2), (2, 2), pair, EXACT)
    (False, True)
    """
    if len(left) != len(right):
        return True
    if pair.ordered:
        return not all(_same(a, b, equal) for a, b in zip(left, right, strict=True))
    if equal.exact:
        key = _key if equal == EXACT else equal.key
        return Counter(map(key, left)) != Counter(map(key, right))
    others = list(right)
    for each in left:
        found = next((at for at, other in enumerate(others) if equal.equal(each, other)), None)
        if found is None:
            return True
        others.pop(found)
    return False


def _same(left: Any, right: Any, equal: Equality) -> bool:
    return _key(left) == _key(right) if equal == EXACT else equal.equal(left, right)


def _key(value: Any) -> Any:
    return canonical(plain(value))


def plain(value: Any) -> Any:
    """A value whose equality is that of what it holds: an object without one is compared by its attributes."""
    match value:
        case set() | frozenset():
            return ("set", frozenset(map(_key, value)))
        case list():
            return [plain(each) for each in value]
        case tuple() if type(value) is tuple:
            return tuple(plain(each) for each in value)
        case dict():
            # Two dictionaries that were filled in another order are equal.
            return {key: plain(each) for key, each in value.items()}
        case _ if _has_equality(type(value)):
            return value
        case _ if hasattr(value, "__dict__"):
            return (type(value).__qualname__, {name: plain(each) for name, each in vars(value).items()})
        case _:
            return type(value).__qualname__


def _has_equality(kind: type) -> bool:
    own: object = kind.__eq__
    return own is not object.__eq__


def has_output(outputs: tuple[Any, ...]) -> bool:
    """Is there any output? None and an empty result are not."""
    return any(output is not None and output != [] and output != () for output in outputs if _plain_truth(output))


def _plain_truth(output: Any) -> bool:
    return not hasattr(output, "__array__")
