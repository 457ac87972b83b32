"""Programs as values, and the text of functions."""

from functools import partial
from operator import add

import pytest

from firesteel.values.programs import Api, Edge, Execution, Function, Operation, PhysicalNode, Program
from firesteel.values.sources import source_of

FIRST, SECOND = (lambda x: x + 1), (lambda x: x + 2)
SAME, OTHER = (lambda x: x), (lambda y: y)
OUTER = lambda a: lambda b: a + b  # noqa: E731
LONG = lambda x: (  # noqa: E731
    x + 1  # one more
)


def named(x):
    """A function with a name."""
    return x


class Callable:
    def __call__(self, x):
        return x

    def method(self, x):
        return x + 1


@pytest.mark.parametrize(
    "function, text",
    [
        (FIRST, "lambda x: x + 1"),
        (SECOND, "lambda x: x + 2"),
        (SAME, "lambda x: x"),
        (OTHER, "lambda y: y"),
        (OUTER, "lambda a: lambda b: a + b"),
        (OUTER(1), "lambda b: a + b"),
        (partial(FIRST, 1), "lambda x: x + 1"),
        (lambda *xs, key="ä": (xs, key), 'lambda *xs, key="ä": (xs, key)'),
        (lambda: 1, "lambda: 1"),
    ],
)
def test_lambdas_on_one_line_are_told_apart(function, text):
    assert source_of(function) == text


def test_other_functions():
    assert source_of(named) == 'def named(x):\n    """A function with a name."""\n    return x'
    assert source_of(Callable().method) == "def method(self, x):\n    return x + 1"
    assert source_of(LONG).startswith("lambda x: (")


@pytest.mark.parametrize("function", [len, add, str.split, eval("lambda x: x"), Callable(), int])
def test_functions_without_source(function):
    assert source_of(function) is None
    assert Function("f", function).name


def test_what_reads_from_what():
    operations = tuple(
        Operation(number, "map", Api.RDD, parents) for number, parents in enumerate([(), (0,), (0,), (1, 2)])
    )
    edges = (Edge(0, 1, False), Edge(0, 2, True), Edge(1, 3, False), Edge(2, 3, False), Edge(2, 3, False))
    program = Program(operations, edges)
    assert program.children == {0: (1, 2), 1: (3,), 2: (3,), 3: ()}
    assert [one.id for one in program.above(2)] == [0, 2]
    assert [one.id for one in program.above(3)] == [0, 1, 2, 3]
    assert operations[0].is_source and not operations[1].is_source
    with pytest.raises(LookupError, match=r"map \(operation 1\) is not a source"):
        operations[1].read()


def test_the_last_plan_is_the_one_that_ran():
    first, second = (
        PhysicalNode("Exchange", "Exchange", (PhysicalNode("Range", "Range"),)),
        PhysicalNode("Range", "Range"),
    )
    assert Execution(0, "collect", planned=first).physical is first
    assert Execution(0, "collect", planned=first, replanned=(second,)).physical is second
    assert Execution(0, "collect").physical is None
    assert [node.name for node in first.walk()] == ["Exchange", "Range"]
