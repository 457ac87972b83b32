"""Models of Spark programs give what Spark gives, on data that Hypothesis draws."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel.cli.main import main
from firesteel.errors import InvalidArgument
from firesteel.model import msvl
from firesteel.model.translate.events import real_stages, trace
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


# --- TopN, the paper's case study ---


def top_n(sc: Any, path: Path) -> list[tuple[str, int]]:
    lines = sc.textFile(str(path), 5)
    urls = lines.filter(lambda x: len(x.split(" ")) > 10).map(lambda x: x.split(" ")[10])
    ones = urls.map(lambda x: (x, 1))
    return ones.reduceByKey(lambda a, b: a + b).sortBy(lambda kv: kv[1], ascending=False).take(5)


def click_log(path: Path, lines: int, urls: int) -> Path:
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(lines):
            fields = [f"f{draw.randrange(100)}" for _ in range(draw.choice([4, 12, 13, 14]))]
            if len(fields) > 10:
                fields[10] = f"/page/{min(draw.randrange(urls), draw.randrange(urls))}"
            file.write(" ".join(fields) + "\n")
    return path


FIGURE_6 = (
    '(ReadWords1("TopN.txt")||Filter1(2,1)||Filter1(2,2)||Filter1(2,3)||Filter1(2,4)||Filter1(2,5)||Map1(3,1)||'
    "Map1(3,2)||Map1(3,3)||Map1(3,4)||Map1(3,5)||Map2(4,1)||Map2(4,2)||Map2(4,3)||Map2(4,4)||Map2(4,5)||"
    'shuffle1(5,"reduceByKey"));(ReduceByKey1(1)||ReduceByKey1(2)||ReduceByKey1(3)||ReduceByKey1(4)||'
    "ReduceByKey1(5)||SortBy(2));Take(5)"
)

RULES = {
    "the sort never starts before the reduction is complete": "[] (stage_2_runs -> stage_1_done)",
    "nothing is taken before it is sorted": "[] (taken -> stage_2_done)",
    "buffers stay small": "[] small",
    "every url that is counted was read": "[] (stage_1_done -> all_read) and <> stage_1_done",
}
COUNTED = "[kv[0] for kv in flat([reduceByKey1_0, reduceByKey1_1, reduceByKey1_2, reduceByKey1_3, reduceByKey1_4])]"
READ = "tomap([(url, 1) for url in flat([map1_0, map1_1, map1_2, map1_3, map1_4])])"
MEANING = {
    "taken": "!(take1 = null) AND size(take1) > 0",
    "small": " AND ".join(f"size(map2_{p}) < 200" for p in range(5)),
    "all_read": f"let read = {READ} in all([contains(read, url) for url in {COUNTED}])",
}


def used(rule: str) -> dict[str, str]:
    return {name: text for name, text in MEANING.items() if name in rule}


@pytest.fixture(scope="module")
def topn(spark, tmp_path_factory):
    path = click_log(tmp_path_factory.mktemp("clicks") / "TopN.txt", 400, 30)
    with fs.events(spark) as log, fs.capture(spark) as dag:
        real = top_n(spark.sparkContext, path)
    return dag, real, list(log)


@pytest.mark.slow
def test_top_n(topn):
    dag, real, _ = topn
    found = msvl.load(dag.msvl()).run()
    # Ties among the counts are broken by the order in which urls come out of the reduction.
    assert [count for _, count in found[0]] == [count for _, count in real]
    assert found == [real]


@pytest.mark.slow
def test_top_n_with_other_inputs(topn):
    model = msvl.load(topn[0].msvl())
    line = "0 1 2 3 4 5 6 7 8 9 /url x"
    other = [[line, "dirty"], [line.replace("/url", "/b")], [], [line], ["", line]]
    assert model.run({"textFile1": other}) == [[("/url", 3), ("/b", 1)]]
    with pytest.raises(msvl.MsvlError, match="it needs a list of 5"):
        model.run({"textFile1": [[line]]})


@pytest.mark.slow
def test_the_paper_prints_top_n_like_this(topn):
    assert topn[0].msvl(style="paper") == FIGURE_6


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_what_holds_of_top_n(topn, name):
    model = msvl.load(topn[0].msvl())
    assert fs.verify(model, RULES[name], propositions=used(RULES[name])).verdict is fs.Verdict.TRUE


SORTED, UNSORTED = (", ".join(f"{name}_{p}" for p in range(5)) for name in ("sortBy1", "reduceByKey1"))
ONE = "map2_f(records[i])"
PLANTED = {
    # A task of the sort does not wait.
    "the sort never starts before the reduction is complete": ("(await(stage_1_done()) ; runs_2_0", "(runs_2_0"),
    # The driver takes what is not sorted yet.
    "nothing is taken before it is sorted": (
        f"(await(stage_2_done()) ; Take1([{SORTED}]",
        f"(await(stage_1_done()) ; Take1([{UNSORTED}]",
    ),
    # Every record is put out five times.
    "buffers stay small": (f"append(out, {ONE})", f"extend(out, [{ONE}, {ONE}, {ONE}, {ONE}, {ONE}])"),
    # The shuffle changes the urls.
    "every url that is counted was read": (
        "out[mod(keyhash(pairs[i][0]), 5)], pairs[i])",
        'out[mod(keyhash(pairs[i][0]), 5)], (pairs[i][0] + "/", 1))',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_a_planted_bug_is_refuted(topn, name):
    written, wrong = PLANTED[name]
    text = topn[0].msvl()
    assert written in text
    with pytest.raises(fs.Falsified):
        fs.verify(msvl.load(text.replace(written, wrong)), RULES[name], propositions=used(RULES[name]))


STAGES = [
    "[] (stage_2_runs -> stage_1_done)",
    "[] (stage_1_runs -> stage_0_done)",
    "<> stage_2_done",
    "[] not (stage_0_runs and stage_1_runs)",
    "not stage_2_runs until stage_1_done",
    "[] (stage_0_done -> [] not stage_0_runs)",
    "<> (stage_0_runs and stage_2_runs)",
    "[] (stage_1_done -> stage_2_done)",
    "stage_0_done",
    "[] not stage_1_runs",
]


@pytest.mark.slow
@pytest.mark.parametrize("rule", STAGES)
def test_the_real_run_answers_like_the_model(topn, rule):
    dag, _, events = topn
    builder = built(dag.program)
    assert sorted(real_stages(builder)) == [0, 1, 2]

    def verdict(source: Any) -> Any:
        try:
            return fs.verify(source, rule).verdict
        except fs.Falsified:
            return fs.Verdict.FALSE

    assert verdict(msvl.load(dag.msvl())) is verdict(trace(builder, events))


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
