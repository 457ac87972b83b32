"""How unmatched records are kept: as a queue, counted, by key, by epoch, or in order of arrival for any dependence.

DiffStream's algorithm takes a record x of one side and looks at the unmatched records of the other, u. If x equals a
minimal one of them, the two are matched; else, if x depends on one of them, no continuation can make the streams
equivalent; else x waits. Two facts make that cheap. Waiting records of one side are independent of those of the other
(else the verdict was given before), so whether x is minimal on its own side never has to be asked: where it has an
equal in u, it is. And what comes before an equal of x in u and depends on x settles the matter. So it is enough to walk
through u in order of arrival: the first record that equals x is its match, unless one that x depends on comes earlier.
No order between records is stored (theorem 4.9's state, and nothing else), and a walk costs at most the length of u.

The structured dependences know without a walk where the first such record is. Every class below is one side of a
matcher; `plan` says which ones a dependence needs. With tolerances, the equality makes no classes, so nothing can be
counted; a queue only ever compares its first record, and stays right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from firesteel.equivalence.dependence import (
    Barrier,
    Both,
    Dependence,
    Either,
    Ordered,
    SameKey,
    Unordered,
    both,
    either,
    value_of,
)
from firesteel.errors import InvalidArgument
from firesteel.logic.verdicts import Verdict
from firesteel.values.equality import EXACT, FLAT, Equality, canonical
from firesteel.values.records import Record, brief

FALSE, INCONCLUSIVE = Verdict.FALSE, Verdict.INCONCLUSIVE

Waiting: TypeAlias = tuple[int, Any]
"""A record that has no match yet, after its position on its side."""


@dataclass(frozen=True)
class Conflict:
    """The waiting record of the other side, with its position, that settles the matter: the new one depends on it."""

    position: int
    record: Any


class _Outcome(Enum):
    MATCHED = "matched"


MATCHED: Final = _Outcome.MATCHED
Outcome: TypeAlias = "Literal[_Outcome.MATCHED] | Conflict | None"
"""What became of a record: matched, in conflict with another, or (None) it waits."""

# Types of keys that need no canonical form.
_PLAIN = frozenset({int, str, bool, type(None), bytes})


class Book:
    """What the two sides of one matcher have in common: the verdict, and how many records wait."""

    __slots__ = ("finished", "most", "refutation", "unmatched", "verdict")

    def __init__(self) -> None:
        self.verdict = INCONCLUSIVE
        self.unmatched = self.most = 0
        self.finished = False
        self.refutation: Refutation | None = None

    def one_more(self) -> Verdict:
        """A record waits."""
        self.unmatched = unmatched = self.unmatched + 1
        if unmatched > self.most:
            self.most = unmatched
        return INCONCLUSIVE

    def refuted(self, side: Side, position: int, record: Any, conflict: Conflict) -> Verdict:
        """A record can never be matched."""
        self.one_more()
        self.refutation = Refutation(side, position, record, conflict)
        self.verdict = FALSE
        return FALSE

    def closed(self) -> Verdict:
        """The answer to a record that comes after the verdict."""
        if self.finished:
            raise RuntimeError("this matcher is finished: make another one with Matcher(dependence)")
        return self.verdict


class Side(ABC):
    """One side of a matcher: what waits on it, and where to look on the other."""

    __slots__ = ("book", "seen")

    def __init__(self) -> None:
        self.seen = 0
        self.book = _NO_BOOK

    def step(self, record: Any) -> Verdict:
        """This side's next record, where the side is a whole matcher's, and no part of another's."""
        book = self.book
        if book.verdict is not INCONCLUSIVE:
            return book.closed()
        position = self.seen
        outcome = self.take(record, position)
        self.seen = position + 1
        if outcome is MATCHED:
            book.unmatched -= 1
            return INCONCLUSIVE
        if outcome is None:
            return book.one_more()
        return book.refuted(self, position, record, outcome)

    @abstractmethod
    def take(self, record: Any, position: int) -> Outcome:
        """Match a record of this side, or let it wait, or say what it is in conflict with."""

    @abstractmethod
    def waiting(self) -> list[Waiting]:
        """The records that wait on this side, in order of arrival."""

    @abstractmethod
    def waits(self) -> bool:
        """Does any record wait on this side?"""


@dataclass(frozen=True)
class Refutation:
    """The record that no continuation can match, its side and position, and what it is in conflict with."""

    side: Side
    position: int
    record: Any
    conflict: Conflict


_NO_BOOK = Book()
Sides: TypeAlias = tuple[Side, Side]


