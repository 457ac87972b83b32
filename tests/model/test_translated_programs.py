"""Models of programs that are written down by hand: no Spark is needed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import add
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel.errors import InvalidArgument
from firesteel.model import msvl
from firesteel.model.translate.inputs import sliced
from firesteel.model.translate.model import built, model_of
from firesteel.model.translate.paper import shape
from firesteel.values.programs import Action, Api, CallSite, Difference, Edge, Function, Operation, Program


class Script:
    """Operations and actions, one after the other."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.edges: list[Edge] = []
        self.actions: list[Action] = []

    def add(
        self, name: str, *parents: int, wide: bool = False, parts: int = 2, f: dict[str, Any] | None = None, **more
    ):
        number = len(self.operations)
        functions = tuple(Function(parameter, each) for parameter, each in (f or {}).items())
        place = CallSite("script.py", number + 1)
        self.operations.append(
            Operation(number, name, Api.RDD, parents, functions, place, arguments=more, wide=wide, partitions=parts)
        )
        self.edges += [Edge(parent, number, wide) for parent in parents]
        return number

    def act(self, name: str, on: int, f: dict[str, Any] | None = None, **more):
        functions = tuple(Function(parameter, each) for parameter, each in (f or {}).items())
        self.actions.append(Action(len(self.actions), name, Api.RDD, (on,), functions, arguments=more))

    @property
    def program(self) -> Program:
        return Program(tuple(self.operations), tuple(self.edges), tuple(self.actions))

    def model(self) -> msvl.Program:
        return msvl.load(model_of(self.program))


def counting(words: list[str], parts: int = 2) -> Script:
    script = Script()
    source = script.add("parallelize", c=words, parts=parts)
    ones = script.add("map", source, parts=parts, f={"f": lambda w: (w, 1)})
    script.add("reduceByKey", ones, wide=True, parts=parts, f={"func": lambda a, b: a + b})
    return script


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12), st.integers(1, 4))
def test_counting_counts(words, parts):
    script = counting(words, parts)
    script.act("collect", 2)
    assert sorted(script.model().run()[0]) == sorted(Counter(words).items())


def test_there_is_a_state_for_each_record_of_each_operation():
    sizes = []
    for number in (10, 20):
        script = counting(["a"] * number, 1)
        script.act("collect", 2)
        sizes.append(sum(1 for _ in script.model().states()))
    # Ten more records: a state more in parallelize, map, and the map side of reduceByKey, for each of them.
    assert sizes[1] - sizes[0] == 30


def test_actions_come_one_after_the_other():
    script = counting(["a", "b", "a"])
    script.act("count", 0)
    script.act("collect", 2)
    model = script.model()
    assert model.run() == [3, [("a", 2), ("b", 1)]] or model.run() == [3, [("b", 1), ("a", 2)]]
    rule = "[] (stage_1_runs -> counted) and <> stage_2_done and [] (stage_2_runs -> stage_1_done)"
    assert fs.verify(model, rule, propositions={"counted": "action_0_done = 1"}).verdict is fs.Verdict.TRUE


def test_a_task_that_does_not_wait_is_found_out():
    script = counting(["a", "b", "a", "c"])
    script.act("collect", 2)
    text = model_of(script.program)
    rule = "[] (stage_1_runs -> stage_0_done)"
    assert fs.verify(msvl.load(text), rule).verdict is fs.Verdict.TRUE
    broken = text.replace("(await(stage_0_done()) ; runs_1_1", "(runs_1_1")
    assert broken != text
    with pytest.raises(fs.Falsified):
        fs.verify(msvl.load(broken), rule)


def test_a_sort_stays_in_its_parents_stage_in_the_papers_form():
    script = counting(["a", "b", "a"])
    script.act("take", script.add("sortBy", 2, wide=True, f={"keyfunc": lambda kv: kv[1]}, ascending=False), num=5)
    assert model_of(script.program, "paper") == (
        '(Parallelize1()||Map1(2,1)||Map1(2,2)||shuffle1(3,"reduceByKey"));'
        "(ReduceByKey1(1)||ReduceByKey1(2)||SortBy(2));Take(5)"
    )
    assert len(built(script.program).stages) == 3
    assert script.model().run() == [[("a", 2), ("b", 1)]]


def diamond() -> Script:
    script = counting(["a", "bb", "a"])
    one = script.add("reduceByKey", 2, wide=True, f={"func": max})
    two = script.add("reduceByKey", 2, wide=True, f={"func": min})
    both = script.add("join", one, two, wide=False)
    script.act("collect", script.add("reduceByKey", both, wide=True, f={"func": max}))
    return script


def test_a_diamond_has_each_stage_once():
    script = diamond()
    assert shape(built(script.program)) == "0;(1||2);3;4"
    assert sorted(script.model().run()[0]) == [("a", (2, 2)), ("bb", (1, 1))]
    text = model_of(script.program, "paper")
    assert text.count("Parallelize1()") == 1
    assert text.count('shuffle1(3,"reduceByKey")') == 1


