"""Programs whose operations, edges and stages are written down by hand, and compared with what a capture saw.

A stage is written as the operations whose records it computed and the number of its tasks. Numbers of stages are not
written down, as Spark gives them in any order. A capture changes nothing: results, Spark's ids and its call sites are
those of a run without it.
"""

import re
from collections import Counter
from dataclasses import dataclass

import pytest

import firesteel as fs
from firesteel.values.programs import Level
from tests.spark.capture import programs


@dataclass(frozen=True)
class Expected:
    operations: list
    """Names, with the parents' ids; a parent across a shuffle is given as a negative number less one: ~2 for 2."""
    stages: list
    """Operations and tasks of those that ran; None for a number of tasks that Spark chooses as it runs."""
    jobs: list
    """For each job the action's name or the operation's id, and how many of its stages were skipped."""
    unknown: int = 0
    """How many stages read something of which it is not known which operation it was. That is told."""


EXPECTED = {
    "top_n": Expected(
        [("textFile",), ("filter", 0), ("map", 1), ("reduceByKey", ~2), ("sortBy", ~3)],
        # Two jobs of sortBy look at the keys; `take` runs one partition, and then those that are still needed.
        [((0, 1, 2), 5), ((3,), 5), ((3,), 5), ((3,), 5), ((4,), 1), ((4,), 2)],
        [(4, 0), (4, 1), ("take", 1), ("take", 2)],
    ),
    "word_count": Expected(
        [("parallelize",), ("flatMap", 0), ("map", 1), ("reduceByKey", ~2)],
        [((0, 1, 2), 2), ((3,), 2)],
        [("collect", 0)],
    ),
    "diamond": Expected(
        [("parallelize",), ("filter", 0), ("filter", 0), ("union", 1, 2), ("map", 3)],
        [((0, 1, 2, 3, 4), 4)],
        [("sum", 0)],
    ),
    "union_of_three": Expected(
        [
            ("parallelize",),
            ("map", 0),
            ("parallelize",),
            ("map", 2),
            ("parallelize",),
            ("map", 4),
            ("union", 1, 3, 5),
            ("groupByKey", ~6),
            ("mapValues", 7),
        ],
        [((0, 1, 2, 3, 4, 5, 6), 6), ((7, 8), 2)],
        [("collect", 0)],
    ),
    # Both sides are partitioned alike when they are joined.
    "join_of_two_shuffles": Expected(
        [("parallelize",), ("reduceByKey", ~0), ("parallelize",), ("groupByKey", ~2), ("join", 1, 3)],
        [((0,), 2), ((2,), 2), ((1, 3, 4), 2)],
        [("collect", 0)],
    ),
    "two_actions": Expected(
        [("parallelize",), ("reduceByKey", ~0)],
        [((0,), 2), ((1,), 2), ((1,), 2)],
        [("count", 0), ("collect", 1)],
    ),
    "page_rank": Expected(
        [
            ("parallelize",),
            ("groupByKey", ~0),
            ("mapValues", 1),
            ("join", 1, 2),
            ("flatMap", 3),
            ("reduceByKey", ~4),
            ("mapValues", 5),
            ("join", 1, 6),
            ("flatMap", 7),
            ("reduceByKey", ~8),
            ("mapValues", 9),
        ],
        [((0,), 2), ((1, 2, 3, 4), 2), ((1, 5, 6, 7, 8), 2), ((9, 10), 2)],
        [("collect", 0)],
    ),
    "secondary_sort": Expected(
        [("parallelize",), ("repartitionAndSortWithinPartitions", ~0), ("glom", 1)],
        [((0,), 2), ((1, 2), 2)],
        [("collect", 0)],
    ),
    "cogroup": Expected(
        [("parallelize",), ("parallelize",), ("cogroup", ~0, ~1)],
        [((0, 1), 4), ((2,), 2)],
        [("collect", 0)],
    ),
    "copartitioned": Expected(
        [("parallelize",), ("partitionBy", ~0), ("parallelize",), ("partitionBy", ~2), ("join", 1, 3)],
        [((0,), 2), ((2,), 2), ((1, 3, 4), 2)],
        [("collect", 0)],
    ),
    "zipped_with_index": Expected(
        [("parallelize",), ("zipWithIndex", 0)],
        [((0,), 2), ((0, 1), 2)],
        [(1, 0), ("collect", 0)],
    ),
    "filtered_frame": Expected(
        [("range",), ("filter", 0), ("select", 1)],
        [((0, 1, 2), 2)],
        [("collect", 0)],
    ),
    "grouped_frame": Expected(
        [("range",), ("withColumn", 0), ("groupBy().agg", ~1)],
        [((0, 1), 2), ((2,), 2)],
        [("collect", 0)],
    ),
    # The broadcast side runs as a job of its own; `count` adds a stage.
    "broadcast_join": Expected(
        [("range",), ("withColumn", 0), ("range",), ("withColumnRenamed", 2), ("broadcast", 3), ("join", 1, 4)],
        [((2, 3, 4), 2), ((0, 1, 5), 2), ((), 1)],
        [("count", 0), ("count", 0)],
    ),
    "shuffled_join": Expected(
        [("range",), ("withColumn", 0), ("range",), ("withColumnRenamed", 2), ("hint", 3), ("join", ~1, ~4)],
        [((0, 1), 2), ((2, 3, 4), 2), ((5,), 2)],
        [("collect", 0)],
    ),
    # Sorting takes a look at the keys first, which runs the window twice.
    "window_function": Expected(
        [("range",), ("withColumn", 0), ("withColumn", ~1), ("orderBy", ~2)],
        [((0, 1), 2), ((2,), 2), ((2,), 2), ((3,), 2)],
        [("collect", 0), ("collect", 1)],
    ),
    "distinct_and_sql": Expected(
        [("range",), ("selectExpr", 0), ("distinct", ~1), ("sql", ~2)],
        [((0, 1), 2), ((2,), 2), ((3,), 1)],
        [("first", 0)],
    ),
    # The view is read twice. For the subquery Spark gives its columns new ids, so that stage is not known to be of it.
    "subquery": Expected(
        [("range",), ("sql", 0)],
        [((), 2), ((), 1), ((0, 1), 2)],
        [("collect", 0), ("collect", 0)],
        unknown=1,
    ),
    "adaptive_skew_join": Expected(
        [("range",), ("withColumn", 0), ("range",), ("withColumnRenamed", 2), ("join", ~1, ~3)],
        [((0, 1), 4), ((2, 3), 2), ((4,), None), ((), 1)],
        [("count", 0), ("count", 0), ("count", 2), ("count", 3)],
    ),
    "cached_frame": Expected(
        [("range",), ("withColumn", 0), ("groupBy().count", ~1)],
        [((0, 1), 2), ((), 1), ((0, 1), 2), ((2,), 2)],
        [("count", 0), ("collect", 0)],
    ),
    "mixture": Expected(
        [
            ("range",),
            ("repartition", ~0),
            ("rdd", 1),
            ("map", 2),
            ("groupByKey", ~3),
            ("mapValues", 4),
            ("createDataFrame", 5),
            ("filter", 6),
        ],
        [((0,), 2), ((1, 2, 3), 3), ((4, 5, 6, 7), 2)],
        [("collect", 0)],
    ),
    "written_and_read": Expected(
        [("range",), ("coalesce", 0), ("read.parquet",)],
        [((0, 1), 1), ((), 1), ((2,), 1), ((), 1)],
        [("write.parquet", 0), (2, 0), ("count", 0)],
    ),
}


