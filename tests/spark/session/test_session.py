"""`session`: its settings, an already running session, and a start that is quiet and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import firesteel as fs
from firesteel.errors import InvalidArgument
from firesteel.spark.session import archive, java, versions
from firesteel.spark.session import start as module
from firesteel.spark.session.start import session


@pytest.fixture
def nothing_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has no session yet; the test must fail before it would start one."""
    monkeypatch.setattr(module, "_running", lambda: None)
    monkeypatch.setattr(module, "_launch", lambda settings: pytest.fail("a JVM would have been started"))


def test_spark_starts_where_pytest_was_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not where its first user stands: this folder goes with the test, and the session stays."""
    started_in = []

    def launch(conf: Any, options: dict[str, Any]) -> None:
        started_in.append(options["cwd"])
        raise KeyboardInterrupt

    monkeypatch.setattr("pyspark.SparkContext._gateway", None)
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launch)
    here = Path.cwd()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        module._launch({})
    assert started_in == [here]


class TestRunning:
    def test_is_the_session_of_the_fixture(self, spark: SparkSession) -> None:
        assert session() is spark
        assert session({}) is spark

    def test_settings_of_a_new_session(self, spark: SparkSession) -> None:
        for key, value in module._defaults().items():
            if key.startswith("spark.sql.") or key == "spark.master":
                assert str(spark.conf.get(key)).removeprefix("file:") == value, key

    def test_runtime_settings_are_set(self, spark: SparkSession) -> None:
        session({"spark.sql.shuffle.partitions": "7", "my.own": "x"})
        assert spark.conf.get("spark.sql.shuffle.partitions") == "7"
        assert spark.conf.get("my.own") == "x"

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("spark.master", "local[17]"),
            ("spark.sql.warehouse.dir", "/elsewhere"),
            ("spark.driver.memory", "17g"),
            ("spark.driver.extraJavaOptions", "-Dnobody.set=this"),
        ],
    )
    def test_a_static_setting_with_another_value_is_refused(self, spark: SparkSession, key: str, value: str) -> None:
        before = spark.conf.get("spark.sql.shuffle.partitions")
        with pytest.raises(InvalidArgument) as caught:
            session({"spark.sql.shuffle.partitions": "9", key: value})
        assert f"config['{key}']='{value}' (str) can only be chosen when Spark starts" in str(caught.value)
        assert spark.conf.get("spark.sql.shuffle.partitions") == before, "all or nothing"

    def test_a_static_setting_with_the_same_value_is_accepted(self, spark: SparkSession) -> None:
        assert session({"spark.master": spark.sparkContext.master}) is spark
        assert session({"spark.sql.warehouse.dir": f"{module.private_directory()}/warehouse"}) is spark

    def test_inside_foreach_batch_it_is_the_same_session(self, spark: SparkSession) -> None:
        seen: list[Any] = []
        worker = threading.Thread(target=lambda: seen.append(session()))
        worker.start()
        worker.join(30)
        assert seen == [spark]


class TestArguments:
    @pytest.mark.parametrize("config", [[("spark.master", "local")], "spark.master=local", 3])
    def test_config_has_to_be_a_mapping(self, config: Any) -> None:
        with pytest.raises(InvalidArgument, match="is not a dict of settings: write session"):
            session(config)

    def test_values_have_to_be_strings(self) -> None:
        with pytest.raises(InvalidArgument) as caught:
            session({"spark.sql.ansi.enabled": True})  # type: ignore[dict-item]
        assert "config['spark.sql.ansi.enabled']=True (bool)" in str(caught.value)
        assert "write 'spark.sql.ansi.enabled': 'true'" in str(caught.value)


@pytest.mark.usefixtures("nothing_running")
class TestBeforeTheStart:
    def test_no_java(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(InvalidArgument, match="openjdk-17-jre-headless"):
            session()

    def test_java_home_without_java(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(InvalidArgument, match=f"JAVA_HOME={tmp_path} has no bin/java"):
            session()

    def test_old_java(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        _fake_java(tmp_path, "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(InvalidArgument, match=r"needs Java 17 or later, and .* is Java 11\.0\.2"):
            session()

    def test_java_that_does_not_run(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        _fake_java(tmp_path, "echo 'Unable to locate a Java Runtime.' >&2; exit 1")
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(InvalidArgument, match="has no bin/java that runs"):
            session()

    def test_java_without_the_vector_module(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        _fake_java(tmp_path, "exit 1")
        (tmp_path / "release").write_text('JAVA_VERSION="21.0.1"\nMODULES="java.base java.sql"\n')
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(InvalidArgument, match=r"lacks the module jdk\.incubator\.vector"):
            session()

    def test_old_spark(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pyspark.__version__", "4.1.4")
        monkeypatch.setenv("JAVA_HOME", "/nowhere")  # not even looked for
        with pytest.raises(InvalidArgument) as caught:
            session()
        assert str(caught.value) == (
            "firesteel needs Spark 4.2 or later, and this is Spark 4.1.4: `pip install 'pyspark>=4.2'`"
        )

    def test_no_spark(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyspark", None)
        with pytest.raises(InvalidArgument, match=r"PySpark is not installed: `pip install 'pyspark>=4\.2'`"):
            session()

    def test_spark_connect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_REMOTE", "sc://somewhere")
        with pytest.raises(InvalidArgument, match="SPARK_REMOTE='sc://somewhere' asks for Spark Connect"):
            session()


def test_a_running_session_of_an_old_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever started it, and also where it is given as an option."""

    class Old(SparkSession):
        version = "4.0.2"

        def __init__(self) -> None:
            pass

    monkeypatch.setattr(module, "_running", Old)
    with pytest.raises(InvalidArgument, match=r"needs Spark 4\.2 or later, and this is Spark 4\.0\.2"):
        session()
    with pytest.raises(InvalidArgument, match=r"this is Spark 4\.0\.2"):
        fs.run(fs.Stream("n INT", []), lambda frame: frame, spark=Old())


