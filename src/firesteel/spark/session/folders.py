"""The temporary folders of firesteel: their names, the private one of this process, and clearing what killed runs left.

A run removes its own folders. One that is killed cannot, so the next session that starts removes what is a day old.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
import uuid
from pathlib import Path

ABANDONED_AFTER = 24 * 60 * 60
"""Seconds since the last change after which a folder whose process is gone is removed."""

# A process, and what `tempfile` or `uuid` adds.
_NAME = re.compile(r"firesteel-(\d+)-(?:[a-z0-9_]{8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")


def new_name() -> str:
    """A name that no other folder has. The number in it is that of this process, which `clear_abandoned` goes by.

    >>> new_name() == new_name()
    False
    """
    return f"{_prefix()}{uuid.uuid4()}"


def new_directory() -> Path:
    """A new directory in the temporary directory. Who asks for it removes it."""
    return Path(tempfile.mkdtemp(prefix=_prefix()))


def _prefix() -> str:
    return f"firesteel-{os.getpid()}-"


# --- the private directory of this process -------------------------------------------------------

_private: dict[int, Path] = {}


def private_directory() -> Path:
    """The temporary directory of this process's session: warehouse, metastore, log settings, the JVM's own files.

    >>> private_directory() == private_directory()
    True

    It is removed when this process ends.
    """
    # By process id: a forked child neither shares its parent's directory nor removes it.
    own = os.getpid()
    if own not in _private:
        _private[own] = new_directory()
        atexit.register(_remove_private, own)
    return _private[own]


def _remove_private(owner: int) -> None:
    if os.getpid() == owner and owner in _private:
        # The JVM ends after this process. `start` has it remove what it still writes until then.
        shutil.rmtree(_private.pop(owner), ignore_errors=True)


# --- what killed runs left -----------------------------------------------------------------------


def clear_abandoned() -> None:
    """Removes the folders that killed runs left in the temporary directory.

    A folder goes if its name is one that firesteel gives, this user owns it, its process is gone, and nothing in it has
    changed for a day. Where that cannot be found out, it stays.
    """
    if os.name != "posix":  # elsewhere Python cannot ask whether a process is alive
        return
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            owner = _NAME.fullmatch(entry.name)
            if owner is not None and not is_alive(int(owner.group(1))) and _is_old_and_ours(Path(entry.path)):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_old_and_ours(folder: Path) -> bool:
    try:
        about = folder.lstat()
        changes = [about.st_mtime, *(inside.lstat().st_mtime for inside in folder.iterdir())]
    except OSError:  # not a folder, or another process is removing it
        return False
    is_ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
    return is_ours and max(changes) < time.time() - ABANDONED_AFTER


def is_alive(process: int) -> bool:
    """Is there a process with this number? True too where it is another user's.

    >>> is_alive(os.getpid())
    True
    """
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
