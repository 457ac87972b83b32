"""Steps that are operations of Spark's own."""

from typing import Any

from pyspark.sql import functions as F

from tests.spark.bulk.grammar.programs import Program, expression


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
    if p.of("list") and not {"e", "e_"} & set(p.columns):
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


def _kind(aggregate: str, of: str) -> str:
    """The type of what an aggregate makes of values of a type; numbers are all alike here."""
    if "collect" in aggregate:
        return "list" if of == "int" else "texts"
    return "text" if of == "text" and "count" not in aggregate else "int"


def aggregated(p: Program) -> None:
    if p.grouped or (p.stateful and not p.marked):
        return
    rng = p.rng
    results, kinds = [], {}
    for number in range(rng.randint(1, 3)):
        kind = rng.choice([kind for kind in AGGREGATES if p.of(kind)])
        column = rng.choice(p.of(kind))
        text = rng.choice(AGGREGATES[kind]).format(c=column)
        if rng.random() < 0.1:
            text += f" FILTER (WHERE {expression(p, 'bool', 1)})"
        results.append(f"{text} AS a{number}")
        kinds[f"a{number}"] = _kind(text, kind)
    window = {
        "tumbling": "window(ts, '10 minutes')", "sliding": "window(ts, '20 minutes', '10 minutes')",
        "session": "session_window(ts, '5 minutes')",
    }  # fmt: skip
    which = rng.choice([*window, None, None]) if "ts" in p.columns else None
    if which is None:
        keys = [name for name in p.columns if p.columns[name] in ("int", "text")][: rng.randint(1, 2)]
        p.mode = rng.choice(["update", "complete"])
        how = rng.choices(["groupBy", "rollup", "cube"], [6, 1, 1])[0]
        p.add(f"{how} {keys} agg {results}", lambda f: getattr(f, how)(*keys).agg(*map(F.expr, results)))
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
        if which == "tumbling" and p.mode == "append" and rng.random() < 0.2:
            _aggregated_again(p)
    p.grouped = p.stateful = True
    p.marked = False


def _aggregated_again(p: Program) -> None:
    """Windows of windows, which wait for them."""
    counted = next(name for name in p.columns if name != "at")
    p.add(f"groupBy window of windows agg max {counted}",
          lambda f: f.groupBy(F.window("at", "30 minutes")).agg(F.count("*").alias("c"), F.max(counted).alias("m"))
          .withColumn("at", F.window_time("window")).drop("window"))  # fmt: skip
    p.columns = {"c": "int", "m": p.columns[counted], "at": "time"}


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


def lateral(p: Program) -> None:
    """A subquery of a record's own values, or a generator beside it."""
    if not p.of("int") or "l" in p.columns:
        return
    text = expression(p, "int", 1)
    column = p.rng.choice(p.of("int"))
    source = p.rng.choice(
        [f"fuzzed, LATERAL (SELECT {text} AS l)", f"fuzzed LATERAL VIEW explode(array({column}, 3)) AS l"]
    )

    def step(f: Any) -> Any:
        f.createOrReplaceTempView("fuzzed")
        return f.sparkSession.sql(f"SELECT fuzzed.*, l FROM {source}")

    p.columns["l"] = "int"
    p.add(source, step)


def in_static_subquery(p: Program) -> None:
    if "k" in p.columns:
        text = p.rng.choice(["k IN (SELECT id FROM range(2))", "k > (SELECT min(id) FROM range(3))",
                             "EXISTS (SELECT 1 FROM range(2) WHERE id = k)"])  # fmt: skip

        def step(f: Any) -> Any:
            f.createOrReplaceTempView("fuzzed")
            return f.sparkSession.sql(f"SELECT * FROM fuzzed WHERE {text}")

        p.add(f"where {text}", step)


def marked(p: Program) -> None:
    """A watermark that is not right above the source."""
    if "ts" in p.columns and not p.marked and not p.stateful and p.inputs == ("input",):
        p.marked = True
        text = p.rng.choice(["ts", "ts", "ts + INTERVAL 3 MINUTES", "date_trunc('MINUTE', ts)", "coalesce(ts, ts)"])
        p.add(f"withWatermark {text}", lambda f: f.withColumn("ts", F.expr(text)).withWatermark("ts", "5 minutes"))


def in_sql(p: Program) -> None:
    texts = [f"{name} AS {name}" for name in p.columns]
    condition = expression(p, "bool", 1)

    def step(f: Any) -> Any:
        f.createOrReplaceTempView("fuzzed")
        return f.sparkSession.sql(
            f"WITH w AS (SELECT * FROM fuzzed) SELECT {', '.join(texts)} FROM w WHERE {condition}"
        )

    p.add(f"SQL where {condition}", step)
