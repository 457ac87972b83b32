"""Reducers, aggregates, combiners and partition functions."""

from __future__ import annotations

import math
import operator
import zlib
from typing import Any

import firesteel as fs
from firesteel import operators
from tests.operators.zoo import Zoo

ZOO = Zoo()
r, agg, comb, part = operators.reducer, operators.aggregate, operators.combiner, operators.partition_function


def minus(a: int, b: int) -> int:
    return a - b


def plus(a: int, b: int) -> int:
    return a + b


def concat(a: str, b: str) -> str:
    return a + b


def mean_of_means(a: float, b: float) -> float:
    return (a + b) / 2


def float_sum(a: float, b: float) -> float:
    return a + b


def keep_first(a: int, b: int) -> int:
    return a


def keep_last(a: int, b: int) -> int:
    return b


def longest(a: str, b: str) -> str:
    return a if len(a) >= len(b) else b


def longest_then_least(a: str, b: str) -> str:
    return min(a, b, key=lambda s: (-len(s), s))


def rarely_minus(a: int, b: int) -> int:
    return a - b if a == 48_611 else a + b


def merged(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {**a, **b}


def summed(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    return {key: a.get(key, 0) + b.get(key, 0) for key in sorted({*a, *b})}


def joined(a: list[int], b: list[int]) -> list[int]:
    return a + b


def greater_float(a: float, b: float) -> float:
    return max(a, b)


def lesser_float(a: float, b: float) -> float:
    return min(a, b)


def product_float(a: float, b: float) -> float:
    return a * b


ZOO.add(
    r(minus),
    "1 - 0 is not 0 - 1",
    no="commutative associative idempotent null_safe",
    yes="deterministic stateless pure total",
)
ZOO.add(
    r(plus),
    "whole numbers add in any order",
    no="idempotent null_safe",
    yes="commutative associative stateless deterministic total picklable",
)
ZOO.add(r(concat), "ab is not ba", no="commutative idempotent null_safe", yes="associative stateless total")
ZOO.add(
    r(mean_of_means), "an average of averages weighs the last one most", no="associative", yes="commutative nan_safe"
)
ZOO.add(r(float_sum), "rounding depends on the nesting", no="associative", yes="commutative nan_safe stateless")
ZOO.add(
    r(float_sum),
    "up to rounding it does not",
    yes="commutative",
    name="float sum with a tolerance",
    equal=fs.equality(rel_tol=1e-6, abs_tol=1e-3),
    sample=[0.1, 0.2, 0.3, 1.5, 2.75, 1000.0],
)
ZOO.add(r(keep_first), "the first value wins (SingleItem)", no="commutative", yes="associative idempotent null_safe")
ZOO.add(r(keep_last), "the last value wins", no="commutative", yes="associative idempotent null_safe")
ZOO.add(r(longest), "of two equally long texts the first wins", no="commutative", yes="associative idempotent")
ZOO.add(r(longest_then_least), "ties are broken by the text", yes="commutative associative idempotent")
ZOO.add(r(rarely_minus), "one rare value is subtracted", no="commutative associative")
ZOO.add(r(max), "the greatest, in any order", yes="commutative associative idempotent stateless deterministic")
ZOO.add(r(min), "the least, in any order", yes="commutative associative idempotent")
ZOO.add(r(math.gcd), "gcd of whole numbers, up to the sign of f(x, x)", yes="commutative associative")
ZOO.add(r(operator.mul), "a product of whole numbers", no="idempotent", yes="commutative associative")
ZOO.add(r(operator.or_), "bits", yes="commutative associative idempotent")
ZOO.add(r(operator.xor), "bits that cancel out", no="idempotent", yes="commutative associative")
ZOO.add(r(merged), "of one key the last value wins (IndexValuePair)", no="commutative", yes="associative idempotent")
ZOO.add(
    r(merged),
    "if a key has one value only, order does not matter",
    yes="commutative",
    name="IndexValuePair with a functional dependency",
    sample=[{"a": 1}, {"b": 2}, {"a": 1, "b": 2}, {}],
)
ZOO.add(r(summed), "added key by key", yes="commutative associative")
ZOO.add(
    r(lambda a, b: max(a, b, key=lambda row: row[0])),
    "of rows with the same maximum the first wins (MaxRow)",
    no="commutative",
    yes="associative",
    name="MaxRow",
    sample=[(1, "x"), (1, "y"), (2, "x"), (0, "z")],
)
ZOO.add(
    r(lambda a, b: max(a, b, key=lambda row: row[0])),
    "no two rows share a maximum",
    yes="commutative",
    name="MaxRow without ties",
    sample=[(1, "x"), (2, "y"), (3, "x")],
)
ZOO.add(
    r(lambda a, b: (a + b)[:3]),
    "the first three that came (FirstN)",
    no="commutative",
    yes="associative",
    name="FirstN",
    sample=[[1], [2], [3, 4], [5, 6, 7]],
)
ZOO.add(
    r(lambda a, b: a + "@" + b),
    "texts in the order of arrival (StrConcat)",
    no="commutative",
    yes="associative",
    name="StrConcat",
    sample=["x", "y", "zz"],
)
ZOO.add(
    r(lambda a, b: a + "@" + b),
    "compared by its parts, order does not matter",
    yes="commutative associative",
    name="StrConcat by parts",
    sample=["x", "y", "zz"],
    equal=fs.equality(by=lambda text: tuple(sorted(text.split("@")))),
)
ZOO.add(r(joined), "a list in the order of arrival", no="commutative idempotent", yes="associative")
ZOO.add(
    r(joined),
    "a list compared as a set",
    yes="commutative associative",
    name="list as a set",
    equal=fs.equality(by=lambda xs: frozenset(xs)),
)
ZOO.add(
    r(lambda a, b: sorted(a + b)),
    "sorted, so the order of arrival does not show",
    yes="commutative associative",
    name="sorted list",
    sample=[[1], [3, 2], []],
)
ZOO.add(
    r(lambda a, b: a | b), "sets", yes="commutative associative idempotent", name="union", sample=[{1}, {2, 3}, set()]
)
ZOO.add(
    r(lambda a, b: abs(a - b)),
    "a distance has no direction, but nesting shows",
    no="associative idempotent",
    yes="commutative",
    name="distance",
)
ZOO.add(
    r(lambda a, b: 2 * (a + b)),
    "early values are doubled again",
    no="associative idempotent",
    yes="commutative",
    name="doubling sum",
)
ZOO.add(r(lambda a, b: 2 * a + b), "the first counts twice", no="commutative associative", name="weighted")
ZOO.add(r(greater_float), "which one is NaN decides", no="nan_safe", yes="commutative associative idempotent")
ZOO.add(r(lesser_float), "which one is NaN decides", no="nan_safe", yes="commutative associative idempotent")
ZOO.add(r(product_float), "NaN spoils it either way", yes="nan_safe commutative")
ZOO.add(
    r(lambda a, b: a.extend(b) or a),
    "changes its first argument",
    no="pure commutative",
    yes="associative",
    name="extends",
    sample=[[1], [2, 3], [4]],
)

# --- aggregates ---


def add(total: int, value: int) -> int:
    return total + value


def one_more(total: int, value: int) -> int:
    return total + 1


def sum_and_count(pair: tuple[int, int], value: int) -> tuple[int, int]:
    return (pair[0] + value, pair[1] + 1)


def both(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return (a[0] + b[0], a[1] + b[1])


def collect(xs: list[int], value: int) -> list[int]:
    xs.append(value)
    return xs


ZOO.add(
    agg(0, add, add),
    "a sum",
    yes="zero_is_identity seq_comb_agree commutative associative stateless deterministic total",
)
ZOO.add(
    agg(1, add, add),
    "every partition adds one",
    no="zero_is_identity seq_comb_agree",
    yes="commutative associative",
    name="sum from 1",
)
ZOO.add(
    agg(10, lambda t, x: max(t, x), plus),
    "every partition adds ten at the least",
    no="zero_is_identity seq_comb_agree",
    yes="commutative associative",
    name="max, then sum",
)
ZOO.add(
    agg(0, lambda t, x: t + x, max),
    "partitions are not added",
    no="seq_comb_agree zero_is_identity",
    yes="associative",
    name="sum, then max",
)
ZOO.add(agg(0, one_more, add), "a count", yes="zero_is_identity seq_comb_agree commutative associative null_safe")
ZOO.add(
    agg(0, one_more, max),
    "the largest partition's count",
    no="seq_comb_agree",
    yes="zero_is_identity commutative associative null_safe",
    name="count, then max",
)
ZOO.add(
    agg((0, 0), sum_and_count, both),
    "sum and count, to be divided in the end",
    yes="zero_is_identity seq_comb_agree commutative associative",
    name="sum and count",
)
ZOO.add(
    agg([], collect, joined),
    "a list in the order of arrival; its zero is copied for every fold",
    no="commutative",
    yes="zero_is_identity seq_comb_agree associative stateless pure",
    name="list",
)
ZOO.add(
    agg([0], collect, joined),
    "every partition brings a 0",
    no="zero_is_identity seq_comb_agree commutative",
    yes="associative",
    name="list from [0]",
)
ZOO.add(
    agg(set(), lambda s, x: s | {x}, lambda a, b: a | b),
    "a set",
    yes="zero_is_identity seq_comb_agree commutative associative",
    name="set",
)
ZOO.add(
    agg("", lambda s, x: s + str(x), lambda a, b: a + b),
    "texts in the order of arrival",
    no="commutative",
    yes="zero_is_identity seq_comb_agree",
    name="texts",
)
ZOO.add(
    agg(",", lambda s, x: s + str(x), lambda a, b: a + b),
    "every partition brings a comma",
    no="zero_is_identity seq_comb_agree commutative",
    name="texts from a comma",
)
ZOO.add(
    agg(0.0, lambda m, x: (m + x) / 2, lambda a, b: (a + b) / 2),
    "averages of averages",
    no="zero_is_identity seq_comb_agree commutative associative",
    name="average of averages",
)
ZOO.add(
    agg(0, lambda t, x: x, lambda a, b: b),
    "the last value",
    no="commutative zero_is_identity",
    yes="associative",
    name="last",
)
ZOO.add(
    agg(-(10**12), max, max),
    "the greatest",
    yes="zero_is_identity seq_comb_agree commutative associative",
    name="greatest",
)
ZOO.add(
    agg(0, lambda t, x: t | x, operator.or_), "bits", yes="zero_is_identity seq_comb_agree commutative", name="bits"
)

# --- combiners ---
ZOO.add(comb(lambda x: x, plus, plus), "a sum", yes="seq_comb_agree commutative associative", name="combined sum")
ZOO.add(
    comb(lambda x: [x], lambda xs, x: [*xs, x], joined),
    "a list in the order of arrival",
    no="commutative",
    yes="seq_comb_agree associative",
    name="combined list",
)
ZOO.add(comb(lambda x: x, plus, max), "partitions are not added", no="seq_comb_agree", name="combined sum, then max")
ZOO.add(
    comb(lambda x: 1, lambda n, x: n + 1, lambda a, b: a + b),
    "a count",
    yes="seq_comb_agree commutative null_safe",
    name="combined count",
)
ZOO.add(
    comb(lambda x: 0, lambda n, x: n + 1, lambda a, b: a + b),
    "the first of every partition is not counted",
    no="seq_comb_agree",
    yes="commutative",
    name="combined count from 0",
)

# --- partition functions ---


def by_text(key: str) -> int:
    return hash(key)


def by_checksum(key: str) -> int:
    return zlib.crc32(key.encode())


_given: dict[Any, int] = {}


def in_turn(key: int) -> int:
    return _given.setdefault(key, len(_given))


ZOO.add(part(by_text), "strings hash differently in every process", no="deterministic", yes="pure")
ZOO.add(part(by_checksum), "a checksum is the same everywhere", yes="deterministic stateless total")
ZOO.add(
    part(in_turn),
    "the first key that comes gets 0: the next process may begin with another",
    no="stateless",
    yes="deterministic",
)
