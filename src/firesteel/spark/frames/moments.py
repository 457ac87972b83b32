"""Moments and days as numbers, which mean the same in every time zone, and back.

PySpark collects a timestamp as a local time of the process. It cannot do that for every moment: some local times come
twice, and Python's years end with 9999. Years that Python does not have become text, in UTC and as Spark writes it.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

# The calendar repeats itself after 400 years.
_CYCLE = 146_097
_BEFORE_1970 = date(1970, 1, 1) - date.min
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1)


def as_number(column: Column, kind: str) -> Column | None:
    """A column of the class `kind` of PySpark's types as numbers: microseconds, an interval, days; None for others."""
    from pyspark.sql import functions as F

    match kind:
        case "TimestampType":
            return F.unix_micros(column)
        case "TimestampNTZType":
            return column - F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
        case "DateType":
            return F.unix_date(column)
        case _:
            return None


def moment(microseconds: int) -> datetime | str:
    """A TIMESTAMP, from its number.

    >>> moment(0), moment(253402300800000000)
    (datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), '+10000-01-01 00:00:00')
    """
    found = local_moment(timedelta(microseconds=microseconds))
    return found.replace(tzinfo=UTC) if isinstance(found, datetime) else found


def local_moment(since: timedelta) -> datetime | str:
    """A TIMESTAMP_NTZ, from its number."""
    try:
        return _EPOCH + since
    except OverflowError:
        days, rest = divmod(since, _DAY)
        return f"{_day_text(days)} {(datetime.min + rest).time()}"


def day(days: int) -> date | str:
    """A DATE, from its number.

    >>> day(0), day(-735460)
    (datetime.date(1970, 1, 1), '-0044-05-17')
    """
    try:
        return _EPOCH.date() + timedelta(days)
    except OverflowError:
        return _day_text(days)


def _day_text(days: int) -> str:
    cycles, rest = divmod(days + _BEFORE_1970.days, _CYCLE)
    within = date.min + timedelta(rest)
    year = within.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{within:%m-%d}"
