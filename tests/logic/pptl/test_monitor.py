"""Monitors: what they are given, when they know, and what they hold."""

import tracemalloc

import pytest

from firesteel import InvalidArgument
from firesteel.logic import pptl
from firesteel.logic.verdicts import Verdict

T, F, U = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE


def verdicts(text, *trace, **options):
    monitor = pptl.parse(text).monitor(**options)
    return [monitor.verdict, *map(monitor.step, trace), monitor.finish()]


def test_a_verdict_is_inconclusive_until_every_continuation_agrees():
    assert verdicts("p until q", {"p"}, {"q"}) == [U, U, T, T]
    assert verdicts("p until q", {"p"}, set()) == [U, U, F, F]
    assert verdicts("[] p", {"p"}, {"p"}) == [U, U, U, T]
    assert verdicts("<> p", set(), set()) == [U, U, U, F]
    assert verdicts("true", set()) == [T, T, T]
    assert verdicts("p and not p", set()) == [F, F, F]
    # Two states are one too many as soon as there are two, and true only at the end of one.
    assert verdicts("empty", set()) == [U, U, T]
    assert verdicts("empty", set(), set()) == [U, U, F, F]


def test_a_verdict_that_no_single_state_shows():
    """After p, the rest is contradictory, though no name has to be false now."""
    assert verdicts("p and next (<> q and [] not q)", {"p"}) == [F, F, F]
    assert verdicts("(p and <> q) or (p and [] not q)", {"p"}) == [U, T, T]


def test_sets_mappings_and_frozen_sets_are_states():
    states = [{"p"}, frozenset({"p"}), {"p": True, "q": False}, dict.fromkeys("pq", True).keys() - {"q"}]
    for state in states:
        assert verdicts("p and not q", state) == [U, T, T]


def test_a_state_may_have_other_names_that_are_declared():
    assert verdicts("[] p", {"p", "q"}, names=["q"]) == [U, U, T]
    assert verdicts("[] p", {"p": True, "q": True}, {"p": False}, names=["q"]) == [U, U, F, F]
    assert verdicts("[] p", {"q"}, exclusive=[("p", "q")]) == [U, F, F]


@pytest.mark.parametrize(
    "state, message",
    [
        (
            {"replay"},
            "state 1 has 'replay', which is not a name of the formula: 'reply', 'request' (is 'reply' meant?)",
        ),
        ({"x"}, "state 1 has 'x', which is not a name of the formula: 'reply', 'request'. If it is right, declare it"),
        ({3}, "state 1 has 3, which is not a name"),
        ({"request": True, "replay": False}, "state 1 has 'replay'"),
        ({"request": True}, "state 1 does not say whether 'reply' holds"),
        ({"request": 1, "reply": False}, "request in state 1=1 (int) is not a bool"),
        ({"request": None, "reply": False}, "request in state 1=None (NoneType) is not a bool"),
        ("request", "state 1='request' (str) is not a state: write the set of names that hold"),
        (["request"], "state 1=['request'] (list) is not a state"),
        (None, "state 1=None (NoneType) is not a state"),
        (frozenset({"replay"}), "state 1 has 'replay'"),
    ],
)
def test_a_state_that_is_not_good(state, message):
    formula = pptl.parse("[] (request -> <> reply)")
    monitor = formula.monitor()
    assert monitor.step({"request"}) is U
    with pytest.raises(InvalidArgument) as error:
        monitor.step(state)
    assert message in str(error.value)
    for judge in (formula.evaluate, formula.explain):
        with pytest.raises(InvalidArgument) as again:
            judge([{"request"}, state])
        assert str(again.value) == str(error.value)
    assert monitor.states == 1 and monitor.step({"reply"}) is U, "the monitor goes on"


def test_a_misspelt_name_is_an_error_after_the_verdict_too():
    monitor = pptl.parse("p").monitor()
    assert monitor.step({"p"}) is T
    with pytest.raises(InvalidArgument):
        monitor.step({"q"})


def test_an_empty_trace_is_refused():
    formula = pptl.parse("true")
    for judge in (lambda: formula.evaluate([]), lambda: formula.explain([]), formula.monitor().finish):
        with pytest.raises(InvalidArgument, match="the trace is empty"):
            judge()


