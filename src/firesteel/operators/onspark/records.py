"""Properties of single records that part 1 has too: values that make an operator raise, and columns that it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from firesteel.evidence.onspark import Fired, OnSpark, Raised, Step
from firesteel.operators.onspark.feeds import Failed, Feed, Gave, Material, Result, at_once
from firesteel.operators.onspark.model import About, Question
from firesteel.values.records import canonical, named


def null_safe(about: About, material: Material) -> Iterator[Question]:
    """A null does not make it raise, in any column that may be null.

    `upper(name)` has it. A UDF that writes `name.upper()` does not have it.
    """
    usual = about.feed(at_once(material))
    for place, (name, row) in enumerate(material):
        if any(earlier == name for earlier, _ in material[:place]):
            continue  # one record of every port is enough
        for column, field in enumerate(about.operator.port(name).schema.fields):
            if field.nullable and row[column] is not None:
                hard: Step = (name, (*row[:column], None, *row[column + 1 :]))
                yield _raises(about, about.feed(at_once((*material[:place], hard, *material[place + 1 :]))), usual)


def total(about: About, material: Material) -> Iterator[Question]:
    """No value of the declared types makes it raise.

    `try_add(n, 1)` has it. `n + 1` does not have it: the largest number overflows, and Spark raises.
    """
    for step in material:
        yield _raises(about, about.feed(((step,),)))


def _raises(about: About, hard: Feed, *usual: Feed) -> Question:
    """A run that raises, where the usual one does not. A run that hangs says nothing."""

    def judge(seen: Sequence[Result]) -> OnSpark | None:
        match seen:
            case [Failed(message, always=False, hangs=False), *others] if all(
                isinstance(each, Gave) for each in others
            ):
                return Raised(hard.fed(about.operator, ()), message)
            case _:
                return None

    return Question((hard, *usual), _nothing, raised=judge)


def _nothing(gave: Sequence[Gave]) -> OnSpark | None:
    return None


def keeps_columns(about: About, material: Material) -> Iterator[Question]:
    """A column of the output that has the name of a column of the input holds the value of the record.

    `withColumn("total", ...)` has it. `withColumn("n", col("n") + 1)` does not have it.
    """
    for step in material[:2]:
        feed = about.feed(((step,),))
        given = dict(zip(about.operator.port(step[0]).columns, step[1], strict=True))

        def judge(gave: Sequence[Gave], feed: Feed = feed, given: dict[str, Any] = given) -> OnSpark | None:
            if any(_changes(row, given, about) for row in gave[0].rows):
                return Fired(feed.fed(about.operator, gave[0].rows))
            return None

        yield Question((feed,), judge)


def _changes(row: Any, given: dict[str, Any], about: About) -> bool:
    columns = named(row) or {}
    return any(
        canonical(columns[name]) != canonical(value) and about.differ((columns[name],), (value,))
        for name, value in given.items()
        if name in columns
    )
