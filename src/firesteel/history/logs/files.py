"""Where a log is: on this machine, or anywhere that Arrow's file systems or fsspec reach."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from firesteel.errors import InvalidArgument, described

PIECE = 1 << 20
_REMOTE = re.compile(r"^([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


class Files(Protocol):
    """What is needed of a file system."""

    def is_folder(self, path: str) -> bool | None:
        """True for a folder, False for a file, None where there is neither."""
        ...

    def names(self, folder: str) -> list[str]:
        """The names of what is in a folder, sorted."""
        ...

    def size(self, path: str) -> int: ...

    def pieces(self, path: str) -> Iterator[bytes]:
        """The content of a file, in pieces."""
        ...


class Local:
    """The files of this machine."""

    def is_folder(self, path: str) -> bool | None:
        place = Path(path)
        return True if place.is_dir() else False if place.is_file() else None

    def names(self, folder: str) -> list[str]:
        return sorted(path.name for path in Path(folder).iterdir())

    def size(self, path: str) -> int:
        return Path(path).stat().st_size

    def pieces(self, path: str) -> Iterator[bytes]:
        with open(path, "rb") as file:
            while piece := file.read(PIECE):
                yield piece


class Remote:
    """Files behind one of Arrow's file systems."""

    def __init__(self, system: Any) -> None:
        self._system = system

    def is_folder(self, path: str) -> bool | None:
        from pyarrow.fs import FileType  # type: ignore[import-untyped]

        kind = self._system.get_file_info(path).type
        return True if kind == FileType.Directory else False if kind == FileType.File else None

    def names(self, folder: str) -> list[str]:
        from pyarrow.fs import FileSelector

        return sorted(info.base_name for info in self._system.get_file_info(FileSelector(folder)))

    def size(self, path: str) -> int:
        return int(self._system.get_file_info(path).size)

    def pieces(self, path: str) -> Iterator[bytes]:
        with self._system.open_input_stream(path, compression=None) as stream:
            while piece := stream.read(PIECE):
                yield piece


def located(path: Any) -> tuple[Files, str]:
    """The file system of a path, and the path inside it."""
    if not isinstance(path, (str, os.PathLike)):
        raise InvalidArgument(f'{described("path", path)} is not a path: write fs.event_log("/logs/app-1")')
    text = os.fspath(path)
    if not isinstance(text, str) or not text:
        raise InvalidArgument(f'{described("path", path)} is not a path: write fs.event_log("/logs/app-1")')
    scheme = _REMOTE.match(text)
    if scheme is None:
        return Local(), text
    if scheme[1].lower() == "file":
        return Local(), re.sub(r"^file://[^/]*", "", text, flags=re.IGNORECASE)
    return _remote(text, scheme[1])


def _remote(uri: str, scheme: str) -> tuple[Files, str]:
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    try:
        system, path = FileSystem.from_uri(uri)
        return Remote(system), path
    except (ValueError, NotImplementedError, OSError) as error:
        why: Exception = error
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(uri)
        return Remote(PyFileSystem(FSSpecHandler(system))), path
    except ImportError as error:
        missing = f"fsspec and the package for {scheme}:// (`pip install fsspec`)"
        raise InvalidArgument(
            f"{described('path', uri)} cannot be reached: Arrow says {why}. Install {missing}, or copy the log here "
            f"({error})"
        ) from error
    except ValueError as error:
        raise InvalidArgument(
            f"{described('path', uri)} cannot be reached: Arrow says {why}; fsspec says {error}"
        ) from error
