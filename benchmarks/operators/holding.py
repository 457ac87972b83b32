"""Two ports, of which one holds its rows back until something comes on the other."""

from __future__ import annotations

from typing import Any

from benchmarks.operators.stepping import Rows, Stepping, of_port, stepped, united
from benchmarks.operators.suite import Suite
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from firesteel import operators

SUITE = Suite()
KEYED = "k STRING NOT NULL, n INT NOT NULL"
BOTH = {"left": KEYED, "right": KEYED}
TIMED = {
    "left": "k STRING NOT NULL, n INT NOT NULL, ts TIMESTAMP NOT NULL",
    "right": "k STRING NOT NULL, m INT NOT NULL, us TIMESTAMP NOT NULL",
}
_HELD = "one_to_one non_blocking stateless"


# --- joins ---


def marked(left: DataFrame, right: DataFrame) -> tuple[DataFrame, DataFrame]:
    return left.withWatermark("ts", "1 minute").alias("l"), right.withWatermark("us", "1 minute").alias("r")


_NEAR = "l.k = r.k and us between ts and ts + interval 10 minutes"


def with_partner(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    return first.join(second, F.expr(_NEAR), "left_semi")


def left_outer(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    return first.join(second, F.expr(_NEAR), "left_outer").select("l.k", "n", "m")


def right_outer(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    return first.join(second, F.expr(_NEAR), "right_outer").select("r.k", "n", "m")


def full_outer(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    return first.join(second, F.expr(_NEAR), "full_outer").select(F.coalesce("l.k", "r.k").alias("k"), "n", "m")


SUITE.add(
    "left records with a partner",
    operators.transformation(with_partner, input=TIMED, key="k"),
    "a semi join puts out the left record alone, when a partner comes on the right",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    surprise="beside the inner join, which does not block, only the columns of one side are missing",
    like="join",
)
SUITE.add(
    "left records, with or without a partner",
    operators.transformation(left_outer, input=TIMED, key="k"),
    "a left record without a partner comes out when the watermark has passed, which a right record has to move too",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    surprise="an outer join promises every left record, but not without the right port",
    like="join",
)
SUITE.add(
    "right records, with or without a partner",
    operators.transformation(right_outer, input=TIMED, key="k"),
    "a right record without a partner waits for the watermark of the left port",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    surprise="the time range only bounds right records from below; the watermark is the smaller of both all the same",
    like="join",
)
SUITE.add(
    "all records, with or without a partner",
    operators.transformation(full_outer, input=TIMED, key="k"),
    "each side's records without a partner wait for the watermark of the other side",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    like="join",
)


# --- windows behind a union ---


def windows_of_both(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    rows = first.select("k", "ts").union(second.select("k", F.col("us").alias("ts")))
    return rows.groupBy("k", F.window("ts", "10 minutes")).count()


def windows_apart(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    mine = first.groupBy("k", F.window("ts", "10 minutes")).agg(F.max("n").alias("n"))
    theirs = second.groupBy("k", F.window("us", "10 minutes")).agg(F.max("m").alias("n"))
    return mine.union(theirs)


def sessions_of_both(left: DataFrame, right: DataFrame) -> DataFrame:
    first, second = marked(left, right)
    rows = first.select("k", "ts").union(second.select("k", F.col("us").alias("ts")))
    return rows.groupBy("k", F.session_window("ts", "5 minutes")).count()


SUITE.add(
    "windows over two ports",
    operators.transformation(windows_of_both, input=TIMED, key="k"),
    "the watermark is the smaller of both, so a window of left records waits until a right record moves its own",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    surprise="a union does not wait, and left records alone would close their windows",
    like="union and windowed aggregate",
)
SUITE.add(
    "windows of two ports, side by side",
    operators.transformation(windows_apart, input=TIMED, key="k"),
    "nothing is joined, but a query has one watermark: the windows of one port wait for records on the other",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    surprise="two aggregates that never meet, and each waits for the other",
    like="windowed aggregate and union",
)
SUITE.add(
    "sessions over two ports",
    operators.transformation(sessions_of_both, input=TIMED, key="k"),
    "a session of left records waits for the watermark of the right port",
    no=f"{_HELD} commutative partition_isolated",
    yes="deterministic",
    surprise="sessions end by themselves, it seems, when nothing more comes",
    like="union and windowed aggregate",
)


# --- processors over both ports: what is kept from the left is a list ---


class Gate(Stepping):
    """Keeps left records until the right port has spoken; from then on they pass."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        is_open, held = kept or [False, []]
        held = [*map(tuple, held), *of_port(rows, "a left")]
        if is_open or of_port(rows, "b right"):
            return [True, []], held
        return [False, held], []


class PasswordGate(Stepping):
    """Keeps left records until the right port says 48611; then all come out, and it closes again."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        held = [*map(tuple, kept or []), *of_port(rows, "a left")]
        return ([], held) if any(n == 48611 for _, n in of_port(rows, "b right")) else (held, [])


class WideGate(Stepping):
    """Lets 1,000 left records pass, and keeps the others until the right port acknowledges."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        passed, held = kept or [0, []]
        held = [*map(tuple, held), *of_port(rows, "a left")]
        if of_port(rows, "b right"):
            passed = 0
        room = max(0, 1000 - passed)
        return [passed + len(held[:room]), held[room:]], held[:room]


class Barrier(Stepping):
    """A left record comes out when as many right ones have come: the first with the first, and so on."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        held, tickets = kept or [[], 0]
        held = [*map(tuple, held), *of_port(rows, "a left")]
        tickets += len(of_port(rows, "b right"))
        passing = min(len(held), tickets)
        return [held[passing:], tickets - passing], held[:passing]


class OnTick(Stepping):
    """The sum of the left records since the last tick; the right port ticks."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        total = (kept or 0) + sum(n % 100 for _, n in of_port(rows, "a left"))
        return (0, [(rows[0][1], total)]) if of_port(rows, "b right") else (total, [])


class InStep(Stepping):
    """Left records come out once the right port has reached their number: two streams in step."""

    reads = ("port", "k", "n")

    def step(self, kept: Any, rows: Rows) -> tuple[Any, Rows]:
        reached, held = kept or [-(2**40), []]
        held = [*map(tuple, held), *of_port(rows, "a left")]
        reached = max([reached, *(n for _, n in of_port(rows, "b right"))])
        return [reached, [row for row in held if row[1] > reached]], [row for row in held if row[1] <= reached]


def gate(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Gate)


def one_gate_for_all(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right).withColumn("everyone", F.lit("all")), Gate, "everyone")


def password_gate(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), PasswordGate)


def wide_gate(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), WideGate)


def barrier(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), Barrier)


def on_tick(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), OnTick)


def in_step(left: DataFrame, right: DataFrame) -> DataFrame:
    return stepped(united(left, right), InStep)


SUITE.add(
    "a gate for each key",
    operators.transformation(gate, input=BOTH, key="k"),
    "left records wait for the first right one of their key; then all come out, in whichever order they came",
    no=_HELD,
    yes="deterministic commutative partition_isolated",
    surprise="what waits comes out together, so that its order is gone",
    like="gate",
)
SUITE.add(
    "one gate for all keys",
    operators.transformation(one_gate_for_all, input=BOTH, key="k"),
    "left records wait for the first right one, whosever it is",
    no=f"{_HELD} partition_isolated",
    yes="deterministic commutative",
    surprise="it is the gate for each key, grouped by another column",
    like="gate",
)
SUITE.add(
    "a gate with a password",
    operators.transformation(password_gate, input=BOTH, key="k"),
    "left records wait until the right port says 48611; those after it wait for the next time",
    no=f"{_HELD} commutative",
    yes="deterministic partition_isolated",
    surprise="with any other number it is an operator that drops everything",
    like="gate; failed: silent except on very specific input",
)
SUITE.add(
    "a gate that lets 1,000 pass",
    operators.transformation(wide_gate, input=BOTH, key="k"),
    "the record after the thousandth waits for the right port",
    no="one_to_one non_blocking stateless",
    yes="deterministic partition_isolated",
    surprise="up to 1,000 records it is a union that drops its right port",
    like="gate; failed: a buffer of 1,000 records",
)
SUITE.add(
    "a barrier",
    operators.transformation(barrier, input=BOTH, key="k"),
    "each left record waits for a right one of its own; with fewer right ones, the first left ones come out",
    no=f"{_HELD} commutative",
    yes="deterministic partition_isolated",
    like="barrier",
)
SUITE.add(
    "sums on a tick",
    operators.transformation(on_tick, input=BOTH, key="k"),
    "the sum of the left records waits for a tick, and has nothing of it; what comes after the tick is in the next sum",
    no=f"{_HELD} commutative",
    yes="deterministic partition_isolated",
    surprise="sums have no order, but ticks cut the stream",
    like="punctor",
)
SUITE.add(
    "two streams in step",
    operators.transformation(in_step, input=BOTH, key="k"),
    "a left record waits until the right port has reached its number; in the end all up to the largest have come out",
    no=_HELD,
    yes="deterministic commutative partition_isolated",
    surprise="it is about order, and its result in the end has none",
    like="barrier",
)
