"""Runs against the formulas that define the statements, literally: Table 1 as PPTL, judged by PPTL's own oracle.

The variable x is 0 or 1 in every state: it is framed and has a first value. A state of a word has the proposition `x0`
or `x1` for its value, `p` where it is assigned, and `was0` or `was1` for its value in the state before. A minimal model
is one of which no other model of the same length assigns less.

Every run satisfies the formula. Where a program has no conditions and assigns constants only, every minimal model is a
run. Otherwise the formulas alone also have models in which x is assigned by nothing: `await(x = 1)` would assign x
itself, and so would two assignments that agree only then. No run does that.
"""

import random
from collections import Counter
from itertools import product

import pytest

from firesteel.logic import pptl
from firesteel.model import msvl
from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.printing import statement_text
from tests.logic.pptl import oracle

X = e.Variable("x")
SAME_AS_BEFORE = "(was0 and x0 or was1 and x1)"


def equals(expression, value):
    """The formula that says that an expression has this value."""
    match expression:
        case e.Constant(constant):
            return str(constant == value).lower()
        case e.Variable():
            return f"x{value}"
        case e.Previous():
            return f"was{value}"
        case e.Binary("-"):
            return f"x{1 - value}"


def either(make):
    return "(" + " or ".join(f"({make(value)})" for value in (0, 1)) + ")"


def holds(test):
    """The formula of a condition `x = e`."""
    return either(lambda value: f"{equals(test.left, value)} and {equals(test.right, value)}")


def formula(statement):
    """The formula that defines a statement, as in Table 1 of the paper (whose state frame looks back, not ahead)."""
    match statement:
        case t.Empty():
            return "empty"
        case t.Skip():
            return "skip"
        case t.Len(number):
            return f"len({number.value})"
        case t.Assign(_, value):
            return either(lambda v: f"x{v} and {equals(value, v)}") + " and p"
        case t.AssignNext(_, value):
            return either(lambda v: f"{equals(value, v)} and next (x{v} and p)") + " and skip"
        case t.StateFrame():
            return f"(not p -> {SAME_AS_BEFORE})"
        case t.Frame():
            return f"[] (more -> next (not p -> {SAME_AS_BEFORE}))"
        case t.Next(body):
            return f"next ({formula(body)})"
        case t.Always(body):
            return f"[] ({formula(body)})"
        case t.If(test, then, otherwise):
            return f"({holds(test)} -> ({formula(then)})) and (not {holds(test)} -> ({formula(otherwise)}))"
        case t.While(test, body):
            return f"({holds(test)} and ({formula(body)}))* and [] (empty -> not {holds(test)})"
        case t.Await(test):
            return f"{formula(t.Frame((X,)))} and [] (empty <-> {holds(test)})"
        case t.Chop(parts):
            return " ; ".join(f"({formula(part)})" for part in parts)
        case t.And(parts):
            return " and ".join(f"({formula(part)})" for part in parts)
        case t.Or(parts):
            return " or ".join(f"({formula(part)})" for part in parts)
        case t.Par(parts):
            return " || ".join(f"({formula(part)})" for part in parts)
        case t.Prj(parts, whole):
            return f"({', '.join(map(formula, parts))}) prj ({formula(whole)})"


def words(length):
    """All words of this length, as values and as the states where x is assigned."""
    for values in product((0, 1), repeat=length):
        for assigned in product((False, True), repeat=length):
            yield values, assigned


def letters(values, assigned):
    return [
        {f"x{value}"} | ({"p"} if assigned[k] else set()) | ({f"was{values[k - 1]}"} if k else set())
        for k, value in enumerate(values)
    ]


def models(defining, length):
    """The values of all models, and of the minimal ones."""
    found = [
        (values, assigned) for values, assigned in words(length) if oracle.holds(defining, letters(values, assigned))
    ]
    flags = {assigned for _, assigned in found}
    least = {each for each in flags if not any(_less(other, each) for other in flags)}
    return {values for values, _ in found}, {values for values, assigned in found if assigned in least}


def _less(one, two):
    return one != two and all(b or not a for a, b in zip(one, two, strict=True))


