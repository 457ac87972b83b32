"""Why a property is false, as a sentence that a person can check.

Batches, or windows where the property looks at these, are given as ranges, never as counts.
"""

from __future__ import annotations

from textwrap import indent

from firesteel.logic.ltl.explain import IntervalReason, Reason
from firesteel.logic.ltl.formulas import (
    Always,
    And,
    Atom,
    Constant,
    Eventually,
    Historically,
    Implies,
    Intervals,
    Not,
    Once,
    Or,
    Previously,
    Release,
    Since,
    Until,
)
from firesteel.logic.verdicts import Verdict
from firesteel.names import plural


def sentence(reason: Reason, noun: str = "batch") -> str:
    """What had to be, and what was.

    >>> import firesteel as fs
    >>> busy, low = fs.now(lambda x: x > 0, name="busy"), fs.now(lambda x: x < 5, name="low")
    >>> sentence(fs.always(fs.implies(busy, fs.always(low, during=3))).explain([1, 9]))
    'busy held in batch 0, so low had to hold in batches 0 to 2. It does not in batch 1.'
    """
    wanted, seen = _told(reason, noun)
    return f"{wanted}. {seen}" + ("" if "\n" in seen else ".")


def _told(reason: Reason, noun: str) -> tuple[str, str]:
    """What had to be, and what was, of a false formula."""
    formula = reason.formula
    if isinstance(reason, IntervalReason):
        return _told_of_an_interval(reason, noun)
    match formula:
        case Implies():
            premise, then = reason.because
            wanted, seen = _told(then, noun)
            if isinstance(premise.formula, Constant):  # computed in a let: nobody wrote TRUE
                return wanted, seen
            return f"{_held(premise, noun)}, so {wanted}", seen
        case And() if reason.because:
            return _told(reason.because[0], noun)
        case Or():
            names = " or ".join(str(part.formula) for part in reason.because)
            wanted = f"{names} had to hold in {_instants(range(reason.at, reason.at + 1), noun)}"
            return wanted, "Neither does" + _details_of_one(reason, noun)
        case Not(body):
            return f"{body} had to be false in {noun} {reason.at}", "It holds there" + _details(reason)
        case Always(body) | Historically(body):
            (inner,) = reason.because
            if isinstance(inner.formula, Atom):
                return f"{body} had to hold {_when(reason, noun)}", f"It does not in {noun} {inner.at}" + _details(
                    inner
                )
            return _told(inner, noun)
        case Eventually(body) | Once(body):
            wanted = f"{body} had to hold in one of {_instants(reason.instants, noun)}"
            return wanted, "It does not in any of them" + _details_of_one(reason, noun)
        case Until(first, then) | Since(first, then):
            last = reason.because[-1] if reason.because else None
            if last is not None and last.formula is first:
                wanted = f"{first} had to hold until {then} did"
                return wanted, f"In {noun} {last.at} neither does" + _details(last)
            return f"{then} had to hold in one of {_instants(reason.instants, noun)}", "It does not in any of them"
        case Release(first, then):
            last = reason.because[-1]
            wanted = f"{then} had to hold {_when(reason, noun)}, up to where {first} holds as well"
            return wanted, f"It does not in {noun} {last.at}" + _details(last)
        case Atom() | Constant() | Previously():
            return f"{formula} had to hold in {noun} {reason.at}", "It does not" + _details(reason)
        case _:
            if len(reason.because) == 1:
                return _told(reason.because[0], noun)
            return f"{formula} had to hold in {noun} {reason.at}", "It does not"


def _told_of_an_interval(reason: IntervalReason, noun: str) -> tuple[str, str]:
    """What was still open of a formula of PPTL, and the instant or the end that made it false."""
    formula, why = reason.formula, reason.explanation
    assert isinstance(formula, Intervals)
    wanted = f"{formula.formula} had to hold from {noun} {reason.at} on"
    if why is None:
        return wanted, "It does not"
    last = reason.at + why.prefix - 1
    if why.prefix > 1 and why.failed and why.failed != (formula.formula,):
        wanted += f", and after {noun} {last - 1} this was open: {' and '.join(map(str, why.failed))}"
    if why.ended:
        return wanted, f"The stream ends with {noun} {last}, and it was not satisfied by then"
    said = [
        f"{leaf.formula} {'holds' if leaf.verdict is Verdict.TRUE else 'does not hold'}"
        + (f" ({leaf.check.reason})" if leaf.check is not None and leaf.check.reason else "")
        for leaf in reason.because
        if leaf.at == last
    ]
    return wanted, f"{noun.capitalize()} {last} makes it false" + (f": {' and '.join(said)}" if said else "")


def _held(premise: Reason, noun: str) -> str:
    return f"{premise.formula} held in {noun} {premise.at}"


def _details(reason: Reason) -> str:
    leaf = next(reason.leaves())
    check = leaf.check
    if check is None or not check.reason or leaf.verdict is not Verdict.FALSE:
        return ""
    # The message of an assertion may have many lines.
    return ":\n" + indent(check.reason, "    ") if "\n" in check.reason else f": {check.reason}"


def _details_of_one(reason: Reason, noun: str) -> str:
    """The details of the last of several reasons that has any."""
    found = [(part, details) for part in reason.because if (details := _details(part))]
    if not found:
        return ""
    part, details = found[-1]
    return f"; of {part.formula} in {noun} {part.at}{details}"


def _when(reason: Reason, noun: str) -> str:
    if getattr(reason.formula, "bound", None) is None:
        return f"in every {noun}" if reason.at == 0 else f"in every {noun} from {noun} {reason.at} on"
    return f"in {_instants(reason.instants, noun)}"


def _instants(instants: range, noun: str) -> str:
    """`batch 3`, or `batches 0 to 4`.

    >>> _instants(range(0, 5), "batch"), _instants(range(3, 4), "window")
    ('batches 0 to 4', 'window 3')
    """
    if not instants:
        return f"no {noun}"
    first, last = min(instants), max(instants)
    return f"{noun} {first}" if first == last else f"{plural(noun)} {first} to {last}"
