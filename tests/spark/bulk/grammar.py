"""A grammar of programs: random compositions of operations, expressions and functions, with cases for them.

A program is drawn as a list of steps, each with the text that says what it does. The columns that a step leaves, with
their types, decide which steps can follow. Some programs are ones that Spark refuses; these are left out.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

import firesteel as fs
from firesteel.spark.running import Running
from tests.spark.bulk.grammar_parts import (
    doubled,
    dtype_of,
    from_largest,
    mapped,
    named,
    of_group,
    plus_one,
    remembering,
    with_state,
)

TYPES = {"ts": "time", "k": "int", "n": "int", "s": "text", "x": "real", "xs": "list"}
Step = tuple[str, Callable[[Any], Any]]


@dataclass
class Program:
    """A program under way: its steps, and the columns that it has so far."""

    rng: random.Random
    steps: list[Step] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=lambda: dict(TYPES))
    inputs: tuple[str, ...] = ("input",)
    mode: str = "append"
    marked: bool = False
    grouped: bool = False
    stateful: bool = False
    sorted: bool = False
    windows: str | None = None
    """The column with the time of windows, where there is one."""
    close: bool = True

    def add(self, text: str, step: Callable[[Any], Any]) -> None:
        self.steps.append((text, step))

    def of(self, *kinds: str) -> list[str]:
        """The columns of some types."""
        return [name for name, kind in self.columns.items() if kind in kinds]

    @property
    def subject(self) -> Callable[..., Any]:
        def of_one(frame: Any) -> Any:
            for _, step in self.steps:
                frame = step(frame)
            return frame

        return of_one if self.inputs == ("input",) else lambda left, right: of_one((left, right))

    @property
    def text(self) -> str:
        return f"{self.mode}, close={self.close}: " + " | ".join(text for text, _ in self.steps)

    @property
    def how(self) -> Running:
        over = None
        if self.windows is not None and self.mode == "append" and self.close and self.inputs == ("input",):
            over = fs.tumbling("10 minutes", on={"input": "ts", "output": self.windows})
        return Running(output_mode=self.mode, close=self.close, over=over)


# --- expressions ---


def expression(p: Program, kind: str, depth: int = 2) -> str:
    """A random expression in SQL, of a type."""
    rng = p.rng

    def sub(of: str) -> str:
        return expression(p, of, depth - 1)

    columns = p.of(kind)
    if depth <= 0 or rng.random() < 0.25:
        if columns and rng.random() < 0.8:
            return rng.choice(columns)
        return {"int": str(rng.randint(-3, 9)), "text": rng.choice(["'a'", "'b'", "''"]), "real": "0.5",
                "bool": "true", "list": "array(1, 2)", "time": "timestamp'2024-01-01 00:05:00'"}[kind]  # fmt: skip
    choices: dict[str, list[Callable[[], str]]] = {
        "int": [
            lambda: f"({sub('int')} {rng.choice('+-')} {sub('int')})",
            lambda: f"({sub('int')} % 5)",
            lambda: f"coalesce({sub('int')}, {sub('int')})",
            lambda: f"CASE WHEN {sub('bool')} THEN {sub('int')} ELSE {sub('int')} END",
            lambda: f"length({sub('text')})",
            lambda: f"size({sub('list')})",
            lambda: f"pmod(hash({sub('text')}, {sub('int')}), 7)",
            lambda: f"minute({sub('time')})",
            lambda: f"greatest({sub('int')}, {sub('int')})",
            lambda: f"aggregate({sub('list')}, 0, (a, b) -> a + coalesce(b, 0))",
            lambda: f"nullif({sub('int')}, 1)",
        ],
        "text": [
            lambda: f"concat({sub('text')}, {sub('text')})",
            lambda: f"upper({sub('text')})",
            lambda: f"cast({sub('int')} AS STRING)",
            lambda: f"substr(md5({sub('text')}), 1, 2)",
            lambda: f"concat_ws('-', {sub('text')}, {sub('text')})",
            lambda: f"date_format({sub('time')}, 'HH:mm')",
            lambda: f"coalesce({sub('text')}, 'none')",
        ],
        "real": [
            lambda: f"({sub('real')} + {sub('int')})",
            lambda: f"({sub('real')} * 0.1D)",
            lambda: f"sqrt(abs({sub('real')}))",
            lambda: f"cast({sub('int')} AS DOUBLE)",
            lambda: f"round({sub('real')}, 1)",
        ],
        "bool": [
            lambda: f"{sub('int')} > {sub('int')}",
            lambda: f"({sub('bool')} AND {sub('bool')})",
            lambda: f"({sub('bool')} OR {sub('bool')})",
            lambda: f"NOT ({sub('bool')})",
            lambda: f"{sub('text')} = {sub('text')}",
            lambda: f"{sub('int')} IS NULL",
            lambda: f"array_contains({sub('list')}, 1)",
            lambda: f"{sub('int')} IN (0, 1, 2)",
        ],
        "list": [
            lambda: f"array({sub('int')}, {sub('int')})",
            lambda: f"sort_array({sub('list')})",
            lambda: f"transform({sub('list')}, e -> e + 1)",
            lambda: f"filter({sub('list')}, e -> e > 1)",
            lambda: f"slice({sub('list')}, 1, 2)",
        ],
        "time": [lambda: f"{sub('time')} + INTERVAL 1 MINUTE", lambda: f"date_trunc('HOUR', {sub('time')})"],
    }  # fmt: skip
    return rng.choice(choices[kind])()


# --- steps ---


def select(p: Program) -> None:
    made = {}
    for name, kind in p.columns.items():
        if p.rng.random() < 0.7:
            made[name] = (name, kind)
    for number in range(p.rng.randint(0, 2)):
        kind = p.rng.choice(["int", "text", "real", "list"])
        made[f"c{number}"] = (expression(p, kind), kind)
    if p.marked and "ts" in p.columns:
        made["ts"] = ("ts", "time")
    if not p.of("int") or "k" in p.columns:
        made.setdefault("k", ("k", "int") if "k" in p.columns else ("1", "int"))
    texts = [f"{text} AS {name}" if text != name else name for name, (text, _) in made.items()]
    p.columns = {name: kind for name, (_, kind) in made.items()}
    p.add(f"select {', '.join(texts)}", lambda f: f.selectExpr(*texts))


def where(p: Program) -> None:
    text = expression(p, "bool")
    p.add(f"where {text}", lambda f: f.where(text))


def renamed(p: Program) -> None:
    names = [name for name in p.columns if name not in ("ts", "k")]
    if names:
        old = p.rng.choice(names)
        p.columns = {f"{old}_" if name == old else name: kind for name, kind in p.columns.items()}
        p.add(f"rename {old}", lambda f: f.withColumnRenamed(old, f"{old}_"))


def exploded(p: Program) -> None:
    if p.of("list"):
        column = p.rng.choice(p.of("list"))
        outer = p.rng.choice(["explode", "explode_outer"])
        kept = [name for name in p.columns if name not in (column, "e")]
        p.columns = {name: p.columns[name] for name in kept} | {"e": "int"}
        p.add(f"{outer} {column}", lambda f: f.selectExpr(*kept, f"{outer}({column}) AS e"))


def united(p: Program) -> None:
    text = expression(p, "bool")
    p.add(f"union with where {text}", lambda f: f.union(f.where(text)))


def spread(p: Program) -> None:
    what = p.rng.choice(["repartition 2", "repartition k", "coalesce"])
    if what == "repartition k" and "k" not in p.columns:
        return
    steps = {"repartition 2": lambda f: f.repartition(2), "repartition k": lambda f: f.repartition(2, "k"),
             "coalesce": lambda f: f.coalesce(1)}  # fmt: skip
    p.add(what, steps[what])


def joined_static(p: Program) -> None:
    if "k" not in p.columns or "name" in p.columns:
        return
    kind = p.rng.choice(["inner", "left", "left_semi", "left_anti"])

    def step(f: Any) -> Any:
        names = f.sparkSession.createDataFrame([(0, "zero"), (1, "one"), (1, "uno")], "k INT, name STRING")
        return f.join(names, "k", kind)

    p.columns = {"k": "int", **{name: kind_ for name, kind_ in p.columns.items() if name != "k"}}
    if kind in ("inner", "left"):
        p.columns["name"] = "text"
    p.add(f"static {kind} join", step)


def python_function(p: Program) -> None:
    column = p.rng.choice(p.of("int"))
    made: list[tuple[str, Callable[[], Any], str]] = [
        ("doubled", lambda: F.udf(doubled, "int"), "int"),
        ("named", lambda: F.udf(named, "string"), "text"),
        ("plus_one", lambda: plus_one, "int"),
        ("from_largest", lambda: from_largest, "int"),
        ("dtype_of", lambda: dtype_of, "text"),
        ("remembering", lambda: F.udf(remembering(), "int"), "int"),
    ]
    name, function, kind = p.rng.choices(made, [4, 3, 3, 3, 3, 1])[0]
    p.columns["u"] = kind
    p.add(f"u = {name}({column})", lambda f: f.withColumn("u", function()(column)))


def python_map(p: Program) -> None:
    if "k" in p.columns and not p.grouped:
        p.columns, p.marked, p.windows = {"k": "int", "place": "int"}, False, None
        p.add("mapInPandas", lambda f: f.mapInPandas(mapped, "k INT, place INT"))


def python_group(p: Program) -> None:
    if "k" not in p.columns or p.stateful:
        return
    kept = ["k", p.rng.choice(list(p.columns))]
    p.columns, p.marked, p.windows = {"k": "int", "c": "int", "seen": "text"}, False, None
    p.add(f"applyInPandas of {kept[1]}",
          lambda f: f.selectExpr(kept[0], f"{kept[1]} AS v").groupBy("k").applyInPandas(
              of_group, "k INT, c INT, seen STRING"))  # fmt: skip


def python_state(p: Program) -> None:
    if "k" not in p.columns or p.stateful:
        return
    p.stateful, p.columns, p.marked, p.windows = True, {"k": "int", "c": "int"}, False, None
    p.add("applyInPandasWithState",
          lambda f: f.groupBy("k").applyInPandasWithState(with_state, "k INT, c INT", "c INT", "append",
                                                          GroupStateTimeout.NoTimeout))  # fmt: skip


def deduplicated(p: Program) -> None:
    if p.stateful:
        return
    p.stateful = True
    if p.marked and "ts" in p.columns and p.rng.random() < 0.5:
        p.add("dropDuplicatesWithinWatermark k", lambda f: f.dropDuplicatesWithinWatermark(["k"]))
        return
    keys = [name for name in p.columns if p.rng.random() < 0.5] or list(p.columns)[:1]
    p.add(f"dropDuplicates {keys}", lambda f: f.dropDuplicates(keys))


def distinct(p: Program) -> None:
    if not p.stateful:
        p.stateful = True
        p.add("distinct", lambda f: f.distinct())


AGGREGATES = {
    "int": ["max({c})", "min({c})", "count({c})", "sum({c})", "avg({c})", "first({c})", "collect_list({c})",
            "approx_count_distinct({c})", "percentile_approx({c}, 0.5)", "bit_xor({c})", "count_if({c} > 1)",
            "stddev({c})", "last({c})", "mode({c})", "percentile({c}, 0.5)", "any_value({c})"],
    "real": ["sum({c})", "max({c})", "avg({c})", "max_by({c}, {c})", "variance({c})"],
    "text": ["max({c})", "count({c})", "collect_set({c})", "first({c}, true)", "listagg({c}, ',')"],
}  # fmt: skip


def aggregated(p: Program) -> None:
    if p.grouped or (p.stateful and not p.marked):
        return
    rng = p.rng
    results, kinds = [], {}
    for number in range(rng.randint(1, 3)):
        kind = rng.choice([kind for kind in AGGREGATES if p.of(kind)])
        column = rng.choice(p.of(kind))
        text = rng.choice(AGGREGATES[kind]).format(c=column)
        results.append(f"{text} AS a{number}")
        kinds[f"a{number}"] = (
            "list" if "collect" in text else "text" if kind == "text" and "count" not in text else "int"
        )
    window = {
        "tumbling": "window(ts, '10 minutes')", "sliding": "window(ts, '20 minutes', '10 minutes')",
        "session": "session_window(ts, '5 minutes')",
    }  # fmt: skip
    which = rng.choice([*window, None, None]) if "ts" in p.columns else None
    if which is None:
        keys = [name for name in p.columns if p.columns[name] in ("int", "text")][: rng.randint(1, 2)]
        p.mode = rng.choice(["update", "complete"])
        p.add(f"groupBy {keys} agg {results}", lambda f: f.groupBy(*keys).agg(*map(F.expr, results)))
        p.columns = {**{name: p.columns[name] for name in keys}, **kinds}
    else:
        keys = ["k"] if "k" in p.columns and (which == "session" or rng.random() < 0.7) else []
        p.mode = (
            rng.choice(["append", "append", "update", "complete"]) if p.marked else rng.choice(["update", "complete"])
        )
        if which == "session" and p.mode == "update":
            p.mode = "complete"
        named_window = "session_window" if which == "session" else "window"

        def step(f: Any) -> Any:
            made = f.groupBy(F.expr(window[which]), *keys).agg(*map(F.expr, results))
            return made.withColumn("at", F.window_time(named_window) if which != "session"
                                   else F.col("session_window.end")).drop(named_window)  # fmt: skip

        p.add(f"groupBy {which} {keys} agg {results}", step)
        p.columns = {**dict.fromkeys(keys, "int"), **kinds, "at": "time"}
        p.windows = "at" if which == "tumbling" and rng.random() < 0.7 else None
    p.grouped = p.stateful = True
    p.marked = False


def ordered(p: Program) -> None:
    if p.mode == "complete" and p.of("int"):
        column = p.rng.choice(p.of("int"))
        p.add(f"orderBy {column}", lambda f: f.orderBy(column))


def self_joined(p: Program) -> None:
    if p.stateful or p.marked or "k" not in p.columns:
        return
    p.stateful = True
    p.add("self-join on k", lambda f: f.alias("a").join(f.select(F.col("k").alias("kk")).alias("b"), F.expr("k = kk")))
    p.columns["kk"] = "int"


def in_sql(p: Program) -> None:
    texts = [f"{name} AS {name}" for name in p.columns]
    condition = expression(p, "bool", 1)

    def step(f: Any) -> Any:
        f.createOrReplaceTempView("fuzzed")
        return f.sparkSession.sql(
            f"WITH w AS (SELECT * FROM fuzzed) SELECT {', '.join(texts)} FROM w WHERE {condition}"
        )

    p.add(f"SQL where {condition}", step)


STEPS = [(select, 4), (where, 3), (renamed, 1), (exploded, 2), (united, 2), (spread, 1), (joined_static, 2),
         (python_function, 3), (python_map, 1), (python_group, 1), (python_state, 1), (deduplicated, 2), (distinct, 1),
         (aggregated, 6), (ordered, 2), (self_joined, 1), (in_sql, 1)]  # fmt: skip


def program(rng: random.Random) -> Program:
    """A random program."""
    p = Program(rng)
    if rng.random() < 0.2:
        p.inputs = ("left", "right")
        if rng.random() < 0.5:
            p.add("left union right", lambda frames: frames[0].union(frames[1]))
        else:
            p.add("left join right on k",
                  lambda frames: frames[0].join(frames[1].selectExpr("k", "n AS m", "s AS t"), "k"))  # fmt: skip
            p.columns = {
                "k": "int",
                **{name: kind for name, kind in TYPES.items() if name != "k"},
                "m": "int",
                "t": "text",
            }
            p.stateful = True
    elif rng.random() < 0.45:
        p.marked = True
        p.add("withWatermark ts", lambda f: f.withWatermark("ts", "5 minutes"))
    p.close = rng.random() < 0.7
    steps, weights = zip(*STEPS, strict=True)
    for _ in range(rng.randint(1, 5)):
        rng.choices(steps, weights)[0](p)
    return p
