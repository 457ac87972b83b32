"""Spark's own Python examples, as the pyspark package ships them: no false errors."""

import contextlib
import sys
from pathlib import Path

import pyspark
import pytest

from firesteel.cli.scripts import run_script
from firesteel.evidence.lint import Severity
from firesteel.linting import lint_program

HOME = Path(pyspark.__file__).parent
EXAMPLES = HOME / "examples" / "src" / "main" / "python"
DATA = f"{HOME}/data/mllib/"
FEW = [
    ("wordcount.py", DATA + "pagerank_data.txt"),
    ("pi.py", "2"),
    ("pagerank.py", DATA + "pagerank_data.txt", "2"),
    ("kmeans.py", DATA + "kmeans_data.txt", "2", "0.5"),
    ("sql/arrow.py",),
    ("ml/tokenizer_example.py",),
]
MORE = [
    ("sort.py", DATA + "pagerank_data.txt"),
    ("transitive_closure.py", "2"),
    ("als.py", "5", "6", "2", "1", "2"),
    ("logistic_regression.py", DATA + "sample_svm_data.txt", "1"),
    ("sql/udtf.py",),
    ("sql/datasource.py",),
    ("sql/basic.py",),
    *((f"ml/{path.name}",) for path in sorted((EXAMPLES / "ml").glob("*_example.py"))),
    *((f"mllib/{path.name}",) for path in sorted((EXAMPLES / "mllib").glob("*_example.py"))),
]
TOO_LONG = {"mllib/streaming_linear_regression_example.py", "mllib/streaming_k_means_example.py"}


def errors_of(name, *arguments):
    """The errors that are found in an example, and whether it came to its end."""
    with contextlib.redirect_stdout(sys.stderr):
        ran = run_script(EXAMPLES / name, arguments, seconds=60)
    found = lint_program(ran.dag.program, seconds=10)
    return [str(one) for one in found.findings if one.severity is Severity.ERROR], ran, found


@pytest.mark.slow
@pytest.mark.parametrize("example", FEW, ids=[example[0] for example in FEW])
@pytest.mark.filterwarnings("ignore")
def test_examples_have_no_errors(spark, monkeypatch, example):
    monkeypatch.chdir(HOME)
    errors, ran, found = errors_of(*example)
    assert ran.failure is None and not ran.was_stopped and found.levels
    assert errors == []


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
def test_all_examples(spark, monkeypatch, tmp_path):
    monkeypatch.chdir(HOME)
    wrong, seen, failed = {}, 0, []
    for example in MORE:
        if example[0] not in TOO_LONG:
            errors, ran, found = errors_of(*example)
            seen += bool(found.levels)
            failed += [example[0]] if ran.failure else []
            if errors:
                wrong[example[0]] = errors
    print(f"{seen} examples were seen to run, {len(failed)} of them failed: {failed}")
    assert wrong == {} and seen > 20