class Plan(ABC):
    """What a dependence needs: makes both sides of a matcher."""

    @abstractmethod
    def sides(self) -> Sides:
        """The left side and the right one, with nothing waiting."""


# --- any dependence ------------------------------------------------------------------------------


class _Scanned(Side):
    __slots__ = ("columns", "depends_on", "key", "mine", "theirs")

    def __init__(self, plan: Scan, mine: _Arrived, theirs: _Arrived) -> None:
        super().__init__()
        self.depends_on, self.mine, self.theirs = plan.dependence.depends_on, mine, theirs
        self.key = plan.equality.key_function
        columns = key_columns(plan.dependence)
        self.columns = key_function(columns, plan.equality) if columns else None
        """Asked of every record, so that a key that cannot be is refused even where nothing is there to compare."""

    def take(self, record: Any, position: int) -> Outcome:
        if self.columns is not None:
            self.columns(record)
        key, depends_on, theirs = self.key(record), self.depends_on, self.theirs
        for place, (other_key, other) in theirs.items():
            if other_key == key:
                del theirs[place]
                return MATCHED
            if depends_on(other, record):
                return Conflict(place, other)
        self.mine[position] = (key, record)
        return None

    def waiting(self) -> list[Waiting]:
        return [(position, record) for position, (_, record) in self.mine.items()]

    def waits(self) -> bool:
        return bool(self.mine)


class _ScannedClose(_Scanned):
    """With tolerances: there are no keys, every record is compared."""

    __slots__ = ("equal",)

    def __init__(self, plan: Scan, mine: _Arrived, theirs: _Arrived) -> None:
        super().__init__(plan, mine, theirs)
        self.equal = plan.equality.equal_function

    def take(self, record: Any, position: int) -> Outcome:
        if self.columns is not None:
            self.columns(record)
        theirs = self.theirs
        for place, (_, other) in theirs.items():
            if self.equal(other, record):
                del theirs[place]
                return MATCHED
            if self.depends_on(other, record):
                return Conflict(place, other)
        self.mine[position] = (None, record)
        return None


_Arrived: TypeAlias = "OrderedDict[int, tuple[Hashable, Any]]"  # a dict's first item takes long to find after deletions


@dataclass(frozen=True)
class Scan(Plan):
    """Walks through what waits on the other side, in order of arrival. For any dependence, and any equality."""

    dependence: Dependence
    equality: Equality

    def sides(self) -> Sides:
        kind = _Scanned if self.equality.exact else _ScannedClose
        left: _Arrived = OrderedDict()
        right: _Arrived = OrderedDict()
        return kind(self, left, right), kind(self, right, left)


# --- ordered, unordered ----------------------------------------------------------------------------


class _Queued(Side):
    __slots__ = ("equal", "mine", "theirs")

    def __init__(self, equality: Equality, mine: deque[Waiting], theirs: deque[Waiting]) -> None:
        super().__init__()
        self.equal, self.mine, self.theirs = equality.equal_function, mine, theirs

    def take(self, record: Any, position: int) -> Outcome:
        theirs = self.theirs
        if not theirs:
            self.mine.append((position, record))
            return None
        if self.equal(theirs[0][1], record):
            theirs.popleft()
            return MATCHED
        return Conflict(*theirs[0])

    def waiting(self) -> list[Waiting]:
        return list(self.mine)

    def waits(self) -> bool:
        return bool(self.mine)


@dataclass(frozen=True)
class Queue(Plan):
    """Everything is ordered: the first that waits is the only one to compare with."""

    equality: Equality

    def sides(self) -> Sides:
        left: deque[Waiting] = deque()
        right: deque[Waiting] = deque()
        return _Queued(self.equality, left, right), _Queued(self.equality, right, left)


# Most keys have one record waiting, and a deque costs more than all else: so one record stands for itself.
_Group: TypeAlias = "Waiting | deque[Waiting]"


def _join(groups: dict[Hashable, _Group], key: Hashable, new: Waiting) -> None:
    """Put one more record into a group that has some."""
    group = groups[key]
    if type(group) is deque:
        group.append(new)
    else:
        groups[key] = deque((group, new))  # type: ignore[arg-type]


def _in_order(groups: Iterable[_Group]) -> list[Waiting]:
    found: list[Waiting] = []
    for group in groups:
        if isinstance(group, deque):
            found.extend(group)
        else:
            found.append(group)
    return sorted(found, key=_position)


def _position(waiting: Waiting) -> int:
    return waiting[0]


