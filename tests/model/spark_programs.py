"""Programs on RDDs that are captured, modelled and compared with what Spark gives.

Each takes a context, its data and a number of partitions, and returns the results of its actions, in their order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

WORDS = st.sampled_from(["a", "b", "c", "dd", "é", ""])
NUMBERS = st.integers(-20, 20)
PAIRS = st.lists(st.tuples(WORDS, NUMBERS), max_size=12)
TEXTS = st.lists(st.lists(WORDS, max_size=4).map(" ".join), max_size=8)
LISTS = st.lists(NUMBERS, max_size=14)


def multiset(result: Any) -> Any:
    """Results where no order is promised."""
    return sorted(map(repr, result)) if isinstance(result, list) else result


def grouped(result: Any) -> Any:
    """Groups have their records in no particular type: PySpark gives an iterable of its own."""
    return sorted(repr((key, plain(values))) for key, values in result)


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return value if isinstance(value, str | int | float | None) else [plain(each) for each in value]


def same(result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Case:
    """A program, its inputs, and how each of its results is compared."""

    name: str
    run: Callable[..., list[Any]]
    data: st.SearchStrategy[Any]
    equal: tuple[Callable[[Any], Any], ...]
    """As it is where Spark promises an order, as a multiset elsewhere."""


def word_count(sc: Any, data: Any, n: int) -> list[Any]:
    words = sc.parallelize(data, n).flatMap(lambda line: line.split(" "))
    return [words.map(lambda w: (w, 1)).reduceByKey(operator.add).collect()]


def diamond(sc: Any, data: Any, n: int) -> list[Any]:
    base = sc.parallelize(data, n).reduceByKey(lambda a, b: a + b)
    small = base.map(lambda kv: (len(kv[0]), kv[1])).reduceByKey(max)
    large = base.map(lambda kv: (len(kv[0]), kv[0])).groupByKey().mapValues(lambda ws: sorted(ws))
    return [small.join(large).collect()]


def not_series_parallel(sc: Any, data: Any, n: int) -> list[Any]:
    one = sc.parallelize(data, n).reduceByKey(lambda a, b: a + b, n)
    two = sc.parallelize(data, n).mapValues(lambda v: v * 2).reduceByKey(lambda a, b: a - b, n + 1)
    left = one.map(lambda kv: (kv[1], kv[0])).groupByKey(n + 2).mapValues(len)
    right = one.union(two).map(lambda kv: (kv[1], 1)).reduceByKey(lambda a, b: a + b, n + 3)
    return [left.fullOuterJoin(right, n + 4).collect()]


def nested_joins(sc: Any, data: Any, n: int) -> list[Any]:
    one, two, three = (sc.parallelize(data[i::3], n) for i in range(3))
    return [
        one.join(two)
        .leftOuterJoin(three.mapValues(abs), n)
        .map(lambda r: (r[0], r[1][0][0] + r[1][0][1], r[1][1]))
        .collect()
    ]


def two_actions(sc: Any, data: Any, n: int) -> list[Any]:
    numbers = sc.parallelize(data, n).map(lambda x: x * x % 7).cache()
    return [numbers.count(), numbers.distinct().collect(), numbers.sum()]


def page_rank(sc: Any, data: Any, n: int) -> list[Any]:
    links = sc.parallelize(data, n).map(lambda p: (p[0], str(p[1] % 3))).distinct().groupByKey().cache()
    ranks = links.map(lambda page: (page[0], 1.0))
    for _ in range(3):
        shares = links.join(ranks).flatMap(lambda page: [(to, page[1][1] / len(page[1][0])) for to in page[1][0]])
        ranks = shares.reduceByKey(lambda a, b: a + b).mapValues(lambda rank: round(0.15 + 0.85 * rank, 6))
    return [ranks.collect()]


def average(sc: Any, data: Any, n: int) -> list[Any]:
    sums = sc.parallelize(data, n).combineByKey(
        lambda v: (v, 1), lambda acc, v: (acc[0] + v, acc[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1])
    )
    return [sums.mapValues(lambda s: s[0] / s[1]).collect()]


def secondary_sort(sc: Any, data: Any, n: int) -> list[Any]:
    pairs = sc.parallelize(data, n).map(lambda p: ((p[0], p[1]), p[1]))
    placed = pairs.partitionBy(n, lambda key: len(key[0]))
    return [
        placed.mapPartitions(lambda it: sorted(it, key=lambda kv: kv[0])).map(lambda kv: (kv[0][0], kv[1])).collect()
    ]


def sorting(sc: Any, data: Any, n: int) -> list[Any]:
    pairs = sc.parallelize(data, n)
    by_value = pairs.sortBy(lambda p: p[1], ascending=False)
    return [
        by_value.collect(),
        pairs.sortByKey().collect(),
        by_value.glom().collect(),
        pairs.sortBy(lambda p: p, True, 1).take(3),
    ]


def inverted_index(sc: Any, data: Any, n: int) -> list[Any]:
    lines = sc.parallelize(data, n).zipWithIndex()
    words = lines.flatMap(lambda line: [(w, line[1]) for w in line[0].split()])
    return [words.groupByKey().mapValues(lambda ids: sorted(set(ids))).collect()]


def sets(sc: Any, data: Any, n: int) -> list[Any]:
    one, two = sc.parallelize([*data[::2], 99, 99], n), sc.parallelize(data[1::2], n)
    return [one.intersection(two).collect(), one.subtract(two).collect(), one.union(two).distinct().count()]


def joins(sc: Any, data: Any, n: int) -> list[Any]:
    one, two = sc.parallelize(data[::2], n), sc.parallelize(data[1::2], n)
    return [one.rightOuterJoin(two).collect(), one.fullOuterJoin(two, 2).collect(), one.subtractByKey(two).collect()]


def cogrouped(sc: Any, data: Any, n: int) -> list[Any]:
    one, two = sc.parallelize(data[::2], n), sc.parallelize(data[1::2], n)
    return [
        one.cogroup(two).mapValues(lambda sides: (sorted(sides[0]), len(sides[1]))).collect(),
        one.groupByKey().collect(),
    ]


def folds(sc: Any, data: Any, n: int) -> list[Any]:
    pairs = sc.parallelize(data, n)
    longest = pairs.aggregateByKey("", lambda acc, v: acc + str(v), lambda a, b: max(a, b, key=len) if a else b)
    return [pairs.foldByKey(3, operator.mul).collect(), longest.mapValues(len).collect()]


def aggregates(sc: Any, data: Any, n: int) -> list[Any]:
    numbers = sc.parallelize(data, n)
    add = lambda acc, x: (acc[0] + x, acc[1] + 1)  # noqa: E731
    both = lambda a, b: (a[0] + b[0], a[1] + b[1])  # noqa: E731
    more = numbers.union(sc.parallelize([1], 1))
    results = [numbers.fold(2, operator.add), numbers.aggregate((1, 0), add, both), more.reduce(lambda a, b: a - b)]
    return [*results, more.treeReduce(lambda a, b: a + b), numbers.treeAggregate((1, 0), add, both)]


def extremes(sc: Any, data: Any, n: int) -> list[Any]:
    pairs = sc.parallelize([*data, ("z", 0), ("y", 3), ("x", 5), ("w", 2)], n)
    by_number = [pairs.max(lambda p: p[1] % 2), pairs.min(lambda p: p[1] % 2), pairs.top(2, lambda p: p[1])]
    return [*by_number, pairs.max(), pairs.takeOrdered(3), pairs.first(), pairs.take(2)]


def counts(sc: Any, data: Any, n: int) -> list[Any]:
    pairs = sc.parallelize(data, n)
    counted = [dict(pairs.countByKey()), dict(pairs.values().countByValue())]
    return [*counted, pairs.union(sc.parallelize([("a", 7)], 1)).lookup("a"), pairs.isEmpty()]


def partitions(sc: Any, data: Any, n: int) -> list[Any]:
    numbers = sc.parallelize(data, n)
    sums = numbers.mapPartitionsWithIndex(lambda i, it: [(i, sum(it))])
    return [numbers.glom().collect(), sums.collect(), numbers.mapPartitions(largest).collect(), numbers.foreach(print)]


def largest(it: Any) -> Any:
    found = sorted(it, reverse=True)
    for x in found[:2]:
        if x > 0:
            yield x
    yield len(found)


def regrouped(sc: Any, data: Any, n: int) -> list[Any]:
    numbers = sc.parallelize(data, n)
    few = numbers.coalesce(max(1, n - 1)).glom().map(lambda xs: len(xs))
    return [
        few.collect(),
        numbers.repartition(n + 1).collect(),
        numbers.repartition(2).map(lambda x: x % 3).countByValue(),
    ]


def crossed(sc: Any, data: Any, n: int) -> list[Any]:
    numbers = sc.parallelize(data[:5], n)
    pairs = numbers.cartesian(sc.parallelize(["x", "y"], 1)).filter(lambda p: p[0] > 0 or p[1] == "x")
    return [pairs.collect(), numbers.zip(numbers.map(lambda x: -x)).collect()]


def keyed(sc: Any, data: Any, n: int) -> list[Any]:
    lines = sc.parallelize(data, n).keyBy(lambda line: len(line.split()))
    words = lines.flatMapValues(lambda line: line.split()).filter(lambda kv: not kv[1].startswith("d"))
    return [words.collect(), lines.groupBy(lambda kv: kv[0] % 2).mapValues(list).collect()]


def ranges(sc: Any, data: Any, n: int) -> list[Any]:
    numbers = sc.range(0, len(data) + 3, 2, n).map(lambda x: f"{x:03d}|{x / 4:.1f}")
    return [numbers.collect(), sc.range(5).filter(lambda x: x % 2 == 1).sum()]


def k_means(sc: Any, data: Any, n: int) -> list[Any]:
    points = sc.parallelize(data, n)
    centres = [-5.0, 5.0]
    nearest = points.map(lambda x: (min(range(2), key=lambda i: abs(x - centres[i])), (x, 1)))
    sums = nearest.reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1]))
    return [sums.mapValues(lambda s: s[0] / s[1]).sortByKey().collect()]


def parsed(sc: Any, data: Any, n: int) -> list[Any]:
    rows = sc.parallelize([f"{word},{number}" for word, number in data], n).map(parse)
    good = rows.filter(lambda row: row is not None and row["size"] >= 0)
    return [
        good.map(lambda row: (row["name"], row["size"] // 2, row.get("kind"))).collect(),
        rows.filter(lambda r: not r).count(),
    ]


def parse(line: str) -> Any:
    """A small function with variables and branches."""
    name, size = line.split(",")
    if not name:
        return None
    amount = int(size)
    kind = "big" if amount > 10 else "small"
    if amount % 5 == 0:
        kind += "!"
    return {"name": name.upper().strip(), "size": amount, "kind": kind}


def matrix(sc: Any, data: Any, n: int) -> list[Any]:
    left = sc.parallelize([(i, j, v) for i, (w, v) in enumerate(data) for j in range(2)], n)
    right = sc.parallelize([(j, k, j + k) for j in range(2) for k in range(2)], n)
    products = left.map(lambda e: (e[1], (e[0], e[2]))).join(right.map(lambda e: (e[0], (e[1], e[2]))))
    cells = products.map(lambda p: ((p[1][0][0], p[1][1][0]), p[1][0][1] * p[1][1][1])).reduceByKey(operator.add)
    return [cells.sortByKey().collect()]


CASES = [
    Case("word_count", word_count, TEXTS, (same,)),
    Case("diamond", diamond, PAIRS, (same,)),
    Case("not_series_parallel", not_series_parallel, PAIRS, (same,)),
    Case("nested_joins", nested_joins, PAIRS, (same,)),
    Case("two_actions", two_actions, LISTS, (same, same, same)),
    Case("page_rank", page_rank, PAIRS, (same,)),
    Case("average", average, PAIRS, (same,)),
    Case("secondary_sort", secondary_sort, PAIRS, (same,)),
    Case("sorting", sorting, PAIRS, (same, same, same, same)),
    Case("inverted_index", inverted_index, TEXTS, (same,)),
    Case("sets", sets, LISTS, (same, same, same)),
    Case("joins", joins, PAIRS, (same, same, same)),
    Case("cogrouped", cogrouped, PAIRS, (same, grouped)),
    Case("folds", folds, PAIRS, (same, same)),
    Case("aggregates", aggregates, LISTS, (same, same, same, same, same)),
    Case("extremes", extremes, PAIRS, (same,) * 7),
    Case("counts", counts, PAIRS, (same,) * 4),
    Case("partitions", partitions, LISTS, (same,) * 4),
    Case("regrouped", regrouped, LISTS, (same, multiset, same)),
    Case("crossed", crossed, LISTS, (multiset, same)),
    Case("keyed", keyed, TEXTS, (same, same)),
    Case("ranges", ranges, LISTS, (same, same)),
    Case("k_means", k_means, LISTS, (same,)),
    Case("parsed", parsed, PAIRS, (same, same)),
    Case("matrix", matrix, PAIRS, (same,)),
]
