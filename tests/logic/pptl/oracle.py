"""What formulas mean, by brute force over all ways to split an interval. Shares no code with the implementation.

`holds(formula, word)` is the semantics as it is written in the literature: a formula is judged on the interval of the
states i to j of a word. It reads the classes of formulas by their names only.
"""

from functools import lru_cache
from itertools import combinations, product


def holds(formula, word):
    """Is the formula true of the complete word, a sequence of sets of names?"""
    return _holds(formula, tuple(frozenset(state) for state in word))


@lru_cache(maxsize=200_000)
def _holds(formula, word):
    last = len(word) - 1
    suffixes = range(last + 1)

    def on(inner, first, end):
        return _holds(inner, word[first : end + 1])

    def split(pieces):
        """Can the word be split into these pieces, each sharing its last state with the next one's first?"""
        return any(
            all(on(piece, a, b) for piece, a, b in zip(pieces, (0, *cuts), (*cuts, last), strict=True))
            for cuts in _cuts(len(pieces) - 1, last)
        )

    match type(formula).__name__:
        case "Constant":
            return formula.value
        case "Name":
            return formula.name in word[0]
        case "Empty":
            return last == 0
        case "More":
            return last > 0
        case "Skip":
            return last == 1
        case "Len":
            return last == formula.number
        case "Not":
            return not on(formula.body, 0, last)
        case "And":
            return all(on(part, 0, last) for part in formula.parts)
        case "Or":
            return any(on(part, 0, last) for part in formula.parts)
        case "Implies":
            return not on(formula.premise, 0, last) or on(formula.then, 0, last)
        case "Iff":
            return on(formula.first, 0, last) == on(formula.then, 0, last)
        case "Next":
            return last > 0 and on(formula.body, 1, last)
        case "WeakNext":
            return last == 0 or on(formula.body, 1, last)
        case "Always":
            return all(on(formula.body, k, last) for k in suffixes)
        case "Eventually":
            return any(on(formula.body, k, last) for k in suffixes)
        case "Until":
            return any(
                on(formula.then, k, last) and all(on(formula.first, j, last) for j in range(k)) for k in suffixes
            )
        case "Release":
            return all(on(formula.then, k, last) or any(on(formula.first, j, last) for j in range(k)) for k in suffixes)
        case "Chop":
            return split([formula.first, formula.then])
        case "Star":
            # A piece of one state adds nothing, so at most `last` pieces matter.
            return last == 0 or any(split([formula.body] * pieces) for pieces in range(1, last + 1))
        case "Repeat":
            return last == 0 if formula.times == 0 else split([formula.body] * formula.times)
        case "Par":
            first, then = formula.first, formula.then
            return (on(first, 0, last) and any(on(then, 0, k) for k in suffixes)) or (
                on(then, 0, last) and any(on(first, 0, k) for k in suffixes)
            )
        case "While":
            return _while(formula, word)
        case "Fin":
            return on(formula.body, last, last)
        case "Keep":
            return all(on(formula.body, k, last) for k in range(last))
        case "Halt":
            return all(on(formula.body, k, last) == (k == last) for k in suffixes)
        case "Prj":
            return _projected(formula, word)
    raise AssertionError(type(formula).__name__)


def _cuts(count, last):
    """All ways to choose `count` positions from 0 to last, in order, with repeats."""
    return (chosen for chosen in product(range(last + 1), repeat=count) if list(chosen) == sorted(chosen))


def _while(formula, word):
    """Zero or more rounds, each of which starts where the test holds; the test is false in the last state."""
    last = len(word) - 1
    if _holds(formula.test, word[last:]):
        return False
    reached = {0}
    while True:
        further = {
            b
            for a in reached
            for b in range(a, last + 1)
            if _holds(formula.test, word[a : b + 1]) and _holds(formula.body, word[a : b + 1])
        }
        if further <= reached:
            return last in reached
        reached |= further


def _projected(formula, word):
    """There are points 0 = r0 <= r1 <= ... <= rm with the parts between them, and the whole on the projected word."""
    last = len(word) - 1
    for points in _cuts(len(formula.parts), last):
        ends = (0, *points)
        if all(_holds(part, word[a : b + 1]) for part, a, b in zip(formula.parts, ends[:-1], ends[1:], strict=True)):
            distinct = sorted(set(ends))
            if ends[-1] < last:
                projections = [[*distinct, *range(ends[-1] + 1, last + 1)]]
            else:
                projections = [sorted(set(ends[: h + 1])) for h in range(len(ends))]
            if any(_holds(formula.whole, tuple(word[k] for k in chosen)) for chosen in projections):
                return True
    return False


def verdict(formula, prefix, letters, longest):
    """What all continuations of up to `longest` more states agree on: True, False or None."""
    answers = set()
    for count in range(0 if prefix else 1, longest + 1):
        for more in product(letters, repeat=count):
            answers.add(holds(formula, (*prefix, *more)))
            if len(answers) == 2:
                return None
    return answers.pop()


def subsets(names):
    return [frozenset(chosen) for count in range(len(names) + 1) for chosen in combinations(sorted(names), count)]
