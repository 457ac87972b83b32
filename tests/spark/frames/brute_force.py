"""Random pairs of frames, and what brute force says of them: no code here is shared with the comparison itself."""

import random
from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import Row

import firesteel as fs
from firesteel import strategies as ss
from firesteel.spark.engines.source import to_frame
from firesteel.values import schemas


def pool_of(ddl, count):
    """Different values of a type, generated: the odd ones, NaN and null among them."""
    made = []

    @settings(max_examples=4 * count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(ss.records(f"v {ddl}"))
    def draw(record):
        if canon(record.v) not in map(canon, made):
            made.append(record.v)

    draw()
    return made[:count]


def canon(value):
    """By brute force: a hashable value that equal values share. Shares no code with firesteel's equality."""
    match value:
        case float():
            return "NaN" if value != value else value + 0.0
        case Row():
            return ("row", *sorted((name, canon(item)) for name, item in value.asDict().items()))
        case fs.Record():
            return ("row", *sorted((name, canon(item)) for name, item in value.__dict__.items()))
        case dict():
            return ("map", frozenset((canon(key), canon(item)) for key, item in value.items()))
        case list() | tuple():
            return ("list", *map(canon, value))
        case bytes() | bytearray():
            return bytes(value)
        case _ if type(value).__name__ == "VariantVal":
            return ("variant", value.toJson())
        case _ if type(value).__name__ in ("Geometry", "Geography"):
            return ("shape", bytes(value.getBytes()), value.getSrid())
        case _:
            return (type(value).__name__, value)


def rewritten(value):
    """An equal value, written in another way."""
    match value:
        case float() if value == 0:
            return -value
        case float() if value != value:
            return -value
        case dict():
            return {rewritten(key): rewritten(item) for key, item in reversed(value.items())}
        case list():
            return [rewritten(item) for item in value]
        case fs.Record():
            return fs.Record({name: rewritten(item) for name, item in value.__dict__.items()})
        case _:
            return value


class Pairs:
    """Random pairs of frames over some types, equal ones and almost equal ones."""

    def __init__(self, spark, ddls, seed, pool):
        self.spark, self.random, self.pools = spark, random.Random(seed), [pool_of(ddl, pool) for ddl in ddls]
        self.names = [f"c{index}" for index in range(len(ddls))]
        self.schema = schemas.parse(", ".join(f"{n} {ddl}" for n, ddl in zip(self.names, ddls, strict=True)))

    def row(self):
        return [self.random.choice(pool) for pool in self.pools]

    def draw(self):
        choose = self.random
        left = [self.row() for _ in range(choose.randint(0, 5))]
        left += [list(choose.choice(left)) for _ in range(choose.randint(0, 2)) if left]
        right = [[rewritten(value) for value in row] for row in left]
        choose.shuffle(right)
        match choose.randint(0, 5):
            case 0 if right:
                right.append(list(choose.choice(right)))
            case 1 if right:
                right.pop()
            case 2 | 3 if right:
                column = choose.randrange(len(self.pools))
                choose.choice(right)[column] = choose.choice(self.pools[column])
        return left, right

    def frame(self, rows):
        return to_frame(self.spark, [tuple(row) for row in rows], self.schema)

    def frames(self, left, right):
        """The right one with other partitions and its columns in another order."""
        moved = self.random.sample(self.names, len(self.names))
        return self.frame(left), self.frame(right).repartition(2).select(*moved)


def by_hand(left, right):
    """The rows that only one side has, as multisets."""
    mine, theirs = Counter(map(canon, left)), Counter(map(canon, right))
    return mine - theirs, theirs - mine
