"""`fs.assert_same`: what Spark says of two frames, against brute force on their rows; and what it tells the user."""

import math
import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import Row
from pyspark.sql import functions as F

import firesteel as fs
from firesteel import Falsified, InvalidArgument
from firesteel import strategies as ss
from firesteel.equivalence.frames import compare
from firesteel.spark.engines.source import to_frame
from firesteel.spark.frames import same
from firesteel.values import schemas

UNORDERED = fs.unordered()
NAN, INF = math.nan, math.inf

GROUPS = [
    ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38,18)", "DECIMAL(5,0)", "STRING"],
    ["BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "INTERVAL DAY TO SECOND", "TIME", "STRING COLLATE UTF8_LCASE",
     "VARIANT", "GEOMETRY(4326)", "GEOGRAPHY(4326)", "VOID"],
    ["ARRAY<DOUBLE>", "ARRAY<STRUCT<t: TIMESTAMP, s: STRING NOT NULL>>", "MAP<STRING, ARRAY<DOUBLE>>",
     "MAP<DOUBLE, STRUCT<x: FLOAT, d: DECIMAL(10,2)>>", "STRUCT<a: INT, b: STRUCT<c: BINARY, d: DATE>>",
     "ARRAY<MAP<INT, VARIANT>>", "STRUCT<>", "MAP<STRUCT<a: INT, b: STRING>, MAP<STRING, DOUBLE>>"],
]  # fmt: skip


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


def check(found, only_left, only_right):
    """What was found is what brute force says: how many rows, and which."""
    if not only_left and not only_right:
        assert found is None, found
        return
    assert (found.only_left, found.only_right) == (only_left.total(), only_right.total())
    for odd, only in ((found.left, only_left), (found.right, only_right)):
        assert len(odd) == min(same.SHOWN, len(only))
        assert all(only[("list", *map(canon, row.record))] == row.times for row in odd), (odd, only)


def compared_with_brute_force(pairs, count):
    answers = Counter()
    for _ in range(count):
        left, right = pairs.draw()
        frames = pairs.frames(left, right)
        only = by_hand(left, right)
        found = compare(*frames, UNORDERED, None)
        if any("VARIANT" in ddl or "GEO" in ddl for ddl in map(schemas.type_ddl, [f.dataType for f in pairs.schema])):
            assert (found is None) == (not any(only)), (left, right, found)  # their text is shown, not the value
        else:
            check(found, *only)
        answers[found is None] += 1
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("types", range(len(GROUPS)))
@pytest.mark.parametrize("count", [4, 12])
def test_every_type_against_brute_force(spark, types, count):
    answers = compared_with_brute_force(Pairs(spark, GROUPS[types], seed=count + types + 200, pool=12), count)
    assert 4 * answers[False] >= count and answers[True] >= count // 6 + 1, answers


@pytest.mark.slow
@pytest.mark.parametrize("ddl", [ddl for group in GROUPS for ddl in group if ddl not in ("VOID", "STRUCT<>")])
def test_each_type_alone_against_brute_force(spark, ddl):
    answers = compared_with_brute_force(Pairs(spark, [ddl], seed=1, pool=5), 5)
    assert answers[False] and answers[True], answers