def runs(statement, longest):
    program = msvl.Program(t.Source((), (), (), (), (), statement))
    explorer = program.explorer(None, None, longest, dead=(msvl.NoModel, msvl.Undefined))
    path, found = [], set()
    for ends in explorer.states():
        del path[explorer.machine.number :]
        path.append(explorer.machine.values[program.code.variables["x"]])
        if ends:
            found.add(tuple(path))
    return found


def expression(rng, past):
    choices = [e.Constant(0), e.Constant(1), X, e.Binary("-", e.Constant(1), X)]
    return rng.choice([*choices, e.Previous(X)] if past else choices)


def statement(rng, depth, past=False):
    """`past` says that there is a state before."""
    test = e.Binary("=", X, expression(rng, past))
    if depth == 0:
        return rng.choice(
            [
                t.Empty(),
                t.Skip(),
                t.Len(e.Constant(rng.randint(0, 2))),
                t.AssignNext(X, expression(rng, past)),
                t.AssignNext(X, expression(rng, past)),
                t.Await(test),
                t.Frame((X,)),
            ]
        )

    def sub(later=False):
        return statement(rng, depth - 1, past or later)

    match rng.choice(["next", "always", "if", "while", "chop", "chop", "and", "par", "prj", "or", "now"]):
        case "next":
            return t.Next(sub(later=True))
        case "always":
            return t.Always(sub())
        case "if":
            return t.If(test, sub(), sub())
        case "while":
            return t.While(test, sub())
        case "chop":
            return t.Chop((sub(), sub()))
        case "and":
            return t.And((sub(), sub()))
        case "par":
            return t.Par((sub(), sub()))
        case "or":
            return t.Or((sub(), sub()))
        case "prj":
            return t.Prj((statement(rng, 0), statement(rng, 0)), statement(rng, 0))
        case "now":
            now = t.Assign(X, e.Constant(rng.randint(0, 1)))
            return t.And((t.Next(rng.choice([now, t.And((t.StateFrame((X,)), t.Skip()))])), t.Skip()))


def assigns_constants(whole):
    found = [part.value for part in t.statements_in(whole) if isinstance(part, t.Assign | t.AssignNext)]
    return all(isinstance(value, e.Constant) for value in found)


def compare(seed, count, longest):
    rng = random.Random(seed)
    kinds, seen = Counter(), Counter()
    for _ in range(count):
        body = statement(rng, rng.choice([1, 1, 2]))
        whole = t.And((t.Frame((X,)), t.Assign(X, e.Constant(rng.randint(0, 1))), body))
        defining = pptl.parse(formula(whole))
        found = runs(whole, longest)
        own = {type(part).__name__ for part in t.statements_in(whole)}
        for length in range(1, longest + 1):
            every, least = models(defining, length)
            these = {values for values in found if len(values) == length}
            assert these <= every, (statement_text(whole), these - every)
            if not own & {"If", "While", "Await", "Prj"} and assigns_constants(whole):
                assert least <= these, (statement_text(whole), least - these)
                seen["exactly the minimal ones" if these == least else "more, by choice"] += 1
        seen["runs"] += len(found)
        kinds.update(own)
    return kinds, seen


def test_runs_are_the_minimal_models_of_the_defining_formulas():
    kinds, seen = compare(seed=222, count=100, longest=3)
    assert seen["exactly the minimal ones"] >= 60 and seen["runs"] >= 60, seen
    assert len(kinds) == 17 and min(kinds.values()) >= 3, kinds


@pytest.mark.sweep
def test_runs_are_the_minimal_models_of_the_defining_formulas_for_long(sweep_seed):
    kinds, seen = compare(seed=222_000 + sweep_seed, count=2_000, longest=4)
    print(f"\n2,000 programs agree with their formulas: {dict(seen)}, {dict(kinds)}")


def test_the_printed_state_frame_of_the_paper_is_another_one():
    """It looks ahead: with it, x would have to stay as it is before it is assigned."""
    printed = pptl.parse("not p -> (x0 and next x0 or x1 and next x1)")
    meant = pptl.parse(formula(t.StateFrame((X,))))
    word = letters((0, 0, 1), (True, False, True))[1:]
    assert oracle.holds(meant, word) and not oracle.holds(printed, word)
