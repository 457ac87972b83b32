"""What may be stated of every case: nothing that no subject could break, or none could satisfy."""

import random

import pytest

import firesteel as fs
from firesteel import Verdict
from firesteel.logic.ltl.stated import _constant, refuse_undecidable, stated
from tests.logic.random_formulas import random_formula


def positive(x):
    return x > 0


P = fs.now(positive)


def test_a_function_alone_has_to_hold_at_every_instant():
    assert stated(positive) == fs.always(positive)
    assert stated(positive).evaluate([1, 2, -1]) is Verdict.FALSE
    assert stated(P) is P and P.evaluate([1, -1]) is Verdict.TRUE


@pytest.mark.parametrize(
    "formula",
    [
        True, False, fs.TRUE, fs.FALSE, fs.Check(True), fs.always(True), fs.always(False),
        fs.eventually(True, within=2), ~fs.TRUE, fs.pptl("p or not p", p=bool), fs.pptl("p and not p", p=bool),
        P & False, P | True, fs.implies(P, True), fs.implies(fs.FALSE, P), fs.next_(True), fs.until(P, True),
        fs.until(P, False), fs.release(P, False), fs.always(fs.implies(P, fs.eventually(True))), fs.once(True),
        fs.since(P, True), fs.historically(False),
    ],
    ids=repr,
)  # fmt: skip
def test_constants_are_refused(formula):
    with pytest.raises(fs.InvalidArgument, match=r"same for every subject|is (TRUE|FALSE), whatever the subject does"):
        stated(formula)


@pytest.mark.parametrize("formula", [fs.previously(P), fs.always(fs.previously(P)), fs.previously(P) & P], ids=repr)
def test_looking_back_from_the_first_instant_is_refused(formula):
    with pytest.raises(fs.InvalidArgument, match="looks back from the first instant"):
        stated(formula)


@pytest.mark.parametrize(
    "formula",
    [
        P & True, P | False, fs.implies(True, P), fs.until(True, P), fs.always(fs.implies(P, fs.next_(P)), during=3),
        fs.next_(fs.previously(P)), fs.let(lambda x: True), ~P, fs.release(True, P), fs.always(P | fs.previously(P)),
    ],
    ids=repr,
)  # fmt: skip
def test_what_can_be_true_and_false_is_stated(formula):
    assert stated(formula) is formula


@pytest.mark.parametrize("value", [None, 1, "always", [positive]])
def test_what_is_not_a_formula(value):
    with pytest.raises(fs.InvalidArgument, match="is not a formula"):
        stated(value)


def test_what_is_called_constant_is_so_on_every_trace():
    rng = random.Random(7)
    found = 0
    for _ in range(1_000):
        formula = random_formula(rng, rng.randint(1, 4))
        known = _constant(formula)
        if known is not None:
            found += 1
            for length in (1, 2, 5):
                seen = formula.evaluate([rng.randint(0, 3) for _ in range(length)])
                assert seen in (known, Verdict.INCONCLUSIVE), formula
    assert found > 50


NEVER = [
    fs.always(fs.next_(P)), fs.always(fs.eventually(P, within=3) & fs.next_(P)), fs.always(P) & fs.always(fs.next_(P)),
    fs.always(fs.always(P, during=2)), fs.eventually(fs.always(fs.next_(P))),
]  # fmt: skip
SOMETIMES = [
    fs.always(P), fs.always(fs.next_(P), during=2), fs.eventually(fs.next_(P)), fs.always(fs.implies(P, fs.next_(P))),
    fs.always(fs.eventually(P, within=3)), fs.always(P) | fs.always(fs.next_(P)), fs.always(fs.let(lambda x: True)),
    fs.until(P, fs.next_(P)), fs.release(P, fs.next_(P)),
]  # fmt: skip


@pytest.mark.parametrize("formula", NEVER, ids=repr)
def test_what_no_stream_is_long_enough_for_is_refused(formula):
    with pytest.raises(fs.InvalidArgument, match="looks beyond the last instant of every stream"):
        refuse_undecidable(formula)
    assert not any(formula.evaluate([1] * length) is Verdict.TRUE for length in range(1, 9))


@pytest.mark.parametrize("formula", SOMETIMES, ids=repr)
def test_what_some_stream_decides_is_not_refused(formula):
    refuse_undecidable(formula)
    assert any(formula.evaluate(trace) is Verdict.TRUE for trace in ([1] * 5, [-1] * 5, [1] * 4 + [-1]))
