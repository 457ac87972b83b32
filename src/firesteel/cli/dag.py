"""`firesteel dag SCRIPT`: run a PySpark program, and show what Spark ran."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from firesteel.cli.command import Command
from firesteel.errors import InvalidArgument, described

FAILED, REFUSED = 1, 2
"""The exit codes: the program raised an exception, the arguments are wrong."""


def main(chosen: argparse.Namespace) -> int:
    """Runs a program under a capture, or reads an event log."""
    from firesteel.cli.scripts import run_script, to_write
    from firesteel.dags import dag_of

    try:
        script = Path(chosen.script)
        if not script.exists():
            raise InvalidArgument(
                f"{described('SCRIPT', chosen.script)} does not exist: write the path of a Python file"
            )
        for path in chosen.draw:
            to_write("--draw", path)
        failed = False
        if script.suffix == ".py":
            ran = run_script(script, chosen.arguments, seconds=None)
            dag, failed = ran.dag, ran.failure is not None
        else:
            dag = dag_of(script)
        for path in chosen.draw:
            print(f"written to {dag.draw(path)}", file=sys.stderr)
    except InvalidArgument as error:
        print(f"firesteel dag: {error}", file=sys.stderr)
        return REFUSED
    print(dag)
    return FAILED if failed else 0


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--draw", action="append", default=[], metavar="FILE", help="a picture: .svg, .html, .dot or .mmd"
    )
    parser.add_argument("script", metavar="SCRIPT", help="a PySpark program (.py), or an event log")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="the program's own arguments")


COMMAND = Command(
    name="dag",
    place=60,
    invitation="what does Spark run? runs a program and shows its operations and stages",
    summary="run a PySpark program, and show its operations, jobs and stages",
    description="Runs a PySpark program with a session of firesteel's, which SparkSession.builder.getOrCreate() in it "
    "finds, and shows what Spark ran: the calls of the program, and the stages that they ran in. What the program "
    "prints goes to standard error. An event log is read instead of run. Options stand before the program. The exit "
    "code is 1 if the program failed, 2 if an argument is wrong, else 0.",
    run=main,
    add_arguments=_add_arguments,
)
