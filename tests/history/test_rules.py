"""The ready rules: each is broken by its own small log, by a doctored real one, and by a real one where Spark can."""

import copy

import pytest

import firesteel as fs
from firesteel import rules
from firesteel.history import table as t
from tests.history import real

READY = [made if isinstance(made, rules.Rule) else made(3) for made in rules.READY.values()]


@pytest.mark.parametrize("rule", READY, ids=lambda rule: rule.name)
def test_a_ready_rule_is_broken_by_one_small_log_and_kept_by_another(rule):
    assert fs.verify(rule.keeps, rule).verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(rule.breaks, rule)
    (trace,) = failure.value.report.evidence.traces
    (judged,) = trace.rules
    assert judged.violations and judged.violations[0].failed and rule.says in str(failure.value)


@pytest.mark.parametrize("name", real.NAMES)
def test_a_real_log_breaks_the_rules_that_spark_was_made_to_break_and_no_others(name):
    assert real.broken_by(real.log(name), *real.GENEROUS) == real.BROKEN.get(name, set())


@pytest.mark.parametrize(("name", "rule"), real.STRICT, ids=lambda given: getattr(given, "name", given))
def test_a_real_log_breaks_a_strict_rule(name, rule):
    assert real.broken_by(real.log(name), rule) == {rule.name}


@pytest.mark.parametrize("name", real.NAMES)
def test_a_real_log_shows_what_it_is_there_for(name):
    assert real.shown_by(real.log(name), real.SHOWS[name]) == real.SHOWS[name]


@pytest.mark.slow
def test_every_proposition_holds_in_some_real_log():
    shown = set()
    for name in real.NAMES:
        shown |= real.shown_by(real.log(name), t.PROPOSITIONS.keys() - shown)
    # That the output of a task is lost while its stage still runs takes a signal at the right moment.
    assert t.PROPOSITIONS.keys() - shown == {"task_resubmitted"}


# --- doctored logs ------------------------------------------------------------------------------------------------


def set_in(kind, path, value, *, last=False, where=lambda event: True):
    """Sets a field of the first or last event of a kind."""

    def changed(events):
        chosen = [event for event in events if event["Event"] == kind and where(event)]
        inner = chosen[-1 if last else 0]
        *way, name = path
        for part in way:
            inner = inner[part]
        inner[name] = value
        return events

    return changed


def child_first(events):
    """The stage that needs another starts before that one is complete."""
    place = next(n for n, event in enumerate(events) if event["Event"] == t.STAGE_COMPLETED)
    child = next(n for n, event in enumerate(events) if event["Event"] == t.STAGE_SUBMITTED and n > place)
    events.insert(place, events.pop(child))
    return events


def run_again(events):
    """A stage that ended well starts once more."""
    place, first = next((n, event) for n, event in enumerate(events) if event["Event"] == t.STAGE_SUBMITTED)
    again = copy.deepcopy(first)
    again["Stage Info"]["Stage Attempt ID"] = 1
    ended = next(n for n, event in enumerate(events) if event["Event"] == t.STAGE_COMPLETED)
    assert place < ended
    return [*events[: ended + 1], again, *events[ended + 1 :]]


def never_redone(events):
    """A task is lost with its executor, never runs again, and its stage ends well all the same."""
    lost = next(event for event in events if event.get("Task End Reason", {}).get("Reason") == "ExecutorLostFailure")
    kept = []
    for event in events:
        same = all(event.get(key) == lost[key] for key in ("Stage ID", "Stage Attempt ID"))
        if same and event["Task Info"]["Attempt"] > 0:
            continue
        if event["Event"] == t.STAGE_COMPLETED and event["Stage Info"]["Stage ID"] == lost["Stage ID"]:
            event["Stage Info"].pop("Failure Reason", None)
        kept.append(event)
    return kept


