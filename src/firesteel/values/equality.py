"""`Equality`: when two records count as equal, with tolerances, ignored columns or a function of the user.

Columns are compared by name, in any order. A plain tuple has no names, and equals only tuples and lists. NaN equals
NaN, null equals null, an infinity equals itself, and values inside lists, maps and records are compared the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firesteel.errors import InvalidArgument, PredicateError, described
from firesteel.names import name_of
from firesteel.values.records import FLAT, Record, brief, canonical, is_numpy, named


@dataclass(frozen=True, repr=False)
class Equality:
    """When two records are equal. Made by `fs.equality(...)`.

    >>> close = equality(abs_tol=0.1, ignore=["at"])
    >>> close
    equality(abs_tol=0.1, ignore=['at'])
    >>> close.equal(Record(n=1.0, at=1), Record(n=1.05, at=2)), close.equal(Record(n=1.0, at=1), Record(n=1.2, at=1))
    (True, False)
    """

    rel_tol: float = 0.0
    abs_tol: float = 0.0
    ignore: tuple[str, ...] = ()
    by: Callable[[Any], Hashable] | None = None

    @property
    def exact(self) -> bool:
        """Without tolerances? Then equality is transitive, and `key` gives the classes of equal records.

        With tolerances it is not: 1.0 may equal 1.1, and 1.1 equal 1.2, while 1.0 does not equal 1.2.
        """
        return not self.rel_tol and not self.abs_tol

    def equal(self, left: Any, right: Any) -> bool:
        """Are these two records equal?

        >>> equality().equal({"n": [float("nan"), None]}, Record(n=[float("nan"), None]))
        True
        """
        if not self.exact:
            return _close(self.compared(left), self.compared(right), self.rel_tol, self.abs_tol)
        return self.key(left) == self.key(right)

    def key(self, record: Any) -> Hashable:
        """A hashable value that two records share if and only if they are equal. Not with tolerances.

        >>> equality(ignore=["at"]).key(Record(n=1, at=1)) == equality(ignore=["at"]).key({"at": 2, "n": 1})
        True
        """
        if not self.exact:
            raise InvalidArgument(
                f"{self!r} has no keys: with tolerances, equal records form no classes; use .equal(a, b)"
            )
        if self.by is not None:
            return canonical(self._by(record))
        return canonical(self.compared(record))

    @property
    def key_function(self) -> Callable[[Any], Hashable]:
        """The fastest function that does what `key` does: for code that asks often."""
        return canonical if self == EXACT else self.key

    @property
    def equal_function(self) -> Callable[[Any, Any], bool]:
        """The fastest function that does what `equal` does."""
        return _exactly_equal if self == EXACT else self.equal

    def _by(self, record: Any) -> Hashable:
        assert self.by is not None
        try:
            return self.by(record)
        except Exception as error:
            raise PredicateError(f"equality(by={name_of(self.by)}) raised {error!r} at {brief(record)}") from error

    def compared(self, record: Any) -> Any:
        """The record, or its columns by name without those that are ignored."""
        columns = named(record) if self.ignore else None
        if columns is None:
            return record
        return {name: value for name, value in columns.items() if name not in self.ignore}

    def __repr__(self) -> str:
        said = [f"{name}={value!r}" for name, value in (("rel_tol", self.rel_tol), ("abs_tol", self.abs_tol)) if value]
        if self.ignore:
            said.append(f"ignore={list(self.ignore)!r}")
        if self.by is not None:
            said.append(f"by={name_of(self.by)}")
        return f"equality({', '.join(said)})"


EXACT = Equality()


def equality(
    *,
    rel_tol: float = 0.0,
    abs_tol: float = 0.0,
    ignore: Sequence[str] = (),
    by: Callable[[Any], Hashable] | None = None,
) -> Equality:
    """When two records count as equal.

    `rel_tol` and `abs_tol` say how far floats may differ, as in `math.isclose`, also inside lists, maps and records;
    the keys of a map are compared exactly. `ignore` names columns that are not compared. `by` is a function of the
    record: two records are equal where it gives the same value.

    >>> equality(rel_tol=0.01).equal([100.0, float("inf")], [100.5, float("inf")])
    True
    >>> equality(by=lambda word: word.lower()).equal("Fire", "fire")
    True
    """
    for name, tolerance in (("rel_tol", rel_tol), ("abs_tol", abs_tol)):
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < math.inf:
            raise InvalidArgument(f"{described(name, tolerance)} is not a tolerance: write a number from 0 on, as 1e-9")
    if rel_tol >= 1:
        raise InvalidArgument(
            f"{described('rel_tol', rel_tol)} would make all numbers equal: write a fraction, as 1e-9"
        )
    if isinstance(ignore, str) or not isinstance(ignore, Sequence) or not all(isinstance(n, str) for n in ignore):
        instead = repr([ignore]) if isinstance(ignore, str) else "['ingested_at']"
        raise InvalidArgument(f"{described('ignore', ignore)} is not a list of columns: write ignore={instead}")
    if by is not None and not callable(by):
        raise InvalidArgument(
            f"{described('by', by)} is not a function: write by=lambda record: ..., that gives what equal records share"
        )
    if by is not None and (rel_tol or abs_tol or ignore):
        raise InvalidArgument(
            f"{described('by', by)} decides alone: leave rel_tol, abs_tol and ignore out, and round floats or leave "
            "columns out in the function"
        )
    return Equality(float(rel_tol), float(abs_tol), tuple(dict.fromkeys(ignore)), by)


def _exactly_equal(left: Any, right: Any) -> bool:
    # Python compares two dicts fast, and where it calls them equal they are, as long as no column holds other values.
    if type(left) is Record and type(right) is Record:
        columns = left.__dict__
        try:
            if columns == right.__dict__:
                for value in columns.values():
                    if type(value) not in FLAT:
                        break
                else:
                    return True
        except Exception:  # values such as numpy's arrays have no plain answer
            pass
    return canonical(left) == canonical(right)


def _close(left: Any, right: Any, rel_tol: float, abs_tol: float) -> bool:
    if _are_numbers(left, right):
        return _close_numbers(left, right, rel_tol, abs_tol)
    columns, others = named(left), named(right)
    if columns is not None and others is not None:
        return columns.keys() == others.keys() and all(
            _close(value, others[name], rel_tol, abs_tol) for name, value in columns.items()
        )
    if columns is not None or others is not None:
        return False
    match left, right:
        case (list() | tuple(), list() | tuple()):
            pairs = zip(left, right, strict=False)
            return len(left) == len(right) and all(_close(a, b, rel_tol, abs_tol) for a, b in pairs)
        case Mapping(), Mapping():
            by_key = {canonical(key): item for key, item in right.items()}
            return len(left) == len(right) and all(
                canonical(key) in by_key and _close(item, by_key[canonical(key)], rel_tol, abs_tol)
                for key, item in left.items()
            )
        case _ if is_numpy(left):
            return _close(left.tolist(), right, rel_tol, abs_tol)
        case _ if is_numpy(right):
            return _close(left, right.tolist(), rel_tol, abs_tol)
        case _:
            return canonical(left) == canonical(right)


def _are_numbers(left: Any, right: Any) -> bool:
    """Two numbers, at least one of them a float?"""
    match left, right:
        case (bool(), _) | (_, bool()):
            return False
        case (float(), float() | int()) | (int(), float()):
            return True
        case _:
            return False


def _close_numbers(left: float, right: float, rel_tol: float, abs_tol: float) -> bool:
    if left != left or right != right:
        return left != left and right != right
    try:
        return math.isclose(left, right, rel_tol=rel_tol, abs_tol=abs_tol)
    except OverflowError:  # a whole number that no float can hold
        return left == right
