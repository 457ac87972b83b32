"""`EventLog`: the events of an application, as Spark wrote them, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import msgspec

from firesteel.errors import InvalidArgument, described
from firesteel.history.logs.codecs import DECODERS, Damaged, codec_of
from firesteel.history.logs.files import Files, located
from firesteel.history.logs.layout import Layout, layouts


class UnreadableLog(InvalidArgument):
    """A log of which some parts cannot be read. It is raised after all events that can be read were given out."""


@dataclass(frozen=True)
class Problem:
    """Something in a log that cannot be read."""

    place: str
    """The file, and the line where that is known: `app-1:12`."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a log that follow each other."""

    file: str
    first: int
    """The number of the first line in its file, from 1."""
    lines: list[bytes]
    size: int
    """How many bytes of the log, packed as it is, were read for all lines so far."""
    cut: bool = False
    """Does the last line lack its end? Spark may still be writing it."""


class EventLog:
    """The event log of an application, or of all applications in a folder. `fs.event_log` makes it.

    >>> import firesteel as fs
    >>> log = fs.event_log("tests/history/logs/lost_block.zst")
    >>> next(iter(log))["Event"]
    'SparkListenerLogStart'
    """

    def __init__(self, files: Files, found: tuple[Layout, ...], path: str) -> None:
        self._files, self._found = files, found
        self.path = path
        """The path that was given."""

    def __repr__(self) -> str:
        return f"fs.event_log({self.path!r})"

    @property
    def applications(self) -> tuple[EventLog, ...]:
        """A log for each application in the folder; of one application, this log."""
        if len(self._found) == 1:
            return (self,)
        return tuple(EventLog(self._files, (one,), one.path) for one in self._found)

    @property
    def running(self) -> bool:
        """Does the name of the file say that the application is still running?"""
        return any(one.running for one in self._found)

    @property
    def looked_away(self) -> bool:
        """Does it end because somebody stopped to look, and not because the log is cut off?"""
        return False

    @property
    def size(self) -> int:
        """How many bytes it takes, packed as it is."""
        return sum(self._files.size(part) for one in self._found for part in one.parts)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        problems: list[Problem] = []
        for block in self.blocks():
            if isinstance(block, Problem):
                problems.append(block)
                continue
            for number, line in enumerate(block.lines, block.first):
                if not line.strip():
                    continue
                event = parsed(line)
                if isinstance(event, dict):
                    yield event
                elif not (block.cut and number == block.first + len(block.lines) - 1):
                    problems.append(Problem(f"{block.file}:{number}", event))
        if problems:
            raise UnreadableLog("; ".join(map(str, problems[:10])))

    def blocks(self) -> Iterator[Block | Problem]:
        """The lines, many at a time, and between them what cannot be read."""
        for one in self._found:
            for gap in one.gaps:
                yield Problem(one.path, gap)
            size = 0
            for part in one.parts:
                read = _Counted(self._files.pieces(part), size)
                for block in self._part(part, read):
                    # Spark may still be writing the last file, and no other.
                    if isinstance(block, Block) and block.cut and part != one.parts[-1]:
                        block = replace(block, cut=False)
                    yield block
                size = read.size

    def _part(self, path: str, read: _Counted) -> Iterator[Block | Problem]:
        name = PurePosixPath(path).name
        try:
            yield from _lines(name, read)
        except Damaged as error:
            yield Problem(name, str(error))
        except OSError as error:
            yield Problem(name, f"it cannot be read: {error}")


def event_log(path: Any) -> EventLog:
    """The log at a path, or the logs in a folder."""
    files, inside = located(path)
    found = layouts(files, inside, path)
    for one in found:
        if len(found) == 1:
            _refuse_codec(files, one, path)
    return EventLog(files, tuple(found), str(path))


def _refuse_codec(files: Files, one: Layout, given: object) -> None:
    for part in one.parts[:1]:
        beginning = next(files.pieces(part), b"")
        if beginning and codec_of(beginning) is None:
            raise InvalidArgument(f"{described('path', given)}: {unknown_codec(part, beginning)}")


def unknown_codec(path: str, beginning: bytes) -> str:
    """What to say of a file that is packed in a way that is not known, or is not a log at all."""
    names = ", ".join(name for name in DECODERS if name != "plain")
    return (
        f"{PurePosixPath(path).name} begins with {beginning[:8]!r}, which is neither an event log nor packed with a "
        f"codec that Spark has ({names}): unpack it first"
    )


class _Counted:
    """The pieces of a file, with the number of bytes that were read."""

    def __init__(self, pieces: Iterator[bytes], size: int) -> None:
        self._pieces, self.size = pieces, size

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        piece = next(self._pieces)
        self.size += len(piece)
        return piece


def _lines(name: str, read: _Counted) -> Iterator[Block]:
    first = next(read, b"")
    codec = codec_of(first) if first else "plain"
    if codec is None:
        raise Damaged(unknown_codec(name, first))
    number, rest = 1, b""
    damage: Damaged | None = None
    unpacked = DECODERS[codec](_with(first, read))
    while damage is None:
        try:
            piece = next(unpacked)
        except StopIteration:
            break
        except Damaged as error:
            damage = error  # what was unpacked of the last line is worth a look
            break
        lines = piece.split(b"\n")
        lines[0] = rest + lines[0]
        rest = lines.pop()
        if lines:
            yield Block(name, number, lines, read.size)
            number += len(lines)
    if rest:
        yield Block(name, number, [rest], read.size, cut=True)
    if damage is not None:
        raise damage


def _with(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def parsed(line: bytes) -> dict[str, Any] | str:
    """The event in a line; where there is none, what is wrong with it."""
    try:
        event = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        try:
            event = json.loads(line)  # takes NaN as well, and says better what is wrong
        except (ValueError, RecursionError) as error:
            return f"the line is not JSON: {error}"
    if not isinstance(event, dict) or not isinstance(event.get("Event"), str):
        return 'the line is not an event: it has no "Event"'
    return event
