"""The command `firesteel`: its arguments, and which module does what. Each subcommand is a module of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import firesteel

_WELCOME = """\
firesteel finds the bugs in PySpark pipelines that example tests miss: bugs of time, order and parallelism.

  firesteel doctor    is everything here that firesteel needs?
  firesteel demo      see it find a bug

Tests run under pytest, as always. `firesteel --help` says more.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code.

    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    chosen = _parser().parse_args(arguments)
    if chosen.command is None:
        print(_WELCOME, end="")
        return 0
    try:
        return _doctor(chosen) if chosen.command == "doctor" else _demo()
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="firesteel",
        description="Finds the bugs in PySpark pipelines that example tests miss: bugs of time, order and parallelism.",
        epilog="Tests are written in Python and run under pytest; this command is for what surrounds them.",
    )
    parser.add_argument("--version", action="version", version=f"firesteel {firesteel.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    doctor = commands.add_parser(
        "doctor",
        help="check that Python, Java, PySpark and the rest fit together",
        description="Checks what firesteel needs on this machine, and says what to do about what is missing. "
        "The exit code is 1 if something keeps firesteel from working, else 0.",
    )
    doctor.add_argument(
        "--build-archive",
        action="store_true",
        help="build the class-data archive now, with which Spark starts in about half the time; takes about a "
        "minute, and happens by itself after your first test run",
    )
    commands.add_parser(
        "demo",
        help="watch firesteel find a bug in a small pipeline",
        description="Runs a small pipeline with a bug in it on Spark, and shows how firesteel finds and explains it.",
    )
    return parser


def _doctor(chosen: argparse.Namespace) -> int:
    from firesteel.cli import doctor

    return doctor.main(build_archive=chosen.build_archive)


def _demo() -> int:
    from firesteel.cli import demo

    return demo.main()