@pytest.mark.parametrize("dependence", [fs.ordered(), fs.same_key("c0")])
@pytest.mark.parametrize("count", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_order_against_brute_force(spark, dependence, count):
    pairs = Pairs(spark, ["DOUBLE", "STRING"], seed=2, pool=3)
    answers = Counter()
    for _ in range(count):
        left = [pairs.row() for _ in range(pairs.random.randint(0, 6))]
        right = [[rewritten(value) for value in row] for row in left]
        if pairs.random.random() < 0.6 and len(left) > 1:
            at = pairs.random.randrange(len(left) - 1)
            right[at : at + 2] = reversed(right[at : at + 2])
        keyed = dependence == fs.same_key("c0")
        expected = _sequences(left, keyed) == _sequences(right, keyed)
        # One after another: the order of a frame is that of its partitions.
        parts = [spark.createDataFrame(part, pairs.schema) for part in (right[:3], right[3:])]
        found = compare(pairs.frame(left).coalesce(1), parts[0].coalesce(1).union(parts[1]), dependence, None)
        assert (found is None) == expected, (left, right, found)
        answers[expected] += 1
    assert answers[True] and answers[False], answers


def _sequences(rows, keyed):
    found = {}
    for row in rows:
        found.setdefault(canon(row[0]) if keyed else None, []).append(canon(row))
    return found


def test_a_frame_that_is_sorted_is_compared_in_that_order(spark):
    numbers = spark.range(50, numPartitions=3).withColumn("key", F.col("id") % 3)
    falling = numbers.orderBy(F.desc("id"))
    fs.assert_same(falling, numbers.repartition(4).orderBy(F.desc("id")), dependence=fs.ordered())
    fs.assert_same(falling, falling.orderBy("key", F.desc("id")), dependence=fs.same_key("key"))
    for dependence in (fs.ordered(), fs.same_key("key")):
        with pytest.raises(Falsified):
            fs.assert_same(falling, numbers.orderBy("id"), dependence=dependence)


def _any_pairing(left, right, equal):
    """Can all rows be paired? By trying everything."""
    if not left:
        return not right
    return any(
        equal.equal(left[0], other) and _any_pairing(left[1:], right[:at] + right[at + 1 :], equal)
        for at, other in enumerate(right)
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 15])
def test_tolerances_against_brute_force(spark, count):
    choose = random.Random(4)
    equal, answers = fs.equality(abs_tol=0.15), Counter()
    values = [1.0, 1.1, 1.2, 1.3, -0.0, 0.1, NAN, INF, None]
    for _ in range(count):
        left = [
            fs.Record(k=choose.choice("ab"), x=choose.choice(values), m={"q": [choose.choice(values[:3])]})
            for _ in range(choose.randint(1, 4))
        ]
        right = [fs.Record(k=r.k, x=_nudged(r.x, choose), m={"q": [_nudged(r.m["q"][0], choose)]}) for r in left]
        choose.shuffle(right)
        if choose.random() < 0.3:
            right[0] = fs.Record(k=right[0].k, x=choose.choice(values), m=right[0].m)
        schema = schemas.parse("k STRING, x DOUBLE, m MAP<STRING, ARRAY<DOUBLE>>")
        found = compare(to_frame(spark, left, schema), to_frame(spark, right, schema), UNORDERED, equal)
        expected = _any_pairing(left, right, equal)
        assert (found is None) == expected, (left, right, found)
        answers[expected] += 1
    assert answers[True] and answers[False], answers


def _nudged(value, choose):
    return value if value is None else value + choose.choice([0.0, 0.1, -0.1, 0.1, 0.2])


# --- planted pairs -------------------------------------------------------------------------------


SAME = {
    "nan": ("SELECT double('NaN') AS x", "SELECT -double('NaN') AS x"),
    "zeros": ("SELECT 0D AS x, array(0F) AS y", "SELECT -0D AS x, array(-0F) AS y"),
    "order of a map": ("SELECT map('a', 1, 'b', 2) AS m", "SELECT map('b', 2, 'a', 1) AS m"),
    "map in a struct in an array": (
        "SELECT array(struct(map('a', double('NaN'), 'b', -0D) AS m)) AS x",
        "SELECT array(struct(map('b', 0D, 'a', double('NaN')) AS m)) AS x",
    ),
    "fields of a struct in another order": (
        "SELECT array(struct(1 AS a, 'x' AS b)) AS s",
        "SELECT array(struct('x' AS b, 1 AS a)) AS s",
    ),
    "columns in another order": ("SELECT 1 AS a, 'x' AS b", "SELECT 'x' AS b, 1 AS a"),
    "what may be null": ("SELECT 1 AS a", "SELECT * FROM VALUES (1), (NULL) AS t(a) WHERE a IS NOT NULL"),
    "moments of other zones": (
        "SELECT timestamp'2024-03-31 12:00:00+00:00' AS t",
        "SELECT timestamp'2024-03-31 17:30:00 Asia/Kolkata' AS t",
    ),
    "calendar intervals": ("SELECT make_interval(1, 1, 0, 1) AS i", "SELECT make_interval(0, 13, 0, 1) AS i"),
    "months": ("SELECT interval '1-1' year to month AS i", "SELECT make_ym_interval(0, 13) AS i"),
    "names given twice": ("SELECT 1 AS a, 2 AS a, struct(1 AS b, 2 AS b, 3 AS B) AS s",) * 2,
    "odd names": ("SELECT 1 AS `a.b`, 2 AS `c``d`, map(1, struct(1 AS `x.y`, 2 AS ` `)) AS `e f`",) * 2,
    "variants": (
        """SELECT parse_json('{"a": 1, "b": [1.5, null]}') AS v""",
        """SELECT parse_json('{"b":[1.5,null],"a":1}') AS v""",
    ),
    "years that Python has not": ("SELECT timestamp'+12345-01-01 00:00:00' AS t, date'-0044-03-15' AS d",) * 2,
    "no rows": ("SELECT 1 AS a WHERE false",) * 2,
}

