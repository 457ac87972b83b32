"""Streams drawn from formulas: judged by the brute-force oracle, compared with the combinators of the same names."""

from contextlib import suppress
from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

import firesteel as fs
from firesteel import Batch, InvalidArgument, PredicateError, Verdict
from firesteel import strategies as ss
from tests.logic.oracle import judge

A, B = st.just(Batch(["a"])), st.just(Batch(["b"]))
has_a = ss.holding(lambda batch: "a" in batch, batches=A, name="has_a")
has_b = ss.holding(lambda batch: "b" in batch, batches=B, name="has_b")
ANY = ss.batches(st.sampled_from("ab"), max_size=3)
QUICK = settings(
    max_examples=1_000,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def words(strategy, examples=200):
    """All that is drawn, each batch written as a word: '', 'a', 'b' or 'ab'."""
    drawn = set()

    @settings(QUICK, max_examples=examples, phases=[Phase.generate])
    @given(strategy)
    def draw(stream):
        drawn.add(tuple("".join(sorted(set(batch))) for batch in stream))

    draw()
    return drawn


# --- what is drawn makes the formula true ------------------------------------------------------------------------

ATOMS = [
    fs.now(lambda batch: "a" in batch, name="a"),
    fs.now(lambda batch: "b" in batch, name="b"),
    has_a,
    has_b,
]
OPERATORS = ["not", "and", "or", "implies", "next", "always", "eventually", "until", "release"]


def random_formula(rng, depth, operators, atoms):
    if depth == 0:
        return rng.choice(atoms) if rng.random() < 0.9 else rng.choice([fs.TRUE, fs.FALSE])

    def sub():
        return random_formula(rng, rng.randint(0, depth - 1), operators, atoms)

    bound = rng.randint(1, 3)
    match rng.choice(operators):
        case "not":
            return ~sub()
        case "and":
            return sub() & sub()
        case "or":
            return sub() | sub()
        case "implies":
            return fs.implies(sub(), sub())
        case "next":
            return fs.next_(sub(), times=rng.randint(1, 2))
        case "always":
            return fs.always(sub(), during=bound)
        case "eventually":
            return fs.eventually(sub(), within=bound)
        case "until":
            return fs.until(sub(), sub(), within=bound)
        case "release":
            return fs.release(sub(), sub(), during=bound)
        case "let":
            return fs.let(_body(rng.randrange(2**32), depth, operators, atoms))
        case "consume":
            return fs.consume(_body(rng.randrange(2**32), depth, operators, atoms))


def _body(seed, depth, operators, atoms):
    """A function whose formula depends on the batch."""
    return lambda batch: random_formula(Random(f"{seed} {sorted(set(batch))}"), depth - 1, operators, atoms)


@settings(QUICK, max_examples=400, phases=[Phase.generate])
@given(st.integers(0, 10**9), st.data())
def test_every_stream_that_is_drawn_satisfies_the_formula(seed, data):
    formula = random_formula(Random(seed), 3, [*OPERATORS, "let", "consume"], ATOMS)
    try:
        streams = ss.from_formula(formula, batches=ANY)
    except InvalidArgument as error:
        assert "is a contradiction" in str(error)
        return
    assert judge(formula, data.draw(streams)) is Verdict.TRUE, formula


MONOTONE = [name for name in OPERATORS if name not in ("not", "implies")]


@pytest.mark.parametrize(
    "operators, atoms, batches",
    [(MONOTONE, [has_a, has_b], None), (OPERATORS, ATOMS[:2], ANY)],
    ids=["union", "filter"],
)
def test_what_is_demanded_of_each_instant_makes_the_formula_true(operators, atoms, batches, monkeypatch):
    """So the judgement at the end throws nothing away, unless a batch changes after it satisfied a predicate."""

    def fail():
        raise AssertionError("a stream was thrown away")

    monkeypatch.setattr("firesteel.strategies.formulas.reject", fail)
    checked = 0
    for seed in range(60):
        formula = random_formula(Random(seed), 3, operators, atoms)
        with suppress(Unsatisfiable, InvalidArgument):
            words(ss.from_formula(formula, batches=batches), examples=10)
            checked += 1
    assert checked > 40


def test_contradictions_are_those_that_no_trace_satisfies():
    """Without implications, and of two predicates that have nothing to do with each other, the search is exact."""
    plain = [name for name in OPERATORS if name != "implies"]
    letters = [Batch(word) for word in ("", "a", "b", "ab")]
    outcomes = set()
    for seed in range(400):
        formula = random_formula(Random(seed), 2, plain, ATOMS[:2])
        if formula.required_length > 4:
            continue
        possible = any(judge(formula, trace) is Verdict.TRUE for trace in product(letters, repeat=4))
        try:
            ss.from_formula(formula, batches=ANY)
        except InvalidArgument:
            drawn = False
        else:
            drawn = True
        assert drawn == possible, formula
        outcomes.add(drawn)
    assert outcomes == {True, False}


# --- the shape, as that of the combinators -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "formula, streams",
    [
        (has_a, ss.concat(A)),
        (fs.next_(has_a, times=2), ss.next_(A, times=2)),
        (fs.always(has_a, during=3), ss.always(A, during=3)),
        (fs.eventually(has_a, within=3), ss.eventually(A, within=3)),
        (fs.until(has_a, has_b, within=4), ss.until(A, B, within=4)),
        (fs.release(has_a, has_b, during=3), ss.release(A, B, during=3)),
        (has_a & fs.next_(has_b), ss.overlay(ss.concat(A), ss.next_(B))),
        (fs.always(has_a, during=2) & fs.eventually(has_b, within=3),
         ss.overlay(ss.always(A, during=2), ss.eventually(B, within=3))),
        (has_a | fs.next_(has_b), ss.any_of(ss.concat(A), ss.next_(B))),
        (fs.implies(has_b, fs.always(has_a, during=2)), ss.always(A, during=2)),
        (fs.always(True, during=2), ss.empty(during=2)),
        (fs.always(fs.eventually(has_a, within=2), during=2), ss.always(ss.eventually(A, within=2), during=2)),
    ],
)  # fmt: skip
def test_operators_draw_what_the_combinators_of_their_name_draw(formula, streams):
    assert words(ss.from_formula(formula)) == words(streams)