def test_the_promise_is_the_packages() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"pyspark>={'.'.join(map(str, versions.OLDEST))}" in project["project"]["dependencies"]


def _fake_java(home: Path, script: str) -> None:
    executable = home / "bin" / "java"
    executable.parent.mkdir()
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("1.8.0_402", 8), ("25", 25), ("21-ea", 21), ("?", 0)])
def test_major_version(version: str, major: int) -> None:
    assert java.Java(Path("java"), version, version).major == major


class TestSettings:
    def test_threads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
        for cores, threads in [(1, 2), (2, 2), (3, 3), (4, 4), (64, 4)]:
            monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)))
            assert module._threads() == threads
        monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
        assert module._threads() == 2

    @pytest.mark.parametrize(
        ("version", "part"), [("4.0.5", ""), ("4.1.0", ".checkpointing"), ("5.0.0", ".checkpointing")]
    )
    def test_the_checkpoint_manager_moved(self, monkeypatch: pytest.MonkeyPatch, version: str, part: str) -> None:
        monkeypatch.setattr("pyspark.__version__", version)
        expected = f"org.apache.spark.sql.execution.streaming{part}.FileSystemBasedCheckpointFileManager"
        assert module._checkpoint_manager() == expected

    def test_default_java_options_of_the_user_come_last(self) -> None:
        key = "spark.driver.defaultJavaOptions"
        settings = {key: "-Duser=1"}
        module._join_java_options(settings, {key: "-Duser=1"})
        assert settings[key].startswith("-XX:TieredStopAtLevel=1 ")
        assert settings[key].endswith(" -Duser=1")

    def test_options_with_spaces_are_quoted(self) -> None:
        assert module._quoted("-Dx=a b") == '"-Dx=a b"'


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([b"WARNING: Using incubator modules: x\nreal\n"], b"real\n"),
        ([b"WARNING: Us", b"ing incubator modules: x\n", b"real\n"], b"real\n"),
        ([b"WARNING: Us", b"eful\n"], b"WARNING: Useful\n"),
        ([b"[Stage 0:>", b"   (0 + 2) / 2]"], b"[Stage 0:>   (0 + 2) / 2]"),
        ([b"a\nb"], b"a\nb"),
    ],
)
def test_only_chatter_is_left_out(parts: list[bytes], shown: bytes, capfdbinary: Any) -> None:
    source, sink = os.pipe()
    for part in parts:
        os.write(sink, part)
    os.close(sink)
    module._pass_on(source)
    assert capfdbinary.readouterr().err == shown


_PROGRAM = """
import json, os
from firesteel.spark.session.start import session, private_directory
spark = session({"spark.driver.extraJavaOptions": "-Dmine=kept", "spark.sql.shuffle.partitions": "3",
                 "spark.sql.catalogImplementation": "hive"})
spark.range(3).groupBy().count().collect()
spark.range(3).write.saveAsTable("numbers")
seen = {"mine": spark.sparkContext.getSystemProperty("mine"),
        "partitions": spark.conf.get("spark.sql.shuffle.partitions"),
        "private": str(private_directory()), "inside": sorted(os.listdir(private_directory()))}
print(json.dumps(seen))
"""


@pytest.mark.slow
def test_a_new_session_is_quiet_and_leaves_nothing_behind(tmp_path: Path) -> None:
    place = tmp_path / "a place"  # with a space in it, as some people's home directories have
    place.mkdir()
    environment = os.environ | {
        "CI": "1",
        "TMPDIR": str(place),
        "XDG_CACHE_HOME": str(archive.cache_directory().parent),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=120, cwd=place, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    seen = json.loads(done.stdout)
    assert seen["mine"] == "kept"
    assert seen["partitions"] == "3"
    assert {"derby.log", "log4j2.properties", "metastore_db", "warehouse"} <= set(seen["inside"])
    assert any(name.startswith("blockmgr-") for name in seen["inside"]), "the JVM's own files are there too"
    end = time.monotonic() + 30  # the JVM ends a moment later
    while os.listdir(place) and time.monotonic() < end:
        time.sleep(0.1)
    assert os.listdir(place) == []
