"""Recordings: how they are read, cut and drawn; and what a recording that cannot be used is told."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.data import ConjectureData

from firesteel import Batch, InvalidArgument, Record, Stream
from firesteel import strategies as ss
from firesteel.search.drawing import Drawing
from firesteel.search.wanted import Wanted
from firesteel.strategies.recordings import choices_of_whole

SCHEMA = "user INT NOT NULL, at TIMESTAMP NOT NULL"
START = datetime(2030, 1, 1, 9, 17, tzinfo=UTC)
QUICK = settings(max_examples=500, database=None, phases=[Phase.generate, Phase.shrink])


def clicks(minutes):
    """A user for each number of minutes after the start, in this order."""
    return [(user, START + timedelta(minutes=after)) for user, after in enumerate(minutes)]


def size(stream):
    return sum(map(len, stream))


def whole(strategy, records):
    """The recording with all its records."""
    return find(strategy, lambda stream: size(stream) == records, settings=QUICK)


def users(stream):
    return [[record.user for record in batch] for batch in stream]


# --- cutting -------------------------------------------------------------------------------------------------------


def test_by_event_time():
    stream = whole(ss.replay(clicks([0, 50, 10, 200]), every="1 hour", column="at", schema=SCHEMA), 4)
    # 9:17 and 9:27 come before 10:07, which was recorded between them; nothing from 11 to 12.
    assert users(stream) == [[0, 2], [1], [], [3]]
    assert [record.at for record in stream[3]] == [START + timedelta(minutes=200)]
    assert stream.span == (datetime(2030, 1, 1, 9, tzinfo=UTC), datetime(2030, 1, 1, 13, tzinfo=UTC))
    assert stream.schema.fieldNames() == ["user", "at"] and stream[2].schema == stream.schema


@pytest.mark.slow
@settings(max_examples=60, database=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.integers(1, 50_000), st.data())
def test_every_record_is_in_the_batch_of_its_time(seconds, every, data):
    start = datetime(1970, 1, 1, tzinfo=UTC)
    records = [(number, start + timedelta(seconds=after)) for number, after in enumerate(seconds)]
    length = timedelta(seconds=max(every, (max(seconds) - min(seconds)) // 9_000 + 1))
    stream = data.draw(ss.replay(records, every=length, column="at", schema=SCHEMA))
    first, end = stream.span
    assert not (first - start) % length and end == first + len(stream) * length
    assert first <= min(records, key=lambda r: r[1])[1] < first + length
    assert end - length <= max(records, key=lambda r: r[1])[1] < end
    for index, batch in enumerate(stream):
        assert all(first + index * length <= record.at < first + (index + 1) * length for record in batch)
        assert [record.user for record in batch] == sorted(record.user for record in batch), "as recorded"
    assert {tuple(record) for batch in stream for record in batch} <= set(records)


def test_by_count():
    stream = whole(ss.replay(clicks([5, 4, 3, 2, 1]), every=2, schema=SCHEMA), 5)
    assert users(stream) == [[0, 1], [2, 3], [4]] and stream.span is None
    assert whole(ss.replay([1, 2, 3], every=2), 3) == Stream(None, [[1, 2], [3]])


# --- drawing -------------------------------------------------------------------------------------------------------


def drawn(strategy, examples):
    found = []

    @settings(max_examples=examples, database=None, phases=[Phase.generate])
    @given(strategy)
    def draw(stream):
        found.append(stream)

    draw()
    return found


@pytest.mark.parametrize("records", [1, 7, 79, 81, 500, 7000])
def test_the_whole_recording_is_drawn_once_and_parts_of_it(records):
    streams = drawn(ss.replay(list(range(records)), every=-(-records // 5)), 20)
    assert {len(stream) for stream in streams} == {len(streams[0])}
    sizes = [size(stream) for stream in streams]
    assert sizes.count(records) >= 1 and records in sizes[:6], sizes
    if records > 1:
        assert len(set(sizes)) > 3 or records < 10, "parts of it"
    for stream in streams:
        kept = [record for batch in stream for record in batch]
        assert kept == sorted(set(kept)), "in order, none twice"


@pytest.mark.parametrize("records", [1, 2, 7, 64, 65, 500, 7000])
def test_the_choices_of_the_whole_recording(records):
    strategy = ss.replay(list(range(records)), every=-(-records // 5))
    data = ConjectureData.for_choices(choices_of_whole(strategy))
    stream = data.draw(strategy)
    assert [record for batch in stream for record in batch] == list(range(records))
    assert data.choices == choices_of_whole(strategy), "all of them were used, as they are"
    assert choices_of_whole(st.just(stream)) is None


@pytest.mark.parametrize("records", [1, 9, 700])
@pytest.mark.parametrize("cases", [1, 2, 30])
def test_a_check_begins_with_the_whole_recording(records, cases):
    strategy = ss.replay(list(range(records)), every=-(-records // 5))
    whole = choices_of_whole(strategy)
    wanted = Wanted(strategy, "a test", cases, settings(database=None), lambda stream: (size(stream),), first=whole)
    sizes = [size(candidate.value) for candidate in Drawing(wanted).to_come()]
    assert sizes[0] == records and len(sizes) <= cases
    assert cases < 30 or records == 1 or min(sizes) < records, "parts of it come later"


@pytest.mark.slow
@pytest.mark.parametrize("records, wanted", [(20, {3}), (60, {3, 50}), (700, {0, 699})])
def test_it_shrinks_to_the_records_that_matter(records, wanted):
    strategy = ss.replay(list(range(records)), every=10)
    found = find(
        strategy,
        lambda stream: wanted <= {record for batch in stream for record in batch},
        settings=settings(QUICK, max_examples=5_000),
        random=Random(1),
    )
    assert len(found) == records // 10
    assert {record for batch in found for record in batch} == wanted


# --- reading -------------------------------------------------------------------------------------------------------

ROWS = [{"user": 1, "at": START, "note": "x"}, {"user": 2, "at": START + timedelta(hours=1), "note": None}]


def replayed(recorded, **options):
    return whole(ss.replay(recorded, every="1 hour", column="at", **options), 2)


def written(tmp_path, kind):
    path = tmp_path / f"clicks.{kind}"
    match kind:
        case "csv":
            path.write_text("user,at,note\n1,2030-01-01 09:17:00,x\n2,2030-01-01T10:17:00,\n")
        case "jsonl":
            path.write_text("".join(json.dumps({**row, "at": f"{row['at']:%Y-%m-%d %H:%M:%S}"}) + "\n" for row in ROWS))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("schema", [None, "at TIMESTAMP NOT NULL, user SMALLINT NOT NULL"])
def test_files(tmp_path, kind, schema):
    path = written(tmp_path, kind)
    for recorded in (path, str(path), tmp_path):
        stream = replayed(recorded, schema=schema)
        if schema is None:
            assert stream == [[(1, START, "x")], [(2, START + timedelta(hours=1), None)]]
            assert stream.schema.simpleString() == "struct<user:bigint,at:timestamp,note:string>"
        else:
            assert stream == [[(START, 1)], [(START + timedelta(hours=1), 2)]]
            assert stream.schema.simpleString() == "struct<at:timestamp,user:smallint>"


def test_a_folder_as_spark_writes_it(tmp_path):
    for number, row in enumerate(ROWS):
        pq.write_table(
            pa.Table.from_pylist([row], pa.Table.from_pylist(ROWS).schema), tmp_path / f"part-{number}.parquet"
        )
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.crc").touch()
    assert users(replayed(tmp_path)) == [[1], [2]]
    (tmp_path / "part-2.csv").write_text("user\n5\n")
    with pytest.raises(InvalidArgument, match=r"part-2\.csv has other columns than part-0\.parquet: give schema="):
        replayed(tmp_path)


EVERY_TYPE = "i INT, d DOUBLE, f FLOAT, m DECIMAL(6,2), b BOOLEAN, day DATE, at TIMESTAMP, l TIMESTAMP_NTZ, s STRING"
VALUES = (5, 1.5, 1.100000023841858, Decimal("3.25"), True, date(2030, 1, 2), START, datetime(2030, 1, 1, 3), "")


def test_text_becomes_values_of_the_schema(tmp_path):
    csv, lines = tmp_path / "a.csv", tmp_path / "a.json"
    csv.write_text(
        'i,d,f,m,b,day,at,l,s\n5,1.5,1.1,3.25,TRUE,2030-01-02,2030-01-01T10:17:00+01:00,2030-01-01 03:00,""\n'
    )
    row = {"i": 5, "d": 1.5, "f": 1.1, "m": 3.25, "b": True, "day": "2030-01-02", "at": "2030-01-01T09:17Z",
           "l": "2030-01-01 03:00", "s": "", "more": 1}  # fmt: skip
    lines.write_text(json.dumps(row) + "\n\n")
    for path in (csv, lines):
        assert tuple(whole(ss.replay(path, every=1, schema=EVERY_TYPE), 1)[0][0]) == VALUES
    csv.write_text("i,s,d\n,,\n")
    assert tuple(whole(ss.replay(csv, every=1, schema="i INT, s STRING, d DOUBLE"), 1)[0][0]) == (None, None, None)
    lines.write_text('{"a": [{"at": "2030-01-01 03:00"}, null], "m": {"x": 1}, "n": 2}\n')
    nested = whole(ss.replay(lines, every=1, schema="a ARRAY<STRUCT<at: TIMESTAMP>>, m MAP<STRING, DOUBLE>"), 1)[0][0]
    assert nested.a == [Record(at=datetime(2030, 1, 1, 3, tzinfo=UTC)), None] and nested.m == {"x": 1.0}


def test_pandas():
    frame = pd.DataFrame(ROWS)
    assert users(replayed(frame)) == users(replayed(frame, schema=SCHEMA)) == [[1], [2]]
    naive = frame.assign(at=frame["at"].dt.tz_localize(None), kind=pd.Categorical(["a", "b"]))
    stream = replayed(naive)
    assert stream[0][0] == (1, START, "x", "a") and type(stream[0][0].at) is datetime
    assert stream.schema.simpleString() == "struct<user:bigint,at:timestamp,note:string,kind:string>"


@pytest.mark.parametrize(
    "recorded",
    [
        ROWS,
        [Record(row) for row in ROWS],
        Stream("user INT, at TIMESTAMP, note STRING", [[tuple(row.values()) for row in ROWS], []]),
        Stream(None, [[Record(row)] for row in ROWS]),
    ],
    ids=["dicts", "records", "stream", "stream without a schema"],
)
def test_records(recorded):
    stream = replayed(recorded)
    assert stream == [[(1, START, "x")], [(2, START + timedelta(hours=1), None)]]
    assert stream.schema.fieldNames() == ["user", "at", "note"]
    assert replayed(stream) == stream


@pytest.mark.slow
def test_a_pyspark_dataframe(spark):
    frame = spark.createDataFrame([tuple(row.values()) for row in ROWS], "user INT, at TIMESTAMP, note STRING")
    stream = replayed(frame)
    assert stream == [[(1, START, "x")], [(2, START + timedelta(hours=1), None)]]
    assert stream.schema == frame.schema
    assert users(replayed(frame, schema=SCHEMA)) == [[1], [2]]
    with pytest.raises(InvalidArgument, match="recorded is a streaming DataFrame, which has no end"):
        ss.replay(spark.readStream.format("rate").load(), every="1 hour", column="timestamp")
    with pytest.raises(InvalidArgument, match="the DataFrame has two columns of the name 'user'"):
        ss.replay(frame.select("user", "user"), every=1)


# --- bad input -----------------------------------------------------------------------------------------------------


def csv(tmp_path, text):
    path = tmp_path / "clicks.csv"
    path.write_text(text)
    return path


HOURS = {"every": "1 hour", "column": "at"}


@pytest.mark.parametrize(
    "recorded, options, message",
    [
        ("nowhere.csv", HOURS, "recorded='nowhere.csv' (str) is not a file that exists: give the path of a .csv, "),
        (__file__, HOURS, "test_recordings.py cannot be read, '.py' is not a suffix that is known: give a .csv, .json"),
        (5, HOURS, "recorded=5 (int) is not a recording: give a DataFrame of PySpark or pandas, the path of a .csv"),
        ([], HOURS, "the list holds no records: there is nothing to replay"),
        (Stream("at TIMESTAMP", [[], []]), HOURS, "the stream holds no records"),
        (pd.DataFrame({"at": []}), HOURS, "the DataFrame holds no records"),
        (ROWS, {"every": "1 hour", "column": "ts"}, "column='ts' (str) names no column: the list has user, at, note"),
        (ROWS, {"every": "1 hour"}, "column is missing, which tells the event time that every= goes by: name one of "
         "user, at, note, or write a whole number of records"),
        (ROWS, {"every": "1 hour", "column": "note"}, "column='note' (str) is not a timestamp, but STRING"),
        (ROWS, {"every": 2, "column": "at"}, "every=2 (int) is a number of records, which needs no column"),
        (ROWS, {"every": 0}, "every=0 (int) is not possible: write a whole number from 1"),
        (ROWS, {"every": True}, "every=True (bool) is not possible"),
        (ROWS, {"every": "soon", "column": "at"}, "every='soon' (str) is not a duration"),
        (ROWS, {"every": 1.5, "column": "at"}, "every=1.5 (float) is not a duration"),
        ([1, 2], HOURS, "column='at' (str) names no column: the list has none"),
        ([*ROWS, {"user": 3, "at": None}], HOURS, "recorded[2] has no event time: its at is null. Take out such"),
        ([*ROWS, {"user": "x"}], HOURS, "the columns of the list cannot be told from its records, give schema='...'"),
        (ROWS, {**HOURS, "schema": SCHEMA}, "recorded[0]={'user': 1"),
        ([(1, START), ("x", START)], {**HOURS, "schema": SCHEMA}, "recorded[1]=('x', datetime.datetime(2030"),
        ([(1, START), ("x", START)], {**HOURS, "schema": SCHEMA}, "fit the schema: user: expected INT, got 'x' (str)"),
        ([(1, START), (2, datetime(1970, 1, 1))], {**HOURS, "schema": SCHEMA}, "reaches from 1970-01-01 00:00:00 to "
         "2030-01-01 09:17:00, which is 525970 batches of 1 hour, more than 10000"),
        (pd.DataFrame({"a": [1, "x"]}), {"every": 1}, "the DataFrame cannot be converted"),
        (pd.DataFrame({"a": [1, 2]}), {"every": 1, "schema": "b INT"}, "the schema does not fit: the DataFrame has no "
         "column 'b', only a"),
    ],
)  # fmt: skip
def test_bad_recordings(recorded, options, message):
    with pytest.raises(InvalidArgument) as error:
        ss.replay(recorded, **options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text, schema, message",
    [
        ("user,at\n1,2030-01-01 09:00:00\n2,\n", None, "row 2 of clicks.csv has no event time: its at is null"),
        ("user,at\n1,2030-01-01 09:00:00\n2,\n", "at TIMESTAMP", "row 2 of clicks.csv has no event time"),
        ("user,at\n1,2030-01-01\nx,2030-01-02\n", SCHEMA, "row 2 of clicks.csv={'user': 'x', 'at': datetime"),
        ("user,at\n1,2030-01-01\nx,2030-01-02\n", SCHEMA, "user: expected INT, got 'x' (str)"),
        ("user,at\n1,noon\n", SCHEMA, "row 1 of clicks.csv={'user': 1, 'at': 'noon'} (dict) does not fit the schema: "
         "at: expected TIMESTAMP, got 'noon' (str)"),
        ("user,at\n99999999999,2030-01-01\n", SCHEMA, "user: 99999999999 is out of range for INT"),
        ("user,at\n,2030-01-01\n", SCHEMA, "user: null, but the column is NOT NULL"),
        ("user,ts\n1,2030-01-01\n", SCHEMA, "the schema does not fit: clicks.csv has no column 'at', only user, ts"),
        ("user,at\n1,noon\n", None, "column='at' (str) is not a timestamp, but STRING: name another column, or say"),
        ("user,at\n1\n", None, "clicks.csv cannot be read as CSV: "),
        ("user,user\n1,2\n", None, "clicks.csv has two columns of the name 'user': rename one of them"),
        ("user,at\n", SCHEMA, "clicks.csv holds no records"),
        ("", SCHEMA, "clicks.csv holds no records"),
    ],
)  # fmt: skip
def test_bad_csv(tmp_path, text, schema, message):
    with pytest.raises(InvalidArgument) as error:
        ss.replay(csv(tmp_path, text), schema=schema, **HOURS)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text, schema, message",
    [
        ('{"user": 1}\n{"user": }\n', "user INT", "line 2 of clicks.json is not JSON: Expecting value"),
        ('{"user": 1}\n{"user": }\n', None, "clicks.json cannot be read as JSON, which has an object in every line"),
        ("[1]\n", "user INT", "line 1 of clicks.json is not a JSON object, but value=[1] (list)"),
        ('{"user": 1.5}\n', "user INT", "row 1 of clicks.json={'user': Decimal('1.5')} (dict) does not fit the schema"),
        ('{"usr": 1}\n', "user INT", "the schema does not fit: clicks.json has no column 'user', only usr"),
        ("", None, "clicks.json holds no records"),
    ],
)
def test_bad_json(tmp_path, text, schema, message):
    path = tmp_path / "clicks.json"
    path.write_text(text)
    with pytest.raises(InvalidArgument) as error:
        ss.replay(path, every=1, schema=schema)
    assert message in str(error.value)


def test_bad_parquet(tmp_path):
    path = tmp_path / "clicks.parquet"
    path.write_text("nonsense")
    with pytest.raises(InvalidArgument, match=r"clicks\.parquet cannot be read as Parquet: "):
        ss.replay(path, every=1)
    with pytest.raises(InvalidArgument, match="is an empty folder"):
        (tmp_path / "none").mkdir()
        ss.replay(tmp_path / "none", every=1)


def test_batches_stay_batches():
    assert isinstance(find(ss.replay(ROWS, every=1), lambda s: True)[0], Batch)
