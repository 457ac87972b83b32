"""A rule that is judged at every instant, against brute force; its state as a value; and the digest of a rule."""

import copy
import json
import os
import random
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial

import pytest

import firesteel as fs
from firesteel.logic.ltl import kept, past
from firesteel.logic.ltl.fingerprint import fingerprint, shape
from firesteel.logic.ltl.standing import Judged, Standing
from firesteel.logic.verdicts import Verdict
from tests.logic import oracle
from tests.logic.random_formulas import ATOMS, random_formula

TRUE, FALSE, INCONCLUSIVE = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE
INTERVALS = [
    fs.pptl("(zero and skip)* ; big", zero=lambda x: x == 0, big=lambda x: x > 1),
    fs.pptl("[] (big -> <> zero)", zero=lambda x: x == 0, big=lambda x: x > 1),
]


def pairs(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        rule = random_formula(rng, rng.choice([1, 2, 2, 3, 3, 4]))
        if rng.random() < 0.1:
            rule = rng.choice([rule & rng.choice(INTERVALS), rng.choice(INTERVALS)])
        yield rule, [rng.randint(0, 3) for _ in range(rng.choice([0, 1, 2, 3, 4, 5, 6, 8]))], rng


def stored(standing):
    return json.loads(json.dumps(standing.keep()))


def judged(rule, trace, *, restored_before=()):
    standing, found = Standing(rule), []
    for index, instant in enumerate(trace):
        if index in restored_before:
            standing = Standing.restore(rule, stored(standing))
        found += standing.step(instant)
    if len(trace) in restored_before:
        standing = Standing.restore(rule, stored(standing))
    found += standing.finish()
    assert len({each.at for each in found}) == len(found), "no instant is judged twice"
    return {each.at: each.verdict for each in found}


def by_definition(rule, trace):
    """The rule at each instant of the trace: the instants before belong to its past."""
    return {at: (rule if at == 0 else fs.next_(rule, times=at)).evaluate(trace) for at in range(len(trace))}


def test_every_instant_is_judged_as_by_definition():
    verdicts = Counter()
    for rule, trace, _ in pairs(1_500, seed=1):
        expected = by_definition(rule, trace)
        assert judged(rule, trace) == expected, (rule, trace)
        verdicts.update(expected.values())
    assert min(verdicts[each] for each in Verdict) > 300, verdicts


def test_restored_at_random_instants_nothing_changes():
    restored = 0
    for rule, trace, rng in pairs(1_500, seed=2):
        moments = {index for index in range(len(trace) + 1) if rng.random() < 0.5}
        assert judged(rule, trace, restored_before=moments) == by_definition(rule, trace), (rule, trace, moments)
        restored += len(moments)
    assert restored > 2_000


def test_the_definition_is_that_of_the_oracle():
    for rule, trace, _ in pairs(300, seed=3):
        if not isinstance(rule, type(INTERVALS[0])) and "pptl" not in repr(rule):
            assert by_definition(rule, trace) == {
                at: oracle.judge(rule if at == 0 else fs.next_(rule, times=at), trace) for at in range(len(trace))
            }


def test_verdicts_come_as_soon_as_a_monitor_has_them():
    for rule, trace, _ in pairs(400, seed=4):
        standing = Standing(rule)
        monitors = {}
        for index, instant in enumerate(trace):
            monitors[index] = (rule if index == 0 else fs.next_(rule, times=index)).monitor()
            for earlier in trace[:index]:
                monitors[index].step(earlier)
            known = {at: each.verdict for at, each in monitors.items() if each.verdict.definite}
            for at, each in monitors.items():
                if at not in known:
                    each.step(instant)
            expected = {at: m.verdict for at, m in monitors.items() if m.verdict.definite and at not in known}
            assert {each.at: each.verdict for each in standing.step(instant)} == expected, (rule, trace, index)
            assert standing.open == tuple(at for at, m in monitors.items() if not m.verdict.definite)


def test_what_is_kept_does_not_grow_with_the_trace():
    rule = fs.let(lambda first: fs.eventually(lambda later: later >= first, within=3))
    once = fs.always(fs.implies(lambda x: x > 2, fs.once(lambda x: x == 0)))
    for each in (rule, once, fs.always(lambda x: x >= 0)):
        standing, sizes = Standing(each), []
        for index in range(2_000):
            standing.step(index % 4)
            if index in (100, 1_999):
                sizes.append(len(json.dumps(standing.keep())))
        assert sizes[1] <= sizes[0] + 10, (each, sizes)  # longer numbers


def test_bound_instants_are_forgotten_without_keeping_too():
    standing = Standing(fs.let(lambda first: fs.next_(lambda second: second >= first)))
    for index in range(5_000):
        standing.step(index)
    assert len(standing._instants) <= 101 and len(standing._memory.bodies) <= 101


def test_an_end_closes_what_has_no_bound_and_nothing_follows_it():
    standing = Standing(fs.eventually(lambda x: x == 3))
    assert [standing.step(x) for x in (3, 1, 1)] == [(Judged(0, TRUE),), (), ()]
    assert standing.open == (1, 2) and standing.instants == 3
    assert standing.finish() == (Judged(1, FALSE), Judged(2, FALSE))
    with pytest.raises(RuntimeError, match="this rule is finished"):
        standing.step(3)


def test_a_state_of_another_rule_is_refused():
    standing = Standing(fs.always(fs.implies(lambda x: x > 0, fs.next_(lambda x: x > 1)), during=3))
    standing.step(1)
    with pytest.raises(fs.InvalidArgument, match="kept for another rule"):
        Standing.restore(fs.now(lambda x: x > 0), stored(standing))


def test_a_let_that_answers_differently_the_second_time_is_refused():
    answers = [fs.next_(lambda x: x > 0), fs.always(lambda x: x > 0, during=2)]
    rule = fs.let(lambda _: answers.pop(0))
    standing = Standing(rule)
    standing.step(1)
    with pytest.raises(fs.InvalidArgument, match="returned another formula for the same instant"):
        Standing.restore(rule, stored(standing))


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (kept.Writer, "cell", lambda self, cell: None),
        (kept, "Waiting", lambda formula, start: kept.Running(formula, start)),
        (past, "remember", lambda past, cells, turn: cells),
    ],
)
def test_mutants_are_caught(monkeypatch, module, name, wrong):
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises((AssertionError, KeyError, TypeError, AttributeError)):
        test_restored_at_random_instants_nothing_changes()


