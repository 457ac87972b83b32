"""`Matcher`: are two streams equivalent up to a dependence? Told record by record, from either side, in any order.

This is Algorithm DiffStream. How a record finds its match is in `index`. Here are the verdict, the counts and the
reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from firesteel.equivalence.index import Scan, key_columns, plan
from firesteel.equivalence.index.sides import Book, Plan, Refutation, Waiting, position_of
from firesteel.errors import InvalidArgument, described
from firesteel.logic.verdicts import Verdict
from firesteel.names import counted
from firesteel.values.dependence import Dependence, require_dependence
from firesteel.values.equality import EXACT, Equality
from firesteel.values.records import brief

TRUE, FALSE, INCONCLUSIVE = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE
SideName: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True)
class Counts:
    """How many records a matcher has seen."""

    left: int
    right: int
    matched: int
    """Pairs of records that were matched."""
    unmatched: int
    """Records that wait for their match now, on both sides together."""
    most_unmatched: int
    """The most that ever waited at once: what the matcher had to keep."""


@dataclass(frozen=True)
class Mismatch:
    """Why two streams are not equivalent: a record that cannot be matched. Positions count from 0 on each side."""

    side: SideName
    position: int
    record: Any
    dependence: Dependence
    blocked_by: Waiting | None = None
    """The position and the record, on the other side, that this record depends on and came too early for."""
    equal_at: int | None = None
    """The position of the record's equal on the other side, where one waits behind `blocked_by`."""
    counts: Counts | None = None
    """At the end of both streams: then the record is the first of those left over."""
    left_over: tuple[int, int] = (0, 0)
    note: str = ""

    def said(self, left: str = "left", right: str = "right") -> str:
        """The reason, in two lines that a person can check, with names for the two sides."""
        mine, other = (left, right) if self.side == "left" else (right, left)
        lines = self._at_end(mine, other, left, right) if self.blocked_by is None else self._blocked(mine, other)
        return "\n".join([*lines, self.note] if self.note else lines)

    def _blocked(self, mine: str, other: str) -> list[str]:
        assert self.blocked_by is not None
        place, waiting = self.blocked_by
        first = (
            f"{mine} record {self.position}, {brief(self.record)}, came before an equal of {other} record {place}, "
            f"{brief(waiting)}, on which it depends: {self.dependence!r}."
        )
        if self.equal_at is None:
            return [
                first,
                f"No equal of it waits in {other!r}, and the next record there comes after record {place}.",
            ]
        return [first, f"In {other!r} the order is: record {place}, then record {self.equal_at}, which equals it."]

    def _at_end(self, mine: str, other: str, left: str, right: str) -> list[str]:
        assert self.counts is not None
        of_left, of_right = self.left_over
        return [
            f"{mine} record {self.position}, {brief(self.record)}, is left over: {other!r} has no match for it.",
            f"{left}: {counted(self.counts.left, 'record')}, {of_left} left over; "
            f"{right}: {counted(self.counts.right, 'record')}, {of_right} left over; "
            f"{self.counts.matched} matched.",
        ]


