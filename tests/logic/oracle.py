"""A brute-force reading of the logic, apart from the engine: the value of a formula at a position, by definition.

Positions at and after the end of the trace are virtual: no predicate can be asked there. Operators without a bound
range over the real positions only; bounded ones count virtual positions too. Three values: 1, 0, -1.
"""

from firesteel.logic.ltl import formulas as f
from firesteel.logic.verdicts import Verdict


def judge(formula, trace):
    return Verdict(value(formula, list(trace), 0, 0))


def value(formula, trace, i, origin):
    def at(inner, k):
        return value(inner, trace, k, origin)

    def span(bound):
        return range(i, len(trace)) if bound is None else range(i, i + bound)

    def back(bound):
        return range(origin, i + 1) if bound is None else range(max(origin, i - bound + 1), i + 1)

    real = i < len(trace)
    name = type(formula).__name__
    if name == "Constant":
        return formula.verdict.value
    if name == "Atom":
        return (1 if formula.predicate(trace[i]) else -1) if real else 0
    if name == "Not":
        return -at(formula.body, i)
    if name == "And":
        return min(at(part, i) for part in formula.parts)
    if name == "Or":
        return max(at(part, i) for part in formula.parts)
    if name == "Implies":
        return max(-at(formula.premise, i), at(formula.then, i))
    if name == "Next":
        return at(formula.body, i + formula.times)
    if name == "Always":
        return min((at(formula.body, k) for k in span(formula.bound)), default=1)
    if name == "Eventually":
        return max((at(formula.body, k) for k in span(formula.bound)), default=-1)
    if name == "Until":
        return max(
            (min([at(formula.then, k)] + [at(formula.first, j) for j in range(i, k)]) for k in span(formula.bound)),
            default=-1,
        )
    if name == "Release":
        held = min((at(formula.then, k) for k in span(formula.bound)), default=1)
        released = max(
            (min([at(formula.first, k)] + [at(formula.then, j) for j in range(i, k + 1)]) for k in span(formula.bound)),
            default=-1,
        )
        return max(held, released)
    if name in ("Let", "Consume"):
        if not real:
            return 0
        begin = i if name == "Let" else i + 1
        return value(f.formula_of(formula.body(trace[i])), trace, begin, begin)
    if name == "Previously":
        return at(formula.body, i - 1) if i > origin else -1
    if name == "Once":
        return max(at(formula.body, k) for k in back(formula.bound))
    if name == "Historically":
        return min(at(formula.body, k) for k in back(formula.bound))
    if name == "Since":
        return max(
            min([at(formula.after, k)] + [at(formula.holds, j) for j in range(k + 1, i + 1)])
            for k in back(formula.bound)
        )
    raise AssertionError(name)