@pytest.mark.parametrize("trace", ["pq", {"p"}, {"p": True}, 3])
def test_what_is_not_a_trace(trace):
    with pytest.raises(InvalidArgument, match="is not a trace: write a list of states"):
        pptl.parse("p").evaluate(trace)


def test_a_finished_monitor_is_finished():
    monitor = pptl.parse("[] p").monitor()
    monitor.step({"p"})
    assert monitor.finish() is T and monitor.finish() is T and monitor.verdict is T
    with pytest.raises(RuntimeError, match="finished"):
        monitor.step({"p"})


def test_what_is_open_and_what_failed():
    rule = pptl.parse("[] (request -> <> reply) and [] not crash")
    monitor = rule.monitor()
    monitor.step({"request"})
    assert pptl.equivalent(monitor.open, pptl.and_(rule, "<> reply"))
    assert monitor.failed == ()
    assert monitor.step({"crash"}) is F
    assert [str(part) for part in monitor.failed] == ["[] not crash"]
    monitor = rule.monitor()
    monitor.step({"request"}), monitor.step(set())
    assert monitor.finish() is F
    assert [str(part) for part in monitor.failed] == ["<> reply"]


def test_a_monitor_holds_as_much_after_a_long_trace_as_after_a_short_one():
    monitor = pptl.parse("(p and len(2))* ; (p and empty or p and skip)").monitor()
    tracemalloc.start()
    for n in range(1_000):
        monitor.step({"p"} if n % 2 == 0 else set())
    before, _ = tracemalloc.get_traced_memory()
    for n in range(20_000):
        monitor.step({"p"} if n % 2 == 0 else set())
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert monitor.states == 21_000 and monitor.verdict is U
    assert after - before < 2_000


def test_a_formula_has_no_truth_value():
    with pytest.raises(TypeError, match="has no truth value of its own: join formulas with &"):
        bool(pptl.parse("p"))
    assert str(pptl.parse("p") & "q" | ~pptl.parse("r")) == "p and q or not r"


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: pptl.always(3), "formula=3 (int) is not a formula: write a formula, a text"),
        (lambda: pptl.until("p", None), "then=None (NoneType) is not a formula"),
        (lambda: pptl.and_("p", 3), "formula 2=3 (int) is not a formula"),
        (lambda: pptl.and_(), "at least one formula is needed"),
        (lambda: pptl.prj("p", "q"), "parts='p' (str) is not a list of formulas"),
        (lambda: pptl.prj([], "q"), "at least one formula is needed"),
        (lambda: pptl.len_(-1), "number=-1 (int) is out of range: write a whole number from 0 to 10000"),
        (lambda: pptl.len_(10_001), "number=10001 (int) is out of range"),
        (lambda: pptl.repeat("p", True), "times=True (bool) is out of range"),
        (lambda: pptl.repeat("p", 1.5), "times=1.5 (float) is out of range"),
        (lambda: pptl.name(""), "name='' (str) is not a name"),
        (lambda: pptl.name(3), "name=3 (int) is not a name"),
        (lambda: pptl.always("p and"), "expected a formula, found the end of the text, at position 5"),
        (lambda: pptl.parse("p").monitor(names="q"), "names='q' (str) is not a collection of names"),
        (lambda: pptl.parse("p").monitor(exclusive="pq"), "exclusive='pq' (str) is not a collection of groups"),
        (lambda: pptl.parse("p").monitor(exclusive=["pq"]), "a group of exclusive='pq' (str) is not a collection"),
        (lambda: pptl.of("p"), "formula='p' (str) is not an LTLss formula"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert message in str(error.value)


def test_a_formula_that_is_too_deep():
    formula = pptl.name("p")
    with pytest.raises(InvalidArgument, match="a formula is nested 101 deep, and 100 is the most"):
        for _ in range(200):
            formula = pptl.next_(formula)
    assert formula.depth == 100
    assert formula.evaluate([set()] * 99 + [{"p"}]) is T
    assert pptl.parse(str(formula)) == formula
    assert len(formula.automaton()) == 102
