"""Random formulas over traces of small integers, for comparing readings of the logic."""

import random

import firesteel as fs

ATOMS = [
    fs.now(lambda x: x == 0, name="zero"),
    fs.now(lambda x: x > 1, name="big"),
    fs.now(lambda x: x % 2 == 0, name="even"),
    fs.now(lambda x: x >= 1, name="some"),
]
OPERATORS = (
    "atom", "constant", "not", "and", "or", "implies", "next", "always", "eventually", "until", "release",
    "let", "consume", "previously", "once", "historically", "since",
)  # fmt: skip
FUTURE = tuple(name for name in OPERATORS if name not in ("previously", "once", "historically", "since"))


def random_formula(rng, depth, *, operators=OPERATORS, unbounded=True, bodies=True):
    """A formula of exactly this depth along one branch at least."""
    if depth == 0:
        return rng.choice(ATOMS) if rng.random() < 0.9 else rng.choice([fs.TRUE, fs.FALSE])

    def sub(d=None):
        d = depth - 1 if d is None else d
        return random_formula(rng, d, operators=operators, unbounded=unbounded, bodies=bodies)

    def shallow():
        return sub(rng.randint(0, depth - 1))

    def bound():
        return None if unbounded and rng.random() < 0.3 else rng.randint(1, 4)

    inner = [name for name in operators if name not in ("atom", "constant")]
    if not bodies:
        inner = [name for name in inner if name not in ("let", "consume")]
    match rng.choice(inner):
        case "not":
            return ~sub()
        case "and":
            return sub() & shallow()
        case "or":
            return shallow() | sub()
        case "implies":
            return fs.implies(shallow(), sub())
        case "next":
            return fs.next_(sub(), times=rng.randint(1, 3))
        case "always":
            return fs.always(sub(), during=bound())
        case "eventually":
            return fs.eventually(sub(), within=bound())
        case "until":
            return fs.until(shallow(), sub(), within=bound())
        case "release":
            return fs.release(sub(), shallow(), during=bound())
        case "let":
            return fs.let(_body(rng, depth, operators, unbounded))
        case "consume":
            return fs.consume(_body(rng, depth, operators, unbounded))
        case "previously":
            return fs.previously(sub())
        case "once":
            return fs.once(sub(), within=bound())
        case "historically":
            return fs.historically(sub(), during=bound())
        case "since":
            return fs.since(shallow(), sub(), within=bound())


def _body(rng, depth, operators, unbounded):
    """A function whose formula depends on the instant, in its predicate, its bound or its shape."""
    seed = rng.randrange(2**32)
    kind = rng.choice(["fixed", "predicate", "bound", "shape"])

    def body(x):
        inner = random.Random(seed if kind == "fixed" else f"{seed} {x}")
        match kind:
            case "predicate":
                return fs.eventually(lambda y: y > x, within=inner.randint(1, 3))
            case "bound":
                return fs.always(random_formula(inner, depth - 1, operators=operators), during=x + 1)
            case _:
                return random_formula(inner, depth - 1, operators=operators, unbounded=unbounded)

    return body


def depth_of(formula):
    from firesteel.logic.ltl.formulas import children

    return 1 + max((depth_of(child) for child in children(formula)), default=0)
