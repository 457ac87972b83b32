"""What a property asks of a material: runs, and a judgement on what came of them.

The properties that compare two runs are in `properties`; here are those that look at single runs, and the one form
that all take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from firesteel.evidence.operators import Different, Firing, Observed, Proof
from firesteel.operators import domains as d
from firesteel.operators.blocking import non_blocking_questions
from firesteel.operators.comparing import Look, Pair, Side, differ
from firesteel.operators.forwarding import keeps_columns
from firesteel.operators.kinds import Family, Kind
from firesteel.operators.outcomes import Gave, Raised, Seen
from firesteel.operators.properties import PAIRED, About, Material, feed
from firesteel.operators.question import Question
from firesteel.values.equality import Equality

Asking: TypeAlias = Callable[[About, Material, Equality], Iterator[Question]]


def questions(property: str, about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """What a property asks of a material."""
    if property in PAIRED:
        for pair in PAIRED[property](about, material):
            yield _of_pair(pair, equal)
    else:
        yield from SINGLE[property](about, material, equal)


def _of_pair(pair: Pair, equal: Equality) -> Question:
    def judge(seen: Sequence[Seen]) -> Proof | None:
        left, right = pair.left.look.at(seen[0]), pair.right.look.at(seen[1])
        if left is None or right is None or not differ(left, right, pair, equal):
            return None
        return Different(_observed(pair.left, left), _observed(pair.right, right))

    return Question((pair.left, pair.right), judge, pair.port)


def _observed(side: Side, outputs: tuple[Any, ...]) -> Observed:
    return Observed(side.run, outputs, side.elsewhere)


# --- selectivity ---


def one_by_one(about: About, material: Material) -> tuple[Any, ...]:
    """A material as firings of one record each."""
    return tuple(((row,),) for row in material) if about.operator.kind.family is Family.COLUMNS else material


def _counts(about: About, material: Material, wrong: Callable[[int], bool]) -> Iterator[Question]:
    run = one_by_one(about, material)

    def judge(seen: Sequence[Seen]) -> Proof | None:
        for number, outcome in enumerate(seen[0].outcomes):
            if isinstance(outcome, Gave) and wrong(_count(outcome.outputs, run[number])):
                return Firing(Observed(run[: number + 1], outcome.outputs))
        return None

    yield Question((Side(run),), judge)


def _count(outputs: tuple[Any, ...], fed: Any) -> int:
    """How many outputs there are. None is no output, but null in, null out is one."""
    return sum(output is not None or _holds_null(fed) for output in outputs)


def _holds_null(fed: Any) -> bool:
    return fed is None or (isinstance(fed, tuple | list) and any(map(_holds_null, fed)))


def one_to_one(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """Every firing has exactly one output.

    `str.upper` has it. A `flatMap` over the words of a line does not have it: a line may have none, or two.
    """
    return _counts(about, material, lambda count: count != 1)


def selective(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """A firing has at most one output, and sometimes none.

    A filter has it. A function that puts out every word of a line does not have it.
    """
    return _counts(about, material, lambda count: count > 1)


def prolific(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """Some firing has more than one output: one witness proves it.

    `str.split` as a `flatMap` has it. `str.upper` does not have it.
    """
    return _counts(about, material, lambda count: count > 1)


# --- values that are hard to take ---


def _raising(about: About, usual: tuple[Any, ...], hard: tuple[Any, ...]) -> Question:
    """A run that raises, where the same run with usual values does not."""

    def judge(seen: Sequence[Seen]) -> Proof | None:
        if not seen[0].is_whole:
            return None
        return _raised(seen[1], hard)

    return Question((Side(usual, _NOTHING), Side(hard, _NOTHING)), judge)


_NOTHING = Look(())
_OWN_FAULT = ("MemoryError", "RecursionError", "KeyboardInterrupt")


def _raised(seen: Seen, run: tuple[Any, ...]) -> Proof | None:
    for number, outcome in enumerate(seen.outcomes):
        if isinstance(outcome, Raised) and outcome.kind not in _OWN_FAULT:
            text = f"{outcome.kind}: {outcome.message}".removesuffix(": ")
            return Firing(Observed(run[: number + 1], ()), raised=text)
    return None


def _with_hard_value(about: About, material: Material, value: Any, fits: Callable[[d.Domain], bool]) -> Iterator[Any]:
    """Materials with one hard value in the place of a usual one."""
    match about.operator.kind.family:
        case Family.GROUPS:
            group = material[-1]
            for port, rows in enumerate(group):
                for row in _hard_rows(about, about.inputs.ports[port], rows[:1], value, fits):
                    yield (*material[:-1], (*group[:port], (row, *rows[1:]), *group[port + 1 :]))
        case Family.FOLDS if about.operator.kind is not Kind.GROUPED_AGG:
            if fits(about.inputs.record):
                yield (value, *material[1:])
                yield (*material[:-1], value)
        case _:
            for record in _hard_rows(about, about.inputs.record, material[:1], value, fits):
                yield (record, *material[1:])


def _hard_rows(
    about: About, domain: d.Domain, rows: Sequence[Any], value: Any, fits: Callable[[d.Domain], bool]
) -> Iterator[Any]:
    if not isinstance(domain, d.Rows):
        return
    keys = {about.inputs.names.index(str(each)) for each in about.operator.key if str(each) in about.inputs.names}
    for row in rows:
        for place, inner in enumerate(domain.fields):
            held = domain.field_of(row, place)
            if isinstance(inner, d.Rows):  # a record is never null itself, but its fields may be
                for other in _hard_rows(about, inner, [held], value, fits):
                    yield domain.with_field(row, place, other)
            elif about.operator.partitions and isinstance(inner, d.Lists):
                if held and fits(inner.inner):
                    yield domain.with_field(row, place, [value, *list(held)[1:]])
            elif fits(inner) and not (about.operator.kind.family is Family.GROUPS and place in keys):
                yield domain.with_field(row, place, value)


def null_safe(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """It does not raise on None where it does not raise on other values.

    `lambda name: (name or "").upper()` has it. `lambda name: name.upper()` does not have it.
    """
    for hard in _with_hard_value(about, material, None, lambda domain: True):
        yield _raising(about, feed(about, material), feed(about, hard))


def nan_safe(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """It does not raise on NaN; and where a reducer is given NaN, the order does not matter.

    `lambda x: x * 2` has it. `round` does not: it raises. `max` does not: its answer depends on which one is NaN.
    """
    for hard in _with_hard_value(about, material, math.nan, lambda domain: isinstance(domain, d.Floats)):
        yield _raising(about, feed(about, material), feed(about, hard))
        if about.operator.kind is Kind.REDUCER:
            # A reducer whose order matters anyway says nothing about NaN.
            usual, turned = material[:2], material[1::-1]
            sides = [Side((((values,),),)) for values in (usual, turned, hard[:2], hard[1::-1])]
            yield Question(tuple(sides), _spoilt_by_nan(sides, equal))


def _spoilt_by_nan(sides: Sequence[Side], equal: Equality) -> Callable[[Sequence[Seen]], Proof | None]:
    def judge(seen: Sequence[Seen]) -> Proof | None:
        outputs = [side.look.at(each) for side, each in zip(sides, seen, strict=True)]
        usual, turned, left, right = outputs
        if usual is None or turned is None or left is None or right is None:
            return None
        if differ(usual, turned, Pair(sides[0], sides[1]), equal) or not differ(
            left, right, Pair(sides[2], sides[3]), equal
        ):
            return None
        return Different(_observed(sides[2], left), _observed(sides[3], right))

    return judge


_EXTREME_FLOATS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308)


def total(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """It raises on no value of its declared type: the type hints or the schema.

    `def half(n: int) -> float: return n / 2` has it. `def share(n: int) -> float: return 1 / n` does not have it.
    """
    found = [material]
    for value in _EXTREME_FLOATS:
        found += list(_with_hard_value(about, material, value, lambda domain: isinstance(domain, d.Floats)))
    for each in found:
        run = feed(about, each)
        yield Question((Side(run, _NOTHING),), lambda seen, run=run: _raised(seen[0], run))  # type: ignore[misc]


# --- what is done besides ---


def pure(about: About, material: Material, equal: Equality) -> Iterator[Question]:
    """It leaves its arguments, globals and closure as they are, and opens no file, socket or process.

    `lambda words: sorted(words)` has it. `lambda words: words.sort() or words` does not have it.
    """
    run = feed(about, material)

    def judge(seen: Sequence[Seen]) -> Proof | None:
        watched = seen[0].watched
        if watched is None or not any((watched.mutated, watched.written, watched.opened)):
            return None
        did = (
            *(f"changed its argument: {each}" for each in watched.mutated),
            *(f"changed {each}" for each in watched.written),
            *watched.opened,
        )
        return Firing(Observed(run, seen[0].all_outputs), did=did)

    yield Question((Side(run, _NOTHING),), judge, watched=True)


SINGLE: dict[str, Asking] = {
    "one_to_one": one_to_one,
    "selective": selective,
    "prolific": prolific,
    "non_blocking": non_blocking_questions,
    "null_safe": null_safe,
    "nan_safe": nan_safe,
    "total": total,
    "pure": pure,
    "keeps_columns": keeps_columns,
}