class _Counted(Side):
    __slots__ = ("key", "mine", "theirs")

    def __init__(self, equality: Equality, mine: dict[Hashable, _Group], theirs: dict[Hashable, _Group]) -> None:
        super().__init__()
        self.key, self.mine, self.theirs = equality.key_function, mine, theirs

    def take(self, record: Any, position: int) -> Outcome:
        key = self.key(record)
        group = self.theirs.pop(key, None)
        if group is None:
            new = (position, record)
            if self.mine.setdefault(key, new) is not new:
                _join(self.mine, key, new)
            return None
        if type(group) is deque:
            group.popleft()
            if group:
                self.theirs[key] = group
        return MATCHED

    def waiting(self) -> list[Waiting]:
        return _in_order(self.mine.values())

    def waits(self) -> bool:
        return bool(self.mine)


@dataclass(frozen=True)
class Count(Plan):
    """Nothing is ordered: records are counted, by the equality's key."""

    equality: Equality

    def sides(self) -> Sides:
        left: dict[Hashable, _Group] = {}
        right: dict[Hashable, _Group] = {}
        return _Counted(self.equality, left, right), _Counted(self.equality, right, left)


# --- by key ------------------------------------------------------------------------------------


def key_function(columns: tuple[str, ...], equality: Equality = EXACT) -> Callable[[Any], Hashable]:
    """A record's values in some columns, as something hashable.

    >>> key_function(("user",))({"user": 15, "n": 1})
    15
    """
    dependence = SameKey(columns)

    def one(record: Any) -> Hashable:
        try:
            value = record.__dict__[columns[0]]
        except (AttributeError, KeyError):
            value = value_of(record, columns[0], dependence)
        return value if type(value) in _PLAIN else canonical(value)

    def several(record: Any) -> Hashable:
        return tuple([canonical(value_of(record, column, dependence)) for column in columns])

    def certain(record: Any) -> Hashable:
        for column in columns:
            if isinstance(value_of(record, column, dependence), float):
                raise InvalidArgument(
                    f"{dependence!r} does not go with {equality!r}: {column!r} is a float in {brief(record)}, so "
                    "records that count as equal could have different keys. Take another key, or no tolerances"
                )
        return several(record)

    if not equality.exact:
        return certain
    return one if len(columns) == 1 else several


_Queues: TypeAlias = "tuple[deque[Any], deque[Any]]"
"""What waits under one key on the left and on the right: each record, then its position."""
_SPARE = 1024


class _Groups:
    """The queues of both sides by key. Empty ones stay for their key's next record, but not many more than are used."""

    __slots__ = ("flat", "limit", "queues")

    def __init__(self, equality: Equality) -> None:
        self.queues: dict[Hashable, _Queues] = {}
        self.limit = _SPARE
        self.flat = equality.by is None
        """Is Python's equality of columns enough? Not where one holds other values, which it takes too lightly."""

    def of(self, key: Hashable, record: Any) -> _Queues:
        """The queues of a key, which may be new."""
        key = canonical(key)
        found = self.queues.get(key)
        if found is None:
            if len(self.queues) >= self.limit:
                for unused in [key for key, (left, right) in self.queues.items() if not left and not right]:
                    del self.queues[unused]
                self.limit = 2 * len(self.queues) + _SPARE
            found = self.queues[key] = (deque(), deque())
            # A look at the first record of every key: types belong to columns, so one tells about the others.
            self.flat = self.flat and type(record) is Record and FLAT.issuperset(map(type, record))
        elif type(record) is not Record:
            self.flat = False
        return found


