"""What is wrong is said: where, and what to write instead."""

import pickle
import re

import pytest

import firesteel as fs
from firesteel.model import msvl


@pytest.mark.parametrize(
    ("text", "said", "line", "column"),
    [
        ("x := ; skip", "expected an expression, found ';', in line 1, column 6", 1, 6),
        ("x := 1 ;\n(skip", "expected ')', found the end of the text, in line 2, column 6", 2, 6),
        ("", "expected a statement, found the end of the text, in line 1, column 1", 1, 1),
        ("skip and", "expected a statement, found the end of the text", 1, 9),
        ("skip skip", "expected ", 1, 6),
        ("x = 1", "expected ", 1, 3),
        ("while x {skip", "expected '}', found the end of the text", 1, 14),
        ("if x {skip}", "expected 'then', found '{'", 1, 6),
        ("skip and (len(1), len(2)) prj skip", "stands before `prj`", 1, 17),
        ("x := 1 @ 2", "'@' means nothing here, in line 1, column 8", 1, 8),
        ("x := and", "expected an expression, found 'and'", 1, 6),
        ("function f( { skip } f()", "expected ", 1, 13),
    ],
)
def test_syntax_errors(text, said, line, column):
    with pytest.raises(msvl.MsvlSyntaxError) as raised:
        msvl.load(text)
    error = raised.value
    assert said in str(error)
    assert (error.line, error.column) == (line, column)
    shown, pointer = str(error).splitlines()[1:]
    assert shown.strip() == text.split("\n")[line - 1].strip()
    assert pointer.index("^") == 4 + column - 1
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column) == (str(error), line, column)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f()", "line 1: there is no function 'f'. The program defines none. For a function from outside write ext f"),
        ("function f(int n) {skip}\nf()", "line 2: f takes 1 arguments, and has 0"),
        ("function f() {skip} function f() {skip} f()", "there are two of function f"),
        ("function f(int n) {n := 1} f(1)", "line 1: n is a parameter of f, and parameters stay as they are"),
        ("function f(int n) {int n <== 1} f(1)", "n is a parameter of f, and declared again"),
        ("function f(int a[]) {skip} f(1 + 1)", "stands for a variable, so hand it one"),
        ("x := nothing(1)", "line 1: 'nothing' is not a state function: there are abs, all, any, append"),
        ("x := size(1, 2)", "line 1: size takes 1 arguments, and has 2"),
        ("x := struct P {a: 1}", "there is no struct 'P'"),
        ("struct P {int a and int b}; x := struct P {a: 1}", "struct P has the fields a, b; write each of them once"),
        ("struct Q a; skip", "there is no struct 'Q'"),
        ("x := previous previous y and y := 1", "previous and next cannot be nested"),
        ("lbf(a[0])", "lbf takes whole variables: write lbf(a)"),
        ("output z; x := 1", "output z: the program has no variable 'z'"),
    ],
)
def test_programs_that_cannot_be_used(text, said):
    with pytest.raises(msvl.MsvlError) as raised:
        msvl.load(text)
    assert said in str(raised.value)


@pytest.mark.parametrize("given", [3, None, ["x := 1"]])
def test_what_is_not_a_text(given):
    with pytest.raises(msvl.MsvlError, match=r"is not a text: write msvl\.load"):
        msvl.load(given)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(msvl.MsvlError, match="cannot be read"):
        msvl.load(tmp_path / "nothing.m")
    with pytest.raises(msvl.MsvlError, match="cannot be read"):
        msvl.load("nothing.m")


def test_a_file(tmp_path):
    path = tmp_path / "one.m"
    path.write_text("x <== 1 and empty")
    assert msvl.load(path).run() == msvl.load(str(path)).run() == {"x": 1}
    assert msvl.load(path).name == "one.m"


NEEDS = "input int n; output x; frame(x) and (x <== 0 and skip ; while x < n {x := ext step(x)})"


@pytest.mark.parametrize(
    ("inputs", "externals", "said"),
    [
        ({}, {"step": int}, r"the program needs the input 'n': write run\(inputs={'n': ...}\)"),
        (None, {"step": int}, "the program needs the input 'n'"),
        ({"n": 1, "m": 2}, {"step": int}, "'m' is not an input. The program needs n"),
        ({"n": "three"}, {"step": int}, r"the input n='three' \(str\) does not fit: string is not int"),
        ({"n": 1.5}, {"step": int}, "does not fit: float is not int"),
        ({"n": object()}, {"step": int}, "does not fit: object is not a type of MSVL"),
        ([1], {"step": int}, "is not a dict"),
        ({"n": 1}, {}, r"the program calls ext step, which is not supplied: write run\(externals={'step': function}\)"),
        ({"n": 1}, None, "the program calls ext step, which is not supplied"),
        ({"n": 1}, {"step": 3}, "the program calls ext step, which is not supplied"),
    ],
)
def test_inputs_and_externals_that_do_not_fit(inputs, externals, said):
    program = msvl.load(NEEDS)
    assert (program.inputs, program.externals) == (("n",), ("step",))
    with pytest.raises(fs.InvalidArgument, match=said):
        program.run(inputs, externals)


def test_inputs_of_structures():
    program = msvl.load("struct P {int x and int y}; input struct P ps[2]; z <== ps[1].x and empty")
    assert program.run({"ps": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]})["z"] == 3
    for wrong, said in (
        ([{"x": 1, "y": 2}], "a list of 2"),
        ([{"x": 1}] * 2, "struct P has the fields x, y"),
        ([1, 2], "int is not struct P"),
    ):
        with pytest.raises(msvl.MsvlError, match=said):
            program.run({"ps": wrong})


