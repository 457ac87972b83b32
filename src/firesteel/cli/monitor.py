"""`firesteel monitor`: two versions of a job on one source, compared while they run, with a live view."""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firesteel.cli.command import Command
from firesteel.errors import InvalidArgument, described
from firesteel.monitoring.progress import PROGRESS, SHED, Progress, is_difference
from firesteel.names import counted
from firesteel.values.dependence import Dependence, ordered, same_key, unordered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from rich.table import Table

DIFFERENT, REFUSED, FAILED = 1, 2, 3
"""The exit codes: the jobs differ, the arguments are wrong, a job or the query failed."""

_OF_FILES = frozenset({"parquet", "json", "csv", "orc", "text", "avro", "xml", "binaryfile"})
"""Formats that need a path."""

STORY = """\
The Yahoo streaming benchmark: which view of an ad counts for which campaign? Two versions of the job run on the same
events. The second one has a bug: %s. firesteel compares what they put out, while they run."""
BUGS = {
    "late": "it counts events that arrive too late",
    "lost": "it does not know one of the campaigns",
    "shifted": "its windows begin a second late",
    "twice": "it counts some views twice",
}


class Failed(Exception):
    """A job failed, or the query that compares two of them."""


@dataclass
class Seen:
    """What the monitor has put out so far."""

    progress: Progress = field(default_factory=Progress)
    differences: int = 0
    shed: int = 0
    """How many times rows were dropped."""
    first: Mapping[str, Any] | None = None
    before: tuple[float, int] | None = None
    """When pairs were last counted, and how many there were."""
    pairs_a_second: float = 0.0
    input_a_second: float = 0.0

    def take(self, row: Mapping[str, Any]) -> None:
        if row["kind"] == PROGRESS:
            self.progress.take(row)
        elif row["kind"] == SHED:
            self.shed += 1
        elif is_difference(row):
            self.differences += 1
            self.first = self.first or row

    def tick(self, now: float, last: Mapping[str, Any] | None) -> None:
        """Look at a clock: how many pairs a second were matched since the last time? `last` is the query's progress."""
        matched = self.progress.matched
        if self.before is None:
            self.before = (now, matched)
        elif now - self.before[0] > 1:
            self.pairs_a_second = (matched - self.before[1]) / (now - self.before[0])
            self.before = (now, matched)
        found = None if last is None else last.get("inputRowsPerSecond")
        self.input_a_second = 0.0 if found is None or math.isnan(found) else found


def view(seen: Seen, now: float) -> Table:
    """The table that is shown while the monitor runs; `now` is in seconds since 1970."""
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("input", f"{seen.input_a_second:,.0f} rows a second")
    table.add_row("matched", f"{seen.progress.matched:,} pairs, {seen.pairs_a_second:,.0f} a second")
    table.add_row("unmatched", f"{seen.progress.unmatched:,}")
    table.add_row("lag", f"{seen.progress.lag(now):.1f} s")
    table.add_row("quarantined", f"{seen.progress.quarantined:,}")
    if seen.shed:
        table.add_row("shed", counted(seen.shed, "time"))
    table.add_row("differences", f"[bold red]{seen.differences:,}[/]" if seen.differences else "0")
    if seen.first is not None:
        from rich.markup import escape

        table.add_row("the first", escape(seen.first["reason"]))
    return table


def main(chosen: argparse.Namespace) -> int:
    """Monitors two jobs; 1 if they differ, 2 if an argument is wrong, 3 if a job or the query failed."""
    try:
        return _demo(chosen) if chosen.demo is not None else _monitor(chosen)
    except InvalidArgument as error:
        print(f"firesteel monitor: {error}", file=sys.stderr)
        return REFUSED
    except Failed as error:
        print(f"firesteel monitor: {error}", file=sys.stderr)
        return FAILED


