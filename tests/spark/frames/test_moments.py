"""Moments beyond Python's years, and in time zones of the process that are not UTC."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest

from firesteel.spark.engines.recorded import from_local
from firesteel.spark.frames import moments

# In a process of its own: the zone is that of Python and of the JVM, which read it when they start.
CHILD = """
import sys
import firesteel as fs
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "1").getOrCreate()
)
assert spark.conf.get("spark.sql.session.timeZone") == sys.argv[1]
close, kept = fs.equality(abs_tol=0.1), fs.barrier(lambda row: True)

def frame(*rows):
    return spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS v(t, d, x)")

def differ(left, right, **options):
    try:
        fs.assert_same(left, right, **options)
    except fs.Falsified as failure:
        return str(failure)
    raise AssertionError("they are said to be the same")

end = "(timestamp'9999-12-31 23:59:59', date'9999-12-31', {}D)"
far = "(timestamp'+12345-01-01 00:00:00', date'-0044-03-15', {}D)"
for options in ({}, {"equal": close}, {"dependence": kept}, {"dependence": fs.ordered()}):
    fs.assert_same(frame(end.format(1), far.format(1)), frame(end.format(1), far.format(1)), **options)
fs.assert_same(frame(end.format(1)), frame(end.format(1.05)), equal=close)
for options in ({}, {"equal": close}, {"dependence": kept}):
    print(differ(frame(end.format(1)), frame(end.replace("59'", "58'").format(1)), **options))
    differ(frame(far.format(1)), frame(far.replace("12345", "12346").format(1)), **options)
# The hour that comes twice: an hour apart, and the same by the clock on the wall.
first, second = (f"(timestamp'{sys.argv[2]}T0{hour}:30:00Z', date'2024-01-01', {{}}D)" for hour in sys.argv[3:])
print(differ(frame(first.format(1), far.format(1)), frame(second.format(1.05), far.format(1.05)), equal=close))

# What a stream puts out. The last second of Python's years in UTC is in the next year, by the clocks of Berlin.
last = "timestamp'9999-12-31T23:59:59Z'"
columns = ["n", "binary(n) b", f"{last} t", f"array(named_struct('u', {last}, 'm', map(n, {last}))) nested"]
(now,) = fs.run(fs.Stream("n INT", [[(1,)]]), lambda f: f.selectExpr(*columns))
print("ran", now.output)
beyond = f"CASE WHEN n = 2 THEN {last} + INTERVAL 5 HOURS END valid_to"
for columns in ([beyond], ["n", f"array(named_struct('a', {beyond.removesuffix(' valid_to')})) nested"]):
    try:
        fs.run(fs.Stream("n INT", [[(1,)], [(2,)], [(3,)]]), lambda f: f.selectExpr(*columns))
    except fs.SubjectError as error:
        print("refused", error.report.evidence.message, len(error.report.evidence.trace))
"""
LAST = "datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.timezone.utc)"
RAN = f"Record(n=1, b=b'\\x00\\x00\\x00\\x01', t={LAST}, nested=[Record(u={LAST}, m={{1: {LAST}}})])"


@pytest.mark.slow
@pytest.mark.parametrize(
    "zone, fold, shown",
    [
        ("Europe/Berlin", ["2024-10-27", "0", "1"], "t=9999-12-31 22:59:58"),
        ("America/New_York", ["2024-11-03", "5", "6"], "t='+10000-01-01 04:59:58'"),
    ],
)
def test_in_a_plain_session_with_a_zone(zone, fold, shown, tmp_path):
    environment = os.environ | {"TZ": zone}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, zone, *fold],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count(shown) >= 3 and f"{fold[0]} 0{fold[1]}:30:00" in done.stdout
    ran, *refused = done.stdout.splitlines()[-3:]
    assert ran == f"ran Batch([{RAN}])"
    for line, column in zip(refused, ("valid_to", "nested"), strict=True):
        assert f"refused the output's column {column!r} holds +10000-01-01 04:59:59 (UTC)" in line
        assert line.endswith(" 1"), "the first batch came out, and the second one did not"


def test_numbers_of_moments_against_pythons_calendar():
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    for moment in (datetime.min, datetime(1582, 10, 10, 1), datetime(2024, 2, 29, 1, 2, 3, 4), datetime.max):
        aware = moment.replace(tzinfo=UTC)
        assert moments.moment((aware - epoch) // timedelta(microseconds=1)) == aware
        assert moments.local_moment(aware - epoch) == moment
        assert moments.day((aware - epoch).days) == moment.date()


@pytest.mark.parametrize("years", [-400, -4000, 10_000, 280_000])
def test_years_that_python_does_not_have_are_text(years):
    """The calendar repeats itself after 400 years: months and days are those of a year that Python has."""
    shift = years // 400 * 146_097
    for here in (date(2000, 2, 29), date(1900, 3, 1), date(4, 12, 31)):
        year = here.year + years
        if 1 <= year <= 9999:
            continue
        days = (here - date(1970, 1, 1)).days + shift
        expected = f"{'-' if year < 0 else '' if year <= 9999 else '+'}{abs(year):04d}-{here:%m-%d}"
        assert moments.day(days) == expected
        assert moments.moment(days * 86_400_000_000 + 1) == f"{expected} 00:00:00.000001"


def test_a_local_time_at_the_end_of_pythons_years(monkeypatch):
    import time

    for zone, hour in (("Europe/Berlin", 22), ("Asia/Kolkata", 18)):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        try:
            assert from_local(datetime(9999, 12, 31, 23, 59, 59)).replace(minute=0) == datetime(
                9999, 12, 31, hour, 0, 59, tzinfo=UTC
            )
        finally:
            monkeypatch.undo()
            time.tzset()
