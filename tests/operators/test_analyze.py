"""`fs.analyze` and `fs.holds`: answers, evidence, the table, replay, equality, the testing order."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from typing import Any, Literal

import pytest
from hypothesis import strategies as st

import firesteel as fs
from firesteel import operators
from firesteel.operators.techniques import HYBRID, OURS, TWELVE


def minus(a: int, b: int) -> int:
    return a - b


def plus(a: float, b: float) -> float:
    return a + b


@pytest.fixture(scope="module")
def table() -> fs.Analysis:
    return fs.analyze(operators.reducer(minus), tests=60)


def test_the_answers(table: fs.Analysis) -> None:
    assert table["commutative"].verdict is fs.Verdict.FALSE
    assert table["commutative"].evidence == "minus(0, 1) = -1, minus(1, 0) = 1"
    assert table["associative"].evidence == "minus(minus(1, 1), 1) = -1, minus(1, minus(1, 1)) = 1"
    assert table["stateless"].verdict is fs.Verdict.INCONCLUSIVE
    assert "selective" not in table and "nan_safe" not in table


def test_the_table(table: fs.Analysis) -> None:
    text = str(table)
    assert "reducer(minus)" in text and "int (type hints)" in text
    assert "potentially stateless, 60 tests" in text and "not commutative" in text
    assert "minus(0, 1) = -1, minus(1, 0) = 1" in text


def test_an_explanation(table: fs.Analysis) -> None:
    text = table.explain("commutative")
    assert "In Spark: reduceByKey may merge partitions in any order: this reducer gives different results." in text
    assert "    assert minus(0, 1) == minus(1, 0)" in text
    assert f"replay={table['commutative'].replay!r}" in text and "fs1:[0,1]" in text
    with pytest.raises(fs.InvalidArgument, match="was not tested here"):
        table.explain("selective")


def test_plain_data(table: fs.Analysis) -> None:
    data = json.loads(json.dumps(table.to_dict()))
    assert data["properties"]["commutative"]["verdict"] == "FALSE"
    assert data["properties"]["commutative"]["runs"][0]["outputs"] == [-1]


def test_a_replay_shows_the_same(table: fs.Analysis) -> None:
    line = table["commutative"].replay
    again = fs.analyze(operators.reducer(minus), "commutative", replay=line)["commutative"]
    assert (again.evidence, again.tests) == (table["commutative"].evidence, 1)
    right = fs.analyze(operators.reducer(max), "commutative", replay=line)["commutative"]
    assert right.verdict is fs.Verdict.INCONCLUSIVE


def test_holds() -> None:
    with pytest.raises(fs.Falsified, match="minus") as failed:
        fs.holds(operators.reducer(minus))
    assert "is not commutative" in str(failed.value) and "In Spark:" in str(failed.value)
    assert failed.value.report.verdict is fs.Verdict.FALSE
    assert fs.holds(operators.reducer(max), tests=30).verdict is fs.Verdict.INCONCLUSIVE
    assert fs.holds(operators.reducer(minus), "not commutative", "not associative").verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified, match="was claimed to be not stateless, which needs evidence"):
        fs.holds(operators.reducer(minus), "not stateless", tests=30)


def test_holds_says_where_nothing_was_found_out() -> None:
    with pytest.raises(fs.Vacuous, match=r"it raised in every test .ZeroDivisionError"):
        fs.holds(operators.function(lambda x: 1 // 0), "stateless", inputs=st.integers(), tests=20)
    with pytest.raises(fs.Vacuous, match="no test had any output"):
        fs.holds(operators.function(lambda x: None), "stateless", inputs=st.integers(), tests=20)


@pytest.mark.slow
def test_a_zero_and_a_partition_function() -> None:
    with pytest.raises(fs.Falsified, match="zero_is_identity"):
        fs.holds(operators.aggregate(1, lambda t, x: t + x, lambda a, b: a + b))
    with pytest.raises(fs.Falsified, match="records of one key go to different partitions"):
        fs.holds(operators.partition_function(hash), sample=["a", "b", "c"])


def test_an_equality_decides() -> None:
    close = fs.equality(rel_tol=1e-6, abs_tol=1e-6)
    numbers = st.floats(-1e6, 1e6)
    with pytest.raises(fs.Falsified):
        fs.holds(operators.reducer(plus), "associative", inputs=numbers)
    fs.holds(operators.reducer(plus), "associative", inputs=numbers, equal=close, tests=100)
    joined = operators.reducer(lambda a, b: a + b)
    as_set = fs.equality(by=lambda xs: frozenset(xs))
    fs.holds(joined, "commutative", inputs=st.lists(st.integers()), equal=as_set, tests=100)


def test_a_finding_that_is_harmless() -> None:
    why = {"commutative": "values of a key arrive in order"}
    found = fs.analyze(operators.reducer(minus), "commutative", suppress=why)
    assert "harmless: values of a key arrive in order" in str(found)
    fs.holds(operators.reducer(minus), "commutative", suppress=why)


def test_what_is_finite_is_proved() -> None:
    def both(a: bool, b: bool) -> bool:
        return a and b

    def size(kind: Literal["s", "m"]) -> int:
        return len(kind)

    found = fs.analyze(operators.reducer(both), "commutative", "associative", "idempotent")
    assert {finding.verdict for finding in found.values()} == {fs.Verdict.TRUE}
    assert fs.analyze(size, "total", "one_to_one")["total"].verdict is fs.Verdict.TRUE
    words = fs.analyze(operators.flat(str.split), "prolific", sample=["a b", ""])
    assert words["prolific"].verdict is fs.Verdict.TRUE and "has 2 outputs" in words["prolific"].evidence


@pytest.mark.slow
def test_the_testing_order() -> None:
    drawn = fs.analyze(operators.function(id), inputs=st.integers(), tests=30)
    assert drawn["deterministic"].verdict is fs.Verdict.FALSE
    assert drawn["stateless"].settled_by == "deterministic" and drawn["stateless"].tests == 0
    usual = fs.analyze(operators.function(str.lower), sample=["A", "b"], tests=30)
    assert usual["commutative"].settled_by == "stateless"
    assert usual["commutative"].verdict is fs.Verdict.INCONCLUSIVE
    # A fold is not one record: `minus` is stateless and not commutative.
    found = fs.analyze(operators.reducer(minus), tests=30)
    assert found["stateless"].settled_by is found["commutative"].settled_by is None


@pytest.mark.slow
def test_what_does_not_repeat_itself_is_evidence_of_that_alone() -> None:
    def noisy(x: int) -> float:
        return x + random.random()

    found = fs.analyze(operators.function(noisy), "deterministic", "stateless", "commutative", tests=12)
    verdicts = {name: finding.verdict.name for name, finding in found.items()}
    assert verdicts == {"deterministic": "FALSE", "stateless": "INCONCLUSIVE", "commutative": "INCONCLUSIVE"}


def test_selective_needs_a_firing_without_output() -> None:
    upper = fs.analyze(str.upper, "selective", "one_to_one", sample=["a"], tests=20)
    assert "selective   potentially one_to_one, 20 tests" in str(upper)
    assert upper["selective"].settled_by == "one_to_one"
    with pytest.raises(fs.Vacuous, match="every firing had an output: it is potentially one_to_one"):
        fs.holds(str.upper, "selective", sample=["a"], tests=20)
    kept = fs.analyze(operators.flat(lambda n: [n] if n > 0 else []), "selective", sample=[0, 1], tests=20)
    assert "potentially selective, 20 tests" in str(kept)
    assert kept["selective"].evidence == "f(0) has 0 outputs: []"
    fs.holds(operators.flat(lambda n: [n] if n > 0 else []), "selective", sample=[0, 1], tests=20)
    words = fs.analyze(operators.flat(str.split), sample=["a b", ""], tests=20)
    assert words["selective"].verdict is fs.Verdict.FALSE and words["selective"].settled_by == "prolific"


def test_a_replay_line_is_a_call() -> None:
    def share(n: int) -> float:
        return 1 / n

    found = fs.analyze(operators.function(share, key="n"), "total")
    line = found.explain("total").splitlines()[-1].strip()
    assert line == """fs.holds(operators.function(share, key='n'), "total", replay='fs1:[{"tuple":[0]}]')"""
    assert "def test_share_is_total():\n      share(0)  # raises ZeroDivisionError" in found.explain("total")
    with pytest.raises(fs.Falsified, match="raises ZeroDivisionError"):
        eval(line, {"fs": fs, "operators": operators, "share": share})


def test_inputs_from_trying_say_so() -> None:
    found = fs.analyze(operators.reducer(lambda a, b: a + b), "commutative", tests=30)
    assert "trying: int works" in found.found.inputs


@pytest.mark.slow
def test_a_record_is_not_null_itself() -> None:
    careful = operators.function(lambda r: {"n": r.n or 0}, input="user STRING, n INT")
    assert fs.analyze(careful, "null_safe", tests=20)["null_safe"].verdict is fs.Verdict.INCONCLUSIVE
    careless = operators.function(lambda r: {"n": r.n + 1}, input="user STRING, n INT")
    found = fs.analyze(careless, "null_safe", "idempotent", tests=20)
    assert "n=None" in found["null_safe"].evidence
    # A dictionary is not a record that it takes: nothing was compared, and that is said.
    assert found["idempotent"].outputs == 0 and "it raised in every test" in found["idempotent"].why


def test_a_sample_of_rows() -> None:
    rows = [{"user": "a", "n": 1}, {"user": "b", "n": 2}]
    clipped = operators.map_in_pandas(lambda frames: (f.assign(n=f.n.clip(0, 1)) for f in frames))
    found = fs.analyze(clipped, "keeps_columns", sample=rows, tests=20)["keeps_columns"]
    assert found.verdict is fs.Verdict.FALSE and "column n is not kept" in found.evidence
    assert found.unchanged == ("user",)
    summed = operators.map_in_pandas(lambda frames: (f.assign(twice=2 * f.n) for f in frames))
    assert "user, n: unchanged" in str(fs.analyze(summed, "keeps_columns", sample=rows, tests=20))


def test_what_cannot_be_pickled() -> None:
    lock = threading.Lock()
    found = fs.analyze(lambda x: lock.locked() or x)
    assert found["picklable"].verdict is fs.Verdict.FALSE
    assert "cannot pickle" in found["picklable"].evidence
    assert {finding.verdict for name, finding in found.items() if name != "picklable"} == {fs.Verdict.INCONCLUSIVE}


def test_the_techniques_are_values() -> None:
    assert len(set(TWELVE)) == 12 and HYBRID == TWELVE
    assert [repr(each) for each in TWELVE[:3]] == ["random", "pool", "pairwise"]
    assert repr(OURS[0]) == "mixed+mutation+reuse+branches"


def test_a_new_process_and_no_jvm() -> None:
    program = """
import sys, firesteel as fs
from firesteel import operators
assert "pyspark" not in sys.modules and "hypothesis" not in sys.modules
table = fs.analyze(operators.reducer(lambda a, b: a - b), tests=20)
assert "hypothesis" not in sys.modules and "pyspark" not in sys.modules
print(table["commutative"].evidence)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == ("f(0, 1) = -1, f(1, 0) = 1", "")


@pytest.mark.parametrize("arguments", [["--explain", "commutative"], ["--json", "--property", "commutative"]])
def test_the_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from firesteel.cli.main import main

    named = f"{__name__}:minus"
    assert main(["analyze", named, "--kind", "reducer", "--tests", "20", *arguments]) == 1
    assert "minus(0, 1) = -1, minus(1, 0) = 1" in capsys.readouterr().out
    assert main(["analyze", named]) == 2
    said = capsys.readouterr().err
    assert "a reducer or a UDF of two columns?" in said and "--kind reducer" in said
    assert main(["analyze", "no.module:f"]) == 2


def test_a_udf_is_looked_into() -> None:
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegerType

    made: Any = F.udf(lambda n: n, IntegerType())
    assert repr(fs.analyze(made, "one_to_one", sample=[1, 2], tests=10)).startswith("<Analysis of function(f)")