DIFFERENT = {
    "nan and null": ("SELECT double('NaN') AS x", "SELECT double(NULL) AS x", "x=float('nan')  x=None"),
    "nan and a number": ("SELECT double('NaN') AS x", "SELECT 1D AS x", "x=float('nan')  x=1.0"),
    "a number and infinity": ("SELECT 1D AS x", "SELECT double('Infinity') AS x", "x=1.0  x=float('inf')"),
    "how often": ("SELECT explode(array(1, 1, 2)) AS n", "SELECT explode(array(1, 2, 2)) AS n", "n=1   n=2"),
    "nan in an array": ("SELECT array(1D, double('NaN')) AS x", "SELECT array(1D, NULL) AS x", "x=[1.0, None]"),
    "where an array ends": (
        "SELECT array(array(1), array(2)) AS x",
        "SELECT array(array(1, 2)) AS x",
        "x=[[1], [2]]  x=[[1, 2]]",
    ),
    "nulls elsewhere": ("SELECT 1 AS a, int(NULL) AS b", "SELECT int(NULL) AS a, 1 AS b", "a=1 b=None a=None b=1"),
    "null and an empty map": ("SELECT map() AS m", "SELECT if(rand() < 2, NULL, map()) AS m", "m={}   m=None"),
    "values of a map": (
        "SELECT map('a', 1, 'b', 2) AS m",
        "SELECT map('b', 1, 'a', 2) AS m",
        "m={'a': 1, 'b': 2}  m={'a': 2, 'b': 1}",
    ),
    "null and a struct of nulls": (
        "SELECT named_struct('a', int(NULL)) AS s",
        "SELECT if(rand() < 2, NULL, named_struct('a', int(NULL))) AS s",
        "s=None",
    ),
    "bytes": ("SELECT x'00' AS b", "SELECT x'0000' AS b", r"b=b'\x00'  b=b'\x00\x00'"),
    "case, whatever the collation": (
        "SELECT 'A' COLLATE UTF8_LCASE AS s",
        "SELECT 'a' COLLATE UTF8_LCASE AS s",
        "s='A'  s='a'",
    ),
    "calendar intervals": (
        "SELECT make_interval(0, 0, 0, 1) AS i",
        "SELECT make_interval(0, 0, 0, 0, 24) AS i",
        "i='1 days'  i='24 hours'",
    ),
    "types in a variant": ("SELECT parse_json('1') AS v", "SELECT parse_json('\"1\"') AS v", "(BIGINT)"),
    "years that Python has not": (
        "SELECT timestamp'+12345-01-01 00:00:00' AS t, map(1, array(date'-0044-03-15')) AS m",
        "SELECT timestamp'+12345-01-01 00:00:01' AS t, map(1, array(date'-0044-03-15')) AS m",
        "t='+12345-01-01 00:00:01'  m={1: ['-0044-03-15']}",
    ),
    "the second of a name": ("SELECT 1 AS a, 2 AS a", "SELECT 1 AS a, 3 AS a", "a=1  a_2=2  a=1  a_2=3"),
    "no columns": ("NOTHING 2", "NOTHING 3", "(no columns)"),
}


def frame_of(spark, text):
    if text.startswith("NOTHING"):
        return spark.range(int(text.split()[1])).select()
    return spark.sql(text)


@pytest.mark.parametrize("case", SAME)
def test_the_same(spark, case):
    left, right = (frame_of(spark, text) for text in SAME[case])
    fs.assert_same(left, right)


@pytest.mark.parametrize("case", DIFFERENT)
def test_different(spark, case):
    left, right = (frame_of(spark, text) for text in DIFFERENT[case][:2])
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right)
    assert " ".join(DIFFERENT[case][2].split()) in " ".join(str(failure.value).split())


