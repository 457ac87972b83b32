"""Automata: letters that cannot be, many names, the cap, witnesses, drawings."""

import re
import time

import pytest

from firesteel import InvalidArgument
from firesteel.logic import pptl
from firesteel.logic.verdicts import Verdict
from tests.logic.pptl import oracle


def test_the_sizes_of_some_automata():
    sizes = {
        "true": 2,  # the start is not accepting, because the empty trace is refused
        "false": 1,
        "p": 3,
        "[] p": 3,
        "<> p": 2,
        "p until q": 3,
        "[] (p -> <> q)": 3,
        "len(5)": 8,
        "(len(3))*": 3,
        "not <> not p": 3,
        "(p and len(2))* ; (p and empty or p and skip)": 4,
    }
    assert {text: len(pptl.automaton(text)) for text in sizes} == sizes


def test_names_that_do_not_matter_are_not_asked():
    assert pptl.automaton("p or not p or q").names == set()
    assert pptl.automaton("[] (p and q or p and not q)").names == {"p"}


def test_many_names_are_no_table_of_all_their_sets():
    """Forty names have a million million sets; at each state of this automaton few names matter."""
    long = " ; ".join(f"(skip and next a{n:02})" for n in range(40))
    whole = pptl.automaton(long)
    assert len(whole) == 43
    word = pptl.witness(long)
    assert len(word) == 41 and sorted(word[40]) == ["a39"]


def test_exclusive_names():
    either = pptl.parse("[] (open or closed) and <> (open and closed)")
    assert pptl.satisfiable(either)
    assert not pptl.satisfiable(either, exclusive=[("open", "closed")])
    assert pptl.equivalent("p and q", "false", exclusive=[["p", "q"]])
    assert pptl.equivalent("p", "p and not q", exclusive=[["p", "q"]])
    assert not pptl.equivalent("p", "p and not q")
    assert pptl.equivalent("p", "p and not q and not r", exclusive=[["p", "q"], ["p", "r"]])
    assert not pptl.equivalent("p", "p and not q and not r", exclusive=[["q", "r"]])


def test_exclusive_names_make_verdicts_earlier():
    formula = pptl.parse("p ; q and empty")
    assert formula.monitor().step({"p"}) is Verdict.INCONCLUSIVE
    one_state = pptl.parse("empty and p and q")
    assert one_state.monitor(exclusive=[("p", "q")]).verdict is Verdict.FALSE
    monitor = formula.monitor(exclusive=[("p", "q")])
    assert monitor.step({"p"}) is Verdict.INCONCLUSIVE and monitor.step({"q"}) is Verdict.INCONCLUSIVE
    with pytest.raises(InvalidArgument, match="state 2 has 'p', 'q' together, and exclusive= says that at most one"):
        monitor.step({"p", "q"})


def test_automata_over_possible_letters_agree_with_brute_force():
    groups = [("p", "q")]
    for text in ["[] (p or q)", "(p ; q)*", "not (p and skip ; q)", "(p, q) prj (r or skip)", "p until (q and r)"]:
        whole = pptl.automaton(text, exclusive=groups)
        letters = [letter for letter in oracle.subsets("pqr") if not {"p", "q"} <= letter]
        for first in letters:
            for second in letters:
                for third in letters:
                    word = (first, second, third)
                    assert whole.accepting[whole.run(word)] == oracle.holds(pptl.parse(text), word)


# The n-th state from the end has p: every deterministic automaton of it has to remember n states.
EXPLODES = "<> (p and len(13))"


def test_a_cap_on_states_ends_it():
    before = time.process_time()
    with pytest.raises(pptl.Inconclusive) as error:
        pptl.automaton(EXPLODES, cap=1_000)
    assert time.process_time() - before < 60, "given up, not hanging"
    assert str(error.value).startswith(f"the automaton of {EXPLODES} has more than 1,000 states while it is built")
    assert "(cap=1000): write a larger cap=" in str(error.value)
    for ask in (
        lambda: pptl.parse(EXPLODES).monitor(cap=100),
        lambda: pptl.satisfiable(EXPLODES, cap=100),
        lambda: pptl.witness(EXPLODES, cap=100),
        lambda: pptl.equivalent(EXPLODES, "p", cap=100),
        lambda: pptl.parse(EXPLODES).explain([{"p"}], cap=100),
    ):
        with pytest.raises(pptl.Inconclusive):
            ask()


def test_a_cap_on_work_ends_it_too():
    """Few states, and diagrams that do not fit: which of 40 names hold now has to hold again at the end."""
    same = " and ".join(f"(a{n:02} <-> next (b{39 - n:02}))" for n in range(40))
    with pytest.raises(pptl.Inconclusive, match=r"takes more than 102,000 steps to build"):
        pptl.automaton(same, cap=20)


def test_a_complete_trace_needs_no_automaton():
    formula = pptl.parse("<> (p and len(40))")
    trace = [{"p"} if n == 60 else set() for n in range(101)]
    assert formula.evaluate(trace) is Verdict.TRUE
    assert formula.evaluate(trace[:-1]) is Verdict.FALSE


def test_a_larger_cap_helps():
    text = "<> (p and len(6))"
    with pytest.raises(pptl.Inconclusive):
        pptl.automaton(text, cap=100)
    assert len(pptl.automaton(text, cap=300)) == 2**7


def test_the_witness_of_a_negation_is_the_shortest_violation():
    rule = pptl.parse("[] (request -> <> reply)")
    assert pptl.witness(pptl.not_(rule)) == [{"request"}]
    assert pptl.witness(rule) == [set()]
    assert pptl.witness("<> p and [] not p") is None
    assert pptl.witness("b and c or a") == [{"a"}], "as few names as possible"
    assert [sorted(state) for state in pptl.witness("p and next (q and next r)")] == [["p"], ["q"], ["r"]]


def test_dot_draws_every_state_and_edge():
    whole = pptl.automaton('"Pay \\"now\\"" until q')
    drawn = whole.dot()
    assert drawn.startswith("digraph {") and drawn.endswith("}")
    assert len(re.findall(r"^  \d+ \[shape=", drawn, re.M)) == len(whole)
    assert r'0 -> 0 [label="\"Pay \\\"now\\\"\" and not q"]' in drawn
    assert '0 -> 2 [label="q"]' in drawn, "what does not matter is left out"
    assert '2 [shape=doublecircle label="2: true"]' in drawn


@pytest.mark.parametrize("cap", [0, -1, 1.5, "9", None])
def test_what_is_not_a_cap(cap):
    with pytest.raises(InvalidArgument, match=r"cap=.* is not a number of states: write a whole number from 1"):
        pptl.automaton("p", cap=cap)


def test_long_chains_are_minimised_in_reasonable_time():
    """Splitting one block at a time, with a look at all states each time, would be quadratic."""
    assert len(pptl.automaton("len(3000)")) == 3003
