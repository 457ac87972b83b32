"""Sinks that write elsewhere: to Postgres, to Redis, to a Delta table. Each is skipped where that is missing."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from examples.redis_here import redis_client, redis_server

import firesteel as fs
from firesteel import operators

pytestmark = pytest.mark.slow
_numbers = itertools.count()


def replay_safe(spark: Any, write: Any, read: Callable[[Any], Any], fresh: Callable[[], Any]) -> fs.Verdict:
    operator = operators.sink(write, input="k STRING NOT NULL, n INT NOT NULL", read=read, fresh=fresh)
    finding = fs.analyze(operator, "replay_safe", tests=4, seconds=30, spark=spark)["replay_safe"]
    assert finding.outputs, finding.why
    if finding.verdict is fs.Verdict.FALSE:
        assert "replayed" in finding.evidence
    return finding.verdict


# --- Redis ------------------------------------------------------------------------------------------------


def pushed(frame: Any, batch_id: int, place: tuple[int, str]) -> None:
    """Appends blindly."""
    port, name = place
    with redis_client(port) as redis:
        for row in frame.collect():
            redis("RPUSH", name, f"{row.k} {row.n}")


def put_by_batch(frame: Any, batch_id: int, place: tuple[int, str]) -> None:
    """A field for each batch, which comes again as it was."""
    port, name = place
    with redis_client(port) as redis:
        for number, row in enumerate(frame.collect()):
            redis("HSET", name, f"{batch_id}.{number}", f"{row.k} {row.n}")


def test_redis(spark: Any, tmp_path: Path) -> None:
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: on Debian, sudo apt-get install redis-server")
    with redis_server(tmp_path, {}) as port:

        def fresh() -> tuple[int, str]:
            return port, f"rows-{next(_numbers)}"

        def asked(*words: str) -> Callable[[tuple[int, str]], Any]:
            def read(place: tuple[int, str]) -> Any:
                with redis_client(place[0]) as redis:
                    return redis(words[0], place[1], *words[1:])

            return read

        assert replay_safe(spark, pushed, asked("LRANGE", "0", "-1"), fresh) is fs.Verdict.FALSE
        assert replay_safe(spark, put_by_batch, asked("HVALS"), fresh) is fs.Verdict.INCONCLUSIVE


# --- Postgres ---------------------------------------------------------------------------------------------


def _program(name: str) -> str:
    """A program of Postgres; Debian does not put all of them on the path."""
    found = shutil.which(name) or next(iter(sorted(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}")))), None)
    if found is None:
        pytest.skip(f"{name} is not installed: on Debian, sudo apt-get install postgresql")
    return found


@contextmanager
def postgres() -> Iterator[str]:
    """A Postgres of our own, which keeps nothing and is reached by a socket in its folder. Gives how to connect."""
    psycopg = pytest.importorskip("psycopg")
    # It refuses to be run by root. The Debian package makes a user for it, who may not enter root's temporary folder.
    user = "postgres" if os.geteuid() == 0 else None
    folder = tempfile.mkdtemp(prefix="firesteel-postgres-", dir=None if user is None else "/tmp")
    process = None
    try:
        if user is not None:
            shutil.chown(folder, user)
        made = [_program("initdb"), "-D", f"{folder}/data", "-U", "firesteel", "-A", "trust", "--no-sync"]
        subprocess.run(made, user=user, cwd=folder, check=True, capture_output=True)
        options = ["-D", f"{folder}/data", "-k", folder, "-h", "", "-F", "-c", "autovacuum=off"]
        with Path(folder, "log").open("w") as log:
            process = subprocess.Popen([_program("postgres"), *options], user=user, cwd=folder, stderr=log)
        where = f"host={folder} user=firesteel dbname=postgres"
        until = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(where).close()
                break
            except psycopg.OperationalError:
                if process.poll() is not None or time.monotonic() > until:
                    pytest.fail(f"Postgres does not answer: {Path(folder, 'log').read_text()}")
                time.sleep(0.05)
        yield where
    finally:
        if process is not None:
            process.send_signal(2)  # a fast shutdown, which ends its own processes
            process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _connected(place: tuple[str, str]) -> Any:
    import psycopg

    return closing(psycopg.connect(place[0], autocommit=True))


def inserted(frame: Any, batch_id: int, place: tuple[str, str]) -> None:
    """Appends blindly."""
    with _connected(place) as base:
        for row in frame.collect():
            base.execute(f"insert into {place[1]} (k, n) values (%s, %s)", (row.k, row.n))


def inserted_by_batch(frame: Any, batch_id: int, place: tuple[str, str]) -> None:
    """What the batch left there is gone before it is written, in one transaction."""
    with _connected(place) as base, base.transaction():
        base.execute(f"delete from {place[1]} where batch = %s", (batch_id,))
        for row in frame.collect():
            base.execute(f"insert into {place[1]} values (%s, %s, %s)", (row.k, row.n, batch_id))


def test_postgres(spark: Any) -> None:
    with postgres() as where:

        def fresh() -> tuple[str, str]:
            place = where, f"rows_{next(_numbers)}"
            with _connected(place) as base:
                base.execute(f"create table {place[1]} (k text, n int, batch bigint)")
            return place

        def read(place: tuple[str, str]) -> list[Any]:
            with _connected(place) as base:
                return list(base.execute(f"select k, n from {place[1]}"))

        assert replay_safe(spark, inserted, read, fresh) is fs.Verdict.FALSE
        assert replay_safe(spark, inserted_by_batch, read, fresh) is fs.Verdict.INCONCLUSIVE


# --- Delta ------------------------------------------------------------------------------------------------


def delta_appended(frame: Any, batch_id: int, place: str) -> None:
    """Appends blindly."""
    frame.write.format("delta").mode("append").save(place)


def delta_by_batch(frame: Any, batch_id: int, place: str) -> None:
    """Delta leaves out a version that it has seen of an application."""
    written = frame.write.format("delta").mode("append")
    written.option("txnAppId", place).option("txnVersion", batch_id).save(place)


def test_delta(spark: Any, tmp_path: Path) -> None:
    pytest.importorskip("delta")
    if "DeltaSparkSessionExtension" not in spark.conf.get("spark.sql.extensions", ""):
        pytest.skip("this session has no Delta: configure it with delta.configure_spark_with_delta_pip")

    def fresh() -> str:
        return f"{tempfile.mkdtemp(dir=tmp_path)}/table"

    def read(place: str) -> Any:
        return spark.read.format("delta").load(place)

    assert replay_safe(spark, delta_appended, read, fresh) is fs.Verdict.FALSE
    assert replay_safe(spark, delta_by_batch, read, fresh) is fs.Verdict.INCONCLUSIVE