def test_schemas_that_differ_are_named(spark):
    left = spark.sql("SELECT 1 AS a, decimal(1.50) AS d, 'x' AS Name, struct(1 AS x) AS s, 1 AS same")
    right = spark.sql("SELECT 1L AS a, decimal(1.50) AS d, 'x' AS name, struct('y' AS x) AS s, 1 AS same")
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right)
    assert str(failure.value).splitlines() == [
        "the schemas differ",
        "",
        "  column 'a': INT left, BIGINT right",
        "  column 'Name': STRING left, missing right",
        "  column 's': STRUCT<x: INT NOT NULL> left, STRUCT<x: STRING NOT NULL> right",
        "  column 'name': missing left, STRING right",
    ]
    scales = [spark.sql(f"SELECT CAST(1.5 AS DECIMAL(10,{scale})) AS d") for scale in (2, 3)]
    with pytest.raises(Falsified, match=r"column 'd': DECIMAL\(10,2\) left, DECIMAL\(10,3\) right"):
        fs.assert_same(*scales)
    with pytest.raises(Falsified, match="column 's': STRING left, STRING COLLATE UTF8_LCASE right"):
        fs.assert_same(spark.sql("SELECT 'a' AS s"), spark.sql("SELECT 'a' COLLATE UTF8_LCASE AS s"))
    with pytest.raises(Falsified, match="column 'a_2': INT left, missing right"):
        fs.assert_same(spark.sql("SELECT 1 AS a, 1 AS a"), spark.sql("SELECT 1 AS a"))


# --- what the user reads -------------------------------------------------------------------------


def test_the_first_differences_stand_side_by_side(spark):
    rows = [(n, f"word {n}", float(n)) for n in range(20)]
    left = spark.createDataFrame([*rows, rows[7], rows[7]], "n INT, w STRING, x DOUBLE")
    right = left.distinct().where("n < 18").selectExpr("n", "w", "if(n % 10 = 4, double('NaN'), x) AS x")
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right)
    assert str(failure.value).splitlines() == [
        "the frames differ: 6 rows only left, 2 only right",
        "",
        "  left                               right",
        "  n=4  w='word 4'  x=4.0             n=4  w='word 4'  x=float('nan')",
        "  n=7  w='word 7'  x=7.0  (2 times)  -",
        "  n=14  w='word 14'  x=14.0          n=14  w='word 14'  x=float('nan')",
        "  n=18  w='word 18'  x=18.0          -",
        "  n=19  w='word 19'  x=19.0          -",
    ]
    assert failure.value.report.verdict is fs.Verdict.FALSE


def test_at_most_ten_lines_and_the_rest_counted(spark):
    with pytest.raises(Falsified) as failure:
        fs.assert_same(spark.range(0, 1000), spark.range(500, 1600))
    lines = str(failure.value).splitlines()
    assert lines[0] == "the frames differ: 500 rows only left, 600 only right"
    assert lines[3:5] == ["  id=0  id=1000", "  id=1  id=1001"]
    assert len(lines) == 3 + 10 + 1 and lines[-1] == "  (and 490 more only left, 590 more only right)"


def test_the_place_is_shown_where_order_matters(spark):
    left = spark.createDataFrame([("a", 1), ("b", 1), ("a", 2), ("b", 2)], "k STRING, n INT").coalesce(1)
    right = spark.createDataFrame([("a", 1), ("a", 2), ("b", 2), ("b", 1)], "k STRING, n INT").coalesce(1)
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right, dependence=fs.ordered())
    assert [line.split() for line in str(failure.value).splitlines()[2:]] == [
        ["row", "left", "right"],
        ["1", "k='b'", "n=1", "k='a'", "n=2"],
        ["2", "k='a'", "n=2", "k='b'", "n=2"],
        ["3", "k='b'", "n=2", "k='b'", "n=1"],
    ]
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, right, dependence=fs.same_key("k"))
    assert [line.split() for line in str(failure.value).splitlines()[3:]] == [
        ["0", "k='b'", "n=1", "k='b'", "n=2"],
        ["1", "k='b'", "n=2", "k='b'", "n=1"],
    ]


