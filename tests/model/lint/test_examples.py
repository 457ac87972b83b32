"""Spark's own Python examples, as the pyspark package ships them: no false errors."""

import collections
import contextlib
import sys

import pytest

import firesteel as fs
from firesteel.cli.scripts import run_script
from firesteel.evidence.lint import Severity
from firesteel.linting import lint_program
from tests.model.lint.examples import EXAMPLES, PROGRAMS, talking, workshop

DATA = "data/mllib/"
ARGUMENTS = {
    "wordcount.py": [DATA + "pagerank_data.txt"],
    "pi.py": ["2"],
    "pagerank.py": [DATA + "pagerank_data.txt", "2"],
    "kmeans.py": [DATA + "kmeans_data.txt", "2", "0.5"],
    "sort.py": [DATA + "pagerank_data.txt"],
    "transitive_closure.py": ["2"],
    "als.py": ["5", "6", "2", "1", "2"],
    "logistic_regression.py": ["points.txt", "1"],
    "mllib/kmeans.py": [DATA + "kmeans_data.txt", "2"],
    "mllib/logistic_regression.py": [DATA + "sample_svm_data.txt", "2"],
    "mllib/gaussian_mixture_model.py": [DATA + "kmeans_data.txt", "2", "--maxIterations", "3"],
    "mllib/word2vec.py": ["text.txt"],
    "sql/jdbc.py": ["jdbc:derby:memory:examples;create=true"],
}
FEW = ["wordcount.py", "pi.py", "pagerank.py", "kmeans.py", "sql/arrow.py", "ml/tokenizer_example.py"]
SOCKETS = [f"streaming/{name}network_wordcount.py" for name in ("", "sql_", "stateful_")] + [
    "streaming/network_wordjoinsentiments.py",
    "sql/streaming/structured_network_wordcount.py",
    "sql/streaming/structured_network_wordcount_session_window.py",
]
NOT_HERE = {
    "avro_inputformat.py": "its classes are in the jar of Spark's examples, which is not in the package",
    "parquet_inputformat.py": "its classes are in the jar of Spark's examples, which is not in the package",
    "sql/hive.py": "the session has no Hive",
    "sql/streaming/structured_sessionization.py": "Spark 4.3 refuses its output mode",
    "sql/streaming/structured_kafka_wordcount.py": "Kafka's classes are not in the package, and there is no broker",
}
MAY_END_EARLY = {
    "sql/datasource.py": "it reads a file that is not Parquet as Parquet, and asks a database that is not there",
    "sql/udtf.py": "Spark itself fails with few shuffle partitions and without adaptive execution",
    "ml/cross_validator.py": "it splits twelve rows by luck, and fails where one half has a single label",
    "mllib/correlations.py": "it takes minutes on a busy machine",
    "transitive_closure.py": "it takes minutes on a busy machine",
}
TRUE_ERRORS = {
    # `distinct().limit(3)` is any three users or films, and what is recommended is grouped by these.
    "ml/als_example.py": {"take-without-order", "luck-in-key"},
}


def all_of_them():
    """Every example but those that cannot run here, and those that read a socket or new files."""
    names = (str(path.relative_to(EXAMPLES)) for path in sorted(EXAMPLES.rglob("*.py")) if path.name != "__init__.py")
    return [name for name in names if name not in NOT_HERE and name not in streams(0)]


def streams(port):
    """Examples that never end, with their arguments."""
    where = ["127.0.0.1", str(port)]
    return dict.fromkeys(SOCKETS, where) | {
        "streaming/recoverable_network_wordcount.py": [*where, "recoverable", "counts.txt"],
        "sql/streaming/structured_network_wordcount_windowed.py": [*where, "4", "2"],
        "sql/streaming/structured_blockchain_admission_control.py": [],
        "streaming/hdfs_wordcount.py": ["words"],
        "mllib/streaming_linear_regression_example.py": ["points", "points"],
    }


def linted(name, arguments, seconds):
    """The errors in an example that are not true ones, how it ended, and all that is found."""
    with contextlib.redirect_stdout(sys.stderr):
        ran = run_script(PROGRAMS / name, arguments, seconds=seconds)
    found = lint_program(ran.dag.program, seconds=10)
    errors = [one for one in found.findings if one.severity is Severity.ERROR]
    return [str(one) for one in errors if one.rule not in TRUE_ERRORS.get(name, ())], ran, found


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
@pytest.mark.filterwarnings("ignore")
def test_examples_have_no_errors(spark, tmp_path, name):
    with workshop(spark, tmp_path):
        errors, ran, found = linted(name, ARGUMENTS.get(name, []), seconds=60)
    assert ran.failure is None and not ran.was_stopped and found.levels
    assert errors == []


@pytest.mark.filterwarnings("ignore")
def test_a_library_that_looks_at_the_first_record_is_not_the_user(spark):
    from pyspark.mllib.evaluation import RegressionMetrics

    with fs.capture(spark) as dag:
        scores = spark.sparkContext.parallelize([(1, 0.5), (2, 1.5)], 2).reduceByKey(max).values()
        pairs = scores.map(lambda score: (score, 1.0))
        assert RegressionMetrics(pairs).meanSquaredError > 0
        pairs.first()
    looked, own = [action for action in dag.actions if action.name == "first"]
    assert looked.by_library and not own.by_library
    (found,) = [one for one in dag.lint(confirm=False) if one.rule == "take-without-order"]
    assert found.where == own.call_site


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
def test_all_examples(spark, tmp_path):
    wrong, failed, warned = {}, {}, collections.Counter()
    with workshop(spark, tmp_path):
        names = all_of_them()
        for name in names:
            errors, ran, found = linted(name, ARGUMENTS.get(name, []), seconds=120)
            assert found.levels, f"nothing of {name} was seen"
            if ran.failure or ran.was_stopped:
                failed[name] = ran.failure
            if errors:
                wrong[name] = errors
            assert name not in TRUE_ERRORS or {one.rule for one in found.findings} >= TRUE_ERRORS[name]
            warned.update(one.rule for one in found.findings if one.severity is Severity.WARNING)
    print(f"{len(names)} examples ran, {len(failed)} of them not to their end: {failed}; warnings: {dict(warned)}")
    assert wrong == {} and set(failed) <= set(MAY_END_EARLY)


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")
def test_examples_that_stream(spark, tmp_path):
    wrong, warned = {}, collections.Counter()
    with workshop(spark, tmp_path), talking(tmp_path) as port:
        for name, arguments in streams(port).items():
            errors, ran, found = linted(name, arguments, seconds=30)
            assert ran.was_stopped and found.levels, name
            assert ran.dag.jobs, f"{name} had no batch"
            if errors:
                wrong[name] = errors
            warned.update(one.rule for one in found.findings if one.severity is Severity.WARNING)
    print(f"{len(streams(0))} examples ran; warnings: {dict(warned)}")
    assert wrong == {}