def both_succeed(events):
    """The killed copy of a slow task succeeds too."""
    for event in events:
        if event["Event"] == t.TASK_END and event["Task End Reason"]["Reason"] == "TaskKilled":
            event["Task End Reason"] = {"Reason": "Success"}
            killed = event
    # It has to end while its stage runs.
    events.remove(killed)
    twin = next(
        n
        for n, event in enumerate(events)
        if event["Event"] == t.TASK_END
        and (event["Stage ID"], event["Task Info"]["Index"]) == (killed["Stage ID"], killed["Task Info"]["Index"])
    )
    return [*events[: twin + 1], killed, *events[twin + 1 :]]


def swapped(events):
    """Two batches are done in the wrong order."""
    first, second = [n for n, event in enumerate(events) if event["Event"] == t.QUERY_PROGRESS][1:3]
    events[first], events[second] = events[second], events[first]
    return events


def succeeded(event):
    return event["Task End Reason"]["Reason"] == "Success"


PROGRESS = t.QUERY_PROGRESS
DOCTORED = {
    "PARENTS_BEFORE_CHILDREN": ("lost_block", child_first),
    "STAGE_RERUN_ONLY_AFTER_FETCH_FAILURE": ("retried", run_again),
    "WORK_OF_LOST_EXECUTOR_REDONE": ("cluster", never_redone),
    "SPECULATION_COMMITS_ONCE": ("speculation", both_succeed),
    "BATCH_IDS_CONTIGUOUS": ("punctual", set_in(PROGRESS, ("progress", "batchId"), 99, last=True)),
    "BATCHES_COMMITTED_IN_ORDER": ("punctual", swapped),
    "WATERMARK_NEVER_BACK": (
        "punctual",
        set_in(PROGRESS, ("progress", "eventTime"), {"watermark": "1999-01-01T00:00:00.000Z"}, last=True),
    ),
    "LATE_ROWS_NEVER_DROPPED": (
        "punctual",
        set_in(PROGRESS, ("progress", "stateOperators"), [{"numRowsDroppedByWatermark": 1, "numRowsTotal": 1}]),
    ),
    "STOP_HAS_REASON": (
        "streaming",
        set_in(t.QUERY_TERMINATED, ("exception",), None, where=lambda event: event["exception"] is not None),
    ),
    "NO_SPILL": ("retried", set_in(t.TASK_END, ("Task Metrics", "Disk Bytes Spilled"), 1, last=False)),
    "attempts_at_most(4)": ("retried", set_in(t.TASK_START, ("Task Info", "Attempt"), 4)),
    "late_rows_at_most(100)": (
        "punctual",
        set_in(PROGRESS, ("progress", "stateOperators"), [{"numRowsDroppedByWatermark": 101, "numRowsTotal": 1}]),
    ),
    "state_rows_at_most(1000)": (
        "punctual",
        set_in(PROGRESS, ("progress", "stateOperators"), [{"numRowsTotal": 1001}], last=True),
    ),
    "batch_at_most_times_median(1000)": (
        "slow_batch",
        set_in(PROGRESS, ("progress", "batchDuration"), 10**9, last=True),
    ),
    "skew_at_most(10000)": (
        "retried",
        set_in(t.TASK_END, ("Task Info", "Finish Time"), 10**15, where=succeeded),
    ),
    "shuffle_at_most(1 MiB)": (
        "lost_block",
        set_in(t.TASK_END, ("Task Metrics", "Shuffle Write Metrics"), {"Shuffle Bytes Written": 2**20 + 1}),
    ),
}


@pytest.mark.parametrize("name", [rule.name for rule in real.GENEROUS if rule.name != "state_shrinks_within(50)"])
def test_a_doctored_real_log_breaks_a_rule(name):
    source, doctor = DOCTORED[name]
    doctored = doctor(copy.deepcopy(real.events(source)))
    rule = next(one for one in real.GENEROUS if one.name == name)
    assert real.broken_by(real.events(source), rule) == set()
    assert real.broken_by(doctored, rule) == {name}


def test_state_that_is_doctored_to_stay_breaks_the_rule_that_it_shrinks():
    rule, events = rules.state_shrinks_within(3), real.events("punctual")
    assert real.broken_by(events, rule) == set()
    for event in events:
        if event["Event"] == PROGRESS:
            event["progress"]["stateOperators"] = [{"numRowsTotal": 5}]
    assert real.broken_by(events, rule) == {rule.name}