@dataclass(frozen=True)
class Run:
    dag: fs.Dag
    result: object
    without: object
    ids: tuple
    ids_without: tuple
    sites: Counter
    sites_without: Counter


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return {}


@pytest.fixture
def run_of(spark, runs, tmp_path):
    def run(name):
        if name not in runs:
            program = getattr(programs, name)
            (tmp_path / "a").mkdir()
            (tmp_path / "b").mkdir()
            without, ids_without, sites_without = observed(spark, lambda: program(spark, tmp_path / "a"))

            def captured():
                nonlocal dag
                with fs.capture(spark) as dag:
                    return program(spark, tmp_path / "b")

            dag = None
            result, ids, sites = observed(spark, captured)
            runs[name] = Run(dag, result, without, ids, ids_without, sites, sites_without)
        return runs[name]

    return run


def observed(spark, program):
    """What a program gives, how many of Spark's ids it takes, and the call sites that Spark writes down."""
    java = spark.sparkContext._jsc.sc()
    before = java.newRddId(), java.newShuffleId()
    with fs.events(spark) as events:
        result = program()
    after = java.newRddId(), java.newShuffleId()
    sites = Counter(
        (_site(stage["Stage Name"]), re.sub(r"#\d+", "#", rdd["Name"].rpartition("/")[2]), _site(rdd["Callsite"]))
        for event in events
        if event["Event"] == "SparkListenerJobStart"
        for stage in event["Stage Infos"]
        for rdd in stage["RDD Info"]
    )
    return result, tuple(b - a for a, b in zip(before, after, strict=True)), sites