def _monitor(chosen: argparse.Namespace) -> int:
    from firesteel.cli.analyze import found

    needed = ["left", "right", *(["input"] if chosen.format.lower() in _OF_FILES else [])]
    if any(getattr(chosen, name) is None for name in needed):
        raise InvalidArgument(
            "two jobs and their input are needed: write firesteel monitor jobs:old jobs:new --input events/ "
            '--schema "user BIGINT, ts TIMESTAMP" --key user; or see `firesteel monitor --demo`'
        )
    left, right = found(chosen.left), found(chosen.right)
    stream = _stream(chosen)
    return _compared(_made(chosen.left, left, stream), _made(chosen.right, right, stream), chosen, chosen.checkpoint)


def _made(name: str, job: Callable[[DataFrame], DataFrame], stream: DataFrame) -> DataFrame:
    """What a job makes of the stream."""
    try:
        return job(stream)
    except Exception as error:
        raise Failed(f"{name} failed: {type(error).__name__}: {first_line(error)}") from error


def _stream(chosen: argparse.Namespace) -> DataFrame:
    from pyspark.errors import PySparkException

    import firesteel as fs

    reader = fs.session().readStream.format(chosen.format)
    for option in chosen.option:
        name, given, value = option.partition("=")
        if not given:
            raise InvalidArgument(f"{described('--option', option)} is not an option: write NAME=VALUE")
        reader = reader.option(name, value)
    try:
        if chosen.schema is not None:
            reader = reader.schema(chosen.schema)
        if chosen.input is None:
            return reader.load()
        here = Path(chosen.input)  # Spark may have started elsewhere
        return reader.load(str(here.absolute()) if here.exists() else chosen.input)
    except PySparkException as error:
        raise InvalidArgument(f"the input cannot be read: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first line of what an error says.

    >>> first_line(ValueError("no such table\\nat line 5"))
    'no such table'
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _dependence(chosen: argparse.Namespace) -> Dependence:
    if chosen.ordered:
        return ordered()
    return same_key(*chosen.key) if chosen.key else unordered()


def _watermark(chosen: argparse.Namespace) -> tuple[str, str] | None:
    if chosen.watermark is None:
        return None
    column, given, delay = chosen.watermark.partition("=")
    if not given:
        raise InvalidArgument(f"{described('--watermark', chosen.watermark)} is not known: write 'ts=10 minutes'")
    return column, delay


def _compared(left: DataFrame, right: DataFrame, chosen: argparse.Namespace, checkpoint: str | None) -> int:
    from pyspark.errors import PySparkException

    import firesteel as fs
    from firesteel import sinks
    from firesteel.spark.failures import root_cause

    seen = Seen()
    verdicts = fs.monitor_equivalence(
        left,
        right,
        dependence=_dependence(chosen),
        watermark=_watermark(chosen),
        unmatched_at_most=chosen.unmatched_at_most,
        overflow=chosen.overflow,
        progress=True,
    )
    wanted = [sinks.callback(seen.take, progress=True)]
    wanted += [sinks.json_lines(chosen.json_lines)] if chosen.json_lines else []
    wanted += [sinks.metrics(chosen.metrics)] if chosen.metrics else []
    wanted += [sinks.stop()] if chosen.stop else []
    with _folder(checkpoint) as folder:
        writer = verdicts.writeStream.foreachBatch(sinks.together(*wanted)).option("checkpointLocation", folder)
        try:
            query = (writer.trigger(availableNow=True) if chosen.once else writer).start()
            try:
                ended = _show(query, seen)
            finally:
                query.stop()
        except PySparkException as error:
            raise Failed(f"the query failed: {root_cause(error)}") from error
    return concluded(seen, all_read=ended and chosen.once and not (chosen.stop and seen.differences))


def concluded(seen: Seen, *, all_read: bool) -> int:
    """The exit code, after the lines that say why where the table does not. Is there nothing more to come?"""
    left_over = seen.progress.unmatched if all_read else 0
    if left_over:
        print(f"{counted(left_over, 'row')} had no match when all was read: one job put out what the other did not")
    if seen.shed:
        print("more rows waited than --unmatched-at-most allows: some were dropped, and were not compared")
    return DIFFERENT if seen.differences or seen.shed or left_over else 0


def _folder(checkpoint: str | None) -> AbstractContextManager[str]:
    return nullcontext(checkpoint) if checkpoint else tempfile.TemporaryDirectory(prefix="firesteel-monitor-")


def _show(query: Any, seen: Seen) -> bool:
    """Shows a table until the query ends, or until the user stops it. Did it end by itself?

    A query that failed raises here: `awaitTermination` says so, also if it ended long ago.
    """
    from rich.console import Console
    from rich.live import Live

    def shown() -> Table:
        seen.tick(time.monotonic(), query.lastProgress)
        return view(seen, time.time())

    console, ended = Console(highlight=False), False
    with Live(shown(), console=console, refresh_per_second=4, transient=not console.is_terminal) as live:
        try:
            while not ended:
                ended = query.awaitTermination(0.25)
                live.update(shown())
        except KeyboardInterrupt:
            pass
    if not console.is_terminal:
        console.print(shown())
    return ended


def _demo(chosen: argparse.Namespace) -> int:
    """Monitors the jobs of the benchmark; 0 if the difference was found."""
    import firesteel as fs
    from firesteel.cli import advertising

    print(STORY % BUGS[chosen.demo], flush=True)
    chosen.watermark, chosen.key, chosen.ordered, chosen.once = "ts=30 seconds", [], False, True
    with tempfile.TemporaryDirectory(prefix="firesteel-monitor-") as folder:
        rows = list(advertising.events(20_000))
        for number in range(10):
            advertising.write(rows[number * 2000 : (number + 1) * 2000], str(Path(folder) / f"{number}.parquet"))
        reader = fs.session().readStream.schema(advertising.EVENTS).option("maxFilesPerTrigger", 1)
        stream = reader.parquet(folder)
        left, right = advertising.joined(stream), advertising.looked_up(bug=chosen.demo)(stream)
        found = _compared(left, right, chosen, None)
    print("\nfiresteel found it." if found == DIFFERENT else "\nfiresteel found nothing.")
    return 0 if found == DIFFERENT else 1


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", nargs="?", help="package.module:function, from a DataFrame to a DataFrame")
    parser.add_argument("right", nargs="?", help="the other version of the job")
    parser.add_argument("--demo", nargs="?", const="lost", choices=sorted(BUGS), help="see it find a bug")
    parser.add_argument("--input", help="what both jobs read: a folder, or what the format takes, if anything")
    parser.add_argument("--format", default="parquet", help="of the input (default: parquet)")
    parser.add_argument("--schema", help='of the input: "user BIGINT, ts TIMESTAMP"')
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the source")
    parser.add_argument("--key", action="append", default=[], help="rows with the same key keep their order")
    parser.add_argument("--ordered", action="store_true", help="all rows keep their order")
    parser.add_argument("--watermark", metavar="COLUMN=DELAY", help="report what has no match by then: 'ts=10 minutes'")
    parser.add_argument("--unmatched-at-most", type=int, help="how many rows may wait for their match")
    parser.add_argument(
        "--overflow",
        choices=["shed", "stop"],
        default="shed",
        help="if more rows wait: drop some and say so, or stop (default: shed)",
    )
    parser.add_argument("--checkpoint", help="a folder, so that a later run goes on from here")
    parser.add_argument("--once", action="store_true", help="end when all that is there was compared")
    parser.add_argument("--stop", action="store_true", help="end at the first difference")
    parser.add_argument("--json-lines", metavar="FILE", help="write verdicts to a file")
    parser.add_argument("--metrics", metavar="FILE", help="keep metrics in a file, as Prometheus reads them")


COMMAND = Command(
    name="monitor",
    place=45,
    invitation="two versions of a job, compared while they run",
    summary="compare two versions of a streaming job while they run",
    description="Runs two jobs on one source and compares what they put out, with a live view. Without --key and "
    "--ordered the order of rows does not matter, and --watermark says how long a row may wait for its match. The exit "
    "code is 1 if they differ, or if rows were dropped, or with --once if rows have no match at the end; 2 if an "
    "argument is wrong; 3 if a job or the query failed; else 0. Of --demo it is 0 if the bug was found.",
    run=main,
    add_arguments=_add_arguments,
)
