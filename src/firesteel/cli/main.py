"""The command `firesteel`: reads the arguments and hands them to a subcommand, which is a module of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

import firesteel
from firesteel.cli.command import Command, all_commands

_ABOUT = "finds the bugs in PySpark pipelines that example tests miss: bugs of time, order and parallelism."


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code.

    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    commands = {command.name: command for command in all_commands()}
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in commands:
        given[1:] = commands[given[0]].prepared(given[1:])
    chosen = _parser(commands.values()).parse_args(given)
    if chosen.command is None:
        print(_welcome(commands.values()))
        return 0
    try:
        return commands[chosen.command].run(chosen)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def _welcome(commands: Iterable[Command]) -> str:
    invitations = [f"  firesteel {command.name:<10}{command.invitation}" for command in commands]
    last = "Tests run under pytest, as always. `firesteel --help` says more."
    return "\n".join([f"firesteel {_ABOUT}", "", *invitations, "", last])


def _parser(commands: Iterable[Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="firesteel",
        description=_ABOUT[0].upper() + _ABOUT[1:],
        epilog="Tests are written in Python and run under pytest; this command is for what surrounds them.",
    )
    parser.add_argument("--version", action="version", version=f"firesteel {firesteel.__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in commands:
        command.add_arguments(
            subparsers.add_parser(command.name, help=command.summary, description=command.description)
        )
    return parser
