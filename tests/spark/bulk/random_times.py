"""Random cases in event time, and programs that do all kinds of things with a watermark, to compare bulk with alone.

The cases come in families whose watermarks agree in some batches and not in others: in most of them only the last
batch differs, so that the watermark differs when there is no further batch.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

import firesteel as fs
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.engines.exercise import exercise_apart
from firesteel.spark.failures import CannotCarry, SubjectFailure
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from tests.spark.bulk.zoo_subjects import joined_in_time, session, sliding, tumbling, windowed

SCHEMA = {"input": "ts TIMESTAMP, k INT", "left": "ts TIMESTAMP, k INT", "right": "us TIMESTAMP, k INT"}


def at(minutes: int) -> datetime:
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


# --- cases ---


def family(rng: random.Random, size: int, *, length: int, inputs: Sequence[str] = ("input",)) -> list[Case]:
    """Cases of one length or two, whose latest event times are those of the family but for a few batches."""
    frontiers = {name: sorted(rng.sample(range(5, 90, 5), length)) for name in inputs}
    ends = rng.sample([0, 5, 11, 40, -3], 2)
    made = []
    for _ in range(size):
        whole, varied = length + (rng.random() < 0.1), rng.choice(inputs)
        streams = {}
        for name, frontier in frontiers.items():
            end = rng.choice(ends) if name == varied else 0
            streams[name] = fs.Stream(SCHEMA[name], _batches(rng, [*frontier[:-1], frontier[-1] + end], whole))
        made.append(Case(streams))
    return made


def _batches(rng: random.Random, frontier: Sequence[int], length: int) -> list[list[tuple[datetime, int]]]:
    made: list[list[tuple[datetime, int]]] = []
    latest = 0
    for index in range(length):
        top = frontier[index] if index < len(frontier) else latest
        if rng.random() < 0.03:
            top += rng.choice([-1, 1, 10])
        low = max(latest - 4, 0) if rng.random() < 0.95 else 0
        times = [top, *(rng.randint(min(low, top), top) for _ in range(rng.randint(0, 2)))]
        if rng.random() < 0.05:
            times = []
        made.append([(at(minutes), rng.randint(0, 1)) for minutes in times])
        latest = max([latest, *times])
    return made


# --- programs ---


@dataclass(frozen=True)
class Program:
    """A program, and how it is run."""

    name: str
    subject: Callable[..., Any]
    mode: str = "append"
    inputs: tuple[str, ...] = ("input",)
    policy: str = "min"


def marked(frame: Any, column: str = "ts") -> Any:
    return frame.withWatermark(column, "5 minutes")


def watermark_told(frame: Any) -> Any:
    """Puts out the watermark at which a key times out."""

    def told(key, frames, state):
        if state.hasTimedOut:
            yield pd.DataFrame({"k": [key[0]], "w": [state.getCurrentWatermarkMs()]})
            state.remove()
            return
        latest = max(frame["ts"].max() for frame in frames)
        state.update((1,))
        state.setTimeoutTimestamp(int(latest.tz_localize("UTC").timestamp() * 1000) + 10_000)
        yield from ()

    timeout = GroupStateTimeout.EventTimeTimeout
    return marked(frame).groupBy("k").applyInPandasWithState(told, "k INT, w LONG", "n INT", "append", timeout)


def with_how_many(frame: Any) -> Any:
    """Says how many come at once. Not which of them is the first: that is up to the shuffle."""

    def said(parts):
        for part in parts:
            yield part.assign(n=len(part))

    counts = windowed(tumbling, "k")(frame).select("k", "c")
    return counts.coalesce(1).mapInPandas(said, "k INT, c LONG, n LONG")


def united(left: Any, right: Any) -> Any:
    both = marked(left).union(marked(right, "us").withColumnRenamed("us", "ts"))
    return both.groupBy(tumbling(), "k").count()


def joined_then_counted(left: Any, right: Any) -> Any:
    joined = joined_in_time("left_outer")(left, right).select("a.ts", F.col("b.k").alias("found"))
    return joined.groupBy(F.window("ts", "10 minutes")).agg(F.count("found"), F.count("*"))


def counted_then_once(frame: Any) -> Any:
    counts = windowed(tumbling, "k")(frame).select("k", "c", F.window_time("window").alias("at"))
    # By the window too: several of one key may close at once, and which of them comes first is up to the shuffle.
    return counts.dropDuplicatesWithinWatermark(["k", "at"])


PAIR = ("left", "right")
PROGRAMS = [
    Program("groups of a moment", lambda f: marked(f).groupBy("ts").count()),
    Program("tumbling", windowed(tumbling, "k")),
    Program("tumbling, update", windowed(tumbling, "k"), "update"),
    Program("tumbling, complete", windowed(tumbling, "k"), "complete"),
    Program("sliding", windowed(sliding)),
    Program("session", windowed(session, "k")),
    Program("duplicates", lambda f: marked(f).dropDuplicates(["k", "ts"])),
    Program("duplicates within", lambda f: marked(f).dropDuplicatesWithinWatermark(["k"])),
    Program("inner join", joined_in_time("inner"), inputs=PAIR),
    Program("left join", joined_in_time("left_outer"), inputs=PAIR),
    Program("left join, max", joined_in_time("left_outer"), inputs=PAIR, policy="max"),
    Program("full join", joined_in_time("full_outer"), inputs=PAIR),
    Program("semi join", joined_in_time("left_semi"), inputs=PAIR),
    Program("union", united, inputs=PAIR),
    Program("union, max", united, inputs=PAIR, policy="max"),
    Program("windows of windows",
            lambda f: windowed(tumbling, "k")(f).groupBy(F.window("window", "20 minutes")).sum("c")),
    Program("duplicates, then windows",
            lambda f: marked(f).dropDuplicates(["k", "ts"]).groupBy(tumbling()).count()),
    Program("windows, then duplicates within", counted_then_once),
    Program("join, then windows", joined_then_counted, inputs=PAIR),
    Program("timers", watermark_told),
    Program("windows, then a function of batches", with_how_many),
    Program("two outputs",
            lambda f: {"counts": windowed(tumbling, "k")(f), "once": marked(f).dropDuplicates(["k", "ts"])}),
]  # fmt: skip


# --- the comparison ---

POLICY = "spark.sql.streaming.multipleWatermarkPolicy"


def compare(spark: Any, program: Program, cases: Sequence[Case], how: Running) -> tuple[Counter, list[str]]:
    """How many cases were carried in bulk, and how many rows they put out; and those that differ, as text."""
    before = spark.conf.get(POLICY)
    spark.conf.set(POLICY, program.policy)
    try:
        together = exercise_together(spark, cases, program.subject, how, also_single=False)
    except CannotCarry as why:
        return Counter({"cases": len(cases), f"refused: {why}"[:90]: 1}), []
    else:
        numbers = [number for number, trace in enumerate(together) if trace is not None]
        alone = exercise_apart(spark, [cases[number] for number in numbers], program.subject, how)
    finally:
        spark.conf.set(POLICY, before)
    counts = Counter(cases=len(cases), carried=len(numbers))
    different = []
    for number, expected in zip(numbers, alone, strict=True):
        assert not isinstance(expected, SubjectFailure), expected
        counts["rows"] += sum(len(batch) for now in expected for batch in now.outputs.values())
        if together[number] != expected:
            different.append(f"{program.name}, {how.close=}: {cases[number]!r}\n {together[number]}\n {expected}")
    return counts, different