def _site(text):
    """A call site. That of a call through py4j is how Java calls a method, which changes after a few calls."""
    return re.sub(r" at (<unknown>|NativeMethodAccessorImpl.java):0", " through py4j", text)


def parents(dag, operation):
    wide = {(edge.source, edge.target): edge.wide for edge in dag.edges}
    return tuple(~one if wide[one, operation.id] else one for one in operation.parents)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_a_program(run_of, name):
    run, expected = run_of(name), EXPECTED[name]
    dag = run.dag
    assert [(one.name, *parents(dag, one)) for one in dag.operations] == expected.operations
    assert {(edge.source, edge.target) for edge in dag.edges} == {
        (parent, one.id) for one in dag.operations for parent in one.parents
    }
    ran = [stage for stage in dag.stages if stage.attempts]
    wanted = Counter(operations for operations, _ in expected.stages)
    assert Counter(stage.operations for stage in ran) == wanted
    tasks = Counter(pair for pair in expected.stages if pair[1] is not None)
    assert not tasks - Counter((stage.operations, stage.tasks) for stage in ran)
    told = [
        (dag.actions[job.action].name if job.action is not None else job.operation, len(job.skipped))
        for job in dag.jobs
    ]
    assert told == expected.jobs
    assert len(dag.differences) == expected.unknown
    assert all(dag.program.stage[one.stage].operations == () for one in dag.differences)
    assert all(one.wide == any(parent < 0 for parent in parents(dag, one)) for one in dag.operations)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_a_capture_changes_nothing(run_of, name):
    run = run_of(name)
    assert run.result == run.without
    assert run.ids == run.ids_without
    assert run.sites == run.sites_without


@pytest.mark.slow
def test_spark_s_own_account(run_of):
    """Every stage, task and RDD that the events have is in the graph."""
    dag = run_of("top_n").dag
    assert [stage.finished for stage in dag.stages if stage.attempts] == [5, 5, 5, 5, 1, 2]
    assert [one.level for one in dag.operations] == [
        Level.DETERMINATE,
        Level.DETERMINATE,
        Level.DETERMINATE,
        Level.UNORDERED,
        Level.UNORDERED,
    ]
    assert [one.partitions for one in dag.operations] == [5] * 5
    assert [[function.source for function in one.functions] for one in dag.operations] == [
        [],
        ['lambda x: len(x.split(" ")) > 10'],
        ['lambda x: (x.split(" ")[10], 1)'],
        ["lambda a, b: a + b"],
        ["lambda p: (-p[1], p[0])"],
    ]
    assert [one.call_site.line - dag.operations[0].call_site.line for one in dag.operations] == [0, 1, 1, 2, 2]
    assert dag.operations[0].arguments["minPartitions"] == 5
    assert len(dag.operations[0].read()) == 5 and "short line" in dag.operations[0].read()[-1]


@pytest.mark.slow
def test_plans(run_of):
    dag = run_of("adaptive_skew_join").dag
    (execution,) = dag.executions
    assert execution.action == 0 and execution.jobs == tuple(job.id for job in dag.jobs)
    assert execution.analysed.kind == "Aggregate" and execution.optimised.kind == "Aggregate"
    assert execution.planned != execution.physical
    assert {node.name for node in execution.physical.walk()} >= {"SortMergeJoin(skew=true)", "AQEShuffleRead"}
    assert dag.operations[4].plan.kind == "Project"
    assert any(node.kind == "Join" for node in dag.operations[4].plan.walk())


