"""Captures of programs that fail, end, or do what is unusual."""

import subprocess
import sys
import threading
import traceback
from operator import add

import pytest
from pyspark.sql import functions as F

import firesteel as fs
from firesteel.values.programs import Ref

PARTS = [1, 2, 3, 4]


@pytest.fixture
def context(spark):
    return spark.sparkContext


def names(dag):
    return [one.name for one in dag.operations]


def test_it_is_empty_until_the_block_ends(spark, context):
    with fs.capture(spark) as dag:
        context.parallelize([1], 1).count()
        assert dag.operations == () and dag.actions == () and dag.jobs == ()
    assert names(dag) == ["parallelize"] and [one.name for one in dag.actions] == ["count"]
    context.parallelize([1], 1).count()
    assert len(dag.actions) == 1


def test_an_action_that_fails(spark, context):
    def refuse(x):
        raise ValueError(f"no {x}")

    with pytest.raises(Exception, match=r"no \d"), fs.capture(spark) as dag:
        pairs = context.parallelize(range(4), 2).map(lambda x: (x, x)).reduceByKey(add)
        assert pairs.count() == 4
        pairs.map(lambda p: refuse(p[0])).collect()
    assert names(dag) == ["parallelize", "map", "reduceByKey", "map"]
    assert [(one.name, one.error, one.result) for one in dag.actions] == [
        ("count", None, int),
        ("collect", "PythonException", None),
    ]
    assert [job.succeeded for job in dag.jobs] == [True, False]
    failed = [stage for stage in dag.stages if stage.failure is not None]
    assert len(failed) == 1 and failed[0].operations == (2, 3) and "ValueError: no " in failed[0].failure
    assert dag.differences == ()
    assert "failed with PythonException" in str(dag)


def test_the_session_that_is_running_need_not_be_named(spark, context):
    with fs.capture() as dag:
        context.parallelize([1], 1).count()
    assert names(dag) == ["parallelize"]


def test_an_error_is_the_one_that_spark_raises(spark):
    def wrong():
        spark.range(3).select("nothing")

    def told():
        with pytest.raises(Exception) as raised:
            wrong()
        frames = traceback.extract_tb(raised.value.__traceback__)
        return type(raised.value), str(raised.value), [frame.name for frame in frames if frame.filename == __file__]

    without = told()
    with fs.capture(spark) as dag:
        captured = told()
    assert captured == without
    assert names(dag) == ["range"] and dag.actions == () and dag.differences == ()


def test_wrong_arguments_are_pyspark_s_business(context, spark):
    with pytest.raises(TypeError, match="map"), fs.capture(spark) as dag:
        context.parallelize([1]).map()
    assert names(dag) == ["parallelize"]


def test_everything_is_put_back(spark, context):
    from pyspark import RDD
    from pyspark.core.rdd import PipelinedRDD
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.streaming.util import TransformFunction

    classes = (RDD, PipelinedRDD, type(context), type(spark), DataFrame, TransformFunction)
    before = [dict(vars(kind)) for kind in classes]
    with fs.capture(spark):
        assert dict(vars(RDD)) != before[0]
    assert [dict(vars(kind)) for kind in classes] == before
    assert context.getLocalProperty("firesteel.call") is None


