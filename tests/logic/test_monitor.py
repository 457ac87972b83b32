"""What a monitor asks, keeps and refuses."""

import gc

import pytest

import firesteel as fs
from firesteel import Verdict
from firesteel.logic.ltl.formulas import Implies

T, F, U = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE


class Asked:
    """A predicate that remembers the instants it was asked about."""

    def __init__(self, answer=lambda x: True):
        self.answer, self.instants = answer, []

    def __call__(self, instant):
        self.instants.append(instant)
        return self.answer(instant)


def test_a_predicate_is_asked_once_an_instant_however_many_obligations_share_it():
    asked = Asked(lambda x: x != 99)
    atom = fs.now(asked)
    formula = fs.always(fs.always(atom, during=5) & fs.eventually(atom, within=3)) & fs.until(atom, ~atom)
    formula.evaluate(range(20))
    assert asked.instants == list(range(20))


def test_nothing_is_asked_after_a_definite_verdict():
    asked = Asked(lambda x: x < 3)
    formula = fs.always(asked)
    assert formula.evaluate(range(10)) is F
    assert asked.instants == [0, 1, 2, 3]
    monitor = formula.monitor()
    assert [monitor.step(x) for x in (0, 3, 4)] == [U, F, F]
    assert monitor.instants == 2


def test_and_or_and_implies_look_no_further_than_they_must():
    def explode(now):
        raise AssertionError("asked")

    assert (fs.FALSE & explode).evaluate([1]) is F
    assert (fs.TRUE | explode).evaluate([1]) is T
    assert fs.implies(lambda x: False, explode).evaluate([1]) is T
    assert fs.until(explode, lambda x: True, within=3).evaluate([1]) is T
    assert fs.release(explode, lambda x: False, during=3).evaluate([1]) is F


def test_a_finished_monitor_cannot_go_on():
    monitor = fs.always(lambda x: True).monitor()
    monitor.step(1)
    assert monitor.finish() is T
    assert monitor.finish() is T
    with pytest.raises(RuntimeError, match="finished"):
        monitor.step(2)


def test_the_verdict_of_a_constant_is_known_at_once():
    assert fs.TRUE.monitor().verdict is T
    assert fs.FALSE.monitor().verdict is F


@pytest.mark.parametrize(
    "formula",
    [
        fs.always(fs.consume(lambda x: fs.eventually(lambda y: y > x or x == 6, within=3))),
        fs.always(fs.eventually(fs.always(lambda x: x < 9))),
        fs.until(fs.eventually(lambda x: x == 9), fs.always(lambda x: x < 8)),
        fs.release(fs.always(lambda x: x < 8), fs.eventually(lambda x: x == 9)),
        fs.always(fs.implies(lambda x: x == 5, fs.since(lambda x: x > 0, lambda x: x == 1, within=6))),
        fs.always(fs.once(fs.eventually(lambda x: x == 6), within=4)),
        fs.always(fs.until(fs.eventually(lambda x: x == 2, within=9), fs.always(lambda x: x > 3, during=3), within=9)),
    ],
    ids=str,
)
def test_what_is_open_does_not_grow_with_the_trace(formula):
    def size(steps):
        monitor = formula.monitor()
        for x in range(steps):
            monitor.step(x % 7)
        gc.collect()
        return _reachable(monitor._left)

    assert size(2_100) <= size(700) + 5


def _reachable(root):
    """How many of the engine's own objects a value holds."""
    seen, todo = set(), [root]
    while todo:
        item = todo.pop()
        ours = type(item).__module__.startswith("firesteel.logic") and not isinstance(item, type)
        if id(item) in seen or not (ours or type(item) in (tuple, list, dict, frozenset)):
            continue
        seen.add(id(item))
        todo.extend(gc.get_referents(item))
    return len(seen)


def test_premises_say_which_implications_were_empty():
    met = fs.implies(lambda x: x > 1, lambda x: True)
    unmet = fs.implies(lambda x: x > 100, lambda x: True)
    never_asked = fs.implies(lambda x: True, lambda x: True)
    monitor = (fs.always(met & unmet) & fs.next_(never_asked, times=50)).monitor()
    for x in range(5):
        monitor.step(x)
    assert monitor.premises == {met: True, unmet: False}
    assert all(isinstance(key, Implies) for key in monitor.premises)


def test_implications_made_on_the_way_count_together():
    formula = fs.always(fs.let(lambda x: fs.implies(x > 3, fs.TRUE)))
    monitor = formula.monitor()
    for x in range(3):
        monitor.step(x)
    assert monitor.premises == {None: False}
    monitor.step(4)
    assert monitor.premises == {None: True}


def test_a_premise_that_takes_time():
    formula = fs.implies(fs.eventually(lambda x: x == 2, within=3), fs.always(lambda x: x < 9, during=5))
    monitor = formula.monitor()
    assert [monitor.step(x) for x in [0, 1]] == [U, U]
    assert monitor.premises == {formula: False}
    monitor.step(2)
    assert monitor.premises == {formula: True}
    assert monitor.step(9) is F


def test_the_past_inside_let_begins_there():
    trace = [1, 0, 0]
    assert fs.next_(fs.once(lambda x: x == 1)).evaluate(trace) is T
    assert fs.next_(fs.let(lambda _: fs.once(lambda x: x == 1))).evaluate(trace) is F


def test_a_huge_bound_costs_nothing_at_the_end_of_a_short_trace():
    assert fs.always(lambda x: x > 0, during=10**12).evaluate([1, 2]) is U
    assert fs.always(fs.TRUE, during=10**12).evaluate([1, 2]) is T