def test_example_9_of_the_paper():
    formula = fs.always(fs.implies(has_b, fs.eventually(has_a, within=2)), during=2)
    streams = ss.from_formula(formula)
    # As there, for the first part of each disjunction; and "a similar process" for the others.
    assert find(streams, lambda s: True, settings=QUICK) == [["a"], ["a"]]
    assert words(streams) == {("a", "a"), ("a", "", "a"), ("", "a"), ("", "a", "a")}


def test_a_conjunction_is_a_union():
    assert find(ss.from_formula(has_a & has_b), lambda s: True, settings=QUICK) == [["a", "b"]]


def test_negations_are_pushed_inward():
    is_a = fs.now(lambda batch: "a" in batch, name="a")
    without = ss.from_formula(~fs.eventually(is_a, within=3), batches=ANY)
    assert words(without) <= set(product(("", "b"), repeat=3))
    late = ss.from_formula(~fs.consume(lambda batch: fs.now(lambda other: len(other) <= len(batch))), batches=ANY)
    assert find(late, lambda s: len(s[0]) == 1, settings=QUICK)[1:] == [["a", "a"]]
    assert words(ss.from_formula(fs.implies(is_a, False), batches=ANY)) == {("",), ("b",)}


IS_A, IS_B = ATOMS[:2]


