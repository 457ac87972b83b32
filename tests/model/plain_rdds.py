"""RDDs as plain lists: what PySpark's operations mean, written down as shortly as possible, to compare models with.

A context records the calls as a capture does, and computes each at once. Keys go where PySpark puts them.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

from firesteel.model.msvl.python import key_hash
from firesteel.model.translate.inputs import sliced
from firesteel.values.programs import Action, Api, Edge, Function, Operation, Program


class Context:
    """Stands for a SparkContext."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.edges: list[Edge] = []
        self.actions: list[Action] = []

    @property
    def program(self) -> Program:
        return Program(tuple(self.operations), tuple(self.edges), tuple(self.actions))

    def made(self, name: str, parents: list[Rdd], parts: list[list[Any]], given: dict[str, Any], wide: bool) -> Rdd:
        number = len(self.operations)
        functions = tuple(Function(key, each) for key, each in given.items() if callable(each))
        arguments = {key: each for key, each in given.items() if not callable(each)}
        ids = tuple(each.number for each in parents)
        self.operations.append(
            Operation(number, name, Api.RDD, ids, functions, arguments=arguments, wide=wide, partitions=len(parts))
        )
        self.edges += [Edge(each, number, wide) for each in ids]
        return Rdd(self, number, parts)

    def parallelize(self, c: Any, numSlices: int = 2) -> Rdd:
        return self.made("parallelize", [], sliced(c, numSlices), {"c": c}, False)

    def range(self, start: int, end: int | None = None, step: int = 1, numSlices: int = 2) -> Rdd:
        numbers = range(start) if end is None else range(start, end, step)
        given = {"start": numbers.start, "end": numbers.stop, "step": step}
        return self.made("range", [], sliced(numbers, numSlices), given, False)


def operation(*parameters: str, wide: bool = False) -> Callable[[Any], Any]:
    """A method that gives the partitions of a new RDD."""

    def decorate(method: Callable[..., list[list[Any]]]) -> Callable[..., Rdd]:
        @functools.wraps(method)
        def called(self: Rdd, *arguments: Any, **named: Any) -> Rdd:
            bound = inspect.signature(method).bind(self, *arguments, **named)
            given = {key: each for key, each in bound.arguments.items() if key != "self"}
            parents = [self, *(each for each in given.values() if isinstance(each, Rdd))]
            plain = {key: each for key, each in given.items() if not isinstance(each, Rdd)}
            bound.apply_defaults()
            parts = method(*bound.args, **bound.kwargs)
            moved = wide and not (method.__name__.startswith("sort") and len(parts) == 1)
            return self.context.made(method.__name__, parents, parts, plain, moved)

        return called

    return decorate


