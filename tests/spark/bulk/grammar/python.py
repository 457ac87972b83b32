"""Steps that call Python functions."""

from collections.abc import Callable
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

from tests.spark.bulk.grammar import functions as given
from tests.spark.bulk.grammar.programs import Program


def function(p: Program) -> None:
    if not p.of("int"):
        return
    column = p.rng.choice(p.of("int"))
    made: list[tuple[str, int, Callable[[], Any], str]] = [
        ("doubled", 3, lambda: F.udf(given.doubled, "int"), "int"),
        ("named", 2, lambda: F.udf(given.named, "string"), "text"),
        ("plus_one", 2, lambda: given.plus_one, "int"),
        ("from_largest", 3, lambda: given.from_largest, "int"),
        ("dtype_of", 3, lambda: given.dtype_of, "text"),
        ("running", 2, lambda: given.running, "int"),
        ("arrow_total", 2, lambda: given.arrow_total, "int"),
        ("arrow_running", 2, lambda: given.arrow_running, "int"),
        ("remembering", 1, lambda: F.udf(given.remembering(), "int"), "int"),
    ]
    if _is_refused(p):
        made = made[:2]
    name, _, called, kind = p.rng.choices(made, [weight for _, weight, _, _ in made])[0]
    p.columns["u"] = kind
    p.add(f"u = {name}({column})", lambda f: f.withColumn("u", called()(F.col(column).cast("int"))))


def _is_refused(p: Program) -> bool:
    """Functions of whole columns are refused behind a shuffle: few are drawn there."""
    return p.stateful and p.rng.random() < 0.85


def of_struct(p: Program) -> None:
    if p.of("int") and not _is_refused(p):
        column = p.rng.choice(p.of("int"))
        pair = f"named_struct('a', coalesce({column}, 0), 'b', coalesce({column} % 3, 0))"
        p.columns["v"] = "int"
        p.add(f"v = of_struct({column})", lambda f: f.withColumn("v", given.of_struct(F.expr(pair))))


def filtered(p: Program) -> None:
    """A function of whole columns in a filter."""
    if p.of("int") and not p.marked and not _is_refused(p):
        column = p.rng.choice(p.of("int"))
        p.add(f"where from_largest({column}) > -3",
              lambda f: f.where(given.from_largest(F.col(column).cast("int")) > -3))  # fmt: skip


def partition(p: Program) -> None:
    if "k" in p.columns and not p.grouped and not _is_refused(p):
        kind, called = p.rng.choice([("mapInPandas", given.mapped), ("mapInArrow", given.mapped_arrow)])
        p.columns, p.marked = {"k": "int", "place": "int"}, False
        p.add(kind, lambda f: getattr(f, kind)(called, "k INT, place INT"))


def group(p: Program) -> None:
    if "k" not in p.columns or p.stateful:
        return
    kept = ["k", p.rng.choice(list(p.columns))]
    kind, called = p.rng.choice([("applyInPandas", given.of_group), ("applyInArrow", given.of_arrow_group)])
    p.columns, p.marked = {"k": "int", "c": "int", "seen": "text"}, False
    p.add(f"{kind} of {kept[1]}",
          lambda f: getattr(f.selectExpr(kept[0], f"{kept[1]} AS v").groupBy("k"), kind)(
              called, "k INT, c INT, seen STRING"))  # fmt: skip


def state(p: Program) -> None:
    if "k" not in p.columns or p.stateful:
        return
    marked = p.marked and "ts" in p.columns
    kinds: list[tuple[str, Callable[[Any], Any], str]] = [
        ("with_state", lambda g: g.applyInPandasWithState(
            given.with_state, "k INT, c INT", "c INT", "append", GroupStateTimeout.NoTimeout), "k INT"),
        ("Counting", lambda g: g.transformWithState(given.Counting(), "k INT, c BIGINT", "append", "none"), "k INT"),
    ]  # fmt: skip
    if marked:
        kinds += [
            ("timing_out", lambda g: g.applyInPandasWithState(
                given.timing_out, "k INT, c INT", "c INT", "append", GroupStateTimeout.EventTimeTimeout), "k INT"),
            ("Alarm", lambda g: g.transformWithState(given.Alarm(), "k INT, c BIGINT", "append", "eventTime"), "k INT"),
        ]  # fmt: skip
    name, step, _ = p.rng.choice(kinds)
    p.stateful, p.columns, p.marked = True, {"k": "int", "c": "int"}, False
    # A key that is null would be a float for pandas.
    p.add(f"state: {name}", lambda f: step(f.withColumn("k", F.coalesce("k", F.lit(7))).groupBy("k")))


def table_function(p: Program) -> None:
    """One that Spark asks for rows: it is refused, as it may keep something."""
    if not p.of("int") or "t" in p.columns:
        return
    column = p.rng.choice(p.of("int"))

    class Twice:
        def eval(self, n: int) -> Any:
            yield (n,)
            yield (n,)

    def step(f: Any) -> Any:
        f.sparkSession.udtf.register("twice", F.udtf(Twice, returnType="t: int").asDeterministic())
        f.createOrReplaceTempView("fuzzed")
        return f.sparkSession.sql(f"SELECT fuzzed.*, t FROM fuzzed, LATERAL twice(CAST({column} AS INT))")

    p.columns["t"] = "int"
    p.add(f"LATERAL twice({column})", step)