@pytest.mark.parametrize(
    "formula, same",
    [
        (~(IS_A | IS_B), ~IS_A & ~IS_B),
        (~(IS_A & IS_B), ~IS_A | ~IS_B),
        (~fs.implies(IS_A, IS_B), IS_A & ~IS_B),
        (~fs.next_(IS_A), fs.next_(~IS_A)),
        (~fs.always(IS_A, during=2), fs.eventually(~IS_A, within=2)),
        (~fs.eventually(IS_A, within=2), fs.always(~IS_A, during=2)),
        (~fs.until(IS_A, IS_B, within=2), fs.release(~IS_A, ~IS_B, during=2)),
        (~fs.release(IS_A, IS_B, during=2), fs.until(~IS_A, ~IS_B, within=2)),
    ],
    ids=str,
)
def test_a_negated_operator_draws_what_its_dual_draws(formula, same, monkeypatch):
    def fail():
        raise AssertionError("a stream was thrown away")

    monkeypatch.setattr("firesteel.strategies.formulas.reject", fail)
    drawn = words(ss.from_formula(formula, batches=ANY), examples=400)
    assert drawn == words(ss.from_formula(same, batches=ANY), examples=400)
    assert all(judge(formula, map(Batch, trace)) is Verdict.TRUE for trace in drawn)


def test_predicates_are_met_by_one_batch_where_it_is_drawn_from_all():
    both = fs.now(lambda batch: len(batch) == 2) & fs.now(lambda batch: set(batch) == {"b"})
    assert find(ss.from_formula(both, batches=ANY), lambda s: True, settings=QUICK) == [["b", "b"]]
    mixed = has_a & fs.now(lambda batch: len(batch) == 1)
    assert words(ss.from_formula(mixed, batches=ANY)) == {("a",)}
    more = has_a & fs.now(lambda batch: batch.records.count("b") == 2)
    assert find(ss.from_formula(more, batches=ANY), lambda s: True, settings=QUICK) == [["a", "b", "b"]]


def test_consume_and_let_get_the_batch_that_is_drawn():
    numbers = ss.batches(st.integers(0, 3), min_size=1, max_size=1)
    counts = fs.consume(lambda batch: fs.always(lambda later: later[0] > batch[0], during=batch[0] + 1))
    seen = []

    @settings(QUICK, max_examples=100, phases=[Phase.generate])
    @given(ss.from_formula(counts, batches=numbers))
    def check(stream):
        first = stream[0][0]
        assert len(stream) == first + 2 and all(batch[0] > first for batch in stream[1:])
        seen.append(first)

    check()
    assert {0, 1, 2} == set(seen)
    same = fs.let(lambda batch: fs.next_(lambda later: later == batch) & fs.now(lambda again: again[0] == 3))
    assert find(ss.from_formula(same, batches=numbers), lambda s: True, settings=QUICK) == [[3], [3]]
    made = ss.from_formula(has_a & fs.consume(lambda batch: fs.always(has_b, during=len(batch))))
    assert find(made, lambda s: True, settings=QUICK) == [["a"], ["b"]]
    assert find(ss.from_formula(fs.consume(lambda batch: True), batches=A), lambda s: True) == [["a"]]


def test_shrinking_keeps_the_shape():
    small, large = fs.now(lambda batch: sum(batch) < 10), fs.now(lambda batch: sum(batch) >= 10)
    streams = ss.from_formula(
        fs.until(small, large, within=6), batches=ss.batches(st.integers(0, 100), min_size=1, max_size=3)
    )
    assert find(streams, lambda s: len(s) > 3, settings=QUICK, random=Random(0)) == [[0], [0], [0], [10]]


def test_the_schema_is_that_of_the_batches():
    user = ss.batches(ss.records("user INT NOT NULL", user=st.integers(1, 3)), max_size=2)
    stream = find(ss.from_formula(fs.next_(lambda batch: len(batch) == 1), batches=user), lambda s: True)
    assert stream == [[], [(1,)]] and stream[0].schema.fieldNames() == ["user"]