def by_batch(dag, batch):
    return [job for job in dag.jobs if job.batch == batch]


def shape(dag, job):
    stages = [dag.program.stage[one] for one in job.stages]
    return Counter(stage.operations for stage in stages if stage.attempts)


@pytest.mark.slow
def test_a_streaming_aggregate(run_of):
    dag = run_of("streaming_aggregate").dag
    assert [(one.name, *parents(dag, one)) for one in dag.operations] == [
        ("readStream.load",),
        ("withColumn", 0),
        ("withWatermark", 1),
        ("groupBy().count", ~2),
    ]
    for batch in (0, 1):
        (job,) = by_batch(dag, batch)
        assert dag.actions[job.action].name == "writeStream.start" and job.query is not None
        assert shape(dag, job) == Counter([(0, 1, 2), (3,)])
    assert {one.batch for one in dag.executions if one.action == 0} >= {0, 1}
    assert dag.operations[2].plan.is_streaming
    assert dag.operations[0].arguments["rowsPerBatch"] == 5


@pytest.mark.slow
def test_a_stream_stream_join(run_of):
    dag = run_of("stream_stream_join").dag
    assert [(one.name, *parents(dag, one)) for one in dag.operations] == [
        ("readStream.load",),
        ("withColumn", 0),
        ("withWatermark", 1),
        ("readStream.load",),
        ("withColumn", 3),
        ("select", 4),
        ("withWatermark", 5),
        ("join", ~2, ~6),
    ]
    for batch in (0, 1):
        (job,) = by_batch(dag, batch)
        assert shape(dag, job) == Counter([(0, 1, 2), (3, 4, 5, 6), (7,)])


@pytest.mark.slow
def test_for_each_batch(run_of):
    run = run_of("for_each_batch")
    dag = run.dag
    assert run.result == run.without == [(0, 2), (1, 2)]
    assert [(one.name, *parents(dag, one)) for one in dag.operations] == [
        ("readStream.load",),
        ("withColumn", 0),
        ("foreachBatch()", 1),
        ("groupBy().count", ~2),
        ("foreachBatch()", 1),
        ("groupBy().count", ~4),
    ]
    assert [(one.name, *one.operations) for one in dag.actions] == [
        ("writeStream.start", 1),
        ("count", 3),
        ("count", 5),
    ]
    for batch, own in ((0, (2, 3)), (1, (4, 5))):
        (job,) = by_batch(dag, batch)
        assert dag.actions[job.action].operations == own[1:]
        assert shape(dag, job) == Counter([(0, 1, own[0]), (own[1],), ()])


@pytest.mark.slow
def test_a_dstream_with_state(run_of):
    run = run_of("dstream_with_state")
    dag = run.dag
    assert run.result == run.without
    assert [(one.name, *one.parents) for one in dag.operations] == [
        ("parallelize",),
        ("parallelize",),
        ("queueStream", 0, 1),
        ("flatMap", 2),
        ("map", 3),
        ("reduceByKey", 4),
        ("updateStateByKey", 5),
        ("batch", 5),
        ("batch", 6),
        ("batch", 5),
        ("batch", 6),
    ]
    assert [(one.name, *one.operations) for one in dag.actions] == [
        ("foreachRDD", 5),
        ("foreachRDD", 6),
        ("collect", 7),
        ("collect", 8),
        ("collect", 9),
        ("collect", 10),
    ]
    first, second, third, fourth = dag.jobs
    assert [job.batch for job in dag.jobs] == [1000, 1000, 2000, 2000]
    assert shape(dag, first) == Counter([(0, 2, 3, 4), (5, 7)])
    assert shape(dag, third) == Counter([(1, 2, 3, 4), (5, 9)])
    # What was reduced is there already: only the state is computed, from this batch and the last.
    assert shape(dag, second) == Counter([(5, 6, 7, 8)])
    assert shape(dag, fourth) == Counter([(5, 6, 7, 8, 9, 10)])
    assert dag.differences == ()
