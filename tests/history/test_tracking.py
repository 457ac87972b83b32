"""What happened, from events that do not say it by themselves."""

import json

import pytest

import firesteel as fs
from firesteel import rules
from firesteel.history import table as t
from firesteel.history.samples import (
    batches,
    begun,
    completed,
    done,
    ended,
    job,
    job_end,
    log,
    query,
    stage,
    started,
    submitted,
)
from firesteel.history.tracking import Tracker
from tests.history import real


def happened(*events):
    """For each event, what holds for which thing."""
    tracker = Tracker(t.ENTITIES)
    found = []
    for event in events:
        found.append([(one.entity, one.key, set(one.names)) for one in tracker.handlers[event["Event"]](event)])
    return found


def test_a_stage_that_needs_one_that_failed_must_not_start():
    failed = log(job(0, {0: (), 1: (0,)}), submitted(0), completed(0, failure="no"), submitted(1), completed(1))
    assert real.broken_by(failed, rules.PARENTS_BEFORE_CHILDREN) == {"PARENTS_BEFORE_CHILDREN"}


def test_only_a_stage_that_never_ran_is_skipped_and_only_by_a_job_that_ends_well():
    events = [job(0, {0: (), 1: (0,)}), submitted(1), completed(1)]
    *_, last = happened(*events, job_end(0))
    assert last[:2] == [("job", 0, {"job_succeeded"}), ("stage", 0, {"stage_skipped"})]
    assert not any(names for _, _, names in last[2:])
    *_, last = happened(*events, job_end(0, failed=True))
    assert last[0] == ("job", 0, {"job_failed"}) and not any(names for _, _, names in last[1:])


def test_what_happens_to_a_stage_happens_to_the_pairs_that_it_stands_in():
    *_, last = happened(job(0, {0: (), 1: (0,), 2: (1,)}), submitted(1))
    pairs = [one for one in last if one[0] == "dependency"]
    assert pairs == [("dependency", (1, 0), {"child_submitted"}), ("dependency", (2, 1), {"parent_submitted"})]
    *_, last = happened(job(0, {0: (), 1: (0,)}), job_end(0), submitted(1))
    assert not [one for one in last if one[0] == "dependency"]  # nobody has the pair any more


def test_a_batch_starts_with_its_first_job():
    first, second, again, other_run = happened(begun(3), begun(3), begun(3), begun(3, "run-2"))
    assert first[1:] == [("query", "query-1", {"batch_started"}), ("batch", ("run-1", 3), {"batch_started"})]
    assert second[1:] == again[1:] == []
    assert other_run[1] == ("query", "query-1", {"batch_started", "batch_replayed"})


def test_progress_of_a_query_that_does_nothing_is_not_a_batch():
    idle = done(0)
    idle["progress"]["durationMs"] = {"triggerExecution": 0}
    assert happened(done(0), idle)[1] == []
    assert real.broken_by(log(query(done(0), idle, idle)), rules.BATCHES_COMMITTED_IN_ORDER) == set()


def test_the_first_batch_that_is_seen_may_have_any_id():
    # A query that goes on from a checkpoint of another application.
    assert real.broken_by(log(batches(17, 18)), rules.BATCH_IDS_CONTIGUOUS) == set()
    assert real.broken_by(log(batches(17, 19)), rules.BATCH_IDS_CONTIGUOUS) == {"BATCH_IDS_CONTIGUOUS"}


def test_of_many_queries_that_ended_the_first_are_forgotten():
    tracker = Tracker(t.ENTITIES)
    for number in range(1_000):
        for event in batches(0):
            event = json.loads(json.dumps(event).replace("query-1", f"query-{number}"))
            tracker.handlers[event["Event"]](event)
    assert len(tracker._queries) == 200 and "query-999" in tracker._queries


