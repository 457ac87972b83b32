"""A place in which Spark's own Python examples run: with the data they read, and with somebody who sends to sockets.

The pyspark package ships the examples and `data/`, but not `examples/src/main/resources`. What is made here has the
same shape.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark

HOME = Path(pyspark.__file__).parent
PROGRAMS = Path("examples", "src", "main", "python")
EXAMPLES = HOME / PROGRAMS

PEOPLE = [("Mina", None), ("Olu", 30), ("Jun", 19)]
LINES = "the sun and the moon\na b c sun\n"
POINTS = "(1.5,[1.0,2.0,0.5])\n(-0.5,[0.0,1.0,-2.0])\n"
USERS = [("Ada", None, [3, 9]), ("Ben", "red", [])]


@contextmanager
def workshop(spark: Any, folder: Path) -> Iterator[None]:
    """Relative paths of the examples, in Python and in the JVM, lead into this folder.

    The examples are copied here: what runs inside the pyspark package would be taken for a part of PySpark.
    """
    shutil.copytree(EXAMPLES, folder / PROGRAMS, ignore=shutil.ignore_patterns("__pycache__"))
    _with_data(folder)
    _with_resources(spark, folder / "examples" / "src" / "main" / "resources")
    hadoop: Any = spark._jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(spark._jsc.hadoopConfiguration())
    before, here = files.getWorkingDirectory(), Path.cwd()
    os.chdir(folder)
    files.setWorkingDirectory(hadoop.Path(str(folder)))
    try:
        yield
    finally:
        files.setWorkingDirectory(before)
        os.chdir(here)


def _with_data(folder: Path) -> None:
    """One example writes into `data`, so only what is below it is Spark's own."""
    (folder / "data").mkdir()
    for each in (HOME / "data").iterdir():
        (folder / "data" / each.name).symlink_to(each)
    points = [(1 - 2 * (n % 2), *((n * k % 7 - 3 + 4 * (n % 2)) / 3 for k in range(1, 11))) for n in range(40)]
    (folder / "text.txt").write_text("tea from china and rice from china\n" * 10)
    (folder / "points.txt").write_text("".join(" ".join(map(str, point)) + "\n" for point in points))


def _with_resources(spark: Any, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "people.txt").write_text("".join(f"{name}, {age or 29}\n" for name, age in PEOPLE))
    (folder / "people.json").write_text("".join(json.dumps({"name": name, "age": age}) + "\n" for name, age in PEOPLE))
    (folder / "people.csv").write_text("name;age;job\nMina;30;Developer\nOlu;32;Developer\n")
    persons = (f"<person><name>{name}</name><age>{age or 29}</age></person>" for name, age in PEOPLE)
    (folder / "people.xml").write_text(f"<people>{''.join(persons)}</people>\n")
    users = spark.createDataFrame(USERS, "name string, favorite_color string, favorite_numbers array<int>").coalesce(1)
    users.write.parquet(str(folder / "users.parquet"))
    users.write.orc(str(folder / "users.orc"))
    for name, place in (("file1.parquet", folder / "dir1"), ("file2.parquet", folder / "dir1" / "dir2")):
        spark.createDataFrame([(name,)], "file string").coalesce(1).write.parquet(str(folder / "written" / name))
        (written,) = (folder / "written" / name).glob("*.parquet")
        place.mkdir()
        written.rename(place / name)
    (folder / "dir1" / "file3.json").write_text('{"file":"corrupt file"}\n')


@contextmanager
def talking(folder: Path) -> Iterator[int]:
    """A port of this machine at which callers are told lines of words.

    New files with them come into `words` in the folder, and files with points into `points`.
    """
    places = {folder / "words": LINES, folder / "points": POINTS}
    for each in places:
        each.mkdir()
    ended = threading.Event()

    def talk(to: socket.socket) -> None:
        with to, suppress(OSError):
            while not ended.wait(0.2):
                to.sendall(LINES.encode())

    def listen(server: socket.socket) -> None:
        while not ended.is_set():
            with suppress(TimeoutError):
                caller, _ = server.accept()
                threading.Thread(target=talk, args=(caller,), daemon=True).start()

    def write() -> None:
        while not ended.wait(0.5):
            for place, text in places.items():
                (place / ".new").write_text(text)
                (place / ".new").rename(place / f"{time.monotonic_ns()}.txt")

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        threads = [threading.Thread(target=listen, args=(server,)), threading.Thread(target=write)]
        for each in threads:
            each.start()
        try:
            yield server.getsockname()[1]
        finally:
            ended.set()
            for each in threads:
                each.join()