def test_threads_at_the_same_time(spark, context):
    def work(count):
        context.parallelize(range(count), count).map(lambda x: x).collect()

    with fs.capture(spark) as dag:
        threads = [threading.Thread(target=work, args=(count,)) for count in PARTS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(dag.operations[one.operations[0]].partitions for one in dag.actions) == PARTS
    for action in dag.actions:
        (job,) = (dag.program.job[one] for one in action.jobs)
        assert dag.program.stage[job.stages[0]].tasks == dag.operations[action.operations[0]].partitions
        assert [one.name for one in dag.program.above(*action.operations)] == ["parallelize", "map"]
    assert dag.differences == ()


def test_a_thread_that_calls_spark_directly(spark, context):
    with fs.capture(spark) as dag:
        thread = threading.Thread(target=context.parallelize([1, 2], 2).count)
        thread.start()
        thread.join()
    assert [(one.name, len(one.jobs)) for one in dag.actions] == [("count", 1)]


def test_a_capture_within_a_capture(spark):
    with fs.capture(spark) as dag:
        with pytest.raises(fs.InvalidArgument, match="another"), fs.capture(spark):
            pass
        spark.range(3).count()
    assert names(dag) == ["range"] and len(dag.actions) == 1
    with fs.capture(spark) as second:
        spark.range(3).count()
    assert names(second) == ["range"]


def test_code_that_never_runs_an_action(spark, context):
    with fs.capture(spark) as dag:
        context.parallelize([(1, 2)]).reduceByKey(add)
        spark.range(3).filter("id > 1")
    assert names(dag) == ["parallelize", "reduceByKey", "range", "filter"]
    assert dag.jobs == () and dag.stages == () and dag.differences == ()
    assert dag.operations[1].wide and dag.operations[1].stages == () and dag.operations[1].level is None
    assert "Spark ran no job." in str(dag)


def test_what_was_made_before_the_block(spark, context):
    base = context.parallelize(range(6), 2).map(lambda x: (x % 2, x))
    summed = base.reduceByKey(add)
    summed.count()
    frame = spark.range(5)
    with fs.capture(spark) as dag:
        base.filter(lambda p: p[1] > 2).collect()
        summed.mapValues(str).collect()
        frame.filter("id > 2").count()
    assert [(one.name, one.parents, one.earlier) for one in dag.operations] == [
        ("RDD", (), True),
        ("filter", (0,), False),
        ("RDD", (), True),
        ("mapValues", (2,), False),
        ("DataFrame", (), True),
        ("filter", (4,), False),
    ]
    assert all(one.stages for one in dag.operations) and dag.differences == ()


def test_a_job_that_nobody_called_is_told(spark, context):
    with fs.capture(spark) as dag:
        context.parallelize([1], 1).count()
        spark._jsparkSession.range(5).count()  # not through PySpark
    assert len(dag.jobs) == 2
    (difference,) = dag.differences
    assert difference.job == dag.jobs[1].id and "no captured call started it" in str(difference)
    assert str(difference) in str(dag)


def test_functions(spark, context):
    with fs.capture(spark) as dag:
        up, down = (lambda x: x + 1), (lambda x: x - 1)
        context.parallelize([1], 1).map(up).map(down).map(abs).map(eval("lambda x: x")).collect()
    assert [[one.source for one in operation.functions] for operation in dag.operations] == [
        [],
        ["lambda x: x + 1"],
        ["lambda x: x - 1"],
        [None],
        [None],
    ]
    assert dag.operations[1].functions[0].object(1) == 2


def test_arguments(spark, context):
    with fs.capture(spark) as dag:
        left = context.parallelize([(1, 2)], 1)
        left.join(context.parallelize([(1, 3)], 1), numPartitions=3).collect()
        context.parallelize((x for x in [1, 2]), 2)
        spark.range(1).write.mode("overwrite").format("noop").option("a", 1).options(b=2).save()
    join = dag.operations[2]
    assert dict(join.arguments) == {"other": Ref(1), "numPartitions": 3} and join.partitions == 3
    assert dag.operations[0].arguments["c"] == [(1, 2)]
    assert [one.read() for one in (dag.operations[0], dag.operations[3])] == [[[(1, 2)]], [[1], [2]]]
    write = dag.actions[1]
    assert write.name == "write.save" and write.operations == (4,)
    assert dict(write.arguments) == {"saveMode": "overwrite", "source": "noop", "a": 1, "b": 2}


@pytest.mark.slow
def test_names_in_the_user_s_words(spark):
    with fs.capture(spark) as dag:
        frame = spark.range(6).selectExpr("id", "id % 2 AS key")
        frame.groupBy("key").pivot("id", [0, 1]).count().collect()
        frame.na.fill(0).dropDuplicates(["key"]).limit(1).collect()
        frame.groupBy("key").applyInPandas(lambda part: part, "id long, key long").collect()
        frame.groupBy("key").cogroup(frame.groupBy("key")).applyInPandas(lambda a, b: a, "id long, key long").count()
        frame.stat.corr("id", "key")
        frame.toPandas()
        list(frame.rdd.map(tuple).toDF(["id", "key"]).toLocalIterator())
    assert names(dag) == [
        "range",
        "selectExpr",
        "groupBy().pivot().count",
        "na.fill",
        "dropDuplicates",
        "limit",
        "groupBy().applyInPandas",
        "groupBy().cogroup().applyInPandas",
        "rdd",
        "map",
        "toDF",
    ]
    assert dag.operations[7].parents == (1, 1)
    assert [one.name for one in dag.actions] == [
        "collect",
        "collect",
        "collect",
        "count",
        "stat.corr",
        "toPandas",
        "toLocalIterator",
    ]
    assert all(one.jobs for one in dag.actions)
    # Spark gives the second side of the cogroup columns of its own, so one stage is not known to be of any operation.
    (difference,) = dag.differences
    assert dag.program.stage[difference.stage].operations == ()


def test_functions_in_columns(spark):
    with fs.capture(spark) as dag:
        twice = F.udf(lambda x: 2 * x, "long")
        spark.range(3).select(twice("id")).filter("true").collect()
    assert [[one.source for one in operation.functions] for operation in dag.operations] == [
        [],
        ["lambda x: 2 * x"],
        [],
    ]
    assert dag.operations[1].functions[0].object(4) == 8


def test_a_function_of_frames(spark):
    with fs.capture(spark) as dag:
        spark.range(3).transform(lambda frame: frame.withColumn("more", F.col("id") + 1)).collect()
    assert names(dag) == ["range", "withColumn"]


class Remote:
    __module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize(
    "given, message",
    [
        (Remote(), "belongs to Spark Connect, where the program that runs is on a server"),
        (3, r"spark=3 \(int\) is not a Spark session: write fs.capture"),
    ],
)
def test_what_is_not_a_session(given, message):
    with pytest.raises(fs.InvalidArgument, match=message), fs.capture(given):
        raise AssertionError("not refused")


STOPPED = """
import firesteel as fs
spark = fs.session()
with fs.capture(spark) as dag:
    spark.sparkContext.parallelize([1, 2], 2).map(lambda x: x).count()
    spark.range(4).filter("id > 2").count()
    spark.stop()
print([(one.name, len(one.stages)) for one in dag.operations], [len(one.jobs) for one in dag.actions], *dag.differences)
try:
    with fs.capture(spark):
        pass
except fs.InvalidArgument as error:
    print(error)
"""


@pytest.mark.slow
def test_a_session_that_is_stopped_inside(tmp_path):
    found = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    first, second = found.stdout.splitlines()
    assert first == "[('parallelize', 1), ('map', 1), ('range', 1), ('filter', 1)] [1, 1]", found.stderr
    assert "is stopped: hand over a session that runs" in second


SCRIPT = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print(spark.sparkContext.parallelize(range(int(sys.argv[1])), 2).map(lambda x: x + 1).sum())
"""


@pytest.mark.slow
def test_a_whole_program(tmp_path, spark, capsys):
    from firesteel.cli.main import main

    path, picture = tmp_path / "program.py", tmp_path / "dag.svg"
    path.write_text(SCRIPT)
    before = list(sys.argv), list(sys.path)
    assert main(["dag", "--draw", str(picture), str(path), "4"]) == 0
    assert (list(sys.argv), list(sys.path)) == before
    shown = capsys.readouterr().out
    assert shown.startswith("2 operations, 1 action, 1 job, 1 stage") and "program.py:5" in shown
    assert picture.read_text().startswith("<svg")
    path.write_text("raise SystemExit(3)")
    assert main(["dag", str(path)]) == 1
    path.write_text("1 / 0")
    assert main(["dag", str(path)]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_command_line_refuses(tmp_path, capsys):
    from firesteel.cli.main import main

    assert main(["dag", str(tmp_path / "nothing.py")]) == 2
    assert "does not exist: write the path of a Python file" in capsys.readouterr().err
    assert main(["dag", "--draw", "a.png", "tests/history/logs/lost_block.zst"]) == 2
    assert "does not say how to draw" in capsys.readouterr().err
    assert main(["dag", "tests/history/logs/lost_block.zst"]) == 0
    assert "8 operations, 3 actions, 3 jobs" in capsys.readouterr().out
