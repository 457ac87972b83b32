"""How formulas read, compare and combine."""

import firesteel as fs


@fs.now
def busy(x):
    return x > 0


@fs.now
def idle(x):
    return x == 0


def test_reprs_read_as_the_property_does():
    formula = fs.always(fs.implies(busy, fs.always(idle, during=5)), during=10)
    assert repr(formula) == "always(busy implies always(idle, during=5), during=10)"
    assert str(fs.until(busy & ~idle, busy | idle)) == "until(busy and (not idle), busy or idle)"
    assert str(fs.release(busy, idle, during=2)) == "release(busy, idle, during=2)"
    assert str(fs.next_(busy)) == "next_(busy)"
    assert str(fs.next_(busy, times=2)) == "next_(busy, times=2)"
    assert str(fs.since(busy, fs.once(idle, within=2), within=3)) == "since(busy, once(idle, within=2), within=3)"
    assert str(fs.historically(fs.previously(busy))) == "historically(previously(busy))"
    assert str(fs.eventually(fs.TRUE | fs.FALSE)) == "eventually(TRUE or FALSE)"


def test_lambdas_read_as_their_source():
    assert str(fs.always(lambda now: now > 3)) == "always(now > 3)"
    assert str(fs.implies(lambda x: x > 0, lambda x: x < 9)) == "(x > 0) implies (x < 9)"
    assert str(fs.consume(lambda x: fs.always(busy, during=x))) == "consume(fs.always(busy, during=x))"
    assert str(fs.now(lambda x: x, name="named")) == "named"


def test_conjunctions_are_flat():
    assert str(busy & idle & busy) == "busy and idle and busy"
    assert str(busy | (idle | busy)) == "busy or idle or busy"


def test_formulas_are_values():
    assert fs.always(busy, during=3) == fs.always(busy, during=3)
    assert fs.always(busy, during=3) != fs.always(busy, during=4)
    assert len({fs.until(busy, idle), fs.until(busy, idle)}) == 1


def test_predicates_and_constants_join_from_either_side():
    assert (True & busy).evaluate([1])
    assert ((lambda x: x > 0) & busy).evaluate([1])
    assert ((lambda x: x > 9) | busy).evaluate([1])
    assert not (busy & False).evaluate([1])
