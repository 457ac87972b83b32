"""The Yahoo streaming benchmark in small: ads that people see and click, and the campaigns that they belong to.

Two jobs say which view of an ad counts for which campaign, and in which window of ten seconds. The one is a join with a
table of campaigns, the other looks them up in Python: in a dictionary, or wherever it is told to. Bugs can be switched
on in the second.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EVENTS = "id BIGINT, ad STRING, kind STRING, ts TIMESTAMP, arrived TIMESTAMP"
COUNTED = "id BIGINT, ad STRING, campaign STRING, `window` TIMESTAMP, ts TIMESTAMP"
BUGS = ("late", "lost", "shifted", "twice")
"""Late events are counted; a campaign is missing; windows begin a second late; some views count twice."""
START = datetime(2030, 1, 1, tzinfo=UTC)
WINDOW, LATE = 10, 20
"""In seconds: the windows, and how late an event may arrive."""

Event: TypeAlias = "tuple[int, str, str, datetime, datetime]"
Job: TypeAlias = "Callable[[DataFrame], DataFrame]"
Lookup: TypeAlias = "Callable[[Sequence[str]], Sequence[str | None]]"
"""The campaigns of some ads; None for an ad that is not known."""


def campaigns(count: int = 10, ads: int = 10) -> dict[str, str]:
    """The campaign of every ad.

    >>> campaigns(2, 2)
    {'ad-0-0': 'campaign-0', 'ad-0-1': 'campaign-0', 'ad-1-0': 'campaign-1', 'ad-1-1': 'campaign-1'}
    """
    return {f"ad-{number}-{ad}": f"campaign-{number}" for number in range(count) for ad in range(ads)}


def events(count: int, *, seed: int = 0, rate: int = 100, late: float = 0.02) -> Iterator[Event]:
    """Events in the order in which they arrive, `rate` a second. A few arrive late, and some of these too late.

    >>> [kind for _, _, kind, _, _ in events(4)]
    ['click', 'click', 'view', 'view']
    """
    draw, ads = random.Random(seed), list(campaigns())
    for number in range(count):
        arrived = START + timedelta(seconds=number / rate)
        behind = draw.uniform(1, 2 * LATE) if draw.random() < late else draw.uniform(0, 0.5)
        kind = draw.choice(["view", "click", "purchase"])
        yield number, draw.choice(ads), kind, arrived - timedelta(seconds=behind), arrived


def joined(events: DataFrame) -> DataFrame:
    """Views that count, with a join."""
    from pyspark.sql import functions as F

    table = events.sparkSession.createDataFrame(list(campaigns().items()), "ad STRING, campaign STRING")
    views = events.where("kind = 'view'").where(f"arrived - ts <= INTERVAL {LATE} SECONDS")
    window = F.window("ts", f"{WINDOW} seconds").start.alias("window")
    return views.join(F.broadcast(table), "ad").select("id", "ad", "campaign", window, "ts")


def known(ads: Sequence[str]) -> Sequence[str | None]:
    """The campaigns of some ads, from a dictionary.

    >>> known(["ad-3-0", "ad-x"])
    ['campaign-3', None]
    """
    found = campaigns()
    return [found.get(ad) for ad in ads]


def looked_up(lookup: Lookup = known, bug: str | None = None) -> Job:
    """The same, in Python. `bug` is one of `BUGS`."""

    def job(events: DataFrame) -> DataFrame:
        return events.mapInArrow(_counted(lookup, bug), COUNTED)

    return job


def _counted(lookup: Lookup, bug: str | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def counted(parts: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped]

        moment = pa.timestamp("us", "UTC")
        kinds = [pa.int64(), pa.string(), pa.string(), moment, moment]
        for part in parts:
            rows = []
            views = [event for event in part.to_pylist() if event["kind"] == "view"]
            for event, campaign in zip(views, lookup([event["ad"] for event in views]), strict=True):
                if campaign is None or (bug == "lost" and campaign == "campaign-7"):
                    continue
                if bug != "late" and event["arrived"] - event["ts"] > timedelta(seconds=LATE):
                    continue
                shift = 1 if bug == "shifted" else 0
                past = (event["ts"] - START - timedelta(seconds=shift)) % timedelta(seconds=WINDOW)
                row = (event["id"], event["ad"], campaign, event["ts"] - past, event["ts"])
                rows += [row, row] if bug == "twice" and event["id"] % 50 == 0 else [row]
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(kinds)
            arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, names=["id", "ad", "campaign", "window", "ts"])

    return counted


def write(rows: list[Event], path: str) -> None:
    """Events as a file that a stream reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    moment = pa.timestamp("us", "UTC")
    kinds = [("id", pa.int64()), ("ad", pa.string()), ("kind", pa.string()), ("ts", moment), ("arrived", moment)]
    columns = [pa.array(column, kind) for column, (_, kind) in zip(zip(*rows, strict=True), kinds, strict=True)]
    pq.write_table(pa.Table.from_arrays(columns, names=[name for name, _ in kinds]), path)
