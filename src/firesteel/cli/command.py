"""What a subcommand of `firesteel` is, and finding those there are.

A module of this package that has a `COMMAND` is a subcommand; nothing else has to know about it. `firesteel --help`
imports them all, so a command imports what is slow to import (PySpark, Hypothesis) inside its functions.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from firesteel import cli


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """For a command that takes none."""


def _as_given(words: list[str]) -> list[str]:
    """For a command whose words need no preparation."""
    return words


@dataclass(frozen=True)
class Command:
    """One subcommand.

    >>> Command("hello", 90, "see it greet", "print a greeting", "Prints a greeting.", lambda chosen: 0).name
    'hello'
    """

    name: str
    place: int
    """Where it stands among the others: the lowest comes first."""
    invitation: str
    """A few words for the welcome that `firesteel` alone prints."""
    summary: str
    """One line for `firesteel --help`."""
    description: str
    """Whole sentences for the command's own `--help`."""
    run: Callable[[argparse.Namespace], int]
    """Does the work with the arguments that were given; returns the exit code."""
    add_arguments: Callable[[argparse.ArgumentParser], None] = _no_arguments
    prepared: Callable[[list[str]], list[str]] = _as_given
    """The words after its name as argparse reads them, where that is not as a user writes them."""


def all_commands() -> list[Command]:
    """The commands of this package's modules, in their order.

    >>> [command.name for command in all_commands()]
    ['doctor', 'demo', 'analyze', 'verify', 'rules', 'model', 'dag']
    """
    modules = [importlib.import_module(f"{cli.__name__}.{found.name}") for found in pkgutil.iter_modules(cli.__path__)]
    found = [command for module in modules if isinstance(command := getattr(module, "COMMAND", None), Command)]
    return sorted(found, key=lambda command: (command.place, command.name))
