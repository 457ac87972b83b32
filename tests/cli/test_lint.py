"""`firesteel lint SCRIPT` on whole programs: what it prints, how it ends, and programs that do not end well."""

import json

import pytest

from firesteel.cli.lint import FAILED, FOUND, REFUSED
from firesteel.cli.main import main

HEAD = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("mine").getOrCreate()
"""
TAKES = HEAD + "print('hello')\nprint(spark.range(9).repartition('id').first())\nspark.stop()\n"


@pytest.fixture
def linted(spark, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(source, *arguments, name="job.py", after=(), quick=True):
        (tmp_path / name).write_text(source)
        code = main(["lint", *(["--quick"] if quick else []), *arguments, name, *after])
        return code, capsys.readouterr()

    return run


def rules(out):
    return [one["rule"] for one in json.loads(out)["findings"]]


@pytest.mark.slow
def test_findings_as_text_json_and_sarif(linted, spark):
    code, said = linted(TAKES)
    assert code == FOUND and "job.py:5: error: first takes whichever rows arrive first" in said.out
    assert "hello" in said.err and "hello" not in said.out
    code, said = linted(TAKES, "--format", "json")
    assert code == FOUND and rules(said.out) == ["take-without-order"]
    code, said = linted(TAKES, "--format", "sarif")
    (result,) = json.loads(said.out)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "job.py"
    assert spark.range(1).count() == 1, "the program could not stop the session"


@pytest.mark.slow
def test_what_makes_it_fail(linted, tmp_path):
    tied = HEAD + "spark.range(9).selectExpr('id % 2 as k', 'id').orderBy('k').first()\n"
    assert linted(tied)[0] == 0 and linted(tied, "--fail-on", "warning")[0] == FOUND
    assert linted(TAKES, "--fail-on", "never")[0] == 0
    assert linted(TAKES, "--ignore", "take-without-order")[0] == 0
    (tmp_path / "pyproject.toml").write_text('[tool.firesteel.lint]\nignore = ["take-without-order"]\n')
    assert linted(TAKES)[0] == 0
    (tmp_path / "pyproject.toml").write_text('[tool.firesteel.lint]\nfail-on = "warning"\n')
    assert linted(tied)[0] == FOUND


@pytest.mark.slow
def test_old_findings_stay_out(linted, tmp_path):
    assert linted(TAKES, "--write-baseline", "old.json")[0] == 0
    code, said = linted("\n\n" + TAKES, "--baseline", "old.json")
    assert code == 0 and "1 finding of the baseline is left out" in said.out
    more = TAKES.replace("spark.stop()", "spark.range(9).repartition('id').head()\n")
    code, said = linted(more, "--baseline", "old.json", "--format", "json")
    assert code == FOUND and [one["line"] for one in json.loads(said.out)["findings"]] == [6]


@pytest.mark.slow
def test_the_first_baseline_of_a_project(linted, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.firesteel.lint]\nbaseline = "old.json"\nseconds = 90\n')
    assert linted(TAKES)[0] == REFUSED
    assert linted(TAKES, "--write-baseline", "old.json")[0] == 0
    code, said = linted(TAKES)
    assert code == 0 and "nothing new was found" in said.out


@pytest.mark.slow
def test_a_comment_switches_a_rule_off(linted):
    commented = TAKES.replace(".first())", ".first())  # firesteel: ignore[take-without-order]")
    code, said = linted(commented, "--format", "json")
    assert code == 0 and json.loads(said.out) == {"findings": [], "notes": []}


@pytest.mark.slow
def test_both_results_are_shown(linted):
    """Without --quick what is found is run again, and reducers are tested."""
    source = HEAD + (
        "numbers = spark.sparkContext.parallelize([(0, n) for n in range(6)], 3)\n"
        "numbers.groupByKey(1).mapValues(list).collect()\n"
        "numbers.mapValues(str).reduceByKey(lambda a, b: a + b, 1).collect()\n"
    )
    code, said = linted(source, quick=False)
    assert code == FOUND and "[0, 1, 2, 3, 4, 5]" in said.out and "[4, 5, 2, 3, 0, 1]" in said.out
    assert "seen       two runs, in which shuffled rows arrive in opposite orders, gave (0, [0, 1" in said.out
    assert "gave (0, '012345') and (0, '452301')" in said.out
    code, said = linted(source)
    assert "two runs" not in said.out and "`a + b` of reduceByKey was not tested (nothing is run again)" in said.out


@pytest.mark.slow
def test_programs_with_a_context_of_their_own_and_arguments(linted):
    source = (
        "import sys\nfrom pyspark import SparkContext\nsc = SparkContext(appName='old')\n"
        "sc.parallelize(sys.argv[1:], 2).map(lambda w: (w, 1)).groupByKey().first()\nsc.stop()\n"
    )
    code, said = linted(source, "--format", "json", after=["a", "b"])
    assert code == FOUND and rules(said.out) == ["take-without-order"]


@pytest.mark.slow
def test_programs_that_fail(linted):
    code, said = linted(HEAD + "spark.range(3).repartition('id').first()\nspark.table('not_there').show()\n")
    assert code == FOUND
    assert "the program failed: it raised AnalysisException" in said.out and "not_there" in said.out
    code, said = linted(HEAD + "raise SystemExit(4)\n")
    assert code == FAILED and "exit code 4" in said.out and "nothing was captured" in said.out


@pytest.mark.slow
def test_a_stream_that_never_ends(linted, spark):
    source = HEAD + (
        "counts = spark.readStream.format('rate').load().groupBy('value').count()\n"
        "query = counts.writeStream.format('noop').outputMode('update').start()\nquery.awaitTermination()\n"
    )
    code, said = linted(source, "--seconds", "6", "--format", "json")
    assert code == 0 and rules(said.out) == ["aggregation-without-watermark"]
    assert any("did not end within 6 s" in note for note in json.loads(said.out)["notes"])
    assert not spark.streams.active
