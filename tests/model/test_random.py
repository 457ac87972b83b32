"""The interpreter against brute force, on random small programs; and print-then-parse, on larger ones."""

import random
from collections import Counter

import pytest

from firesteel.model import msvl
from firesteel.model.msvl import compiling, machine, residuals
from firesteel.model.msvl.grammar import parse
from firesteel.model.msvl.printing import text_of
from tests.model import oracle
from tests.model.random_programs import NAMES, STATEMENTS, kinds_in, random_source
from tests.model.random_texts import random_text_source


def interpreted(source, longest):
    """The runs of a program as words: an undefined variable that is read ends a run."""
    program = msvl.Program(source)
    explorer = program.explorer(None, None, longest, dead=(msvl.NoModel, msvl.Undefined))
    keys = [program.code.variables.get(name) for name in NAMES]
    path, found = [], set()
    for ends in explorer.states():
        state = explorer.machine
        del path[state.number :]
        path.append(tuple(state.values.get(key) for key in keys))
        if ends:
            found.add(tuple(path))
    return found


def sources(seed, count):
    """Programs that need no input: a variable that is never assigned would be one."""
    rng = random.Random(seed)
    made = 0
    while made < count:
        source = random_source(rng)
        if not compiling.compiled(source).inputs:
            made += 1
            yield source


def compare(seed, count, longest, most=3):
    """The first programs whose runs are not their models, how often each statement was in one, and how many have
    models."""
    wrong, kinds, models = [], Counter(), Counter()
    for source in sources(seed, count):
        found = interpreted(source, longest)
        functions = {function.name: function.body for function in source.functions}
        wanted = oracle.models(source.body, functions, NAMES, (0, 1), longest)
        kinds.update(kinds_in(source))
        models["some" if wanted else "none"] += 1
        models["several"] += len(wanted) > 1
        if found != wanted:
            wrong.append((text_of(source), found - wanted, wanted - found))
            if len(wrong) == most:
                break
    return wrong, kinds, models


def test_runs_are_models():
    wrong, _, models = compare(seed=22, count=40, longest=3)
    assert not wrong
    assert models["some"] >= 15


@pytest.mark.slow
def test_runs_are_models_for_a_few_hundred_programs():
    wrong, kinds, models = compare(seed=2200, count=300, longest=3)
    assert not wrong
    assert min(kinds[name] for name in STATEMENTS) >= 10, kinds
    assert models["some"] >= 100 and models["none"] >= 30 and models["several"] >= 30, models


@pytest.mark.sweep
def test_runs_are_models_for_long(sweep_seed):
    wrong, kinds, models = compare(seed=22_000 + sweep_seed, count=2_400, longest=3)
    assert not wrong
    assert min(kinds[name] for name in STATEMENTS) >= 100, kinds
    print(f"\n{sum(models[each] for each in ('some', 'none')):,} programs agree: {dict(models)}, {dict(kinds)}")


@pytest.mark.sweep
def test_runs_of_four_states_are_models(sweep_seed):
    wrong, kinds, models = compare(seed=23_000 + sweep_seed, count=150, longest=4)
    assert not wrong
    print(f"\n{sum(models[each] for each in ('some', 'none')):,} programs agree on four states: {dict(kinds)}")


# What breaks if one rule is wrong. Each of these has to be noticed.
def _ends_late(machine, outcome, then, activation):
    ends, rest = outcome
    if ends and rest is None:
        return then.start(machine, activation)
    return False, residuals.Then(rest, then, activation)


def _not_equally_long(machine, outcomes, line):
    rests = [rest for _, rest in outcomes if rest is not None]
    return any(ends for ends, _ in outcomes), residuals.joined(rests, line) if rests else None


def _all_must_end(machine, outcomes):
    return residuals.conjunction(machine, outcomes, 0)


@pytest.mark.parametrize(
    ("module", "name", "mutant"),
    [
        (residuals, "chopped", _ends_late),
        ("statements", "chopped", _ends_late),
        ("statements", "conjunction", _not_equally_long),
        ("statements", "parallel", _all_must_end),
        (machine.Machine, "lose", lambda self, key: None),
        (machine.Machine, "settle", lambda self, key: None),
        (machine.Machine, "_recheck", lambda self, key, line: None),
        (machine.Machine, "ready", lambda self, names, activation: None),
    ],
    ids=["chop", "first chop", "and", "par", "frame", "lbf", "own reason", "waiting"],
)
def test_mutants_are_noticed(monkeypatch, module, name, mutant):
    from firesteel.model.msvl import statements

    monkeypatch.setattr(statements if module == "statements" else module, name, mutant)
    noticed = 0
    for source in sources(2201, 400):
        functions = {function.name: function.body for function in source.functions}
        try:
            found = interpreted(source, 2)
        except Exception:
            noticed = 1
            break
        if found != oracle.models(source.body, functions, NAMES, (0, 1), 2):
            noticed = 1
            break
    assert noticed


def written_and_read(seed, count):
    """How often each statement was in a program whose text was read back to the same tree."""
    kinds = Counter()
    rng = random.Random(seed)
    for number in range(count):
        source = random_text_source(rng) if number % 3 else random_source(rng, 3)
        text = text_of(source)
        again = parse(text)
        assert again == source, text
        assert repr(again) == repr(source), text  # 1 equals 1.0 and true, and their texts differ
        kinds.update(kinds_in(source))
    return kinds


def test_print_then_parse_is_the_identity():
    kinds = written_and_read(seed=24, count=200)
    assert min(kinds[name] for name in (*STATEMENTS, "Do")) >= 10, kinds


@pytest.mark.sweep
def test_print_then_parse_is_the_identity_for_long(sweep_seed):
    kinds = written_and_read(seed=24_000 + sweep_seed, count=3_000)
    assert min(kinds[name] for name in (*STATEMENTS, "Do")) >= 100, kinds
    print(f"\n3,000 programs were read back: {dict(kinds)}")
