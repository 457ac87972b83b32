"""Values that are equal however they are written, and values that only look equal."""

import pytest

import firesteel as fs
from firesteel import Falsified
from firesteel.spark.frames.large import LargeBatch

# An array of a variant, with items of two types: Spark tells no type for them.
MIXED = "CAST(array(CAST({} AS VARIANT), CAST(1 AS VARIANT)) AS VARIANT)"
DEEP = "SELECT array(to_variant_object(named_struct('k', array({}, CAST('x' AS VARIANT))))) AS v"
DAY, DAY_TEXT = "date'2030-01-01'", "'2030-01-01'"

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
    "a variant of several types": (f"SELECT {MIXED.format(DAY)} AS v",) * 2,
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
    "a date and its text in an array of a variant": (
        f"SELECT {MIXED.format(DAY)} AS v",
        f"SELECT {MIXED.format(DAY_TEXT)} AS v",
        """["2030-01-01",1] (ARRAY<VARIANT>: DATE, BIGINT)' v='["2030-01-01",1] (ARRAY<VARIANT>: STRING, BIGINT)""",
    ),
    "a date and its text deep in a variant": (
        DEEP.format(MIXED.format(DAY)),
        DEEP.format(MIXED.format(DAY_TEXT)),
        "STRING, DATE, BIGINT)",
    ),
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


@pytest.mark.slow
def test_vectors_are_compared_as_they_are_stored(spark):
    linalg = pytest.importorskip("pyspark.ml.linalg")
    dense, sparse = linalg.Vectors.dense([1.0, 2.0]), linalg.Vectors.sparse(2, [1], [2.0])

    def frame(*vectors):
        return spark.createDataFrame([(n, [vector]) for n, vector in enumerate(vectors)], ["n", "v"])

    for dependence in (fs.unordered(), fs.ordered(), fs.same_key("n"), fs.barrier(lambda row: row.n == 0)):
        fs.assert_same(frame(dense, sparse), frame(dense, sparse).coalesce(1), dependence=dependence)
    nearly = frame(linalg.Vectors.dense([1.0, 2.01]), sparse)
    fs.assert_same(frame(dense, sparse), nearly, equal=fs.equality(abs_tol=0.1))
    with pytest.raises(Falsified, match=r"values=\[1.0, 2.0\]"):
        fs.assert_same(frame(dense, sparse), nearly)
    with pytest.raises(Falsified, match="column 'v': array<vector> left, ARRAY<DOUBLE> right"):
        fs.assert_same(frame(dense), spark.sql("SELECT 0L AS n, array(1D) AS v"))
    large = LargeBatch(frame(dense, sparse), frame(dense).schema)
    assert large.same_as(LargeBatch(frame(sparse, dense), frame(dense).schema)).holds is False
    assert large.same_as(large)
