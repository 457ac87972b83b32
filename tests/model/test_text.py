"""How programs are written: what binds how tightly, what may be left out, and that words are not names."""

import pickle
from itertools import pairwise

import pytest

from firesteel.logic.pptl import syntax
from firesteel.model import msvl
from firesteel.model.msvl import grammar, printing
from firesteel.model.msvl import terms as e
from firesteel.model.msvl import tree as t
from firesteel.model.msvl.grammar import parse, parse_expression


def body(text):
    return parse(text).body


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("skip ; empty or skip and empty", "skip ; (empty or (skip and empty))"),
        ("skip || empty ; skip", "skip || (empty ; skip)"),
        ("next skip and empty", "(next skip) and empty"),
        ("always x := 1 ; skip", "(always (x := 1)) ; skip"),
        ("(skip, empty) prj skip || empty", "(skip, empty) prj (skip || empty)"),
        ("skip prj empty prj skip", "(skip) prj ((empty) prj skip)"),
        ("exist x: skip and empty", "(exist x: (skip)) and empty"),
        ("skip ; empty ;", "skip ; empty"),
        ("{skip ; empty ; } || (skip;)", "(skip ; empty) || skip"),
        ("x :== 1", "x := 1"),
        ("if(x! =1)then{skip}", "if x != 1 then {skip} else {empty}"),
        ("while (x == 1) {skip}", "while x = 1 {skip}"),
        ("skip // the rest\n; /* of it\n */ empty", "skip ; empty"),
        ("int i <== 0, k <== 1 and skip", "(int i <== 0, k <== 1) and skip"),
        ('char *s <== "a" and double d <== 1.5', 'string s <== "a" and float d <== 1.5'),
        ("x := xs.append(1).size()", "x := size(append(xs, 1))"),
    ],
)
def test_the_same_program(text, meant):
    assert body(text) == body(meant)


def test_operators_bind_as_in_pptl():
    levels = [printing.PRJ, printing.PAR, printing.CHOP, printing.OR, printing.AND, printing.PREFIX]
    theirs = [syntax.PRJ, syntax.PAR, syntax.CHOP, syntax.OR, syntax.AND, syntax.PREFIX]
    assert levels == sorted(levels) and theirs == sorted(theirs)
    loosest_first = ["P prj Q", "P || Q", "P ; Q", "P or Q", "P and Q"]
    for loose, tight in pairwise(loosest_first):
        sign, other = loose.split()[1], tight.split()[1]
        text = f"skip {sign} skip {other} skip"
        top = {"prj": t.Prj, "||": t.Par, ";": t.Chop, "or": t.Or}[sign]
        assert isinstance(body(text), top), text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("!a = b AND c OR d", "((!(a = b)) AND c) OR d"),
        ("-x[0] + 1", "(-(x[0])) + 1"),
        ("previous x + 1", "(previous x) + 1"),
        ("NOT a", "!a"),
        ("a.b[1].c", "((a.b)[1]).c"),
    ],
)
def test_the_same_expression(text, meant):
    assert parse_expression(text) == parse_expression(meant)


@pytest.mark.parametrize("word", sorted(grammar.WORDS))
def test_words_are_not_names(word):
    with pytest.raises(msvl.MsvlSyntaxError):
        msvl.load(f"{word} := 1")
    with pytest.raises(msvl.MsvlError):
        msvl.property(f'[] "{word}"')


def test_names():
    assert body("if1 := integer + élan") == t.AssignNext(
        e.Variable("if1"), e.Binary("+", e.Variable("integer"), e.Variable("élan"))
    )


def test_constants():
    assert [parse_expression(text) for text in ("-3", "2.5", "1e3", "true", '"a\\"\\n"')] == [
        e.Constant(-3),
        e.Constant(2.5),
        e.Constant(1000.0),
        e.Constant(True),
        e.Constant('a"\n'),
    ]


def test_programs_are_values():
    one, two = msvl.load("x := 1 ; skip"), msvl.load("x :=  1;skip;")
    assert one == two and hash(one) == hash(two) and one != msvl.load("skip")
    assert str(one) == "x := 1 ; skip"
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(msvl.load("x := y + ext f(1)")) == "<MSVL program: inputs ['y'], externals ['f']>"


def test_programs_are_joined():
    both = msvl.load("function f() {skip} input int n; x := n and f()") & msvl.load("output x; frame(x) and skip")
    assert both.inputs == ("n",) and both.run({"n": 4}) == {"x": 4}
    with pytest.raises(msvl.MsvlError, match="both programs have a function 'f'"):
        both & both
