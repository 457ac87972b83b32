"""`firesteel demo`: the banned users of the sscheck paper, with a job that remembers them and one that forgets them."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from firesteel.cli.command import Command

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from firesteel import OutputMode, Subject

STORY = """\
A stream of events says which users misbehave. The job puts out the users that are banned, and a ban has to last:
    whenever user 15 misbehaves, user 15 is banned in that batch and in the four after it.
firesteel makes streams of events, runs the job on Spark, and looks for one that breaks this."""


def banned_users(events: DataFrame) -> DataFrame:
    """The right job: an aggregation remembers everybody who ever misbehaved."""
    return events.where("NOT honest").groupBy("user").count().select("user")


def forgetful(events: DataFrame) -> DataFrame:
    """The wrong job: it knows only the current batch."""
    return events.where("NOT honest").select("user")


def main() -> int:
    """Runs the demo; 0 if the right job passed and the wrong one was caught."""
    from rich.console import Console

    import firesteel as fs

    console = Console(highlight=False)
    console.print(STORY, markup=False)
    start = time.monotonic()
    with console.status("starting Spark"):
        fs.session()
    console.print(f"(Spark {fs.session().version} started in {time.monotonic() - start:.1f} s)\n", markup=False)
    passed = _shown("1. banned_users, which remembers", banned_users, "complete")
    caught = not _shown("2. forgetful, which does not", forgetful, "append")
    console.print("\nWrite your own: see the README.")
    return 0 if passed and caught else 1


def _shown(title: str, job: Subject, mode: OutputMode) -> bool:
    """Checks one job and prints the result; True if the job passed."""
    import firesteel as fs
    from firesteel.cli.banned import events, formula
    from firesteel.report.terminal import show

    print(f"\n{title}", flush=True)
    start = time.monotonic()
    try:
        report = fs.for_all(events(), job, formula(), output_mode=mode, cases=20)
    except fs.Falsified as failure:
        show(failure, sys.stdout)
        return False
    print(f"   true in all {report.cases} cases, {time.monotonic() - start:.1f} s")
    return True


COMMAND = Command(
    name="demo",
    place=20,
    invitation="see it find a bug",
    summary="watch firesteel find a bug in a small pipeline",
    description="Runs a small pipeline with a bug in it on Spark, and shows how firesteel finds and explains it.",
    run=lambda chosen: main(),
)
