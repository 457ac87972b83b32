"""Programs that event logs tell of: no Spark runs here."""

import json

import pytest

import firesteel as fs
from firesteel.spark.capture.account import account_of
from firesteel.spark.capture.matching import Ran
from firesteel.values.programs import Api, Level


def log_of(tmp_path, events):
    path = tmp_path / "local-1"
    start = {"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"}
    path.write_text("".join(json.dumps(event) + "\n" for event in [start, *events]))
    return path


def rdd(id_, parents=(), name="PythonRDD", scope=None, partitions=2):
    told = {"RDD ID": id_, "Name": name, "Callsite": "collect at it.py:1", "Parent IDs": list(parents)}
    told |= {"Number of Partitions": partitions, "DeterministicLevel": "UNORDERED"}
    return told | ({"Scope": json.dumps({"id": scope[0], "name": scope[1]})} if scope else {})


def stage(id_, rdds, parents=(), tasks=2):
    told = {"Stage ID": id_, "Stage Attempt ID": 0, "Stage Name": f"stage {id_}", "Number of Tasks": tasks}
    return told | {"RDD Info": rdds, "Parent IDs": list(parents), "Accumulables": []}


def job(id_, stages, ran, properties=None, result="JobSucceeded"):
    yield {
        "Event": "SparkListenerJobStart",
        "Job ID": id_,
        "Stage IDs": [one["Stage ID"] for one in stages],
        "Stage Infos": stages,
        "Properties": properties or {"callSite.short": "collect at it.py:1"},
    }
    for one in stages:
        if one["Stage ID"] in ran:
            yield {"Event": "SparkListenerStageSubmitted", "Stage Info": one}
            for _ in range(one["Number of Tasks"]):
                yield {
                    "Event": "SparkListenerTaskEnd",
                    "Stage ID": one["Stage ID"],
                    "Task End Reason": {"Reason": "Success"},
                }
            yield {"Event": "SparkListenerStageCompleted", "Stage Info": one}
    yield {"Event": "SparkListenerJobEnd", "Job ID": id_, "Job Result": {"Result": result}}


WRITES, READS = [rdd(0, name="ParallelCollectionRDD"), rdd(1, [0])], [rdd(2, [1], "ShuffledRDD"), rdd(3, [2])]


def test_a_shuffle(tmp_path):
    stages = [stage(0, WRITES), stage(1, READS, [0])]
    again = [stage(2, WRITES), stage(3, [rdd(2, [1], "ShuffledRDD"), rdd(4, [2])], [2])]
    dag = fs.dag_of(log_of(tmp_path, [*job(0, stages, {0, 1}), *job(1, again, {3})]))
    assert [(one.name, one.parents, one.wide, one.stages) for one in dag.operations] == [
        ("ParallelCollectionRDD", (), False, (0,)),
        ("PythonRDD", (0,), False, (0,)),
        ("ShuffledRDD", (1,), True, (1, 3)),
        ("PythonRDD", (2,), False, (1,)),
        ("PythonRDD", (2,), False, (3,)),
    ]
    assert [(edge.source, edge.target, edge.wide) for edge in dag.edges] == [
        (0, 1, False),
        (1, 2, True),
        (2, 3, False),
        (2, 4, False),
    ]
    assert [(one.name, one.operations, one.jobs) for one in dag.actions] == [
        ("collect at it.py:1", (3,), (0,)),
        ("collect at it.py:1", (4,), (1,)),
    ]
    assert [(one.id, one.skipped, one.succeeded) for one in dag.jobs] == [(0, (), True), (1, (2,), True)]
    assert [(one.attempts, one.finished) for one in dag.stages] == [(1, 2), (1, 2), (0, 0), (1, 2)]
    assert dag.operations[2].level is Level.UNORDERED and dag.operations[2].functions == ()


