"""Models of Spark programs give what Spark gives, on data that Hypothesis draws."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel.cli.main import main
from firesteel.errors import InvalidArgument
from firesteel.model import msvl
from firesteel.model.translate.model import built
from firesteel.model.translate.paper import shape
from tests.model.frame_programs import FRAMES
from tests.model.spark_programs import CASES, PAIRS, TEXTS, Case, plain

PARTITIONS = st.integers(1, 3)


def compared(case: Case, real: list[Any], modelled: list[Any]) -> tuple[list[Any], list[Any]]:
    """Both results, so that they are equal where the case says so."""
    assert len(real) == len(modelled) == len(case.equal)
    return (
        [equal(plain(result)) for equal, result in zip(case.equal, real, strict=True)],
        [equal(plain(result)) for equal, result in zip(case.equal, modelled, strict=True)],
    )


def check(spark: Any, case: Case, data: Any, n: int) -> None:
    with fs.capture(spark) as dag:
        real = case.run(spark if case in FRAMES else spark.sparkContext, data, n)
    model = msvl.load(dag.msvl())
    assert model.externals == ()
    expected, found = compared(case, real, model.run())
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, *FRAMES], ids=lambda case: case.name)
def test_the_model_gives_what_spark_gives(spark, case):
    @settings(max_examples=5, suppress_health_check=list(HealthCheck))
    @given(case.data, PARTITIONS)
    def run(data, n):
        check(spark, case, data, n)

    run()


@pytest.mark.sweep
@pytest.mark.parametrize("case", [*CASES, *FRAMES], ids=lambda case: case.name)
def test_the_model_gives_what_spark_gives_many_times(spark, case, sweep_seed):
    @seed(sweep_seed)
    @settings(max_examples=50, suppress_health_check=list(HealthCheck), database=None)
    @given(case.data, PARTITIONS)
    def run(data, n):
        check(spark, case, data, n)

    run()


# --- programs that are captured once ---

FIXED = {
    id(PAIRS): [("a", 3), ("b", -2), ("a", 5), ("dd", 7), ("é", 0), ("", 2), ("b", 9), ("a", 3), ("dd", 7), ("dd", 1)],
    id(TEXTS): ["a b a", "", "dd é", "b a  c", "c", "a c"],
}
NUMBERS = [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5]
NAMED = {case.name: case for case in CASES}

DEFECTS = {
    # operation: program, what is written, what the defect writes instead
    "filter": ("keyed", "if filter1_f(records[i]) then", "if !filter1_f(records[i]) then"),
    "map": ("word_count", "append(out, map1_f(records[i]))", "append(out, (records[i], 2))"),
    "flatMap": ("word_count", "extend(out, tolist(flatMap1_f(records[i])))", "append(out, records[i])"),
    "reduceByKey": ("word_count", "= a + b;", "= a;"),
    "groupByKey": ("inverted_index", "extend(merged[x[0]], x[1])", "merged[x[0]]"),
    "join": ("nested_joins", "if t[0] = 2]", "if t[0] = 1]"),
    "fullOuterJoin": ("joins", "[(k, (v, w)) for v in (size(side1) = 0", "[(k, (v, w)) for v in (size(side1) = 9"),
    "sortBy": ("sorting", "for x in records], true)", "for x in records], false)"),
    "distinct": ("two_actions", "out := append(out, pairs[i][0])", "out := extend(out, [pairs[i][0], 1])"),
    "zipWithIndex": ("inverted_index", "start + i", "i"),
    "combineByKey": ("average", "a[1] + b[1]", "a[1]"),
    "partitionBy": ("secondary_sort", "records[i][0]), 3)", "records[i][0]) + 1, 3)"),
    "cartesian": ("crossed", "right[i % size(right)]", "right[0]"),
    "intersection": ("sets", "size(side1) = 0 OR size(side2) = 0", "size(side1) = 0 AND size(side2) = 0"),
    "takeOrdered": ("extremes", "false), 0, 3)", "true), 0, 3)"),
    "cogroup": ("cogrouped", "(side1, side2)", "(side2, side1)"),
    "union": ("aggregates", "Union1(parallelize2_0, union1_3)", "Union1([], union1_3)"),
}


@pytest.fixture(scope="module")
def captured(spark):
    """A program of each name that is asked for, captured with data that never changes, with Spark's results."""
    found: dict[str, tuple[Any, list[Any]]] = {}

    def of(name: str) -> tuple[Any, list[Any]]:
        if name not in found:
            case = NAMED[name]
            with fs.capture(spark) as dag:
                real = case.run(spark.sparkContext, FIXED.get(id(case.data), NUMBERS), 3)
            found[name] = dag, real
        return found[name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("operation", DEFECTS)
def test_a_planted_defect_is_caught(captured, operation):
    name, written, wrong = DEFECTS[operation]
    dag, real = captured(name)
    assert operation in {each.name for each in (*dag.operations, *dag.actions)}
    text = dag.msvl()
    assert written in text, text
    expected, found = compared(NAMED[name], real, msvl.load(text).run())
    assert found == expected
    try:
        _, found = compared(NAMED[name], real, msvl.load(text.replace(written, wrong)).run())
    except msvl.RunError:
        return
    assert found != expected


@pytest.mark.slow
def test_models_run_where_pyspark_cannot_be_imported(captured, tmp_path):
    names = ["word_count", "diamond", "sorting", "average"]
    for name in names:
        captured(name)[0].msvl(path=tmp_path / f"{name}.m")
    script = (
        "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None\n"
        "from firesteel.model import msvl\n"
        "print([msvl.load(path).run() for path in sys.argv[1:]])\n"
    )
    files = [str(tmp_path / f"{name}.m") for name in names]
    done = subprocess.run(
        [sys.executable, "-c", script, *files], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == repr([captured(name)[1] for name in names])


@pytest.mark.slow
def test_the_papers_form_of_a_diamond_has_each_stage_once(captured):
    assert shape(built(captured("diamond")[0].program)) == "0;(1||2);3"
    with pytest.raises(InvalidArgument, match=r"the stages .* are neither in series nor in parallel"):
        captured("not_series_parallel")[0].msvl(style="paper")


# --- files, the command line, and what is refused ---


@pytest.mark.slow
def test_a_model_from_the_command_line(spark, tmp_path, capsys):
    script = tmp_path / "count.py"
    script.write_text(
        "import sys\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        "words = spark.sparkContext.parallelize(sys.argv[1:], 2)\n"
        "print(words.map(lambda w: (w, 1)).reduceByKey(lambda a, b: a + b).sortByKey().collect())\n"
        "spark.stop()\n"
    )
    model = tmp_path / "count.m"
    assert main(["model", str(script), "-o", str(model), "--", "b", "a", "b"]) == 0
    assert spark.sparkContext.parallelize([1]).count() == 1
    capsys.readouterr()
    assert main(["model", "run", str(model)]) == 0
    assert json.loads(capsys.readouterr().out) == [[["a", 1], ["b", 2]]]
    assert main(["model", "verify", str(model), "--formula", "[] (stage_1_runs -> stage_0_done)"]) == 0
    assert main(["model", str(tmp_path / "missing.py"), "-o", str(model)]) == 2
    assert "is not a file" in capsys.readouterr().err


@pytest.mark.slow
def test_errors_of_ansi_mode_are_errors_of_the_model(spark):
    with fs.capture(spark) as dag:
        real = spark.createDataFrame([(1,), (-5,)], "v int").selectExpr("10 / v", "v + 2147483646").collect()
    model = msvl.load(dag.msvl())
    assert sorted(model.run()[0]) == sorted(map(tuple, real))
    (name,), (size,) = model.inputs, model.source.inputs[0].sizes

    def run(value: int) -> Any:
        return model.run({name: [[(value,)], *([[]] * (size.value - 1))]})

    assert run(-10) == [[(-1.0, 2147483636)]]
    with pytest.raises(msvl.RunError, match="division by zero"):
        run(0)
    with pytest.raises(msvl.RunError, match="is not between -2147483648 and 2147483647"):
        run(2)


@pytest.mark.slow
def test_what_has_no_translation_in_a_plan_is_refused_by_name(spark):
    with fs.capture(spark) as dag:
        spark.range(3).selectExpr("rand(1)").collect()
    with pytest.raises(InvalidArgument, match="the expression Rand has no translation"):
        dag.msvl()
    with fs.capture(spark) as dag:
        spark.range(3).rdd.map(lambda row: row[0]).collect()
    with pytest.raises(InvalidArgument, match="mixes RDDs, DataFrames and streams"):
        dag.msvl()


@pytest.mark.slow
def test_long_data_is_in_a_file_beside_the_text(spark, tmp_path):
    data = [f"line {number} of a text that is long enough" for number in range(4000)]
    with fs.capture(spark) as dag:
        count = spark.sparkContext.parallelize(data, 2).filter(lambda line: "7" in line).count()
    text = dag.msvl(path=tmp_path / "long.m")
    assert len(text) < 5_000
    assert sorted(os.listdir(tmp_path)) == ["long.data.json", "long.m"]
    assert msvl.load(tmp_path / "long.m").run() == [count]
    assert "parallelize1 is too long for the text" in dag.msvl()
    with pytest.raises(msvl.MsvlError, match="the program needs the input 'parallelize1'"):
        msvl.load(dag.msvl()).run()


@pytest.mark.slow
def test_what_is_saved_and_other_ways_to_the_same(spark, tmp_path):
    sc = spark.sparkContext
    with fs.capture(spark) as dag:
        pairs = sc.parallelize([("a", 1), ("b", 2), ("a", 3)], 2)
        pairs.saveAsTextFile(str(tmp_path / "saved"))
        pairs.foreachPartition(lambda part: None)
        real = [
            pairs.keys().collect(),
            pairs.values().collect(),
            pairs.reduceByKey(lambda a, b: a + b).collectAsMap(),
            list(pairs.toLocalIterator()),
            pairs.groupWith(pairs.mapValues(lambda v: -v))
            .mapValues(lambda sides: [list(each) for each in sides])
            .collect(),
            sc.emptyRDD().collect(),
            pairs.union(sc.emptyRDD()).collect(),
        ]
    lines = [path.read_text().splitlines() for path in sorted((tmp_path / "saved").glob("part-*"))]
    saved, nothing, *others = msvl.load(dag.msvl()).run()
    assert saved == lines == [["('a', 1)"], ["('b', 2)", "('a', 3)"]] and nothing is None
    assert [plain(each) for each in others] == [plain(each) for each in real]


@pytest.mark.slow
def test_what_has_no_translation_is_named(spark):
    rdd = spark.sparkContext.parallelize([3, 1, 2], 2)

    def recursive(n):
        return 0 if n == 0 else recursive(n - 1)

    with fs.capture(spark) as dag:
        piped = spark.sparkContext.parallelize(["a"], 1).pipe("cat").map(lambda x: x + "!").collect()
        sampled = spark.sparkContext.parallelize(range(20), 2).sample(False, 0.5, 3).collect()
        spark.sparkContext.parallelize([2], 1).map(recursive).collect()
    text = dag.msvl()
    assert "// pipe1 comes from outside: the operation pipe (" in text
    assert "test_spark_models.py" in text
    assert "// recursive comes from outside: it calls itself" in text
    assert "'fraction': 0.5, 'seed': 3" in text
    model = msvl.load(text)
    assert model.externals == ("pipe1", "recursive", "sample1")
    with pytest.raises(msvl.MsvlError, match="the program calls ext pipe1, which is not supplied"):
        model.run()

    def sample(p: int, records: list[int]) -> list[int]:
        draw = random.Random(3 ^ p)
        for _ in range(10):
            draw.randint(0, 1)
        return [each for each in records if draw.random() < 0.5]

    given = {"pipe1": lambda p, records: records, "recursive": recursive, "sample1": sample}
    assert model.run(externals=given) == [piped, sampled, [0]]

    with fs.capture(spark) as dag:
        spark.sparkContext.parallelize([{1, 2}], 1).collect()
    with pytest.raises(InvalidArgument, match="the records of parallelize1 cannot be those of a model: set"):
        dag.msvl()
    with fs.capture(spark) as dag:
        rdd.map(lambda x: x)
    with pytest.raises(InvalidArgument, match="this program has no action"):
        dag.msvl()
    with pytest.raises(InvalidArgument, match="style='other'"):
        dag.msvl(style="other")
