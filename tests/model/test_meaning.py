"""What each statement means, on small programs: the states of the run, or why there is none."""

import pickle

import pytest

from firesteel.model import msvl


def trace(text, inputs=None, **options):
    """The values in every state."""
    return [state.values for state in msvl.load(text).states(inputs, **options)]


def column(text, name="x", inputs=None):
    return [values.get(name) for values in trace(text, inputs)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("empty", [None]),
        ("skip", [None, None]),
        ("len(3)", [None] * 4),
        ("len(0)", [None]),
        ("x <== 1 and skip", [1, None]),
        ("x := 1", [None, 1]),
        ("frame(x) and (x <== 1 and skip ; x := x + 1)", [1, 1, 2]),
        ("x <== 1 and skip ; lbf(x) and skip", [1, 1, None]),
        ("x <== 1 and len(2) and next lbf(x)", [1, 1, None]),
        ("frame(x) and x <== 1 and len(2)", [1, 1, 1]),
        ("next (x <== 1 and empty)", [None, 1]),
        ("always x <== 1 and len(2)", [1, 1, 1]),
        ("if 1 < 2 then {x <== 1 and empty} else {x <== 2 and empty}", [1]),
        ("if 2 < 1 then {skip}", [None]),
        ("x := 1 ; x := 2 ; x := 3", [None, 1, 2, 3]),
        ("frame(x) and x <== 1 and len(1)", [1, 1]),
        ("frame(x) and (x <== 0 and skip ; while x < 3 {x := x + 1})", [0, 0, 1, 2, 3]),
        ("frame(x) and (x <== 3 and skip ; while x < 3 {x := x + 1})", [3, 3]),
        ("frame(x) and (x <== 0 and ((len(2) ; x := 1) || await(x = 1)))", [0, 0, 0, 1]),
        ("len(1) || len(3)", [None] * 4),
        ("x := 1 || len(2) ; x := 2", [None, 1, None, 2]),
        ("frame(x) and x <== 1 and ((len(2), len(2)) prj (x := 2 ; x := 3))", [1, 1, 2, 2, 3]),
        ("frame(x, y) and y <== 7 and (y := 8 and x := y)", [None, 7]),
        ("frame(x) and (x <== 1 and skip ; x := 5 ; x := previous x)", [1, 1, 5, 1]),
        ("frame(x, y) and x <== 0 and y <== 0 and (y := 4 and x := next y)", [0, 4]),
        ("x <== y and y <== 2 and empty", [2]),
        ("if y = 2 then {x <== 1 and empty} else {x <== 0 and empty} and y <== 2", [1]),
    ],
)
def test_the_values_of_x(text, values):
    assert column(text) == values


def test_an_unknown_length_is_the_shortest_first():
    runs = msvl.load("x <== 1").models(bound=3)
    assert [len(run) for run in runs] == [1, 2, 3]


def test_choices():
    runs = msvl.load("x := 1 or x := 2 or skip").models(bound=9)
    assert [[state.values for state in run] for run in runs] == [[{}, {"x": 1}], [{}, {"x": 2}], [{}, {}]]


def test_a_choice_without_an_end_is_not_taken():
    assert msvl.load("frame(x) and (x <== 1 and (x <== 2 or skip))").run() == {"x": 1}
    assert [state["x"] for state in msvl.load("x <== 1 and (skip and len(2) or empty)").states()] == [1]


def test_or_inside_a_loop_is_chosen_anew():
    text = "frame(x) and (x <== 0 and skip ; while x < 2 {x := x + 1 or x := x + 2})"
    assert sorted(run[-1]["x"] for run in msvl.load(text).models(bound=9)) == [2, 2, 3]


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        ("x <== 1 and\nx <== 2 and empty", 0, "x is assigned 1 in line 1 and 2 in line 2"),
        ("(x := 1 ; skip) ||\n x := 2", 1, "x is assigned 1 in line 1 and 2 in line 2"),
        ("int a[2];\nframe(a) and a[1] <== 1 and\na[1] <== 2 and empty", 0, r"a\[1\] is assigned 1 in line 2 and 2 in"),
        ("int a[2];\nframe(a) and a <== [1, 2] and\na[1] <== 3 and empty", 0, r"a\[1\] is assigned 3 in line 3 and 2"),
        ("skip and len(2)", 1, "part 1 ends here and part 2 goes on"),
        ("while true {empty}", 0, "the body of `while` in line 1 takes no time"),
        ("frame(x) and (x <== 0 and skip ; if x = 0 then {x <== 1 and empty})", 1, "x was read as 0, .* line 1 then"),
        ("x := 1 and (x := 2 or x := 3)", 1, "x is assigned 1 in line 1 and 2 in line 1"),
    ],
)
def test_no_model(text, state, said):
    with pytest.raises(msvl.NoModel, match=f"^no model, state {state}: .*{said}") as raised:
        msvl.load(text).run()
    assert raised.value.state == state


