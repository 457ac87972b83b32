"""Explanations: the shortest bad prefix, what was open on the way, and the part that failed."""

import pytest

from firesteel.logic import pptl
from firesteel.logic.verdicts import Verdict


def explained(text, *trace, **options):
    why = pptl.parse(text).explain(list(trace), **options)
    return why.prefix, why.ended, [str(part) for part in why.failed]


def test_the_shortest_bad_prefix():
    assert explained("[] p", {"p"}, set(), {"p"}, set()) == (2, False, ["[] p"])
    assert explained("<> p", set(), set()) == (2, True, ["<> p"])
    assert explained("p ; q and empty", {"p"}, {"p"}) == (2, True, ["<> (q and empty)"])
    assert explained("len(1)", set(), set(), set(), set()) == (3, False, ["empty"])


def test_the_bad_prefix_ends_where_no_continuation_helps_though_no_name_is_wrong_there():
    assert explained("[] (p -> next (<> q and [] not q))", set(), {"p"}, set()) == (
        2,
        False,
        ["[] (p -> next (<> q and [] not q))"],
    )


def test_only_the_part_that_failed_is_named():
    rules = "[] (request -> <> reply) and [] not crash and (start ; true)"
    assert explained(rules, {"start"}, {"request"}, {"crash"}) == (3, False, ["[] not crash"])
    assert explained(rules, {"start"}, {"request"}, set()) == (3, True, ["<> reply"])
    assert explained(rules, {"request"}, {"reply"}) == (1, False, ["start ; true"])


def test_parts_that_only_fail_together_are_all_named():
    assert explained("<> (p and empty) and <> (not p and empty)", set()) == (
        1,
        False,
        ["<> (p and empty) and <> (not p and empty)"],
    )


def test_what_was_open_is_in_the_words_of_the_user():
    why = pptl.parse("[] (request -> <> reply) and fin(idle)").explain([{"request"}, {"reply"}, {"idle"}])
    assert [str(step.open) for step in why.steps] == [
        "<> reply and [] (request -> <> reply) and fin(idle)",
        "[] (request -> <> reply) and fin(idle)",
        "[] (request -> <> reply) and fin(idle)",
    ]
    assert [step.ends for step in why.steps] == [False, False, True]
    assert why.verdict is Verdict.TRUE and why.ended and why.failed == ()
    assert why.open_before(0) == why.formula and why.open_before(1) == why.steps[0].open


def test_a_trace_that_may_go_on():
    why = pptl.parse("<> p").explain([set(), set()], ended=False)
    assert why.verdict is Verdict.INCONCLUSIVE and not why.ended and why.failed == ()
    assert pptl.parse("<> p").explain([set(), {"p"}, set()], ended=False).prefix == 2


def test_exclusive_names_shorten_the_bad_prefix():
    text = "p and next (p and q) ; empty"
    assert explained(text, {"p"}, {"p"})[0] == 2
    assert explained(text, {"p"}, {"p"}, exclusive=[("p", "q")])[0] == 1


@pytest.mark.parametrize("length", [2_000])
def test_a_long_trace_is_explained(length):
    trace = [{"p"}, set()] * length + [set()]
    why = pptl.parse("(p and len(2))* ; (p and empty or p and skip)").explain(trace)
    assert why.prefix == 2 * length + 1 and why.verdict is Verdict.FALSE
    assert len({id(step.open) for step in why.steps}) < 10, "a part that is open again is the same object"
