"""`fs.pptl`: a formula of PPTL over predicates as a formula of LTLss, without Spark."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel import InvalidArgument, PredicateError, Verdict
from firesteel import strategies as ss
from firesteel.logic import pptl
from firesteel.logic.ltl.margin import margin
from firesteel.report.reasons import sentence
from tests.logic.pptl import oracle
from tests.logic.pptl.random_formulas import random_formula

has_p, has_q = fs.now(lambda x: "p" in x), fs.now(lambda x: "q" in x)


def over(formula):
    predicates = {"p": has_p, "q": has_q}
    return fs.pptl(formula, **{name: predicates[name] for name in formula.names})


def samples(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        formula = random_formula(rng, rng.choice([1, 2, 2, 3]))
        yield formula, [{name for name in "pq" if rng.random() < 0.5} for _ in range(rng.randint(1, 5))]


def test_verdicts_explanations_lengths_and_margins_agree_with_brute_force():
    verdicts = Counter()
    for formula, trace in samples(300, seed=1):
        expected = Verdict.TRUE if oracle.holds(formula, trace) else Verdict.FALSE
        lifted = over(formula)
        verdicts[expected] += 1
        assert lifted.evaluate(trace) is expected, (formula, trace)
        reason = lifted.explain(trace)
        assert reason.verdict is expected and reason.explanation.verdict is expected
        assert (margin(lifted, trace) > 0) == (expected is Verdict.TRUE)
        if expected is Verdict.TRUE:
            assert lifted.shortest_true <= len(trace)
        else:
            assert sentence(reason).startswith(f"{formula} had to hold from batch 0 on")
            assert (~lifted).shortest_true <= len(trace)
        first, second = lifted.monitor(), formula.monitor(names=["p", "q"])
        for index, now in enumerate(trace):
            assert first.step(now) is second.step(now)
            if first.verdict.definite:
                break
            assert lifted.required_length is None or index + 1 < lifted.required_length
    assert min(verdicts.values()) > 60


def test_inside_other_operators_it_starts_where_they_say():
    starts = Counter()
    for formula, trace in samples(300, seed=2):
        lifted = over(formula)
        suffixes = [oracle.holds(formula, trace[k:]) for k in range(len(trace))]
        assert bool(fs.always(lifted).evaluate(trace)) == all(suffixes)
        assert bool(fs.eventually(lifted).evaluate(trace)) == any(suffixes)
        assert bool((~lifted).evaluate(trace)) == (not suffixes[0])
        later = fs.next_(lifted, times=2).evaluate(trace)
        assert later is (Verdict.INCONCLUSIVE if len(trace) < 3 else Verdict.TRUE if suffixes[2] else Verdict.FALSE)
        starts[all(suffixes), any(suffixes)] += 1
        assert fs.always(lifted).explain(trace).verdict is fs.always(lifted).evaluate(trace)
    assert min(starts[True, True], starts[False, True], starts[False, False]) > 30


def test_required_lengths():
    assert fs.pptl("p and next q", p=has_p, q=has_q).required_length == 2
    assert fs.pptl("<> p", p=has_p).required_length is None
    assert fs.pptl("true").required_length == 0
    assert fs.pptl("len(3)").required_length == 5
    assert fs.pptl("len(3)").shortest_true == 4
    assert fs.pptl("p and not p", p=has_p).shortest_true == 0, "no trace makes it true"


def test_only_predicates_that_matter_are_asked():
    asked = []

    def noted(name):
        return lambda x: asked.append((name, x)) or x[name]

    formula = fs.pptl("a or next b", a=noted("a"), b=noted("b"))
    assert formula.evaluate([{"a": False, "b": 0}, {"a": 0, "b": True}]) is Verdict.TRUE
    assert [name for name, _ in asked] == ["a", "b"]


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: fs.pptl("p until q", p=has_p),
            "the formula p until q has the name 'q', and no predicate of that name",
        ),
        (lambda: fs.pptl("p", p=has_p, r=has_q), "is given, and the formula p has no such name: it has p"),
        (lambda: fs.pptl("p", p=3), "p=3 (int) is not a predicate: write a function of the instant"),
        (lambda: fs.pptl("p", p=fs.always(has_p)), "is not a predicate: write a function of the instant"),
        (lambda: fs.pptl("p and", p=has_p), "expected a formula, found the end of the text, at position 5"),
        (lambda: fs.pptl(3), "formula=3 (int) is not a formula"),
        (lambda: fs.pptl('"a b"'), "write fs.pptl(..., **{'a b': lambda now: ...})"),
        (lambda: fs.always(pptl.parse("p")), "its predicates first: fs.pptl('p', p=lambda now: ...)"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert message in str(error.value)


def test_a_formula_past_the_cap_is_refused_before_anything_runs():
    with pytest.raises(pptl.Inconclusive, match="states while it is built"):
        fs.pptl("<> (p and len(20))", p=has_p)


def test_a_predicate_that_raises_names_itself_and_the_instant():
    formula = fs.pptl("[] alarm", alarm=lambda x: 1 / x > 0)
    with pytest.raises(PredicateError, match=r"the predicate alarm raised ZeroDivisionError.* at instant 2"):
        formula.evaluate([1, 2, 0])
    with pytest.raises(PredicateError, match="the predicate alarm, at instant 0, returned None: is a `return` missing"):
        fs.pptl("[] alarm", alarm=lambda x: None).evaluate([1])


def test_premises_that_never_held_are_known():
    formula = fs.pptl("[] (p and not q -> <> q) and [] (next p -> q)", p=has_p, q=has_q)
    monitor = formula.monitor()
    monitor.step(set())
    assert {str(node.premise): held for node, held in monitor.premises.items()} == {"p and (not q)": False}
    monitor.step({"p"})
    assert list(monitor.premises.values()) == [True]
    monitor.step(set())
    assert list(monitor.premises.values()) == [True], "once is enough"
    inside = fs.let(lambda x: fs.pptl("p -> q", p=has_p, q=has_q)).monitor()
    inside.step(set())
    assert inside.premises == {None: False}


def test_sentences():
    quiet = fs.now(lambda x: x == 0)
    alarm = fs.pptl("(quiet and skip)* ; alarm ; true", quiet=quiet, alarm=lambda x: x > 9)
    assert sentence(alarm.explain([0, 0, 3, 12])) == (
        "(quiet and skip)* ; alarm ; true had to hold from batch 0 on. "
        "Batch 2 makes it false: alarm does not hold and quiet does not hold."
    )
    answered = fs.pptl("[] (req -> <> rep)", req=lambda x: x == 1, rep=lambda x: x == 2)
    assert sentence(answered.explain([1, 2, 1, 0, 0])) == (
        "[] (req -> <> rep) had to hold from batch 0 on, and after batch 3 this was open: <> rep. "
        "The stream ends with batch 4, and it was not satisfied by then."
    )
    every = fs.pptl("[] low", low=lambda x: fs.Check(x < 5, f"{x} is too much"))
    assert "low does not hold (9 is too much)" in sentence(every.explain([1, 9]))
    assert sentence(fs.always(fs.pptl("low", low=lambda x: x < 5)).explain([1, 9]), "window") == (
        "low had to hold from window 1 on. Window 1 makes it false: low does not hold."
    )


# --- streams from formulas -------------------------------------------------------------------------------------------

QUICK = settings(
    max_examples=100, database=None, phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck)
)
some_a = ss.holding(lambda batch: "a" in batch, batches=st.just(fs.Batch(["a"])))
some_b = ss.holding(lambda batch: "b" in batch, batches=st.just(fs.Batch(["b"])))


def drawn(formula, **options):
    words = set()

    @settings(QUICK, phases=[Phase.generate])
    @given(ss.from_formula(formula, **options))
    def draw(stream):
        assert formula.evaluate(stream) is Verdict.TRUE
        words.add(tuple("".join(sorted(set(batch))) for batch in stream))

    draw()
    return words


def test_streams_are_walks_through_the_automaton():
    words = drawn(fs.pptl("(a and not b and skip)* ; (b and not a and empty)", a=some_a, b=some_b))
    assert words >= {("b",), ("a", "b"), ("a", "a", "b")}
    assert all(word == ("a",) * (len(word) - 1) + ("b",) for word in words)
    assert max(map(len, words)) == 9, "up to eight longer than the shortest"


def test_streams_of_a_negation_and_beside_other_formulas():
    assert all("a" not in word[0] for word in drawn(~fs.pptl("a", a=some_a)))
    both = drawn(fs.pptl("len(2) and <> a", a=some_a) & fs.always(some_b, during=3))
    assert both and all(len(word) == 3 and "a" in "".join(word) and all("b" in now for now in word) for word in both)


def test_streams_of_predicates_that_only_filter():
    sized = fs.pptl("one and next (none and next two)", one=_has(1), none=_has(0), two=_has(2))
    zeros = ss.batches(st.just(0), max_size=3)
    shortest = find(ss.from_formula(sized, batches=zeros), lambda stream: True, settings=QUICK)
    assert shortest == fs.Stream(None, [[0], [], [0, 0]])


def _has(count):
    return lambda batch: len(batch) == count


def test_what_nothing_can_be_drawn_from():
    with pytest.raises(InvalidArgument, match="is a contradiction"):
        ss.from_formula(fs.pptl("a and not a", a=some_a))
    with pytest.raises(InvalidArgument, match="the predicate p does not say how to make batches"):
        ss.from_formula(fs.pptl("a or p", a=some_a, p=lambda batch: True))