def test_the_same_value_twice_is_not_a_conflict():
    assert msvl.load("x <== 1 and x <== 1 and empty").run() == {"x": 1}
    assert msvl.load("int a[2]; a <== [1, 2] and a[1] <== 2 and empty").run() == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("skip ; x <== 1 and y := x + 1 ; y := x", "state 2: x is read in line 1 and has no value"),
        ("int a[2]; frame(a) and a[0] <== 1 and skip ; x := a[1]", "state 1: a part of a variable is read"),
        ("x <== previous x and empty", "state 0: there is no state before this one"),
        ("skip ; x := previous x", "state 1: x had no value in the state before"),
        ("output x; skip and x <== 1", "state 1: the program hands out x, which has no value in the last state"),
    ],
)
def test_reading_what_has_no_value(text, said):
    with pytest.raises(msvl.Undefined, match=said):
        msvl.load(text).run()


class TestLocations:
    def test_parts_are_framed_one_by_one(self):
        text = "int a[3]; frame(a) and (a[0] <== 1 and a[1] <== 2 and skip ; a[1] := 5)"
        assert column(text, "a") == [[1, 2, None], [1, 2, None], [1, 5, None]]

    def test_only_some_parts_are_framed(self):
        text = "int a[2]; frame(a[0]) and a[0] <== 1 and a[1] <== 2 and skip"
        assert column(text, "a") == [[1, 2], [1, None]]

    def test_different_parts_do_not_conflict(self):
        text = "struct P {int x and int y}; struct P p; frame(p) and (p.x := 1 || p.y := 2)"
        assert column(text, "p") == [{"x": None, "y": None}, {"x": 1, "y": 2}]

    def test_a_map_takes_new_keys(self):
        text = 'frame(m) and (m <== {"a": 1} and skip ; m["b"] := m["a"] + 1)'
        assert column(text, "m")[-1] == {"a": 1, "b": 2}

    def test_structures_inside_arrays(self):
        text = "struct B {int order and int v[2]}; struct B bs[2]; "
        text += "frame(bs) and (bs[0].v[1] <== 7 and skip ; bs[1].order := 3)"
        assert column(text, "bs")[-1] == [{"order": None, "v": [None, 7]}, {"order": 3, "v": [None, None]}]

    def test_a_structure_is_a_value(self):
        text = "struct P {int x and int y}; frame(p, q) and (p <== struct P {x: 1, y: 2} and skip ; q := p ; p.x := 9)"
        assert trace(text)[-1] == {"p": {"x": 9, "y": 2}, "q": {"x": 1, "y": 2}}

    def test_lists_are_values(self):
        text = "frame(a, b) and (a <== [1] and skip ; b := a ; a := a.append(2) ; a[0] := 9)"
        assert trace(text)[-1] == {"a": [9, 2], "b": [1]}


class TestFunctions:
    def test_variables_are_the_activations_own(self):
        text = """
        function Count(int to, int place) {
          frame(i) and (int i <== 0 and skip ; while i < to {i := i + 1} ; out[place] := i)
        }
        int out[2];
        frame(out) and (Count(2, 0) || Count(4, 1))
        """
        assert msvl.load(text).run() == {"out": [2, 4]}

    def test_recursion_under_next(self):
        text = "function Down() { if x > 0 then {x := x - 1 ; Down()} else {empty} } frame(x) and x <== 3 and Down()"
        assert column(text) == [3, 2, 1, 0]
        again = "function Q0() { if x > 1 then {empty} else {next Q0()} } "
        again += "frame(x) and x <== 0 and (Q0() || x := 1 ; x := 2)"
        assert column(again) == [0, 1, 2]

    def test_an_array_is_handed_over_itself(self):
        text = "function Set(int a[], int v) { a[0] := v } int b[2]; frame(b) and (b[1] <== 1 and skip ; Set(b, 7))"
        assert msvl.load(text).run() == {"b": [7, 1]}

    def test_exist_hides_a_variable(self):
        text = "frame(x) and x <== 1 and exist x: (frame(x) and x <== 5 and skip ; x := x + 1) ; y <== x"
        assert msvl.load(text).run() == {"x": 1, "y": 1}

    def test_externals_are_called_once(self):
        calls = []

        def f(n):
            calls.append(n)
            return n + 1

        text = "if y = 2 then {x <== ext f(1) and empty} else {empty} and y <== 2 and ext f(5)"
        assert msvl.load(text).run(externals={"f": f}) == {"x": 2, "y": 2}
        assert sorted(calls) == [1, 5]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("7.0 / 2", 3.5),
        ("2 + 3 * 4 - 1", 13),
        ('"a" + "b"', "ab"),
        ("[1] + [2]", [1, 2]),
        ("1 < 2 AND 2 <= 2 AND 3 > 2 AND 3 >= 3 AND 1 != 2 AND !(1 = 2)", True),
        ("true = 1", False),
        ("false AND missing[0] = 1 OR true", True),
        ('"a b".split(" ").size()', 2),
        ('join("-", [1, "b"])', "1-b"),
        ("[3, 1, 2].sorted().reversed()", [3, 2, 1]),
        ("max(1, 5, 2) + min([4, 3]) + sum([1, 2]) + abs(-1)", 12),
        ('{"a": 1}.put("b", 2).keys()', ["a", "b"]),
        ('{"a": 1}.get("z", 7) + {"a": 1}.values()[0]', 8),
        ("[1, 2, 3].remove(1).put(0, 9).slice(0, 1)", [9]),
        ('toint("42") + toint(1.9) + tofloat(1)', 44.0),
        ('str(1) + str(true) + upper("a") + lower("B") + strip(" c ") + replace("aa", "a", "d")', "1trueAbcdd"),
        ('contains([1], 1) AND contains("abc", "b") AND contains({"k": 1}, "k") AND startswith("ab", "a")', True),
        ("range(3)", [0, 1, 2]),
        ('"abc"[1]', "b"),
    ],
)
def test_expressions(expression, value):
    assert (
        msvl.load(f"x <== {expression} and empty").run({"missing": []} if "missing" in expression else None)["x"]
        == value
    )