# --- what rules say about odd but right logs -----------------------------------------------------------------------


def test_copies_of_a_stage_that_ended_do_not_matter():
    # A task of an attempt that is over may still succeed: nobody waits for it.
    from firesteel.history.samples import completed, ended, log, started, submitted

    late = log(submitted(0), started(0, 0), ended(0, 0), completed(0), ended(0, 0, attempt=1))
    assert real.broken_by(late, rules.SPECULATION_COMMITS_ONCE) == set()


def test_a_lost_copy_of_a_task_that_is_done_need_not_run_again():
    from firesteel.history.samples import ended, log, stage, started

    copies = stage(0, started(0, 0), started(0, 0, 1, copy=True), ended(0, 0), ended(0, 0, "ExecutorLostFailure"))
    assert real.broken_by(log(copies), rules.WORK_OF_LOST_EXECUTOR_REDONE) == set()


def test_output_that_is_lost_has_to_be_made_again():
    from firesteel.history.samples import ended, log, stage, started

    lost = stage(0, started(0, 0), ended(0, 0), ended(0, 0, "Resubmitted"))
    assert real.broken_by(log(lost), rules.WORK_OF_LOST_EXECUTOR_REDONE) == {"WORK_OF_LOST_EXECUTOR_REDONE"}
    again = stage(0, started(0, 0), ended(0, 0), ended(0, 0, "Resubmitted"), started(0, 0, 1), ended(0, 0, attempt=1))
    both = (rules.WORK_OF_LOST_EXECUTOR_REDONE, rules.SPECULATION_COMMITS_ONCE)
    assert real.broken_by(log(again), *both) == set()


def test_a_stage_may_start_again_while_another_that_needs_it_runs_after_a_fetch_failure_elsewhere():
    from firesteel.history.samples import completed, ended, job, job_end, log, submitted

    shared = job(0, {0: (), 1: (0,), 2: (0,)})
    events = [shared, submitted(0), completed(0), submitted(1), submitted(2), ended(2, 0, "FetchFailed")]
    events += [completed(2, failure="fetch"), submitted(0, 1), completed(0, 1), submitted(2, 1), completed(2, 1)]
    assert real.broken_by(log(*events, completed(1), job_end(0)), rules.PARENTS_BEFORE_CHILDREN) == set()
    without = [event for event in events if event["Event"] != t.TASK_END]
    assert real.broken_by(log(*without, completed(1), job_end(0)), rules.PARENTS_BEFORE_CHILDREN)


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rules.attempts_at_most(0), "n=0 (int) is not a number here: write a whole number from 1"),
        (lambda: rules.attempts_at_most(True), "n=True (bool) is not a number here"),
        (lambda: rules.skew_at_most("5"), "n='5' (str) is not a number here: write a number from 1"),
        (lambda: rules.shuffle_at_most("5 apples"), "size='5 apples' (str) is not a size"),
        (lambda: rules.Rule("", "p"), "name='' (str) is not a name"),
        (lambda: rules.Rule("R", "p", each="row"), "each='row' (str) is not something to have a rule for"),
        (lambda: rules.Rule("R", "p", propositions=["p"]), "is not a mapping of names"),
        (lambda: rules.Rule("R", "p", propositions={"p": 3}), "propositions['p']=3 (int) is neither a function"),
        (lambda: fs.verify([], rules.Rule("R", "p until")), "expected a formula, found the end of the text"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(make, message):
    with pytest.raises(fs.InvalidArgument) as error:
        make()
    assert message in str(error.value)


def test_rules_are_values():
    import pickle

    assert pickle.loads(pickle.dumps(rules.NO_SPILL)) == rules.NO_SPILL
    assert rules.attempts_at_most(3) == rules.attempts_at_most(3) != rules.attempts_at_most(4)
    assert len({rules.attempts_at_most(3), rules.attempts_at_most(3)}) == 1
