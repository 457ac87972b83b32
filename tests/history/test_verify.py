"""`fs.verify`: what it takes, what it says, and what it refuses."""

import json
from dataclasses import dataclass

import pytest

import firesteel as fs
from firesteel import rules
from firesteel.history.samples import job, job_end, log, stage
from firesteel.logic import pptl
from tests.history import real

LIGHTS = [{"green": True, "red": False}, {"green": True, "red": False}, {"green": False, "red": True}]


@dataclass
class Light:
    green: bool
    red: bool


# --- sources -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trace",
    [
        LIGHTS,
        iter(LIGHTS),
        (state for state in LIGHTS),
        [{name for name, on in state.items() if on} for state in LIGHTS],
        [Light(**state) for state in LIGHTS],
    ],
    ids=["mappings", "iterator", "generator", "sets", "objects"],
)
def test_any_iterable_is_a_trace(trace):
    states = list(trace)
    assert fs.verify(iter(states), "green until red").verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(iter(states), ["green until red", "[] green"])
    assert "[] green is false (of 2 rules)" in str(failure.value) and "The trace: false (state 2)" in str(failure.value)


def test_a_trace_of_a_run():
    batches = [fs.Batch([1]), fs.Batch([]), fs.Batch([2])]
    trace = fs.Trace([fs.Instant(k, {}, {"output": batch}) for k, batch in enumerate(batches)])
    some = {"some": lambda now: len(now.output) > 0}
    assert fs.verify(trace, "some and next (not some and next some)", propositions=some).verdict is fs.Verdict.TRUE
    assert fs.verify(trace, fs.always(lambda now: len(now.output) < 2)).verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified):
        fs.verify(trace, fs.always(lambda now: len(now.output) == 1))
    with pytest.raises(fs.InvalidArgument, match="is about each stage of an application, and this trace"):
        fs.verify(trace, rules.NO_SPILL)


def test_rules_may_be_texts_formulas_and_formulas_over_predicates():
    events = log(job(0, {}), job_end(0))
    for rule in (
        "<> job_started",
        pptl.parse("<> job_started"),
        fs.eventually(lambda event: event["Event"] == "SparkListenerJobStart"),
        rules.Rule("ENDS", "[] (job_started -> <> job_succeeded)", each="job"),
    ):
        assert fs.verify(events, rule).verdict is fs.Verdict.TRUE
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(events, fs.always(lambda event: event["Event"] != "SparkListenerJobEnd"))
    assert "(event 4)" in str(failure.value)


def test_propositions_of_your_own():
    def slow(event):
        return event.get("Job ID") == 1

    events = log(job(0, {}), job_end(0), job(1, {}), job_end(1))
    assert fs.verify(events, "[] (slow -> <> job_succeeded)", propositions={"slow": slow}).verdict is fs.Verdict.TRUE
    mine = rules.Rule("MINE", "[] not second", each="job", propositions={"second": "`Job ID` == 1"})
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(events, mine)
    ((violation,),) = [rule.violations for rule in failure.value.report.evidence.traces[0].rules]
    assert violation.key == (1,) and violation.number == 5


def test_the_trace_is_left_as_soon_as_everything_is_decided():
    def endless():
        yield {"p": True, "q": False}
        while True:
            yield {"p": False, "q": False}

    with pytest.raises(fs.Falsified) as failure:
        fs.verify(endless(), "[] p")
    assert failure.value.report.evidence.traces[0].events == 2
    assert fs.verify(endless(), "<> p").verdict is fs.Verdict.TRUE


# --- what is found --------------------------------------------------------------------------------------------------


def test_every_violating_thing_is_listed_with_its_events_and_where_it_comes_from():
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(real.log("lost_block"), rules.shuffle_at_most(1))
    message = str(failure.value)
    ((violations,),) = [[rule.violations for rule in failure.value.report.evidence.traces[0].rules]]
    assert [violation.key for violation in violations] == [(0,), (4,)]
    assert all("reduceByKey at" in violation.call_site for violation in violations)
    assert "Stage 0: false" in message and "Stage 4: false" in message and "made by reduceByKey at" in message
    assert "rule      shuffle_at_most(1): [] not too_much, for each stage" in message


