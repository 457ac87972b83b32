"""Random trees of everything that can be written; they need not mean anything."""

from dataclasses import replace

from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t

_NAMES = ("x", "y", "lineData", "order", "éà")


def expression(rng, depth):
    def sub():
        return expression(rng, depth - 1)

    if depth <= 0:
        return rng.choice(
            [
                e.Variable(rng.choice(_NAMES)),
                e.Constant(
                    rng.choice([0, 7, -3, 1.5, -2.25, 1e30, True, False, None, "", "\r\0", 'a "b" \\ \n\t', "é"])
                ),
                e.ListOf(()),
                e.MapOf(()),
            ]
        )
    match rng.randint(0, 15):
        case 0 | 1 | 2 | 3:
            sign = rng.choice(["+", "-", "*", "/", "%", "=", "!=", "<", "<=", ">", ">=", "AND", "OR"])
            return e.Binary(sign, sub(), sub())
        case 4:
            return e.Unary("!", sub())
        case 5:
            inner = sub()
            number = isinstance(inner, e.Constant) and type(inner.value) in (int, float)
            return inner if number else e.Unary("-", inner)
        case 6:
            return rng.choice([e.Previous, e.Following])(sub())
        case 7:
            return rng.choice([e.Index(sub(), sub()), e.Field(sub(), "order")])
        case 8:
            return rng.choice([e.Apply, e.External])("size", tuple(sub() for _ in range(rng.randint(0, 2))))
        case 9:
            return e.ListOf(tuple(sub() for _ in range(rng.randint(0, 2))))
        case 10:
            return e.MapOf(tuple((sub(), sub()) for _ in range(rng.randint(0, 2))))
        case 11:
            return e.TupleOf(tuple(sub() for _ in range(rng.randint(0, 3))))
        case 12:
            return e.Conditional(sub(), sub(), sub())
        case 13:
            name = rng.choice(_NAMES)
            return e.Let(name, sub(), e.bound(sub(), frozenset([name])))
        case 14:
            return _comprehension(rng, sub)
        case _:
            return e.StructOf("Pair", (("a", sub()), ("b", sub())))


def _comprehension(rng, sub):
    known, clauses = frozenset(), []
    for _ in range(rng.randint(1, 2)):
        names = tuple(rng.sample(_NAMES, rng.randint(1, 2)))
        source = e.bound(sub(), known)
        known |= frozenset(names)
        clauses.append(e.Clause(names, source, tuple(e.bound(sub(), known) for _ in range(rng.randint(0, 1)))))
    return e.Comprehension(e.bound(sub(), known), tuple(clauses))


def definition(rng):
    names = tuple(rng.sample(_NAMES, rng.randint(0, 2)))
    return t.Define(f"d{rng.randrange(1000)}", names, e.bound(expression(rng, 2), frozenset(names)))


def given_input(rng):
    made = declared(rng, value=rng.random() < 0.3)
    return replace(made, file='some "file"') if made.value is None and rng.random() < 0.3 else made


def location(rng, depth):
    if depth <= 0 or rng.random() < 0.5:
        return e.Variable(rng.choice(_NAMES))
    inner = location(rng, depth - 1)
    return e.Index(inner, expression(rng, 1)) if rng.random() < 0.6 else e.Field(inner, rng.choice(_NAMES))


def declared(rng, value=False):
    sizes = tuple(expression(rng, 1) for _ in range(rng.choice([0, 0, 1, 2])))
    type_ = t.Type("Pair", struct=True) if rng.random() < 0.2 else t.Type(rng.choice(["int", "string", "list", "map"]))
    return t.Declared(type_, rng.choice(_NAMES), sizes, expression(rng, 1) if value else None)


def statement(rng, depth):
    def sub():
        return statement(rng, depth - 1)

    def several():
        return tuple(sub() for _ in range(rng.choice([2, 2, 3])))

    def value():
        return expression(rng, rng.randint(0, 2))

    leaf = [
        lambda: t.Empty(),
        lambda: t.Skip(),
        lambda: t.Len(value()),
        lambda: t.Assign(location(rng, 2), value()),
        lambda: t.AssignNext(location(rng, 2), value()),
        lambda: _declare(rng),
        lambda: t.StateFrame((location(rng, 1),)),
        lambda: t.Frame((location(rng, 1), location(rng, 2))),
        lambda: t.Await(value()),
        lambda: t.Call("f", tuple(value() for _ in range(rng.randint(0, 2)))),
        lambda: t.Do(e.External("g", (value(),))),
    ]
    inner = [
        lambda: t.Next(sub()),
        lambda: t.Always(sub()),
        lambda: t.Exist(tuple(rng.sample(_NAMES, rng.randint(1, 2))), sub()),
        lambda: t.If(value(), sub(), sub()),
        lambda: t.While(value(), sub()),
        lambda: t.Chop(several()),
        lambda: t.And(several()),
        lambda: t.Or(several()),
        lambda: t.Par(several()),
        lambda: t.Prj(tuple(sub() for _ in range(rng.randint(1, 3))), sub()),
    ]
    return rng.choice(leaf if depth <= 0 or rng.random() < 0.15 else inner)()


def _declare(rng):
    first = declared(rng, value=True)
    others = [declared(rng, value=True) for _ in range(rng.randint(0, 1))]
    return t.Declare((first, *(t.Declared(first.type, each.name, each.sizes, each.value) for each in others)))


def random_text_source(rng):
    """A whole program."""
    parameters = (t.Parameter(t.Type("int"), "n"), t.Parameter(None, "m"), t.Parameter(t.Type("string"), "a", True))
    functions = tuple(
        t.Function(f"f{number}", parameters[: rng.randint(0, 3)], _some(rng, declared), statement(rng, 2))
        for number in range(rng.randint(0, 2))
    )
    structs = (t.Struct("Pair", (declared(rng), declared(rng))),) if rng.random() < 0.5 else ()
    outputs = tuple(rng.sample(_NAMES, rng.randint(0, 2)))
    return t.Source(
        structs,
        _some(rng, given_input),
        outputs,
        _some(rng, declared),
        functions,
        statement(rng, rng.choice([1, 2, 3, 3])),
        _some(rng, definition),
        listed=bool(outputs) and rng.random() < 0.5,
    )


def _some(rng, make):
    return tuple(make(rng) for _ in range(rng.randint(0, 2)))
