"""What operators mean, by hand: small cases, the definitions in the paper's Table 1, and laws."""

import re

import pytest

from firesteel.logic import pptl
from firesteel.logic.verdicts import Verdict


def word(text):
    """States from a text: `p . pq` has three, of which the second has no names."""
    return [set() if state == "." else set(state) for state in text.split()]


@pytest.mark.parametrize(
    "formula, true, false",
    [
        ("p", ["p", "p ."], [".", ". p"]),
        ("empty", ["."], [". ."]),
        ("more", [". .", ". . ."], ["."]),
        ("skip", [". ."], [".", ". . ."]),
        ("len(2)", [". . ."], [".", ". .", ". . . ."]),
        ("len(0)", ["."], [". ."]),
        ("next p", [". p"], ["p", "p ."]),
        ("wnext p", [".", ". p"], ["p ."]),
        ("[] p", ["p", "p p"], ["p .", ". p"]),
        ("<> p", ["p", ". p"], [".", ". ."]),
        ("p until q", ["q", "p q", "p p q"], ["p", "p . q"]),
        ("p release q", ["q q", "q pq .", "pq"], ["q .", "p q"]),
        ("p ; q", ["pq", "p q", "p . q"], ["p", "p p"]),
        ("len(1) ; len(1)", [". . ."], [". .", ". . . ."]),
        ("(p and skip)*", [".", "p .", "p p ."], [". .", "p . ."]),
        ("p*", [".", "p", "p . ."], [". ."]),
        ("false*", ["."], [". ."]),
        ("(p and skip)^2", ["p p .", "p p p"], ["p .", "p p p p", "p . ."]),
        ("p^0", [".", "p"], ["p p"]),
        ("fin(p)", ["p", ". p"], [".", "p ."]),
        ("keep(p)", [".", "p ."], [". .", "p . ."]),
        ("halt(p)", ["p", ". p"], [".", "p p", ". ."]),
        ("p and len(1) || q and len(3)", ["pq . . ."], ["pq .", "p . . .", "pq . . . ."]),
        ("while p {skip}", [".", "p .", "p p ."], ["p", "p p", ". ."]),
        ("while p {len(2)}", [".", "p . .", "p . p . ."], ["p .", "p p", "p . p"]),
        ("(len(2), len(2)) prj (len(2) and [] p)", ["p . p . p"], ["p . . . p", "p . p . p p", "p . p ."]),
        # The whole may end before the parts do, and goes on after them state by state.
        ("(len(2), len(2)) prj [] p", ["p . p . p", "p . . . .", "p . p . p p"], [". . p . p", "p . p . p ."]),
        ("(len(1), len(1)) prj (p and empty)", ["p . ."], [". . .", "p . . ."]),
        ("(p) prj q", ["pq", "pq q"], ["p", "q"]),
        ("(len(2) and p, len(1)) prj len(2)", ["p . . ."], ["p . .", ". . . .", "p . . . ."]),
        # Parts of one state meet in one point, which the whole reads once.
        ("(empty, empty, skip) prj skip", [". ."], [".", ". . ."]),
        ("(p and len(2))* ; (p and empty or p and skip)", ["p", "p .", "p . p"], [".", "p . .", "p . . ."]),
    ],
)
def test_small_cases(formula, true, false):
    formula = pptl.parse(formula)
    for text in true:
        assert formula.evaluate(word(text), names=["p", "q"]) is Verdict.TRUE, text
    for text in false:
        assert formula.evaluate(word(text), names=["p", "q"]) is Verdict.FALSE, text


@pytest.mark.parametrize(
    "written, defined",
    [
        # the paper's Table 1
        ("while b {P}", "(b and P)* and [] (empty -> not b)"),
        ("P || Q", "P and (Q ; true) or (P ; true) and Q or P and Q"),
        ("halt(b)", "[] (empty <-> b)"),  # await(b) is halt(b) in a frame
        ("(b -> P) and (not b -> Q)", "b and P or not b and Q"),  # if b then P else Q
        # and what the other operators stand for
        ("<> P", "true ; P"),
        ("[] P", "not <> not P"),
        ("more", "not empty"),
        ("skip", "next empty"),
        ("len(3)", "next next next empty"),
        ("wnext P", "not next not P"),
        ("fin(P)", "[] (empty -> P)"),
        ("keep(P)", "[] (more -> P)"),
        ("P release Q", "not (not P until not Q)"),
        ("P*", "empty or (P ; P*)"),
        ("P^3", "P ; P ; P"),
        ("(p or skip)^3", "(p or skip) ; (p or skip) ; (p or skip)"),
        ("(empty or P)^2", "empty or P or (P ; P)"),
        ("(P) prj true", "P ; true"),
        ("(P, Q) prj empty", "P ; Q"),
        ("(P ; Q) ; R", "P ; (Q ; R)"),
        ("(P || Q) || R", "P || (Q || R)"),
    ],
)
def test_operators_are_what_they_are_defined_as(written, defined):
    """With formulas of every kind in the place of P, Q, R and b."""
    both = (written, defined)
    inner = ["p", "next q", "p until q", "<> p and skip", "(q and len(2))*", "not (p ; q)"]
    for shift in range(len(inner)):
        parts = dict(zip("PQRb", (f"({inner[(shift + n) % len(inner)]})" for n in range(4)), strict=True))
        first, second = (re.sub(r"\b[PQRb]\b", lambda found, parts=parts: parts[found.group()], text) for text in both)
        assert pptl.equivalent(first, second), (first, second)


def test_an_await_ends_where_its_condition_comes_true():
    """`await(b) ; body`: the body starts in the first state where b holds."""
    awaits = pptl.parse("halt(b) ; done and empty")
    assert awaits.evaluate([set(), set(), {"b", "done"}]) is Verdict.TRUE
    assert awaits.evaluate([set(), {"b"}, {"b", "done"}]) is Verdict.FALSE
    assert pptl.witness("halt(b) and not <> b") is None


def test_projection_sees_coarser_time():
    """A clock that ticks every three states, and a process that is judged at its ticks only."""
    ticks = pptl.parse("(len(3), len(3)) prj (p and next (not p and next p))")
    assert ticks.evaluate(word("p p p . p p p"), names=["q"]) is Verdict.TRUE
    assert ticks.evaluate(word("p p p p p p p"), names=["q"]) is Verdict.FALSE