def test_holding_is_judged_as_well():
    assert fs.until(has_a, has_b, within=3).evaluate([Batch(["a"]), Batch(["b"])])
    assert not fs.always(has_a).evaluate([Batch(["b"])])
    assert repr(fs.always(ss.holding(lambda b: len(b) > 1, batches=A), during=2)) == "always(len(b) > 1, during=2)"


# --- bad input -----------------------------------------------------------------------------------------------------

p = fs.now(lambda batch: True, name="p")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ss.from_formula(fs.always(p, during=2)), "the predicate p does not say how to make batches"),
        (lambda: ss.from_formula(lambda batch: True), "the predicate True does not say how to make batches"),
        (lambda: ss.from_formula(fs.consume(lambda b: True)), "consume(True) does not say how to make the batch"),
        (lambda: ss.from_formula(fs.always(has_a)), "always(has_a) has no bound, and a stream that is drawn has"),
        (lambda: ss.from_formula(fs.next_(fs.until(has_a, has_b))), "until(has_a, has_b) has no bound"),
        (lambda: ss.from_formula(fs.eventually(p), batches=ANY), "write within=n, a whole number from 1"),
        (lambda: ss.from_formula(fs.release(p, p), batches=ANY), "write during=n"),
        (lambda: ss.from_formula(fs.next_(fs.once(p)), batches=ANY), "once(p) looks back, and streams are drawn"),
        (lambda: ss.from_formula(~has_a), "the formula needs a batch that is not has_a, and ss.holding makes only"),
        (lambda: ss.from_formula(fs.implies(has_a, False)), "the formula needs a batch that is not has_a"),
        (lambda: ss.from_formula(False), "formula=FALSE (Constant) is a contradiction"),
        (lambda: ss.from_formula(has_a & fs.next_(fs.FALSE)), "is a contradiction"),
        (lambda: ss.from_formula(fs.always(p, during=3) & fs.eventually(~p, within=3), batches=ANY), "a contradiction"),
        (lambda: ss.from_formula(fs.until(True, False, within=3)), "is a contradiction"),
        (lambda: ss.from_formula(5), "formula=5 (int) is not a formula"),
        (lambda: ss.from_formula(p, batches=[1]), "batches=[1] (list) is not a strategy"),
        (lambda: ss.holding(p, batches=A), "predicate=p (Atom) is not a function"),
        (lambda: ss.holding(len, batches=Batch()), "batches=Batch([]) (Batch) is not a strategy"),
    ],
)  # fmt: skip
def test_bad_arguments(make, message):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize(
    "strategy, kind, message",
    [
        (ss.from_formula(p, batches=st.just(5)), InvalidArgument, "batches drew value=5 (int), where a batch is meant"),
        (ss.from_formula(fs.consume(lambda b: fs.always(p)), batches=A), InvalidArgument, "always(p) has no bound"),
        (ss.from_formula(fs.consume(lambda b: 5), batches=A), PredicateError, "at instant 0, returned answer=5 (int)"),
        (ss.from_formula(fs.next_(fs.let(lambda b: 1 / 0)), batches=A), PredicateError, "at instant 1"),
        (ss.from_formula(fs.now(lambda b: None), batches=A), PredicateError, "is a `return` missing?"),
        (ss.from_formula(has_a & fs.consume(lambda b: p)), InvalidArgument, "the predicate p does not say"),
        (ss.from_formula(has_a & fs.next_(fs.let(lambda b: True))), InvalidArgument, "nothing says what batch"),
    ],
)
def test_bad_draws(strategy, kind, message):
    with pytest.raises(kind) as error:
        find(strategy, lambda stream: True, settings=QUICK)
    assert message in str(error.value)


def test_what_only_the_draws_can_tell_is_left_to_them():
    never = ss.from_formula(ss.holding(lambda batch: set(batch) == {"a"}, batches=A) & has_b)
    with pytest.raises(Unsatisfiable):
        words(never)