def action(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(self: Rdd, *arguments: Any, **named: Any) -> Any:
        bound = inspect.signature(method).bind(self, *arguments, **named)
        given = {key: each for key, each in bound.arguments.items() if key != "self"}
        functions = tuple(Function(key, each) for key, each in given.items() if callable(each))
        plain = {key: each for key, each in given.items() if not callable(each)}
        actions = self.context.actions
        actions.append(Action(len(actions), method.__name__, Api.RDD, (self.number,), functions, arguments=plain))
        return method(self, *arguments, **named)

    return called


def placed(pairs: Any, count: int, place: Any = key_hash) -> list[list[Any]]:
    parts: list[list[Any]] = [[] for _ in range(count)]
    for key, value in pairs:
        parts[place(key) % count].append((key, value))
    return parts


def merged(parts: list[list[Any]], count: int, create: Any, merge: Any, combine: Any) -> list[list[Any]]:
    """Each partition by itself first, then those of a key together."""
    found: list[dict[Any, Any]] = [{} for _ in range(count)]
    for part in parts:
        own: dict[Any, Any] = {}
        for key, value in part:
            own[key] = merge(own[key], value) if key in own else create(value)
        for key, value in own.items():
            there = found[key_hash(key) % count]
            there[key] = combine(there[key], value) if key in there else value
    return [list(each.items()) for each in found]


def grouped(parts: list[list[Any]], count: int) -> list[list[Any]]:
    return merged(parts, count, lambda v: [v], lambda a, v: [*a, v], lambda a, b: a + b)


class Rdd:
    """Stands for an RDD."""

    def __init__(self, context: Context, number: int, parts: list[list[Any]]) -> None:
        self.context, self.number, self.parts = context, number, parts

    @property
    def records(self) -> list[Any]:
        return [record for part in self.parts for record in part]

    def _each(self, function: Callable[[list[Any]], Any]) -> list[list[Any]]:
        return [list(function(part)) for part in self.parts]

    def _sides(
        self, other: Rdd, count: int | None, emit: Callable[[Any, list[Any], list[Any]], Any]
    ) -> list[list[Any]]:
        tagged = [[(k, (1, v)) for k, v in part] for part in self.parts]
        tagged += [[(k, (2, v)) for k, v in part] for part in other.parts]
        groups = grouped(tagged, count or len(tagged))
        sides = [[(k, [v for t, v in g if t == 1], [v for t, v in g if t == 2]) for k, g in part] for part in groups]
        return [[record for key, one, two in part for record in emit(key, one, two)] for part in sides]

    # Operations.

    @operation("f")
    def map(self, f):
        return self._each(lambda part: map(f, part))

    @operation("f")
    def flatMap(self, f):
        return self._each(lambda part: [y for x in part for y in f(x)])

    @operation("f")
    def filter(self, f):
        return self._each(lambda part: filter(f, part))

    @operation("f")
    def mapPartitions(self, f):
        return self._each(lambda part: f(iter(part)))

    @operation("f")
    def mapPartitionsWithIndex(self, f):
        return [list(f(place, iter(part))) for place, part in enumerate(self.parts)]

    @operation("f")
    def mapValues(self, f):
        return self._each(lambda part: [(k, f(v)) for k, v in part])

    @operation("f")
    def flatMapValues(self, f):
        return self._each(lambda part: [(k, w) for k, v in part for w in f(v)])

    @operation("f")
    def keyBy(self, f):
        return self._each(lambda part: [(f(x), x) for x in part])

    @operation()
    def values(self):
        return self._each(lambda part: [v for _, v in part])

    @operation()
    def glom(self):
        return [[part] for part in self.parts]

    @operation()
    def union(self, other):
        return self.parts + other.parts

    @operation()
    def zip(self, other):
        return [list(zip(a, b, strict=True)) for a, b in zip(self.parts, other.parts, strict=True)]

    @operation()
    def cartesian(self, other):
        return [list(itertools.product(a, b)) for a in self.parts for b in other.parts]

    @operation()
    def zipWithIndex(self):
        numbers = itertools.count()
        return self._each(lambda part: [(x, next(numbers)) for x in part])

    @operation()
    def coalesce(self, numPartitions):
        before, after = len(self.parts), min(numPartitions, len(self.parts))
        cuts = [before * place // after for place in range(after + 1)]
        return [list(itertools.chain(*self.parts[cuts[place] : cuts[place + 1]])) for place in range(after)]

    def cache(self):
        return self

    @operation(wide=True)
    def repartition(self, numPartitions):
        return [self.records[place::numPartitions] for place in range(numPartitions)]

    @operation(wide=True)
    def distinct(self):
        pairs = self._each(lambda part: [(x, None) for x in part])
        found = merged(pairs, len(self.parts), lambda v: v, lambda a, v: a, lambda a, b: a)
        return [[k for k, _ in part] for part in found]

    @operation("func", wide=True)
    def reduceByKey(self, func, numPartitions=None):
        return merged(self.parts, numPartitions or len(self.parts), lambda v: v, func, func)

    @operation("func", wide=True)
    def foldByKey(self, zeroValue, func):
        return merged(self.parts, len(self.parts), lambda v: func(zeroValue, v), func, func)

    @operation(wide=True)
    def aggregateByKey(self, zeroValue, seqFunc, combFunc):
        return merged(self.parts, len(self.parts), lambda v: seqFunc(zeroValue, v), seqFunc, combFunc)

    @operation(wide=True)
    def combineByKey(self, createCombiner, mergeValue, mergeCombiners):
        return merged(self.parts, len(self.parts), createCombiner, mergeValue, mergeCombiners)

    @operation(wide=True)
    def groupByKey(self, numPartitions=None):
        return grouped(self.parts, numPartitions or len(self.parts))

    @operation(wide=True)
    def groupBy(self, f):
        return grouped(self._each(lambda part: [(f(x), x) for x in part]), len(self.parts))

    @operation(wide=True)
    def partitionBy(self, numPartitions, partitionFunc=key_hash):
        return placed(self.records, numPartitions, partitionFunc)

    def _sorted(self, key, ascending, count):
        keys = sorted(map(key, self.records))
        bounds = [keys[len(keys) * (place + 1) // count] for place in range(count - 1)] if keys else []
        parts = [[] for _ in range(count)]
        for record in sorted(self.records, key=key, reverse=not ascending):
            place = sum(key(record) > bound for bound in bounds)
            parts[place if ascending else count - 1 - place].append(record)
        return parts

    @operation(wide=True)
    def sortBy(self, keyfunc, ascending=True, numPartitions=None):
        return self._sorted(keyfunc, ascending, numPartitions or len(self.parts))

    @operation(wide=True)
    def sortByKey(self, ascending=True):
        return self._sorted(lambda kv: kv[0], ascending, len(self.parts))

    @operation(wide=True)
    def join(self, other, numPartitions=None):
        return self._sides(other, numPartitions, lambda k, a, b: [(k, (v, w)) for v in a for w in b])

    @operation(wide=True)
    def leftOuterJoin(self, other, numPartitions=None):
        return self._sides(other, numPartitions, lambda k, a, b: [(k, (v, w)) for v in a for w in b or [None]])

    @operation(wide=True)
    def rightOuterJoin(self, other, numPartitions=None):
        return self._sides(other, numPartitions, lambda k, a, b: [(k, (v, w)) for v in a or [None] for w in b])

    @operation(wide=True)
    def fullOuterJoin(self, other, numPartitions=None):
        return self._sides(
            other, numPartitions, lambda k, a, b: [(k, (v, w)) for v in a or [None] for w in b or [None]]
        )

    @operation(wide=True)
    def cogroup(self, other):
        return self._sides(other, None, lambda k, a, b: [(k, (a, b))])

    @operation(wide=True)
    def subtractByKey(self, other):
        return self._sides(other, None, lambda k, a, b: [] if b else [(k, v) for v in a])

    def _as_keys(self):
        return Rdd(self.context, self.number, self._each(lambda part: [(x, None) for x in part]))

    @operation(wide=True)
    def subtract(self, other):
        return self._as_keys()._sides(other._as_keys(), None, lambda k, a, b: [] if b else [k for _ in a])

    @operation(wide=True)
    def intersection(self, other):
        return self._as_keys()._sides(other._as_keys(), None, lambda k, a, b: [k] if a and b else [])

    # Actions.

    @action
    def collect(self):
        return self.records

    @action
    def count(self):
        return len(self.records)

    @action
    def sum(self):
        return sum(self.records)

    @action
    def take(self, num):
        return self.records[:num]

    @action
    def first(self):
        return self.records[0]

    @action
    def isEmpty(self):
        return not self.records

    @action
    def top(self, num, key=None):
        return sorted(self.records, key=key, reverse=True)[:num]

    @action
    def takeOrdered(self, num, key=None):
        return sorted(self.records, key=key)[:num]

    @action
    def max(self, key=None):
        return max(self.records, key=key)

    @action
    def min(self, key=None):
        return min(self.records, key=key)

    @action
    def countByKey(self):
        return dict(Counter(k for k, _ in self.records))

    @action
    def countByValue(self):
        return dict(Counter(self.records))

    @action
    def lookup(self, key):
        return [v for k, v in self.records if k == key]

    @action
    def foreach(self, f):
        return None

    @action
    def reduce(self, f):
        return functools.reduce(f, [functools.reduce(f, part) for part in self.parts if part])

    @action
    def treeReduce(self, f):
        return functools.reduce(f, self.records)

    @action
    def fold(self, zeroValue, op):
        return functools.reduce(op, [functools.reduce(op, part, zeroValue) for part in self.parts], zeroValue)

    @action
    def aggregate(self, zeroValue, seqOp, combOp):
        return functools.reduce(combOp, [functools.reduce(seqOp, part, zeroValue) for part in self.parts], zeroValue)

    @action
    def treeAggregate(self, zeroValue, seqOp, combOp):
        return functools.reduce(combOp, [functools.reduce(seqOp, part, zeroValue) for part in self.parts])