def test_wide_rows_keep_what_differs(spark):
    wide = spark.range(1).select(*(F.lit(f"value of column {n}").alias(f"column_{n}") for n in range(30)))
    other = wide.withColumn("column_17", F.lit("another"))
    with pytest.raises(Falsified) as failure:
        fs.assert_same(wide, other)
    *_, line = str(failure.value).splitlines()
    assert "column_17='value of column 17'" in line and "column_17='another'" in line and len(line) < 180


# --- equalities and other dependences ------------------------------------------------------------


def test_ignored_columns_may_be_anything(spark):
    left = spark.sql("SELECT 1 AS n, current_timestamp() AS at")
    fs.assert_same(left, spark.sql("SELECT 'yesterday' AS at, 1 AS n"), equal=fs.equality(ignore=["at"]))
    fs.assert_same(left, spark.sql("SELECT 1 AS n"), equal=fs.equality(ignore=["at", "never"]))
    with pytest.raises(Falsified, match="1 row only left, 1 only right"):
        fs.assert_same(left, spark.sql("SELECT 2 AS n"), equal=fs.equality(ignore=["at"]))
    fs.assert_same(left, left.union(left).limit(1), equal=fs.equality(ignore=["at", "n"]))


def test_a_function_decides(spark):
    left = spark.createDataFrame([("a",), ("B",), ("c",)], "w STRING")
    lower = fs.equality(by=lambda r: r.w.lower())
    fs.assert_same(left, left.selectExpr("upper(w) AS w"), equal=lower)
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, spark.createDataFrame([("A",), ("b",), ("b",)], "w STRING"), equal=lower)
    assert str(failure.value).splitlines()[-1].split() == ["w='c'", "w='b'"]
    with pytest.raises(fs.PredicateError, match="raised"):
        fs.assert_same(left, left.limit(2), equal=fs.equality(by=lambda r: r.nothing))


@pytest.mark.slow
def test_tolerances_by_place(spark):
    left = spark.createDataFrame([("a", 1.0), ("a", 2.0), ("b", 1.0)], "k STRING, x DOUBLE").coalesce(1)
    near = left.selectExpr("k", "x + 0.01 AS x")
    for dependence in (fs.ordered(), fs.same_key("k")):
        fs.assert_same(left, near, dependence=dependence, equal=fs.equality(abs_tol=0.1))
        with pytest.raises(Falsified, match="2 rows only left, 2 only right"):
            fs.assert_same(left, near.orderBy(F.desc("x"), "k"), dependence=dependence, equal=fs.equality(abs_tol=0.1))
    with pytest.raises(Falsified, match="3 rows only left, 3 only right"):
        fs.assert_same(left, near, dependence=fs.ordered(), equal=fs.equality(abs_tol=0.001))


def test_an_exact_equal_may_be_needed_by_another(spark):
    left, right = (spark.createDataFrame([(x,) for x in xs], "x DOUBLE") for xs in ([1.0, 0.92], [1.0, 1.08]))
    fs.assert_same(left, right, equal=fs.equality(abs_tol=0.1))


@pytest.mark.slow
def test_many_close_rows_are_compared_by_spark(spark, monkeypatch):
    monkeypatch.setattr(same, "ON_DRIVER", 3)
    left = spark.range(2000).selectExpr("id", "id / 7 AS x", "named_struct('y', array(float(id))) AS s")
    near = left.selectExpr("id", "x * (1 + 1e-12) AS x", "s").orderBy(F.desc("id"))
    close = fs.equality(rel_tol=1e-9)
    fs.assert_same(left, near, equal=close)
    fs.assert_same(left, near.orderBy("id"), equal=close, dependence=fs.ordered())
    with pytest.raises(Falsified, match="1 row only left, 1 only right"):
        fs.assert_same(left, near.selectExpr("id", "if(id = 77, double('Infinity'), x) AS x", "s"), equal=close)
    with pytest.raises(fs.Inconclusive, match="2000 rows only left and 2000 only right"):
        fs.assert_same(left, near.selectExpr("id", "x + 1 AS x", "s"), equal=close)


