"""Which files make up the log of an application, and which applications a folder holds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from firesteel.errors import InvalidArgument, described
from firesteel.history.logs.files import Files

_ROLLED = re.compile(r"^events_(\d+)_.+$")
_STATUS = "appstatus_"
RUNNING = ".inprogress"
_COMPACT = ".compact"


@dataclass(frozen=True)
class Layout:
    """The files of one application's log, in their order."""

    path: str
    parts: tuple[str, ...]
    running: bool = False
    """Does its name say that the application is still running?"""
    gaps: tuple[str, ...] = ()
    """What is missing of it, in words."""


def layouts(files: Files, path: str, given: object) -> list[Layout]:
    """The logs at a path: a file, a rolling folder, or a folder with the logs of several applications."""
    match files.is_folder(path):
        case None:
            raise InvalidArgument(f"{described('path', given)} does not exist: write the path of an event log")
        case False:
            return [_single(path)]
    names = _visible(files.names(path))
    if _is_rolling(names):
        return [_rolling(path, names)]
    found = []
    for name in names:
        inner = f"{path.rstrip('/')}/{name}"
        if not files.is_folder(inner):
            found.append(_single(inner))
        elif _is_rolling(below := _visible(files.names(inner))):
            found.append(_rolling(inner, below))
    if not found:
        raise InvalidArgument(
            f"{described('path', given)} is a folder without an event log: write the path of a log, of a folder "
            "eventlog_v2_..., or of the folder in spark.eventLog.dir"
        )
    return found


def _visible(names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith((".", "_")) and not name.endswith(".crc")]


def _is_rolling(names: list[str]) -> bool:
    return any(_ROLLED.match(name) or name.startswith(_STATUS) for name in names)


def _single(path: str) -> Layout:
    return Layout(path, (path,), running=path.endswith(RUNNING))


def _rolling(path: str, names: list[str]) -> Layout:
    numbered = {name: int(match[1]) for name in names if (match := _ROLLED.match(name))}
    running = any(name.startswith(_STATUS) and name.endswith(RUNNING) for name in names)
    compact = [name for name in numbered if name.endswith(_COMPACT)]
    gaps = []
    first = 1
    if compact:
        # What was compacted stands in one file, and the files before it may not have been removed yet.
        kept = max(compact, key=numbered.__getitem__)
        first = numbered[kept]
        numbered = {name: number for name, number in numbered.items() if number > first or name == kept}
        gaps.append(f"the history server compacted it: events that {kept} left out are missing")
    present = set(numbered.values())
    absent = [number for number in range(first, max(present, default=first) + 1) if number not in present]
    gaps += [f"the file events_{number}_... is missing" for number in absent]
    ordered = sorted(numbered, key=lambda name: numbered[name])
    return Layout(path, tuple(f"{path.rstrip('/')}/{name}" for name in ordered), running, tuple(gaps))