def test_hash_is_the_same_everywhere():
    assert msvl.load('y <== hash("spark") and empty').run() == {"y": 2009423976}


def test_a_long_run_keeps_no_states():
    import tracemalloc

    program = msvl.load("frame(x) and (x <== 0 and skip ; while x < n {x := x + 1})")
    program.run({"n": 10})
    tracemalloc.start()
    program.run({"n": 300})
    _, few = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    program.run({"n": 6_000})
    _, many = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert many < 2 * few


def test_states_come_one_by_one():
    states = msvl.load("frame(x) and (x <== 0 and skip ; while true {x := x + 1})").states()
    assert [next(states)["x"] for _ in range(4)] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('(1, "a")', (1, "a")),
        ("()", ()),
        ("(1,)[0]", 1),
        ("(1, 2) + (3,)", (1, 2, 3)),
        ("(1, 2) < (1, 3)", True),
        ("null = null", True),
        ("null = 0", False),
        ("1 > 2 ? 3 : 4", 4),
        ("true ? 1 : 1 / 0", 1),
        ("let x = 2 in x * x", 4),
        ("let x = 2 in let x = x + 1 in x", 3),
        ("[x * 2 for x in [1, 2, 3] if x > 1]", [4, 6]),
        ("[(x, y) for x in range(2) for y in range(x)]", [(1, 0)]),
        ("[a + b for a, b in [(1, 2), [3, 4]]]", [3, 7]),
        ('[c for c in "ab"]', ["a", "b"]),
        ('[k for k in {"a": 1}]', ["a"]),
        ("{(1, 2): 3}[(1, 2)]", 3),
        ('"ab" * 2', "abab"),
        ("extend([1], [2, 3])", [1, 2, 3]),
        ('sortedby([(2, "a"), (1, "b"), (2, "c")], true)', ["a", "c", "b"]),
        ("divide(7, 2)", 3.5),
        ("mod(-7, 3)", 2),
        ("-7 % 3", -1),
        ("flat([[1], (2, 3)])", [1, 2, 3]),
        ("twice(y)", 14),
        ("total([twice(1), size([each for each in range(3)])])", 5),
    ],
)
def test_expressions_that_bind_names_and_make_tuples(expression, value):
    program = msvl.load(f"define twice(x) = x * 2; y <== 7 and x <== {expression} and empty")
    assert program.run()["x"] == value


def test_a_definition_reads_variables_of_the_program_as_they_are_now():
    program = msvl.load(
        "define above(n) = x > n; frame(x, y) and (x <== 1 and y <== above(1) and skip ; x := 2 ; y := above(1))"
    )
    assert [(state["x"], state["y"]) for state in program.states()] == [(1, False), (1, False), (2, False), (2, True)]


def test_await_notices_what_a_definition_reads():
    program = msvl.load(
        "define both() = x = 1 AND y = 1; frame(x, y) and "
        "(x <== 0 and y <== 0 and skip ; ((len(3) ; x := 1) || (len(5) ; y := 1) || (await(both()) ; z := 1)))"
    )
    states = list(program.states())
    assert len(states) == 9 and states[-1]["z"] == 1


def test_results_as_a_list_and_inputs_with_values():
    program = msvl.load("input int n <== 2; output [b, a]; a <== n and b <== n + 1 and empty")
    assert program.run() == [3, 2]
    assert program.run({"n": 5}) == [6, 5]


def test_an_input_from_a_file(tmp_path):
    (tmp_path / "data.json").write_text('{"xs": [{"tuple": [1, "a"]}, {"map": [[{"tuple": [1]}, null]]}]}')
    (tmp_path / "program.m").write_text('input list xs from "data.json"; y <== xs and empty')
    program = msvl.load(tmp_path / "program.m")
    assert program.run() == {"y": [(1, "a"), {(1,): None}]}
    assert pickle.loads(pickle.dumps(program)).run() == program.run()
    (tmp_path / "data.json").unlink()
    with pytest.raises(msvl.MsvlError, match=r"the input 'xs' is in '.*data\.json', which cannot be read"):
        program.run()