def test_an_external_that_raises():
    def step(x):
        raise ValueError("no more")

    with pytest.raises(msvl.ExternalError, match="state 1: ext step in line 1 raised ValueError: no more") as raised:
        msvl.load(NEEDS).run({"n": 1}, {"step": step})
    assert isinstance(raised.value.__cause__, ValueError)


def test_an_external_that_returns_what_a_program_does_not_know():
    with pytest.raises(msvl.Unusable, match=r"ext step returned <object object.*object is not a type of MSVL"):
        msvl.load(NEEDS).run({"n": 1}, {"step": lambda x: object()})


def test_a_run_that_never_ends():
    with pytest.raises(msvl.BoundReached, match="the run has not ended after 100 states: write a larger bound="):
        msvl.load("while true {skip}").run(bound=100)
    with pytest.raises(msvl.BoundReached):
        list(msvl.load("while true {skip}").states(bound=100))
    assert list(msvl.load("while true {skip}").models(bound=100)) == []


@pytest.mark.parametrize("bound", [0, -1, 1.5, True, "3"])
def test_bounds(bound):
    with pytest.raises(msvl.MsvlError, match="is not a number of states: write a whole number from 1"):
        msvl.load("skip").run(bound=bound)


@pytest.mark.parametrize("text", ["function f() {f()} f()", "function f() {g()} function g() {f() and skip} f()"])
def test_recursion_that_takes_no_state(text):
    with pytest.raises(msvl.Unusable, match=r"is called 50 deep in one state: .* Write next [fg]\(\.\.\.\)"):
        msvl.load(text).run()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('x := 1 + "a"', "state 0, line 1: + needs numbers, and has 'a' (string)"),
        ("x := 1 / 0", "a division by 0"),
        ("x := [1][3]", "an index has the place 3, and there are 1, from 0"),
        ('x := {"a": 1}["b"]', "a map has no key 'b'"),
        ("x := 1.f", "1 has no field 'f'"),
        ("x := 5[0]", "5 has no elements"),
        ("if 1 then {skip}", "a condition is 1, which is neither true nor false"),
        ("x := !1", "! needs true or false, and has 1"),
        ("x := true AND 1", "AND needs true or false, and has 1"),
        ("len(-1)", "len(-1) is not a length"),
        ("len(true)", "len(True) is not a length"),
        ('int x <== "a"', "x is declared as int, and 'a' (string) is assigned"),
        ("struct P {int f}; struct P p; p.f <== true", "p.f is declared as int, and True (bool) is assigned"),
        ("x := size(1)", "size needs a list or a map or a text or a tuple, and has 1 (int)"),
        ('x := toint("a")', "int cannot read 'a' (string)"),
        ('x := [1, "a"].sorted()', "sorted cannot order"),
        ("x <== next y and y <== 1 and skip", "next y is not known: in this state nothing assigns y for the next one"),
        ("int a[-1]; skip", "a has the size -1, which is not a whole number"),
    ],
)
def test_operations_that_cannot_be_done(text, said):
    with pytest.raises((msvl.Unusable, msvl.MsvlError)) as raised:
        msvl.load(text).run()
    assert said in str(raised.value)


def test_a_long_program():
    text = "frame(x) and (x <== 0 and skip ; " + " ; ".join(["x := x + 1"] * 600) + ")"
    assert msvl.load(text).run() == {"x": 600}
    assert msvl.load(" || ".join(f"len({n})" for n in range(100))).run() == {}


def test_a_program_that_is_nested_too_deep():
    deep = "(" * 3_000 + "skip" + ")" * 3_000
    assert msvl.load(deep).run() == {}
    with pytest.raises(msvl.MsvlError, match="nested too deep"):
        msvl.load("next " * 3_000 + "skip")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("define f(x) = f(x) + 1; x <== f(1) and empty", "line 1: f is defined by itself"),
        ("define f(x) = g(x); define g(x) = f(x); skip", "line 1: f is defined by itself"),
        ("define f(x) = x; define f(y) = y; skip", "there are two of define f"),
        ("define size(x) = x; skip", "line 1: size is a state function: give the definition another name"),
        ("define f(x) = previous x; skip", "line 1: f looks at another state"),
        ("define f(x) = x; x <== f(1, 2) and empty", "line 1: f takes 1 arguments, and has 2"),
    ],
)
def test_definitions_that_cannot_be_used(text, said):
    with pytest.raises(msvl.MsvlError, match=re.escape(said)):
        msvl.load(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x <== 1 ? 2 : 3 and empty", "a condition is 1, which is neither true nor false"),
        ("x <== [y for y in 5] and empty", "for needs a list, and has 5 (int)"),
        (
            "x <== [a for a, b in [(1, 2, 3)]] and empty",
            "for takes 2 parts of each record, and one is (1, 2, 3) (tuple)",
        ),
        ("x <== [y for y in [1] if y] and empty", "a condition is 1, which is neither true nor false"),
        ("x <== element([1], 4) and empty", "IndexError: list index out of range, with [1] (list), 4 (int)"),
        ("x <== divide(1, 0) and empty", "ZeroDivisionError"),
        ("x <== (1, 2)[2] and empty", "an index has the place 2, and there are 2, from 0"),
        ("x <== put({}, [1], 2) and empty", "put needs a key that is a number, a text, a bool or a tuple"),
        ("input int n <== y; x <== n and empty", "the input n has a value in line 1 that cannot be used"),
    ],
)
def test_expressions_that_cannot_be_evaluated(text, said):
    with pytest.raises((msvl.RunError, msvl.MsvlError), match=re.escape(said)):
        msvl.load(text).run()
