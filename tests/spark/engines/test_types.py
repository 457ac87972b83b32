"""Every Spark type goes from strategy through source, query and recorder unchanged."""

import datetime
import math
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import firesteel as fs
from firesteel import InvalidArgument, Record
from firesteel import strategies as ss
from firesteel.spark.bulk.together import exercise_together
from firesteel.spark.running import Running
from firesteel.values import schemas
from firesteel.values.cases import Case

TYPES = [
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38,18)", "DECIMAL(5,0)", "STRING",
    "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "INTERVAL DAY TO SECOND", "VARIANT",
    "TIME", "STRING COLLATE UTF8_LCASE", "GEOMETRY(4326)", "GEOGRAPHY(4326)",
    "ARRAY<DOUBLE>", "ARRAY<STRUCT<t: TIMESTAMP, s: STRING NOT NULL>>", "MAP<STRING, ARRAY<INT>>",
    "MAP<INT, STRUCT<x: FLOAT, d: DECIMAL(10,2)>>", "STRUCT<a: INT, b: STRUCT<c: BINARY, d: DATE>>",
]  # fmt: skip


def identity(frame):
    return frame


def samples(ddl, count):
    """Some records with two columns of the type, generated; the second is never null."""
    made = []

    @settings(max_examples=count, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(ss.records(f"v {ddl}, w {ddl} NOT NULL"))
    def draw(record):
        made.append(record)

    draw()
    return made


# Columns of all types beside each other, so that a few runs of Spark serve the tests of all types.
EVERY = ", ".join(f"v{n} {ddl}, w{n} {ddl} NOT NULL" for n, ddl in enumerate(TYPES))


@pytest.fixture(scope="module")
def every_type():
    """Records with two columns of every type."""
    beside = zip(*(samples(ddl, 40) for ddl in TYPES), strict=False)
    return [Record({f"{name}{n}": r[name] for n, r in enumerate(row) for name in "vw"}) for row in beside]


@pytest.fixture(scope="module")
def alone(spark, every_type):
    return fs.run(fs.Stream(EVERY, [every_type[:20], [], every_type[20:]]), identity, spark=spark)


@pytest.fixture(scope="module")
def together(spark, every_type):
    cases = [[every_type[:8], []], [[], every_type[8:20], every_type[:1]], [[]]]
    streams = [fs.Stream(EVERY, batches) for batches in cases]
    traces = exercise_together(spark, [Case({"input": stream}) for stream in streams], identity, Running())
    return [instant for trace in traces for instant in trace]


@pytest.mark.parametrize("ddl", TYPES)
@pytest.mark.parametrize("run", [pytest.param("alone", marks=pytest.mark.slow), "together"])
def test_values_come_back_as_they_went_in(request, ddl, run):
    columns = [f"{name}{TYPES.index(ddl)}" for name in "vw"]

    def these(batch):
        return [Record({column: record[column] for column in columns}) for record in batch]

    trace = request.getfixturevalue(run)
    assert sum(len(instant.output) for instant in trace) > 20
    for instant in trace:
        assert these(instant.output) == these(instant.input), "one partition keeps its order"
        assert [instant.output.schema[column] for column in columns] == [schemas.parse(EVERY)[c] for c in columns]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia"])
def test_timestamps_do_not_depend_on_the_sessions_zone(spark, zone):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        moments = [
            datetime.datetime(2024, 11, 3, 5, 59, 59, 999_999, tzinfo=datetime.UTC),  # clocks go back in New York
            datetime.datetime(2024, 11, 3, 6, 30, 0, 1, tzinfo=datetime.UTC),
            datetime.datetime(2024, 3, 10, 7, 0, 0, 0, tzinfo=datetime.UTC),
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=datetime.UTC),
            datetime.datetime(1900, 1, 1, tzinfo=datetime.UTC),
        ]
        naive = datetime.datetime(2024, 3, 10, 2, 30, 0, 7)
        stream = fs.Stream("t TIMESTAMP, n TIMESTAMP_NTZ", [[(moment, naive) for moment in moments]])
        (instant,) = fs.run(stream, identity, spark=spark)
        assert instant.output.values("t") == moments
        assert all(moment.tzinfo is datetime.UTC for moment in instant.output.values("t"))
        assert instant.output.values("n") == [naive] * len(moments)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_timestamps_do_not_depend_on_the_processs_zone(spark, monkeypatch, zone):
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        moments = [datetime.datetime(2024, 11, 3, hour, 30, 0, 5, tzinfo=datetime.UTC) for hour in range(4, 8)]
        stream = fs.Stream("t TIMESTAMP", [[(moment,) for moment in moments]])
        (instant,) = fs.run(stream, identity, spark=spark)
        assert instant.output.values("t") == moments
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_interesting_values_by_name(spark):
    schema = "x DOUBLE, f FLOAT, d DECIMAL(38,0), s STRING, b BINARY, m MAP<STRING, INT>, a ARRAY<STRUCT<e: STRING>>"
    rows = [
        (math.nan, math.nan, Decimal(10**38 - 1), "🔥 e\u0301\n\0'\"", b"\x00\xff", {"k": None}, [("x",), None]),
        (math.inf, -math.inf, Decimal(-(10**38) + 1), "", b"", {}, []),
        (-0.0, 0.5, Decimal(0), "x" * 10_000, None, None, None),
        (None, None, None, None, None, None, None),
    ]
    (instant,) = fs.run(fs.Stream(schema, [rows]), identity, spark=spark)
    assert instant.output == [Record(dict(zip(schemas.parse(schema).fieldNames(), row, strict=True))) for row in rows]