class _Keyed(Side):
    __slots__ = ("column", "equal", "groups", "key", "other", "queues", "side")

    def __init__(self, plan: Keyed, groups: _Groups, side: int) -> None:
        super().__init__()
        self.key, self.equal = key_function(plan.columns, plan.equality), plan.equality.equal_function
        self.groups, self.queues, self.side, self.other = groups, groups.queues, side, 1 - side
        # The one column that can be read without `key`; None is no column, and leads there.
        self.column = plan.columns[0] if len(plan.columns) == 1 and plan.equality.exact else None

    def step(self, record: Any) -> Verdict:
        # What `take` does and what the base class does about it, all in one: a call costs as much as the rest.
        book = self.book
        if book.verdict is not INCONCLUSIVE:
            return book.closed()
        try:
            queues = self.queues[record.__dict__[self.column]]
        except (
            AttributeError,
            KeyError,
            TypeError,
        ):  # no record, a new key, several columns, or one to be made hashable
            queues = self.groups.of(self.key(record), record)
        theirs = queues[self.other]
        if theirs:
            other = theirs[0]
            try:
                alike = self.groups.flat and other.__dict__ == record.__dict__
            except Exception:  # a dict has no columns of its own, and numpy's arrays no plain answer
                alike = False
            if alike or self.equal(other, record):
                theirs.popleft()
                theirs.popleft()
                self.seen += 1
                book.unmatched -= 1
                return INCONCLUSIVE
            self.seen += 1
            return book.refuted(self, self.seen - 1, record, Conflict(theirs[1], other))
        mine = queues[self.side]
        mine.append(record)
        mine.append(self.seen)
        self.seen += 1
        book.unmatched = unmatched = book.unmatched + 1
        if unmatched > book.most:
            book.most = unmatched
        return INCONCLUSIVE

    def take(self, record: Any, position: int) -> Outcome:
        queues = self.groups.of(self.key(record), record)
        theirs = queues[self.other]
        if theirs:
            other = theirs[0]
            if self.equal(other, record):
                theirs.popleft()
                theirs.popleft()
                return MATCHED
            return Conflict(theirs[1], other)
        queues[self.side].extend((record, position))
        return None

    def waiting(self) -> list[Waiting]:
        found: list[Waiting] = []
        for queues in self.groups.queues.values():
            flat = list(queues[self.side])
            found.extend(zip(flat[1::2], flat[::2], strict=True))
        return sorted(found, key=_position)

    def waits(self) -> bool:
        return any(queues[self.side] for queues in self.groups.queues.values())


@dataclass(frozen=True)
class Keyed(Plan):
    """A queue for every key."""

    columns: tuple[str, ...]
    equality: Equality

    def sides(self) -> Sides:
        groups = _Groups(self.equality)
        return _Keyed(self, groups, 0), _Keyed(self, groups, 1)


class _Partitioned(Side):
    __slots__ = ("inner", "key", "parts", "side")

    def __init__(self, plan: Partition, parts: dict[Hashable, Sides], side: int) -> None:
        super().__init__()
        self.key, self.inner = key_function(plan.columns, plan.equality), plan.inner
        self.parts, self.side = parts, side

    def take(self, record: Any, position: int) -> Outcome:
        key = self.key(record)
        part = self.parts.get(key)
        if part is None:
            part = self.inner.sides()
        outcome = part[self.side].take(record, position)
        if outcome is None:
            self.parts[key] = part
        elif outcome is MATCHED and not part[0].waits() and not part[1].waits():
            del self.parts[key]
        return outcome

    def waiting(self) -> list[Waiting]:
        return sorted((w for part in self.parts.values() for w in part[self.side].waiting()), key=_position)

    def waits(self) -> bool:
        return any(part[self.side].waits() for part in self.parts.values())


@dataclass(frozen=True)
class Partition(Plan):
    """Records with different keys never meet: each key has sides of its own."""

    columns: tuple[str, ...]
    equality: Equality
    inner: Plan

    def sides(self) -> Sides:
        parts: dict[Hashable, Sides] = {}
        return _Partitioned(self, parts, 0), _Partitioned(self, parts, 1)


# --- barriers ----------------------------------------------------------------------------------


class _Epochs:
    """What both sides share: the epoch that both are in, and those that one is ahead by, each after its barrier."""

    __slots__ = ("ahead", "current", "leader")

    def __init__(self, current: Sides) -> None:
        self.current = current
        self.ahead: deque[tuple[Waiting, Sides]] = deque()
        self.leader = 0
        """The side that is ahead; while it is, nothing waits on the other: it would depend on a barrier ahead."""


class _InEpochs(Side):
    __slots__ = ("barriers", "epochs", "equal", "inner", "is_barrier", "other", "side")

    def __init__(self, plan: Epochs, epochs: _Epochs, side: int) -> None:
        super().__init__()
        self.barriers, self.equal, self.inner = plan.barriers, plan.equality.equal_function, plan.inner
        self.is_barrier = plan.barriers[0].holds if len(plan.barriers) == 1 else self._any_holds
        self.epochs, self.side, self.other = epochs, side, 1 - side

    def _any_holds(self, record: Any) -> bool:
        return any(barrier.holds(record) for barrier in self.barriers)

    def take(self, record: Any, position: int) -> Outcome:
        epochs = self.epochs
        ahead = epochs.ahead
        if self.is_barrier(record):
            return self._take_barrier(record, position)
        if not ahead:
            return epochs.current[self.side].take(record, position)
        if epochs.leader == self.side:
            return ahead[-1][1][self.side].take(record, position)
        outcome = epochs.current[self.side].take(record, position)
        return Conflict(*ahead[0][0]) if outcome is None else outcome

    def _take_barrier(self, record: Any, position: int) -> Outcome:
        epochs = self.epochs
        if not epochs.ahead or epochs.leader == self.other:
            # A barrier depends on all that waits on the other side: it can only match the first of it.
            if epochs.current[self.other].waits():
                return Conflict(*epochs.current[self.other].waiting()[0])
            if epochs.ahead:
                barrier, epoch = epochs.ahead[0]
                if not self.equal(barrier[1], record):
                    return Conflict(*barrier)
                epochs.ahead.popleft()
                epochs.current = epoch
                return MATCHED
        epochs.leader = self.side
        epochs.ahead.append(((position, record), self.inner.sides()))
        return None

    def waiting(self) -> list[Waiting]:
        epochs = self.epochs
        found = epochs.current[self.side].waiting()
        if epochs.leader == self.side:
            for barrier, epoch in epochs.ahead:
                found += [barrier, *epoch[self.side].waiting()]
        return found

    def waits(self) -> bool:
        epochs = self.epochs
        return bool(epochs.ahead and epochs.leader == self.side) or epochs.current[self.side].waits()


