"""A Redis of our own for an example, and as much of a client as is needed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def skip_without_server() -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: on Debian, sudo apt-get install redis-server")


@contextmanager
def redis_client(port: int) -> Iterator[Callable[..., Any]]:
    """As much of a client as is needed here: a function that sends a command, and returns the reply."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection, connection.makefile("rb") as replies:

        def command(*words: str) -> Any:
            parts = [word.encode() for word in words]
            sent = b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
            connection.sendall(b"*%d\r\n%s" % (len(parts), sent))
            return reply()

        def reply() -> Any:
            line = replies.readline()
            kind, rest = line[:1], line[1:-2]
            match kind:
                case b"+":
                    return rest.decode()
                case b":":
                    return int(rest)
                case b"$":
                    return None if rest == b"-1" else replies.read(int(rest) + 2)[:-2].decode()
                case b"*":
                    return [reply() for _ in range(int(rest))]
                case _:
                    raise ConnectionError(f"Redis says {line!r}")

        yield command


@contextmanager
def redis_server(folder: Path, values: Mapping[str, str]) -> Iterator[int]:
    """A Redis of our own with some values, on a free port of this machine only; it keeps nothing."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"port": port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "logfile": "redis.log"}
    arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    process = subprocess.Popen(["redis-server", *arguments], cwd=folder)
    try:
        wait_for(process, port, folder / "redis.log")
        with redis_client(port) as redis:
            for key, value in values.items():
                redis("SET", key, value)
        yield port
    finally:
        process.kill()  # it has nothing to save
        process.wait()


def wait_for(process: subprocess.Popen[bytes], port: int, log: Path, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            with redis_client(port) as redis:
                assert redis("PING") == "PONG"
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"redis-server does not answer: {log.read_text() if log.exists() else ''}") from None
            time.sleep(0.05)
