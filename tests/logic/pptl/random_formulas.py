"""Random formulas and traces over a few names."""

from firesteel.logic import pptl

OPERATORS = (
    "constant", "name", "empty", "more", "skip", "len", "not", "and", "or", "implies", "iff", "next", "weaknext",
    "always", "eventually", "until", "release", "chop", "star", "repeat", "prj", "par", "while", "fin", "keep", "halt",
)  # fmt: skip
_INNER = [name for name in OPERATORS if name not in ("constant", "name", "empty", "more", "skip", "len")]
LTL = ("not", "and", "or", "implies", "iff", "next", "weaknext", "always", "eventually", "until", "release")


def random_formula(rng, depth, names="pq", inner=_INNER):
    """A formula of at most this depth."""
    if depth == 0 or rng.random() < 0.08:
        return _leaf(rng, names, intervals=inner is _INNER)

    def sub():
        return random_formula(rng, depth - 1, names, inner)

    match rng.choice(inner):
        case "not":
            return pptl.not_(sub())
        case "and":
            return pptl.and_(*(sub() for _ in range(rng.choice([2, 2, 3]))))
        case "or":
            return pptl.or_(*(sub() for _ in range(rng.choice([2, 2, 3]))))
        case "implies":
            return pptl.implies(sub(), sub())
        case "iff":
            return pptl.iff(sub(), sub())
        case "next":
            return pptl.next_(sub())
        case "weaknext":
            return pptl.weak_next(sub())
        case "always":
            return pptl.always(sub())
        case "eventually":
            return pptl.eventually(sub())
        case "until":
            return pptl.until(sub(), sub())
        case "release":
            return pptl.release(sub(), sub())
        case "chop":
            return pptl.chop(sub(), sub())
        case "star":
            return pptl.star(sub())
        case "repeat":
            return pptl.repeat(sub(), rng.choice([0, 1, 2, 2, 3]))
        case "prj":
            return pptl.prj([sub() for _ in range(rng.randint(1, 3))], sub())
        case "par":
            return pptl.par(sub(), sub())
        case "while":
            return pptl.while_(sub(), sub())
        case "fin":
            return pptl.fin(sub())
        case "keep":
            return pptl.keep(sub())
        case "halt":
            return pptl.halt(sub())


def _leaf(rng, names, intervals):
    if not intervals:
        return pptl.name(rng.choice(names)) if rng.random() < 0.9 else rng.choice([pptl.true, pptl.false])
    kind = rng.random()
    if kind < 0.6:
        return pptl.name(rng.choice(names))
    if kind < 0.68:
        return pptl.len_(rng.randint(0, 3))
    return rng.choice([pptl.true, pptl.false, pptl.empty, pptl.more, pptl.skip, pptl.skip])


def random_trace(rng, longest=6, names="pq"):
    return [{name for name in names if rng.random() < 0.5} for _ in range(rng.randint(1, longest))]