class Matcher:
    """Tells whether two streams are equivalent up to the order that matters, while their records come in.

    The verdict is false from the first record after which no continuation of both streams could make them equivalent.
    It is true only at `finish()`. All that a matcher keeps is the records that wait for their match.

    >>> from firesteel.values.dependence import same_key
    >>> matcher = Matcher(same_key("taxi"))
    >>> matcher.left({"taxi": 1, "pos": 0.0}), matcher.left({"taxi": 1, "pos": 2.0})
    (<Verdict.INCONCLUSIVE: 0>, <Verdict.INCONCLUSIVE: 0>)
    >>> matcher.right({"taxi": 1, "pos": 2.0})
    <Verdict.FALSE: -1>
    >>> print(matcher.reason)
    right record 0, {'taxi': 1, 'pos': 2.0}, came before an equal of left record 0, {'taxi': 1, 'pos': 0.0}, on ...
    In 'left' the order is: record 0, then record 1, which equals it.

    The dependence has to be symmetric, and equal records have to depend on the same ones (`check_dependence`).
    With tolerances, a record is matched with the first one that is close enough: the answer is right as long as
    records that are meant to differ lie further apart than the tolerance.
    """

    def __init__(self, dependence: Dependence, *, equal: Equality | None = None) -> None:
        self.dependence = require_dependence(dependence)
        self.equality = _checked_equality(equal, dependence)
        self._start(plan(self.dependence, self.equality))

    def _start(self, how: Plan) -> None:
        self.plan = how
        self._left, self._right = how.sides()
        self._book = self._left.book = self._right.book = Book()
        self._mismatch: Mismatch | None = None
        # The methods below, without a call in between.
        vars(self).update(left=self._left.step, right=self._right.step)

    def left(self, record: Any) -> Verdict:
        """The left stream's next record."""
        return self._left.step(record)

    def right(self, record: Any) -> Verdict:
        """The right stream's next record."""
        return self._right.step(record)

    def finish(self) -> Verdict:
        """Both streams end here: true if every record has its match.

        >>> from firesteel.values.dependence import unordered
        >>> matcher = Matcher(unordered())
        >>> _ = matcher.left("a"), matcher.left("b"), matcher.right("b")
        >>> matcher.finish()
        <Verdict.FALSE: -1>
        >>> print(matcher.reason)
        left record 0, 'a', is left over: 'right' has no match for it.
        left: 2 records, 1 left over; right: 1 record, 0 left over; 1 matched.
        """
        book = self._book
        book.finished = True
        if book.verdict is INCONCLUSIVE:
            book.verdict = FALSE if book.unmatched else TRUE
        return book.verdict

    @property
    def verdict(self) -> Verdict:
        """What is known so far."""
        return self._book.verdict

    @property
    def unmatched(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The records of the left and of the right that have no match, in order of arrival.

        >>> from firesteel.values.dependence import unordered
        >>> matcher = Matcher(unordered())
        >>> _ = matcher.left("a"), matcher.right("b")
        >>> matcher.unmatched
        (('a',), ('b',))
        """
        left, right = self.waiting
        return tuple(record for _, record in left), tuple(record for _, record in right)

    @property
    def waiting(self) -> tuple[list[Waiting], list[Waiting]]:
        """What `unmatched` gives, each record after its position."""
        left, right = dict(self._left.waiting()), dict(self._right.waiting())
        refutation = self._book.refutation
        if refutation is not None:
            (left if refutation.side is self._left else right)[refutation.position] = refutation.record
        return sorted(left.items(), key=position_of), sorted(right.items(), key=position_of)

    @property
    def counts(self) -> Counts:
        """How many records came and were matched, and the most that ever waited.

        >>> from firesteel.values.dependence import ordered
        >>> matcher = Matcher(ordered())
        >>> _ = matcher.left("a"), matcher.right("a"), matcher.right("b")
        >>> matcher.counts
        Counts(left=1, right=2, matched=1, unmatched=1, most_unmatched=1)
        """
        left, right, unmatched = self._left.seen, self._right.seen, self._book.unmatched
        return Counts(left, right, (left + right - unmatched) // 2, unmatched, self._book.most)

    @property
    def mismatch(self) -> Mismatch | None:
        """Why the verdict is false, as data; None while it is not."""
        if self._mismatch is None and self._book.verdict is FALSE:
            refutation = self._book.refutation
            self._mismatch = self._left_over() if refutation is None else self._blocked(refutation)
        return self._mismatch

    @property
    def reason(self) -> str:
        """Why the verdict is false, in two lines; no text while it is not."""
        return "" if self.mismatch is None else self.mismatch.said()

    def __repr__(self) -> str:
        equal = "" if self.equality == EXACT else f", equal={self.equality!r}"
        return f"Matcher({self.dependence!r}{equal})"

    def _blocked(self, refutation: Refutation) -> Mismatch:
        of_left = refutation.side is self._left
        others = (self._right if of_left else self._left).waiting()
        return Mismatch(
            "left" if of_left else "right",
            refutation.position,
            refutation.record,
            self.dependence,
            blocked_by=(refutation.conflict.position, refutation.conflict.record),
            equal_at=next((place for place, other in others if self.equality.equal(other, refutation.record)), None),
            note=self._note(),
        )

    def _left_over(self) -> Mismatch:
        left, right = self.waiting
        position, record = (left or right)[0]
        return Mismatch(
            "left" if left else "right",
            position,
            record,
            self.dependence,
            counts=self.counts,
            left_over=(len(left), len(right)),
            note=self._note(),
        )

    def _note(self) -> str:
        if self.equality.exact:
            return ""
        return f"{self.equality!r}: each record was matched with the first one close enough; others may fit as well."


def general_matcher(dependence: Dependence, *, equal: Equality | None = None) -> Matcher:
    """A matcher that uses the general algorithm whatever the dependence. The indexed ones are tested against it.

    >>> from firesteel.values.dependence import unordered
    >>> general_matcher(unordered()).plan
    Scan(dependence=unordered(), equality=equality())
    """
    matcher = Matcher(dependence, equal=equal)
    matcher._start(Scan(matcher.dependence, matcher.equality))
    return matcher


def _checked_equality(equal: Any, dependence: Dependence) -> Equality:
    if equal is None:
        return EXACT
    if not isinstance(equal, Equality):
        instead = "fs.equality(by=function)" if callable(equal) else "fs.equality(rel_tol=1e-9)"
        raise InvalidArgument(f"{described('equal', equal)} is not an equality: write {instead}")
    ignored = [column for column in key_columns(dependence) if column in equal.ignore]
    if ignored:
        raise InvalidArgument(
            f"{dependence!r} does not go with {equal!r}: records that differ in {ignored[0]!r} alone are equal, and "
            "have different keys. Take another key, or do not ignore the column"
        )
    return equal
