"""What a function keeps between calls, told by its code. No Spark is needed."""

import functools
import itertools
import random
import sqlite3

import numpy as np
import pandas as pd
import pytest
from pyspark import cloudpickle

from firesteel.spark.bulk.held import kept_by, kept_by_pickled

CACHE: dict[int, int] = {}
TABLE = {1: "one"}
COUNT = 0


class Total:
    value = 0


class Kept:
    def __init__(self):
        self.seen, self.offset = [], 1

    def remember(self, n):
        self.seen.append(n)
        return len(self.seen)

    def shift(self, n):
        return n + self.offset

    def __call__(self, n):
        return self.remember(n)


def closure():
    seen = []
    return lambda n: seen.append(n) or len(seen)


def in_a_group():
    groups = {}

    def function(n):
        groups.setdefault(n, [])
        return groups[n]

    return function


def deep():
    groups = {0: []}

    def function(n):
        groups[0].append(n)
        return n

    return function


def inner():
    seen = []

    def function(parts):
        def one(part):
            seen.append(part)
            return part

        return map(one, parts)

    return function


def counting():
    count = 0

    def function(n):
        nonlocal count
        count += 1
        return count

    return function


def set_global(n):
    global COUNT
    COUNT += 1
    return COUNT


def set_item(n):
    CACHE[n] = n
    return n


def delete_item(n):
    del CACHE[n]


def set_class(n):
    Total.value += n
    return Total.value


def helper(n):
    return set_item(n)


def instance_used():
    kept = Kept()
    return lambda n: kept.remember(n)


def iterating():
    numbers = itertools.count()
    return lambda n: next(numbers)


def drawing():
    rng = np.random.default_rng(0)
    return lambda n: rng.random()


def writes_file(n):
    with open("somewhere") as file:
        return file.read()


def imports(n):
    import urllib.request

    return urllib.request


def database(n):
    return sqlite3.connect("x")


def chance(n):
    return random.random()


@pytest.mark.parametrize(
    "function, what",
    [
        (closure(), "'seen'"),
        (in_a_group(), "'groups'"),
        (deep(), "'groups'"),
        (inner(), "'seen'"),
        (counting(), "'count'"),
        (set_global, "'COUNT'"),
        (set_item, "'CACHE'"),
        (delete_item, "'CACHE'"),
        (set_class, "'Total'"),
        (helper, "'CACHE'"),
        (functools.partial(set_item), "'CACHE'"),
        (Kept(), "'self'"),
        (Kept().remember, "'self'"),
        (instance_used(), "'self'"),
        (iterating(), "'numbers'"),
        (drawing(), "'rng'"),
        (writes_file, "a file, outside of Spark"),
        (imports, "uses urllib"),
        (database, "uses sqlite3"),
        (chance, "not deterministic"),
    ],
)
def test_what_outlives_a_call_is_named(function, what):
    assert what in (kept_by(function) or "nothing")


def made(part):
    return part.copy()


def own_things(parts):
    found = []
    for part in parts:
        part["n"] = part["n"] * 2
        part.at[0, "n"] = 1
        made(part).n = 2
        pd.DataFrame(part)["n"] = 3
        part = part.assign(n=np.append(part["n"].to_numpy()[:-1], 7))
        found.append(part)
        counts = {}
        counts[1] = TABLE.get(1, "?")
        counts.update(a=1)
    yield pd.concat(found)


def own_closure(n):
    total = 0
    seen = []

    def add(m):
        nonlocal total
        total += m
        seen.append(m)

    add(n)
    return total


def reads():
    table, offset = {1: 2}, [3]
    return lambda n: table.get(n, offset[0]) + len(offset) + TABLE[n].count("o")


class Processor:
    """As Spark's: state is made in init, which runs on the executors."""

    def init(self, handle):
        self._sum = handle.getValueState("sum", "n BIGINT")
        self._list = handle.getListState("list", "n BIGINT")

    def handleInputRows(self, key, rows, timer_values):
        self._sum.update((1,))
        self._list.clear()
        yield from rows

    def handleExpiredTimer(self, key, timer_values, info):
        self._sum.clear()
        yield from ()


class Tools:
    """As Spark wraps a processor."""

    def __init__(self, processor):
        self._stateful_processor = processor

    def run(self, key, rows):
        self.anything = 1
        return rows


class Counter(Processor):
    def handleExpiredTimer(self, key, timer_values, info):
        self.expired = True
        yield from ()


@pytest.mark.parametrize(
    "function", [own_things, own_closure, reads(), Kept().shift, len, Tools(Processor()).run, functools.cache(len)]
)
def test_what_is_only_read_or_ones_own_is_left_alone(function):
    assert kept_by(function) is None


class Adding(Processor):
    def init(self, handle):
        self.count, self.cache = 0, {}

    def handleInputRows(self, key, rows, timer_values):
        self.count += 1
        yield from rows


class Caching(Adding):
    def handleInputRows(self, key, rows, timer_values):
        self.cache[key] = 1
        yield from rows


@pytest.mark.parametrize("processor", [Counter(), Adding(), Caching()])
def test_a_processor_that_keeps_something_of_its_own(processor):
    assert "'self'" in (kept_by(Tools(processor).run) or "nothing")


def test_pickled_functions_are_read_and_what_cannot_be_read_is_left_to_the_sample():
    seen = []
    command = cloudpickle.dumps((lambda n: seen.append(n), "int"))
    assert kept_by_pickled(command) == "keeps 'seen' between calls"
    assert kept_by_pickled(cloudpickle.dumps((reads(), "int"))) is None
    assert kept_by_pickled(b"not a pickle") is None
