"""Failures on a terminal: with colours where there is one, as plain text where there is none."""

from __future__ import annotations

from typing import TextIO

from firesteel.evidence import Failed


def show(failure: Failed, to: TextIO) -> None:
    """Print a failure with its evidence."""
    text = f"{type(failure).__name__}: {failure}"
    if not to.isatty():
        print(text, file=to)
        return
    from rich.console import Console
    from rich.text import Text

    shown = Text(text)
    shown.highlight_regex(r"^\w+: .*", "bold red")
    shown.highlight_regex(r".*<- false here", "red")
    shown.highlight_regex(r"^(property|subject|cases|run|found in|noted) ", "bold")
    shown.highlight_regex(r"^(Keep it as a test|Run it again):", "bold")
    Console(file=to, soft_wrap=True).print(shown)