def test_what_is_not_series_parallel_is_refused():
    script = Script()
    one, two = script.add("parallelize", c=["a"]), script.add("parallelize", c=["b"])
    ones, twos = (script.add("distinct", each, wide=True) for each in (one, two))
    left = script.add("distinct", ones, wide=True)
    right = script.add("union", ones, twos, parts=4)
    right = script.add("distinct", right, wide=True)
    script.act("collect", script.add("union", left, right, parts=4))
    with pytest.raises(InvalidArgument, match=r"the stages 0, 1, 2, 3 are neither in series nor in parallel"):
        model_of(script.program, "paper")
    assert sorted(script.model().run()[0]) == ["a", "a", "b"]


def test_a_program_without_an_action_is_refused():
    script = counting(["a"])
    with pytest.raises(InvalidArgument, match="this program has no action"):
        model_of(script.program)


def test_an_operation_without_a_translation_is_named_with_its_place():
    script = counting(["a", "b"])
    piped = script.add("pipe", 2)
    script.act("collect", script.add("map", piped, f={"f": lambda x: x[1]}))
    script.act("histogram", piped, buckets=3)
    text = model_of(script.program)
    assert "// pipe1 comes from outside: the operation pipe (script.py:4) has no translation" in text
    assert "// histogram1 comes from outside: the action histogram has no translation" in text
    model = msvl.load(text)
    with pytest.raises(msvl.MsvlError, match="the program calls ext histogram1, which is not supplied"):
        model.run()
    given = {"pipe1": lambda p, records: records, "histogram1": lambda buffers: sum(map(len, buffers))}
    assert model.run(externals=given) == [[1, 1], 2]


@pytest.mark.parametrize("value", [{1}, 1j, b"x", object()], ids=["set", "complex", "bytes", "object"])
def test_data_that_is_not_of_msvl_is_refused(value):
    script = Script()
    script.act("collect", script.add("parallelize", c=[value]))
    with pytest.raises(InvalidArgument, match="the records of parallelize1 cannot be those of a model"):
        model_of(script.program)


def test_an_unknown_style_is_refused():
    script = counting(["a"])
    script.act("count", 2)
    with pytest.raises(InvalidArgument, match="style='svg'"):
        model_of(script.program, "svg")


def test_an_action_that_failed_is_refused():
    script = counting(["a"])
    failed = Action(0, "count", Api.RDD, (2,), call_site=CallSite("script.py", 9), error="Py4JJavaError")
    with pytest.raises(InvalidArgument, match=r"the action count \(script.py:9\) failed with Py4JJavaError"):
        model_of(Program(tuple(script.operations), tuple(script.edges), (failed,)))


@pytest.mark.parametrize(
    ("name", "wide"),
    [("map", False), ("filter", False), ("mapPartitions", False), ("reduceByKey", True), ("sortBy", True)],
)
def test_a_program_without_its_functions_is_refused(name, wide):
    script = counting(["a"])
    script.act("collect", script.add(name, 2, wide=wide))
    with pytest.raises(InvalidArgument, match=rf"of {name} \(script.py:4\) is not known, so it has no model"):
        model_of(script.program)


def test_a_difference_between_what_ran_and_what_was_captured_is_said():
    script = counting(["a"])
    script.act("count", 2)
    differences = (Difference("Spark ran a job that belongs to no call"),)
    text = model_of(replace(script.program, differences=differences))
    assert "// what Spark ran is not what was captured: Spark ran a job that belongs to no call" in text
    assert msvl.load(text).run() == [1]


def test_inputs_have_to_fit():
    script = counting(["a", "b"])
    script.act("collect", 2)
    model = script.model()
    assert model.inputs == ("parallelize1",)
    assert model.run({"parallelize1": [["x"], []]}) == [[("x", 1)]]
    with pytest.raises(msvl.MsvlError, match="it needs a list of 2"):
        model.run({"parallelize1": [["x"]]})
    with pytest.raises(msvl.MsvlError, match="'other' is not an input"):
        model.run({"other": []})


def test_values_of_all_kinds_come_through():
    values = [None, True, -3, 2.5, float("inf"), 'a "quoted"\n\\ text', ("t", (1,)), [1, [2]], {"k": ("v",)}, ()]
    script = Script()
    script.act("collect", script.add("parallelize", c=values, parts=3))
    assert script.model().run() == [values]


@given(st.lists(st.integers(), max_size=40), st.integers(1, 6))
def test_slices_have_all_records_in_order(records, slices):
    found = sliced(records, slices)
    assert len(found) == slices
    assert [record for part in found for record in part] == records


def test_an_empty_file_has_no_partition():
    """Spark runs no stage then, and says nothing of partitions."""
    pairs, counted, sorted_ = Function("f", lambda line: (line, 1)), Function("func", add), Function("keyfunc", second)
    steps = (
        Operation(0, "textFile", Api.RDD, (), reader=list),
        Operation(1, "map", Api.RDD, (0,), (pairs,)),
        Operation(2, "reduceByKey", Api.RDD, (1,), (counted,), wide=True),
        Operation(3, "sortBy", Api.RDD, (2,), (sorted_,), wide=True),
        Operation(4, "glom", Api.RDD, (0,)),
    )
    edges = tuple(Edge(parent, step.id, step.wide) for step in steps for parent in step.parents)
    actions = (
        Action(0, "take", Api.RDD, (3,), arguments={"num": 5}),
        Action(1, "collect", Api.RDD, (4,)),
        Action(2, "count", Api.RDD, (2,)),
    )
    assert msvl.load(model_of(Program(steps, edges, actions))).run() == [[], [], 0]


def second(pair):
    return pair[1]