def test_other_dependences_ask_a_matcher(spark):
    rows = [("a", 1, False), ("b", 1, False), ("-", 0, True), ("a", 2, False)]
    left = spark.createDataFrame(rows, "k STRING, n INT, ends BOOLEAN").coalesce(1)
    swapped = spark.createDataFrame([rows[1], rows[0], *rows[2:]], left.schema).coalesce(1)
    days = fs.barrier(lambda r: r.ends)
    fs.assert_same(left, swapped, dependence=days)
    late = spark.createDataFrame([rows[0], rows[2], rows[1], rows[3]], left.schema).coalesce(1)
    with pytest.raises(Falsified) as failure:
        fs.assert_same(left, late, dependence=days | fs.same_key("k"))
    assert "came before an equal of" in str(failure.value) and "k='b'" in str(failure.value)
    with pytest.raises(Falsified, match="is left over"):
        fs.assert_same(left, swapped.where("n < 2"), dependence=days)


# --- bad input -----------------------------------------------------------------------------------


def test_what_is_no_frame_is_refused(spark):
    frame = spark.range(1)
    pandas = frame.toPandas()
    connect = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    stream = spark.readStream.format("rate").load()
    for wrong, said in [
        ([1], r"right=\[1\] \(list\) is no Spark DataFrame: write spark.createDataFrame"),
        (pandas, "is no Spark DataFrame"),
        (connect, "right=... is a DataFrame of Spark Connect"),
        (stream, "right=... is a streaming DataFrame"),
        (spark.newSession().range(1), "different Spark sessions"),
    ]:
        with pytest.raises(InvalidArgument, match=said):
            fs.assert_same(frame, wrong)
    with pytest.raises(InvalidArgument, match=r"left=None \(NoneType\)"):
        fs.assert_same(None, frame)


def test_wrong_options_are_refused(spark):
    frame = spark.range(1)
    with pytest.raises(InvalidArgument, match="dependence='ordered'"):
        fs.assert_same(frame, frame, dependence="ordered")
    with pytest.raises(InvalidArgument, match=r"equal=0\.1"):
        fs.assert_same(frame, frame, equal=0.1)
    with pytest.raises(InvalidArgument, match=r"same_key\('user'\) asks for the column 'user': the frames have 'id'"):
        fs.assert_same(frame, frame, dependence=fs.same_key("user"))
    with pytest.raises(InvalidArgument, match="does not go with"):
        fs.assert_same(frame, frame, dependence=fs.same_key("id"), equal=fs.equality(ignore=["id"]))


def test_an_error_of_spark_says_which_frame_it_came_from(spark):
    good, bad = spark.range(3), spark.range(3).select(F.raise_error(F.lit("boom")).cast("long").alias("id"))
    for frames, side in (((good, bad), "right"), ((bad, good), "left")):
        with pytest.raises(Exception, match="boom") as failure:
            fs.assert_same(*frames)
        assert failure.value.__notes__ == [f"fs.assert_same: Spark could not compute {side}"]


def test_nothing_stays_behind(spark):
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with pytest.raises(Falsified):
        fs.assert_same(spark.range(3), spark.range(4))
    fs.assert_same(spark.range(3), spark.range(3))
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_values_that_are_not_floats_are_never_close(spark):
    texts = ["SELECT 1 AS n, 1.00 AS d, date'2024-01-01' AS t", "SELECT 1 AS n, 1.01 AS d, date'2024-01-01' AS t"]
    with pytest.raises(Falsified, match=str(Decimal("1.01"))):
        fs.assert_same(*map(spark.sql, texts), equal=fs.equality(abs_tol=1))


def test_only_the_first_differences_come_to_the_driver(spark, monkeypatch):
    left = spark.range(200_000).selectExpr("id", "CAST(id AS STRING) AS text")
    right = left.where("id % 2 = 0").union(left.where("id % 2 = 1").selectExpr("id + 1000000 AS id", "text"))
    came = []

    def counting(name):
        original = getattr(type(left), name)

        def wrapper(frame, *args, **options):
            rows = list(original(frame, *args, **options))
            came.append(len(rows))
            return rows

        monkeypatch.setattr(type(left), name, wrapper)

    for name in ("collect", "toLocalIterator", "toPandas", "take", "head"):
        counting(name)
    fs.assert_same(left, left.repartition(7))
    equal_rows = sum(came)
    with pytest.raises(fs.Falsified, match=r"100,?000 rows only left"):
        fs.assert_same(left, right)
    assert 0 < equal_rows <= 10 and sum(came) <= 100, came