def test_the_measures_of_a_batch_are_those_that_spark_wrote():
    first = next(event["progress"] for event in real.events("punctual") if event["Event"] == t.QUERY_PROGRESS)
    tracker = Tracker(t.ENTITIES)
    (of_query, _) = tracker.handlers[t.QUERY_PROGRESS]({"progress": first})
    (operator,) = first["stateOperators"]
    assert of_query.measures == {
        "batch.id": 0,
        "batch.rows": 3,
        "batch.milliseconds": first["batchDuration"],
        "query.late_rows": 0,
        "query.state_rows": operator["numRowsTotal"],
        "query.unshrunk_batches": 0,
    }


def test_queries_do_not_mix():
    other = done(7)
    other["progress"]["id"] = "query-2"
    both = log(query(done(0, mark=5), other, done(1, mark=6)))
    assert real.broken_by(both, rules.BATCH_IDS_CONTIGUOUS, rules.WATERMARK_NEVER_BACK) == set()


def test_skew_is_that_of_successful_tasks_of_one_attempt():
    quick = [ended(0, index, took=10) for index in range(3)]
    assert (
        real.broken_by(log(stage(0, *quick, ended(0, 3, "ExceptionFailure", took=10_000))), rules.skew_at_most(5))
        == set()
    )
    assert real.broken_by(log(stage(0, *quick, ended(0, 3, took=51))), rules.skew_at_most(5)) == {"skew_at_most(5)"}
    assert (
        real.broken_by(log(stage(0, ended(0, 0, took=1)), stage(1, ended(1, 0, took=999))), rules.skew_at_most(5))
        == set()
    )
    # A task of less than a millisecond counts as one.
    assert real.broken_by(log(stage(0, *(ended(0, n, took=n) for n in (0, 0, 5)))), rules.skew_at_most(5)) == set()


def test_shuffle_is_counted_for_each_attempt_of_a_stage():
    again = log(
        submitted(0), ended(0, 0, wrote=60), ended(0, 0, "FetchFailed"), completed(0, failure="fetch"), submitted(0, 1),
        completed(0, 1),
    )  # fmt: skip
    assert real.broken_by(again, rules.shuffle_at_most(60)) == set()
    assert real.broken_by(again, rules.shuffle_at_most(59)) == {"shuffle_at_most(59)"}


def test_copies_and_attempts_are_told_apart():
    (_, first), (_, copy) = happened(submitted(0), started(0, 4)), happened(submitted(0), started(0, 4, 1, copy=True))
    assert first == [("task", (0, 0, 4), {"task_started"})]
    assert copy == [("task", (0, 0, 4), {"task_started", "task_speculative"})]


def test_state_that_stays_is_neither_grown_nor_shrunk():
    of = [one[0][2] for one in happened(done(0, rows=2), done(1, rows=2), done(2, rows=1), done(3, rows=4))]
    assert [names & {"state_grew", "state_shrank"} for names in of] == [
        {"state_grew"}, set(), {"state_shrank"}, {"state_grew"},
    ]  # fmt: skip


def test_every_proposition_belongs_to_an_entity_and_an_event_that_is_handled():
    handled = Tracker(t.ENTITIES).handlers
    for one in t.PROPOSITIONS.values():
        assert set(one.entities) <= set(t.ENTITIES) and one.event in handled
    for measure in t.MEASURES.values():
        assert measure.entity in t.ENTITIES and measure.event in handled


@pytest.mark.parametrize("name", t.PROPOSITIONS)
def test_a_formula_about_the_application_may_name_any_proposition(name):
    # The events that it needs are found, whatever they are.
    log = real.log("streaming" if "quer" in str(t.PROPOSITIONS[name].entities) else "cluster")
    by_list, by_log = real.shown_by(list(log), [name]), real.shown_by(log, [name])
    assert by_list == by_log
    assert fs.verify(log, f"{name} or not {name}").verdict is fs.Verdict.TRUE


def test_what_is_seen_everywhere_is_seen_once_by_its_own():
    from firesteel.history.samples import lost

    once = rules.Rule("ONCE", "executor_lost -> wnext [] not executor_lost", each="executor")
    assert real.broken_by(log(lost("1"), lost("2")), once) == set()
    assert real.broken_by(log(lost("1"), lost("2"), lost("1")), once) == {"ONCE"}
