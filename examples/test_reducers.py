"""Five reducers that people write, and that hang on the order of their input: the study behind DiffStream's Figure 12.

Each is asked up to three things. Is the bug found where the input is anything? Is there no alarm where the input makes
the order harmless? And none where any of several answers will do? For the last, two of the paper's three false alarms
are avoided by saying which answers will do (`accept=`), the third by saying when two answers are equal.

Every batch is a job of its own, reduced by key; the rows of a key come from four map tasks, in whatever order these
arrive, as on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pyspark.sql import DataFrame

import firesteel as fs
from firesteel import perturb
from firesteel import strategies as ss

if TYPE_CHECKING:
    import pandas as pd

pytestmark = pytest.mark.slow

SCHEMA = "k INT NOT NULL, x INT NOT NULL, y INT NOT NULL"
N = 2
SHUFFLED = [perturb.partitions(4) & perturb.shuffle_order()]
Job = Callable[[DataFrame], DataFrame]


# --- the reducers ---------------------------------------------------------------------------------


def reducer(reduce: Callable[[pd.DataFrame], pd.DataFrame], schema: str = SCHEMA) -> Job:
    return lambda items: items.groupBy("k").applyInPandas(reduce, schema)


single_item = reducer(lambda rows: rows[-1:])  # the last one wins
max_row = reducer(lambda rows: rows[rows.y == rows.y.max()][:1])
first_n = reducer(lambda rows: rows[:N])
index_value_pair = reducer(lambda rows: rows.drop_duplicates("x", keep="last").sort_values("x"))
str_concat = reducer(
    lambda rows: rows[["k"]][:1].assign(text="@".join(map(str, rows.x))), "k INT NOT NULL, text STRING NOT NULL"
)


def one_by_one(items: DataFrame) -> DataFrame:
    """The same as a stream: the items of a key, one after the other."""
    return items.repartition(2, "k").select("k", "x")


# --- the input ------------------------------------------------------------------------------------

item = ss.records(SCHEMA, k=st.integers(0, 1), x=st.integers(0, 3), y=st.integers(0, 3))


def items(only: Callable[[Iterable[Any]], Iterable[Any]] = list) -> SearchStrategy[fs.Stream]:
    """One batch of items, of which `only` some are kept."""
    some = ss.batches(item, min_size=4, max_size=10)
    return ss.always(some.map(lambda batch: fs.Batch(only(batch), schema=SCHEMA)), during=1)


def first_of_each(*columns: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    return lambda batch: {tuple(r[column] for column in columns): r for r in batch}.values()


def y_of_x(batch: Iterable[Any]) -> Iterable[Any]:
    return [(r.k, r.x, 7 * r.x % 5) for r in batch]


def few_of_each(batch: Iterable[Any]) -> Iterable[Any]:
    rows = list(batch)
    return [r for place, r in enumerate(rows) if sum(other.k == r.k for other in rows[:place]) < N]


# --- which answers will do ------------------------------------------------------------------------


def any_of_the_largest(now: fs.Instant, left: fs.Batch, right: fs.Batch) -> bool:
    largest = {k: max(r.y for r in now.input if r.k == k) for k in now.input.values("k")}
    return bool(now.input.contains(right)) and dict(right.values("k", "y")) == largest


def any_n(now: fs.Instant, left: fs.Batch, right: fs.Batch) -> bool:
    sizes = {k: min(N, now.input.values("k").count(k)) for k in now.input.values("k")}
    return bool(now.input.contains(right)) and all(right.values("k").count(k) == n for k, n in sizes.items())


in_any_order = fs.equality(by=lambda record: (record.k, sorted(record.text.split("@"))))


# --- the table ------------------------------------------------------------------------------------


def stable(streams: Any, job: Job, **options: Any) -> None:
    unshrunk = settings(phases=[Phase.generate])  # it is quicker so
    fs.stable(streams, job, under=SHUFFLED, cases=16, settings=unshrunk, **options)


@pytest.mark.parametrize("job", [single_item, index_value_pair, max_row, first_n, str_concat])
def test_the_bug_is_found(job: Job) -> None:
    with pytest.raises(fs.Falsified) as failure:
        stable(items(), job)
    found = failure.value.report.counterexample
    assert found is not None and "4 partitions, shuffle order" in found.reason
    assert len(found.trace) == 1, "false in batch 0"


@pytest.mark.parametrize(
    "job, only",
    [
        (single_item, first_of_each("k")),
        (index_value_pair, y_of_x),
        (max_row, first_of_each("k", "y")),
        (first_n, few_of_each),
    ],
)
def test_no_alarm_where_the_input_makes_order_harmless(job: Job, only: Any) -> None:
    stable(items(only), job)


@pytest.mark.parametrize(
    "job, options",
    [
        (max_row, {"accept": any_of_the_largest}),
        (first_n, {"accept": any_n}),
        (str_concat, {"equal": in_any_order}),
    ],
)
def test_no_alarm_where_any_answer_will_do(job: Job, options: Any) -> None:
    stable(items(), job, **options)


def test_the_same_as_a_stream() -> None:
    with pytest.raises(fs.Falsified):
        stable(items(), one_by_one, dependence=fs.same_key("k"))
    stable(items(), one_by_one, dependence=fs.unordered())


def test_an_answer_that_will_not_do_is_still_found() -> None:
    not_largest = reducer(lambda rows: rows[-1:])
    with pytest.raises(fs.Falsified, match="any_of_the_largest refuses it"):
        stable(items(), not_largest, accept=any_of_the_largest)
    made_up = reducer(lambda rows: rows[:N].assign(y=rows.y[:N] + 100))
    with pytest.raises(fs.Falsified, match="any_n refuses it"):
        stable(items(), made_up, accept=any_n)
