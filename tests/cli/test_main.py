"""`firesteel`: its arguments, and its subcommands, which are found by themselves."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel import cli
from firesteel.cli import doctor
from firesteel.cli.main import main


def test_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "firesteel doctor" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.startswith("firesteel 0.")


def test_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["cure"])
    assert "invalid choice: 'cure'" in capsys.readouterr().err


def test_interrupted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(**_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "main", interrupt)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "\nstopped\n"


@pytest.mark.parametrize("arguments", [[], ["doctor"]])
def test_it_is_quick_as_it_imports_no_pyspark(arguments: list[str]) -> None:
    assert "pyspark" not in modules_after(arguments)


def test_the_help_imports_neither_pyspark_nor_hypothesis() -> None:
    assert not {"pyspark", "hypothesis", "pandas"} & modules_after(["--help"])


def modules_after(arguments: list[str]) -> set[str]:
    """What a new process has imported when it has run the command."""
    program = "from firesteel.cli.main import main\n"
    program += f"try: main({arguments!r})\nexcept SystemExit: pass\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


NEW = """
from firesteel.cli.command import Command

COMMAND = Command(
    name="hello", place=15, invitation="be greeted", summary="print a greeting", description="Prints a greeting.",
    run=lambda chosen: print(f"hello {chosen.who}") or 7,
    add_arguments=lambda parser: parser.add_argument("who"),
)
"""


@pytest.fixture
def new_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module `firesteel.cli.hello`, as if it stood beside the others."""
    (tmp_path / "hello.py").write_text(NEW)
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    yield
    sys.modules.pop("firesteel.cli.hello", None)


@pytest.mark.usefixtures("new_module")
class TestANewModuleIsEnough:
    def test_to_be_run(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["hello", "world"]) == 7
        assert capsys.readouterr().out == "hello world\n"

    def test_to_be_in_the_welcome_in_its_place(self, capsys: pytest.CaptureFixture[str]) -> None:
        main([])
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  firesteel")]
        names = ["doctor", "hello", "demo", "analyze", "verify", "rules", "model", "dag", "lint"]
        assert [line.split()[1] for line in lines] == names
        assert lines[1] == "  firesteel hello     be greeted"

    def test_to_be_in_the_help(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="0"):
            main(["--help"])
        assert "hello print a greeting" in " ".join(capsys.readouterr().out.split())

    def test_to_have_a_help_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="0"):
            main(["hello", "--help"])
        said = capsys.readouterr().out
        assert "usage: firesteel hello [-h] who" in said and "Prints a greeting." in said