def test_rdds_of_one_operator_are_one_operation(tmp_path):
    exchange = ("spark_plan_7", "Exchange")
    writes = [rdd(0, scope=("spark_plan_5", "Range")), rdd(1, [0], scope=exchange)]
    reads = [rdd(2, [1], scope=exchange), rdd(3, [2], scope=("spark_plan_9", "HashAggregate"))]
    properties = {"spark.sql.execution.id": "4"}
    start = {"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": 4}
    start |= {"description": "collect at it.py:1", "time": 1, "sparkPlanInfo": {"nodeName": "HashAggregate"}}
    events = [start, *job(0, [stage(0, writes), stage(1, reads, [0])], {0, 1}, properties)]
    dag = fs.dag_of(log_of(tmp_path, events))
    assert [(one.name, one.api, one.parents, one.wide, one.rdds) for one in dag.operations] == [
        ("Range", Api.FRAME, (), False, (0,)),
        ("Exchange", Api.FRAME, (0,), True, (1, 2)),
        ("HashAggregate", Api.FRAME, (1,), False, (3,)),
    ]
    (execution,) = dag.executions
    assert (execution.id, execution.action, execution.jobs, execution.physical.name) == (4, 0, (0,), "HashAggregate")


def test_a_log_that_ends_in_the_middle(tmp_path):
    stages = [stage(0, WRITES), stage(1, READS, [0])]
    events = [event for event in job(0, stages, {0}) if event["Event"] != "SparkListenerJobEnd"]
    dag = fs.dag_of(log_of(tmp_path, events))
    assert [job.succeeded for job in dag.jobs] == [None] and dag.jobs[0].skipped == ()
    assert dag.operations[3].stages == ()


def test_a_stage_that_two_jobs_share(tmp_path):
    """What a later job runs was skipped by the one before all the same."""
    shared = [stage(0, WRITES), stage(1, READS, [0])]
    dag = fs.dag_of(log_of(tmp_path, [*job(0, shared, {1}), *job(1, shared[:1], {0}), *job(2, shared[:1], {0})]))
    assert [one.skipped for one in dag.jobs] == [(0,), (), ()]
    assert [(one.attempts, one.finished) for one in dag.stages] == [(2, 4), (1, 2)]


def test_wide_however_far_away():
    far = [*WRITES, rdd(7, [1])], [*READS, rdd(8, [3])]
    both = [stage(0, far[0]), stage(1, far[1], [0])]
    ran = Ran(account_of(job(0, both, {0, 1})))
    assert ran.is_wide({8}, {0}) is True and ran.is_wide({3}, {2}) is False and ran.is_wide({2}, {2, 1}) is False
    assert ran.is_wide({7}, {0}) is False and ran.is_wide({7}, {3}) is None


def test_a_job_that_failed(tmp_path):
    dag = fs.dag_of(log_of(tmp_path, job(0, [stage(0, WRITES)], {0}, result="JobFailed")))
    assert dag.jobs[0].succeeded is False


def test_what_cannot_be_read_is_told(tmp_path):
    path = log_of(tmp_path, job(0, [stage(0, WRITES)], {0}))
    path.write_text(path.read_text() + "not json\n" + json.dumps({"Event": "SparkListenerApplicationEnd"}) + "\n")
    dag = fs.dag_of(path)
    assert len(dag.operations) == 2
    assert ["not JSON" in str(one) for one in dag.differences] == [True]


@pytest.mark.parametrize("name", ["adaptive", "cluster", "lost_block", "streaming", "retried", "stopped"])
def test_real_logs(name):
    dag = fs.dag_of(f"tests/history/logs/{name}.zst")
    account = account_of(fs.event_log(f"tests/history/logs/{name}.zst"))
    assert [job.id for job in dag.jobs] == sorted(account.jobs)
    assert {one for operation in dag.operations for one in operation.rdds} == set(account.rdds)
    for operation in dag.operations:
        assert all(parent < operation.id for parent in operation.parents)
        for one in operation.stages:
            assert operation.rdds[-1] in {rdd.id for rdd in dag.program.stage[one].rdds}
    assert dag.differences == ()


def test_batches_of_a_query():
    dag = fs.dag_of("tests/history/logs/streaming.zst")
    assert [job.batch for job in dag.jobs][:3] == [0, 1, 2]
    assert dag.actions[0].name.endswith("batch 0") and "\n" not in dag.actions[0].name


def test_bad_input(tmp_path):
    with pytest.raises(fs.InvalidArgument):
        fs.dag_of(tmp_path / "nothing")
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("local-1", "local-2"):
        (logs / name).write_text('{"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"}\n')
    with pytest.raises(fs.InvalidArgument, match="logs of 2 applications: hand over one of"):
        fs.dag_of(logs)
