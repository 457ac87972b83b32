"""Random small programs over the variables x and y, whose values stay 0 or 1."""

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t

NAMES = ("x", "y")
STATEMENTS = (
    "Empty", "Skip", "Len", "Assign", "AssignNext", "Declare", "StateFrame", "Frame", "Next", "Always", "If", "Exist",
    "Chop", "And", "Or", "Par", "While", "Await", "Prj", "Call",
)  # fmt: skip
_LEAVES = ("Empty", "Skip", "Len", "Assign", "Assign", "AssignNext", "AssignNext", "AssignNext", "Frame", "StateFrame")
_LEAVES += ("Declare", "Await", "Call")
_INNER = ("Next", "Always", "If", "If", "Exist", "Chop", "Chop", "And", "And", "Or", "Par", "While", "Prj")


def random_expression(rng, names, looks=()):
    """An expression whose value is 0 or 1."""
    name = e.Variable(rng.choice(names))
    kind = rng.random()
    if kind < 0.35:
        return e.Constant(rng.randint(0, 1))
    if kind < 0.6:
        return name
    if kind < 0.75:
        return e.Binary("-", e.Constant(1), name)
    if kind < 0.85:
        return e.Binary("%", e.Binary("+", name, e.Variable(rng.choice(names))), e.Constant(2))
    if "previous" in looks and kind < 0.93:
        return e.Previous(name)
    return e.Following(name) if "next" in looks else name


def random_test(rng, names):
    test = e.Binary(rng.choice(["=", "=", "!=", "<"]), e.Variable(rng.choice(names)), random_expression(rng, names))
    match rng.randint(0, 7):
        case 0:
            return e.Unary("!", test)
        case 1:
            return e.Binary(rng.choice(["AND", "OR"]), test, random_test(rng, names))
        case 2:
            return e.Binary("=", e.Previous(e.Variable(rng.choice(names))), e.Constant(rng.randint(0, 1)))
        case _:
            return test


def random_statement(rng, depth, names=NAMES, functions=()):
    def sub():
        return random_statement(rng, depth - 1, names, functions)

    kind = rng.choice(_LEAVES) if depth == 0 or rng.random() < 0.12 else rng.choice(_INNER)
    variable = e.Variable(rng.choice(names))
    match kind:
        case "Empty":
            return t.Empty()
        case "Skip":
            return t.Skip()
        case "Len":
            return t.Len(rng.choice([e.Constant(0), e.Constant(1), e.Constant(2), variable]))
        case "Assign":
            return t.Assign(variable, random_expression(rng, names, ("previous",)))
        case "AssignNext":
            return t.AssignNext(variable, random_expression(rng, names, ("previous", "next")))
        case "Declare":
            chosen = rng.sample(NAMES, rng.randint(1, 2))
            made = (t.Declared(t.Type("int"), name, (), random_expression(rng, names)) for name in chosen)
            return t.Declare(tuple(made))
        case "Frame" | "StateFrame":
            chosen = rng.sample(names, rng.randint(1, len(names)))
            return getattr(t, kind)(tuple(e.Variable(name) for name in chosen))
        case "Await":
            return t.Await(random_test(rng, names))
        case "Call":
            return t.Call(rng.choice(functions), ()) if functions else t.Skip()
        case "Next" | "Always":
            return getattr(t, kind)(sub())
        case "If":
            return t.If(random_test(rng, names), sub(), sub())
        case "Exist":
            inner = (*NAMES, f"z{depth}")
            name = rng.choice([f"z{depth}", "x"])
            start = t.Assign(e.Variable(name), e.Constant(rng.randint(0, 1)))
            # A function's x is the program's, also where it is called from a place that has an x of its own.
            body = random_statement(rng, depth - 1, inner if name != "x" else NAMES, functions if name != "x" else ())
            return t.Exist((name,), t.And((t.Frame((e.Variable(name),)), start, body)))
        case "While":
            return t.While(random_test(rng, names), sub())
        case "Prj":
            return t.Prj(tuple(sub() for _ in range(rng.randint(1, 2))), sub())
        case _:
            return getattr(t, kind)(tuple(sub() for _ in range(rng.choice([2, 2, 3]))))


def random_source(rng, deepest=2):
    """A program; most frame their variables and give them a value first."""
    names = ["f", "g"][: rng.choice([0, 0, 1, 2])]
    functions = tuple(t.Function(name, (), (), _function_body(rng)) for name in names)
    body = random_statement(rng, rng.choice([1, 1, 2, deepest]), functions=tuple(names))
    kind = rng.random()
    if kind < 0.75:
        framed = t.Frame(tuple(map(e.Variable, NAMES)))
        first = [t.Assign(e.Variable(name), e.Constant(rng.randint(0, 1))) for name in NAMES]
        body = t.And((framed, *first, body))
    elif kind < 0.82:
        body = t.And((t.Assign(e.Variable("x"), e.Constant(rng.randint(0, 1))), body))
    elif kind < 0.92:
        first = [t.Assign(e.Variable(name), e.Constant(rng.randint(0, 1))) for name in NAMES]
        kept = t.StateFrame(tuple(map(e.Variable, rng.sample(NAMES, rng.randint(1, 2)))))
        body = t.Chop((t.And((*first, t.Skip())), t.And((kept, body))))
    return t.Source((), (), (), (), functions, body)


def _function_body(rng):
    """Without declarations: in a function these are its own variables, which the oracle does not know."""
    while True:
        body = random_statement(rng, 1)
        if not any(isinstance(part, t.Declare) for part in t.statements_in(body)):
            return body


def kinds_in(source):
    """The kinds of statements in a program."""
    bodies = [source.body, *(function.body for function in source.functions)]
    return {type(part).__name__ for body in bodies for part in t.statements_in(body)}