@pytest.mark.parametrize("ddl", ["INTERVAL YEAR TO MONTH", "INTERVAL"])
def test_types_that_pyspark_cannot_carry_are_refused_before_spark_runs(spark, ddl):
    with pytest.raises(InvalidArgument, match="cannot be fed"):
        fs.run(fs.Stream(f"v {ddl}", [[]]), identity, spark=spark)
    with pytest.raises(InvalidArgument):
        ss.records(f"v {ddl}")


def test_ddl_is_read_as_spark_reads_it(spark):
    from pyspark.sql.types import StructType

    text = (
        "a INT NOT NULL COMMENT 'x', `b c` ARRAY<MAP<STRING, DECIMAL(10, 2)>>, "
        "d: STRUCT<e: TIMESTAMP_NTZ, f: BINARY NOT NULL>, "
        "g TINYINT, h REAL, i NUMERIC, j INTERVAL DAY TO SECOND, k VARIANT, l CHAR(3), m BYTE, n LONG, o DEC(3)"
    )
    assert schemas.parse(text) == StructType.fromDDL(text)


def test_two_columns_of_one_name_are_kept_apart(spark):
    stream = fs.Stream("n INT", [[(1,)]])
    (instant,) = fs.run(stream, lambda frame: frame.selectExpr("n", "n + 1 AS n"), spark=spark)
    assert instant.output == [Record(n=1, n_2=2)]
    (instant,) = fs.run(stream, lambda frame: frame.selectExpr("n", "n + 1 AS n", "n + 2 AS n_2"), spark=spark)
    assert instant.output == [Record(n=1, n_3=2, n_2=3)]


def test_a_type_that_is_switched_off_in_the_session_is_refused_clearly(spark):
    spark.conf.set("spark.sql.timeType.enabled", "false")  # put back by the plugin after the test
    with pytest.raises(
        InvalidArgument, match="Spark does not take the schema of the stream 'input': The data type TIME"
    ):
        fs.run(fs.Stream("v TIME", [[]]), identity, spark=spark)


def test_void(spark):
    (instant,) = fs.run(fs.Stream("n INT, v VOID", [[(1, None)]]), identity, spark=spark)
    assert instant.output == [(1, None)]


def test_a_collation_reaches_the_query(spark):
    stream = fs.Stream("s STRING COLLATE UTF8_LCASE", [[("A",), ("b",)]])
    (instant,) = fs.run(stream, lambda frame: frame.where("s = 'a'"), spark=spark)
    assert instant.output == [("A",)]