def test_the_description_of_the_sql_is_shown():
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(real.log("adaptive"), rules.shuffle_at_most(1))
    (judged,) = failure.value.report.evidence.traces[0].rules
    assert any("collect at" in violation.description for violation in judged.violations)


def test_many_violations_are_listed_in_short():
    events = log(*(event for number in range(30) for event in stage(number)))
    never = rules.Rule("NEVER", "[] not stage_completed", each="stage")
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(events, never)
    assert len(failure.value.report.evidence.traces[0].rules[0].violations) == 30
    message = str(failure.value)
    assert "Also false for 27 others: stage 3 (event " in message and "stage 29 (event " in message


def test_the_shortest_bad_prefix_with_the_events_that_matter():
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(real.log("cluster"), rules.Rule("R", "[] (task_lost -> [] not fetch_failed)", each="task"))
    (judged,) = failure.value.report.evidence.traces[0].rules
    (violation,) = judged.violations
    assert [seen.holds for seen in violation.events] == [("task_lost",), ("fetch_failed",)]
    assert violation.number == violation.events[-1].number and violation.place == violation.events[-1].place
    assert violation.failed == ("[] not fetch_failed",)


def test_what_never_happened_is_found_at_the_end():
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(log(job(0, {})), rules.Rule("ENDS", "[] (job_started -> <> job_succeeded)", each="job"))
    assert "Job 0: something was still to happen at the end" in str(failure.value)
    (violation,) = failure.value.report.evidence.traces[0].rules[0].violations
    assert violation.ended and violation.failed == ("<> job_succeeded",)


def test_what_was_waited_for_when_the_log_broke_off_is_counted():
    ends = rules.Rule("ENDS", "[] (job_started -> <> job_succeeded)", each="job")
    with pytest.raises(fs.Inconclusive, match="for 2 jobs, something was still to happen when the trace broke off"):
        fs.verify(log(job(0, {}), job(1, {}))[:-1], ends)


def test_a_log_without_anything_that_the_rules_are_about():
    with pytest.raises(fs.Vacuous, match="there was no query, so NO_LATE says nothing here"):
        fs.verify(log(), rules.Rule("NO_LATE", "[] not rows_dropped_late", each="query"))
    report = fs.verify(log(stage(0)), [rules.NO_SPILL, rules.LATE_ROWS_NEVER_DROPPED])
    assert report.notes == ("there was no query, so LATE_ROWS_NEVER_DROPPED says nothing here",)


def test_a_report_says_what_was_read():
    assert fs.verify(real.log("lost_block"), real.GENEROUS).summary() == "true: 17 rules, 50 events"


def test_a_batch_is_over_with_the_run_of_its_query():
    from firesteel.history.samples import batches, begun, query

    done = rules.Rule("DONE", "[] (batch_started -> <> batch_committed)", each="batch")
    crashed = log(query(begun(0), error="crash"), batches(0, 1, run="run-2"))
    with pytest.raises(fs.Falsified) as failure:
        fs.verify(crashed, done)
    (violation,) = failure.value.report.evidence.traces[0].rules[0].violations
    assert violation.key == ("run-1", 0) and "Batch 0 of the run run-1" in str(failure.value)
    failed = rules.Rule("FAILED", "[] (batch_started -> <> (batch_committed or query_failed))", each="batch")
    assert fs.verify(crashed, failed).verdict is fs.Verdict.TRUE


