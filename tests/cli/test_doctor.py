"""`firesteel doctor`: what each probe makes of what it finds. No probe looks at this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from firesteel.cli import doctor
from firesteel.cli.main import main
from firesteel.spark.session import archive, java

GOOD_JAVA = java.Java(Path("/opt/jdk/bin/java"), "17.0.15", "17.0.15+6")
OLD_JAVA = java.Java(Path("/opt/jdk/bin/java"), "11.0.2", "11.0.2+9")


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine on which all is well; tests change it."""
    found = {"pyspark": "4.3.0", "pandas": "2.3.3", "pyarrow": "26.0.1"}
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(doctor, "_version", found.get)
    monkeypatch.setattr(doctor, "python_version", lambda: (3, 12, 1))
    monkeypatch.setattr(java, "find", lambda: GOOD_JAVA)
    monkeypatch.setattr(doctor, "available_memory", lambda: 8 * 2**30)
    monkeypatch.setattr(archive, "status", lambda: archive.ArchiveStatus("ready", Path("/x.jsa"), "170 MB"))
    return found


def finding(name: str) -> doctor.Finding:
    (found,) = (finding for finding in doctor.examine() if finding.name == name)
    return found


@pytest.mark.usefixtures("versions")
class TestMain:
    def test_all_is_well(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["doctor"]) == 0
        out = capsys.readouterr().out
        assert "ok       Java     17.0.15 (/opt/jdk/bin/java)\n" in out
        assert out.endswith("\n\nEverything that firesteel needs is here.\n")

    def test_a_problem(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setattr(java, "find", lambda: None)
        assert main(["doctor"]) == 1
        out = capsys.readouterr().out
        assert "PROBLEM  Java     not found\n         -> Spark needs Java 17 or later" in out
        assert "openjdk-17-jre-headless" in out
        assert out.endswith("1 problem: see above for what to do.\n")

    def test_a_warning_is_not_a_failure(self, versions: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
        del versions["pyarrow"]
        assert main(["doctor"]) == 0
        assert capsys.readouterr().out.endswith("firesteel works here; see the warnings above.\n")

    def test_in_a_terminal(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert main(["doctor"]) == 0
        assert "Java" in capsys.readouterr().out

    def test_in_a_terminal_without_rich(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setitem(sys.modules, "rich.console", None)
        assert main(["doctor"]) == 0
        assert "ok       Java " in capsys.readouterr().out

    def test_builds_the_archive(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        state: dict[str, Any] = {"state": "missing"}
        monkeypatch.setattr(archive, "status", lambda: archive.ArchiveStatus(state["state"], Path("/x.jsa"), "here"))
        monkeypatch.setattr(archive, "build", lambda: state.update(state="ready"))
        assert main(["doctor", "--build-archive"]) == 0
        assert capsys.readouterr().out.startswith("Building the class-data archive")
        assert doctor.probe_archive().value == "ready (here)"


@pytest.mark.usefixtures("versions")
class TestProbes:
    @pytest.mark.parametrize(
        ("version", "status"), [((3, 10, 4), "problem"), ((3, 11, 0), "ok"), ((3, 14, 2), "ok"), ((3, 15, 0), "warn")]
    )
    def test_python(self, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], status: str) -> None:
        monkeypatch.setattr(doctor, "python_version", lambda: version)
        assert finding("Python").status == status

    def test_old_java(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(java, "find", lambda: OLD_JAVA)
        assert finding("Java").status == "problem"
        assert "is Java 11.0.2" in finding("Java").advice

    @pytest.mark.parametrize(
        ("version", "status", "advice"),
        [
            (None, "problem", "pip install 'pyspark>=4.2'"),
            ("3.5.9", "problem", "needs Spark 4.2 or later, and this is Spark 3.5.9"),
            ("4.1.4", "problem", "and this is Spark 4.1.4: `pip install 'pyspark>=4.2'`"),
            ("4.2.0", "ok", ""),
            ("4.2.0.dev1", "ok", ""),
            ("4.10.1", "ok", ""),
            ("5.0.0.dev1", "ok", ""),
        ],
    )
    def test_pyspark(self, versions: dict[str, str], version: str | None, status: str, advice: str) -> None:
        _set(versions, "pyspark", version)
        assert finding("PySpark").status == status
        assert advice in finding("PySpark").advice

    def test_only_the_client(self, versions: dict[str, str]) -> None:
        del versions["pyspark"]
        versions["pyspark-client"] = "4.3.0"
        assert finding("PySpark").status == "problem"
        assert "Spark Connect" in finding("PySpark").advice

    def test_spark_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_HOME", "/opt/spark")
        assert finding("PySpark").status == "warn"
        assert "SPARK_HOME=/opt/spark" in finding("PySpark").advice

    @pytest.mark.parametrize(
        ("version", "status", "advice"),
        [(None, "ok", "applyInPandas"), ("2.2.0", "ok", ""), ("3.1.0", "problem", "pip install 'pandas<3'")],
    )
    def test_pandas(self, versions: dict[str, str], version: str | None, status: str, advice: str) -> None:
        _set(versions, "pandas", version)
        assert finding("pandas").status == status
        assert advice in finding("pandas").advice

    @pytest.mark.parametrize(("gigabytes", "status"), [(0.5, "problem"), (1.5, "warn"), (4, "ok"), (None, "ok")])
    def test_memory(self, monkeypatch: pytest.MonkeyPatch, gigabytes: float | None, status: str) -> None:
        amount = None if gigabytes is None else int(gigabytes * 2**30)
        monkeypatch.setattr(doctor, "available_memory", lambda: amount)
        assert finding("memory").status == status

    @pytest.mark.parametrize(
        ("state", "status", "advice"),
        [
            ("ready", "ok", ""),
            ("building", "ok", ""),
            ("missing", "ok", "--build-archive"),
            ("failed", "warn", "--build-archive"),
            ("off", "ok", "Unset it"),
        ],
    )
    def test_archive(self, monkeypatch: pytest.MonkeyPatch, state: Any, status: str, advice: str) -> None:
        monkeypatch.setattr(archive, "status", lambda: archive.ArchiveStatus(state, None, "because"))
        assert finding("archive").status == status
        assert finding("archive").value == f"{state} (because)"
        assert advice in finding("archive").advice


def _set(versions: dict[str, str], package: str, version: str | None) -> None:
    if version is None:
        del versions[package]
    else:
        versions[package] = version


def test_this_machine_is_examined_without_error() -> None:
    assert len(doctor.examine()) == len(doctor.PROBES)
    assert doctor.available_memory() is None or doctor.available_memory() > 0  # type: ignore[operator]