# --- the digest ---

LIMIT = 3


def above(limit, x):
    return x > limit


def test_the_digest_tells_rules_apart():
    def within(limit):
        return fs.always(lambda x: x < limit)

    alike = [(fs.always(lambda x: x > LIMIT), fs.always(lambda x: x > LIMIT)), (within(1), within(1))]
    assert all(fingerprint(one) == fingerprint(other) for one, other in alike)
    different = [
        within(1), within(2), fs.always(lambda x: x < 1, during=2), fs.eventually(lambda x: x < 1),
        fs.now(partial(above, 1)), fs.now(partial(above, 2)), fs.now(lambda x, least=1: x > least),
        fs.now(lambda x, least=2: x > least), fs.let(lambda x: fs.now(lambda y: y == x)),
        fs.consume(lambda x: fs.now(lambda y: y == x)), *INTERVALS, ~ATOMS[0], ATOMS[0] & ATOMS[1], ATOMS[0] | ATOMS[1],
        ATOMS[1] & ATOMS[0], fs.TRUE, fs.FALSE, fs.next_(ATOMS[0]), fs.next_(ATOMS[0], times=2),
        fs.now(lambda x: x in {1, 2}), fs.now(lambda x: x in {1, 3}),
    ]  # fmt: skip
    assert len({fingerprint(each) for each in different}) == len(different)
    assert len({shape(each) for each in different}) < len(different)


def test_a_changed_constant_of_the_module_is_another_rule(monkeypatch):
    rule = fs.always(lambda x: x > LIMIT)
    before = fingerprint(rule)
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert fingerprint(rule) != before


def test_a_constant_that_only_an_inner_function_uses_belongs_to_the_rule(monkeypatch):
    rules = [
        fs.now(lambda now: all(filter(lambda x: x < LIMIT, now))),
        fs.now(lambda now: all(x < LIMIT for x in now)),
        fs.let(lambda first: fs.next_(lambda now: [lambda x: x < LIMIT][0](now))),
    ]
    before = [fingerprint(each) for each in rules]
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert all(fingerprint(each) != was for each, was in zip(rules, before, strict=True))
    monkeypatch.setitem(globals(), "LIMIT", 3)
    assert [fingerprint(each) for each in rules] == before


class Level(Enum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (timedelta(seconds=1), timedelta(seconds=2)),
        (Decimal("1.0"), Decimal("1.1")),
        (date(2030, 1, 1), date(2030, 1, 2)),
        (datetime(2030, 1, 1), datetime(2030, 1, 1, tzinfo=UTC)),
        (Level.LOW, Level.HIGH),
        (range(3), range(4)),
        (partial(above, 1), partial(above, 2)),
        ([timedelta(1)], [timedelta(2)]),
        (int, str),
    ],
)
def test_values_that_a_rule_uses_are_told_apart(monkeypatch, one, other):
    rule = fs.now(lambda x: x is LIMIT)
    found = []
    for value in (one, copy.deepcopy(one), other):
        monkeypatch.setitem(globals(), "LIMIT", value)
        found.append(fingerprint(rule))
    assert found[0] == found[1] != found[2]


def test_functions_that_a_rule_calls_by_name_belong_to_it(monkeypatch):
    rule = fs.now(lambda x: above(1, x))
    before = fingerprint(rule)
    monkeypatch.setitem(globals(), "above", lambda limit, x: x >= limit)
    assert fingerprint(rule) != before


def test_a_function_that_calls_itself_has_a_digest():
    def down(x):
        return x == 0 or down(x - 1)

    assert fingerprint(fs.now(down)) == fingerprint(fs.now(down))


def test_functions_that_call_each_other_many_times_have_a_digest():
    made = {"f0": bool, "f1": bool}
    for number in range(2, 60):
        exec(f"def f{number}(x): return f{number - 1}(x) or f{number - 2}(x)", made)
    assert fingerprint(fs.now(made["f59"])) == fingerprint(fs.now(made["f59"]))


def test_digests_and_states_of_intervals_are_the_same_in_every_process():
    program = (
        "from tests.logic.test_standing import *\n"
        "rule = fs.pptl('[] (a -> <> b) and ((c and len(2))* ; d)', **{n: (lambda x, n=n: n in x) for n in 'abcd'})\n"
        "standing = Standing(rule)\n"
        "[standing.step(letter) for letter in ('a', 'c', 'ac', 'bd')]\n"
        "print(fingerprint(rule), fingerprint(fs.now(lambda x: x in {'p', 'q', 'r'})), json.dumps(standing.keep()))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1, said