@dataclass(frozen=True)
class Epochs(Plan):
    """Barriers are in order with everything; between two of them, what is left of the dependence decides."""

    barriers: tuple[Barrier, ...]
    equality: Equality
    inner: Plan

    def sides(self) -> Sides:
        epochs = _Epochs(self.inner.sides())
        return _InEpochs(self, epochs, 0), _InEpochs(self, epochs, 1)


# --- which one ---------------------------------------------------------------------------------


def plan(dependence: Dependence, equality: Equality = EXACT) -> Plan:
    """The fastest way that gives the general algorithm's verdict at the same record.

    >>> from firesteel.equivalence.dependence import same_key
    >>> plan(same_key("user") & same_key("day"))
    Keyed(columns=('user', 'day'), equality=equality())
    """
    match dependence:
        case Ordered():
            return Queue(equality)
        case Unordered():
            return Count(equality) if equality.exact else Scan(dependence, equality)
    columns = _confined_to(dependence)
    if columns:
        inner = _within(dependence, frozenset(columns))
        return Keyed(columns, equality) if inner == Ordered() else Partition(columns, equality, plan(inner, equality))
    barriers = _barriers_of(dependence)
    if barriers:
        return Epochs(barriers, equality, plan(_between(dependence, barriers), equality))
    return Scan(dependence, equality)


def _confined_to(dependence: Dependence) -> tuple[str, ...]:
    """Columns in which dependent records agree, whatever else it takes."""
    match dependence:
        case SameKey(columns):
            return columns
        case Both(a, b):
            return tuple(dict.fromkeys((*_confined_to(a), *_confined_to(b))))
        case Either(a, b):
            others = _confined_to(b)
            return tuple(column for column in _confined_to(a) if column in others)
        case _:
            return ()


def _within(dependence: Dependence, columns: frozenset[str]) -> Dependence:
    """What is left of a dependence among records that agree in some columns."""
    match dependence:
        case SameKey(own):
            rest = tuple(column for column in own if column not in columns)
            return SameKey(rest) if rest else Ordered()
        case Both(a, b):
            return both(_within(a, columns), _within(b, columns))
        case Either(a, b):
            return either(_within(a, columns), _within(b, columns))
        case _:
            return dependence


def _barriers_of(dependence: Dependence) -> tuple[Barrier, ...]:
    """Barriers that are in order with every record, whatever else holds."""
    match dependence:
        case Barrier():
            return (dependence,)
        case Either(a, b):
            own = _barriers_of(a)
            return (*own, *(barrier for barrier in _barriers_of(b) if barrier not in own))
        case Both(a, b):
            others = _barriers_of(b)
            return tuple(barrier for barrier in _barriers_of(a) if barrier in others)
        case _:
            return ()


def _between(dependence: Dependence, barriers: tuple[Barrier, ...]) -> Dependence:
    """What is left of a dependence among records that are none of these barriers."""
    match dependence:
        case Barrier() if dependence in barriers:
            return Unordered()
        case Both(a, b):
            return both(_between(a, barriers), _between(b, barriers))
        case Either(a, b):
            return either(_between(a, barriers), _between(b, barriers))
        case _:
            return dependence


def key_columns(dependence: Dependence) -> tuple[str, ...]:
    """All columns that a dependence takes for keys."""
    match dependence:
        case SameKey(columns):
            return columns
        case Both(a, b) | Either(a, b):
            return tuple(dict.fromkeys((*key_columns(a), *key_columns(b))))
        case _:
            return ()