def test_progress_says_how_far_it_is():
    from firesteel.evidence.events import Reading
    from firesteel.history.check import rules_of, verified
    from firesteel.report.progress import _text

    heard = []
    source = real.log("adaptive")
    verified(source, rules_of(rules.NO_SPILL, None), heard.append)
    assert heard and all(isinstance(event, Reading) for event in heard)
    assert heard[-1].size == heard[-1].of == source.size
    assert _text(Reading(1_234_567, 50, 200)) == "1,234,567 events, 25 % of the log"


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "rule", "options", "message"),
    [
        (3, "p", {}, "source=3 (int) is not a trace"),
        ("/logs/app-1", "p", {}, "source='/logs/app-1' (str) is a text: write fs.event_log('/logs/app-1')"),
        ({"p": True}, "p", {}, "is one state, not a trace"),
        ([{"p": True}], 3, {}, "rule=3 (int) is not a rule"),
        ([{"p": True}], [], {}, "rule=[] (list) has no rule"),
        ([{"p": True}], "p and", {}, "expected a formula"),
        ([{"p": True}], "p", {"propositions": ["q"]}, "propositions=['q'] (list) is not a mapping"),
        ([{"p": True}], "p", {"propositions": {"q": bool}}, "is given, and no rule has that name"),
        ([{"p": 1}], "p", {}, "p=1 (int) at state 0 is not a bool: define the proposition"),
        ([{"green": True}], "[] grean", {}, "no state of the trace has 'grean' (is 'green' meant?)"),
        ([Light(True, False)], "blue", {}, "no state of the trace has 'blue'"),
        ([{"p": True}], "p", {"propositions": {"p": "n > 1"}}, "is an expression over Spark's events"),
        (log(), "job_start", {}, "'job_start', which is not a proposition about Spark (is 'job_started' meant?)"),
        (log(), "p", {"propositions": {"p": "n >"}}, "expected a number, a text, true, false or null"),
        (log(), "job_started", {"propositions": {"job_started": bool}}, "has the name of a proposition about Spark"),
    ],
)
def test_what_cannot_be_judged_is_refused(source, rule, options, message):
    with pytest.raises(fs.InvalidArgument) as error:
        fs.verify(source, rule, **options)
    assert message in str(error.value)


def test_a_proposition_that_is_never_seen_for_a_key_is_refused():
    with pytest.raises(fs.InvalidArgument) as error:
        fs.verify(log(), rules.Rule("R", "[] not rows_dropped_late", each="stage"))
    assert "is about each stage, and rows_dropped_late is never seen there: it is about each query" in str(error.value)


def test_a_proposition_that_raises_is_named_with_its_event():
    with pytest.raises(fs.PredicateError) as error:
        fs.verify(log(), "[] p", propositions={"p": lambda event: event["nothing"]})
    assert "the proposition 'p'" in str(error.value)
    assert "raised KeyError('nothing') at event 1 (SparkListenerLogStart)" in str(error.value)
    assert isinstance(error.value.__cause__, KeyError)


@pytest.mark.parametrize(
    ("proposition", "message"),
    [
        (lambda event: None, "returned None: is a `return` missing?"),
        (lambda event: 3, "answer=3 (int)"),
        (
            "Event > 3",
            "cannot be judged at event 1 (SparkListenerLogStart): Event='SparkListenerLogStart' (str) cannot",
        ),
    ],
)
def test_a_proposition_that_gives_no_answer(proposition, message):
    with pytest.raises(fs.PredicateError) as error:
        fs.verify(log(), "[] p", propositions={"p": proposition})
    assert message in str(error.value)


def test_a_formula_over_predicates_that_raises_says_where():
    with pytest.raises(fs.PredicateError, match="event 1: "):
        fs.verify(log(), fs.always(lambda event: event["nothing"]))


def test_events_that_are_not_events_are_named():
    with pytest.raises(fs.Inconclusive) as failure:
        fs.verify([*log()[:2], 3, *log()[2:]], "<> application_ended and [] not job_failed")
    assert 'event 3: state=3 (int) is not an event: it has no "Event"' in str(failure.value)


def test_an_empty_trace_decides_nothing():
    with pytest.raises(fs.Inconclusive, match="the trace is empty"):
        fs.verify([], "[] p")


def test_evidence_can_be_json():
    from firesteel.report.logs import as_data

    with pytest.raises(fs.Falsified) as failure:
        fs.verify(real.log("lost_block"), rules.shuffle_at_most(1))
    data = json.loads(json.dumps(as_data(failure.value.report.evidence)))
    assert data["applications"][0]["rules"][0]["violations"][0]["about"] == "stage 0"
