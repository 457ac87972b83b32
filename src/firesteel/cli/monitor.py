"""`firesteel monitor`: two versions of a job on one source, compared while they run, with a live view."""

from __future__ import annotations

import argparse
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
from firesteel.values.dependence import Dependence, ordered, same_key, unordered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from rich.table import Table

DIFFERENT, REFUSED = 1, 2
"""The exit codes: the jobs differ, the arguments are wrong."""

STORY = """\
The Yahoo streaming benchmark: which view of an ad counts for which campaign? Two versions of the job run on the same
events. The second one has a bug: %s. firesteel compares what they put out, while they run."""
BUGS = {
    "late": "it counts events that arrive too late",
    "lost": "it does not know one of the campaigns",
    "shifted": "its windows begin a second late",
    "twice": "it counts some views twice",
}


@dataclass
class Seen:
    """What the monitor has put out so far."""

    groups: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    differences: int = 0
    first: Mapping[str, Any] | None = None
    since: float = field(default_factory=time.monotonic)
    before: tuple[float, int] = (0.0, 0)
    rate: float = 0.0

    def take(self, row: Mapping[str, Any]) -> None:
        if row["kind"] == "progress":
            self.groups[row["id"].rpartition("/")[2]] = row
            return
        self.differences += 1
        self.first = self.first or row

    def total(self, name: str) -> int:
        return sum(row[name] for row in self.groups.values())

    @property
    def lag(self) -> float:
        return max((float(row["lag"]) for row in self.groups.values()), default=0.0)

    def tick(self) -> None:
        """Look at the clock: how many pairs a second were matched since the last time?"""
        now, matched = time.monotonic(), self.total("matched")
        if now - self.before[0] > 1:
            if self.before[0]:
                self.rate = (matched - self.before[1]) / (now - self.before[0])
            self.before = (now, matched)


def view(seen: Seen) -> Table:
    """The table that is shown while the monitor runs."""
    from rich.table import Table

    seen.tick()
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_row("matched", f"{seen.total('matched'):,} pairs, {seen.rate:,.0f} a second")
    table.add_row("unmatched", f"{seen.total('unmatched'):,}")
    table.add_row("lag", f"{seen.lag:.1f} s")
    table.add_row("quarantined", f"{seen.total('quarantined'):,}")
    table.add_row("differences", f"[bold red]{seen.differences:,}[/]" if seen.differences else "0")
    if seen.first is not None:
        from rich.markup import escape

        table.add_row("the first", escape(seen.first["reason"]))
    return table


def main(chosen: argparse.Namespace) -> int:
    """Monitors two jobs; 1 if they differ, 2 if an argument is wrong."""
    try:
        return _demo(chosen) if chosen.demo is not None else _monitor(chosen)
    except InvalidArgument as error:
        print(f"firesteel monitor: {error}", file=sys.stderr)
        return REFUSED


def _monitor(chosen: argparse.Namespace) -> int:
    from firesteel.cli.analyze import found

    for name in ("left", "right", "input"):
        if getattr(chosen, name) is None:
            raise InvalidArgument(
                "two jobs and their input are needed: write firesteel monitor jobs:old jobs:new --input events/ "
                '--schema "user BIGINT, ts TIMESTAMP" --key user; or see `firesteel monitor --demo`'
            )
    left, right = found(chosen.left), found(chosen.right)
    stream = _stream(chosen)
    return _compared(left(stream), right(stream), chosen, chosen.checkpoint)


def _stream(chosen: argparse.Namespace) -> DataFrame:
    import firesteel as fs

    reader = fs.session().readStream.format(chosen.format)
    if chosen.schema is not None:
        reader = reader.schema(chosen.schema)
    for option in chosen.option:
        name, given, value = option.partition("=")
        if not given:
            raise InvalidArgument(f"{described('--option', option)} is not an option: write NAME=VALUE")
        reader = reader.option(name, value)
    here = Path(chosen.input)  # Spark may have started elsewhere
    return reader.load(str(here.absolute()) if here.exists() else chosen.input)


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
    import firesteel as fs
    from firesteel import sinks

    seen = Seen()
    verdicts = fs.monitor_equivalence(
        left,
        right,
        dependence=_dependence(chosen),
        watermark=_watermark(chosen),
        unmatched_at_most=chosen.unmatched_at_most,
        progress=True,
    )
    wanted = [sinks.callback(seen.take, progress=True)]
    wanted += [sinks.json_lines(chosen.json_lines)] if chosen.json_lines else []
    wanted += [sinks.metrics(chosen.metrics)] if chosen.metrics else []
    wanted += [sinks.stop()] if chosen.stop else []
    with _folder(checkpoint) as folder:
        writer = verdicts.writeStream.foreachBatch(sinks.together(*wanted)).option("checkpointLocation", folder)
        query = (writer.trigger(availableNow=True) if chosen.once else writer).start()
        try:
            _show(query, lambda: view(seen))
        finally:
            query.stop()
    return DIFFERENT if seen.differences else 0


def _folder(checkpoint: str | None) -> AbstractContextManager[str]:
    return nullcontext(checkpoint) if checkpoint else tempfile.TemporaryDirectory(prefix="firesteel-monitor-")


def _show(query: Any, shown: Callable[[], Table]) -> None:
    """Shows a table until the query ends, or until the user stops it."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    with Live(shown(), console=console, refresh_per_second=4, transient=not console.is_terminal) as live:
        try:
            while query.isActive:
                query.awaitTermination(0.25)
                live.update(shown())
        except KeyboardInterrupt:
            pass
    if not console.is_terminal:
        console.print(shown())


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
    parser.add_argument("--input", help="what both jobs read: a folder, or what the format takes")
    parser.add_argument("--format", default="parquet", help="of the input (default: parquet)")
    parser.add_argument("--schema", help='of the input: "user BIGINT, ts TIMESTAMP"')
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the source")
    parser.add_argument("--key", action="append", default=[], help="rows with the same key keep their order")
    parser.add_argument("--ordered", action="store_true", help="all rows keep their order")
    parser.add_argument("--watermark", metavar="COLUMN=DELAY", help="report what has no match by then: 'ts=10 minutes'")
    parser.add_argument("--unmatched-at-most", type=int, help="how many rows may wait for their match")
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
    "code is 1 if they differ, 2 if an argument is wrong, else 0; of --demo it is 0 if the bug was found.",
    run=main,
    add_arguments=_add_arguments,
)
