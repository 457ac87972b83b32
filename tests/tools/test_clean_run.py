"""`tools/clean_run.py`: a command that leaves something behind fails, and what it left is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "clean_run.py"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A working tree with one file in it."""
    (tmp_path / "kept.txt").write_text("as it was")
    (tmp_path / ".gitignore").write_text("ignored/\n__pycache__/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "start"]):
        subprocess.run(
            ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", *command], cwd=tmp_path, check=True
        )
    return tmp_path


def run(tree: Path, program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = "import os, sys; from pathlib import Path; import tempfile\n" + program
    return subprocess.run(
        [sys.executable, str(TOOL), sys.executable, "-c", program],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("program", "left"),
    [
        ("Path(tempfile.gettempdir(), 'firesteel-1').mkdir()", "tmp/firesteel-1"),
        ("Path(tempfile.gettempdir(), '.a.sock').write_text('')", "tmp/.a.sock"),
        ("p = Path.home() / '.cache' / 'firesteel'; p.mkdir(parents=True)", "home/.cache/firesteel"),
        ("Path(os.environ['XDG_CACHE_HOME']).mkdir()", "home/.cache"),
        ("Path('spark-warehouse').mkdir(); Path('spark-warehouse/t').write_text('')", "?? spark-warehouse/t (in the"),
        ("Path('ignored').mkdir(); Path('ignored/derby.log').write_text('')", "!! ignored/"),
        ("Path('kept.txt').write_text('changed')", " M kept.txt (in the working tree)"),
    ],
)
def test_what_is_left_fails_the_run_and_is_named(tree: Path, program: str, left: str) -> None:
    done = run(tree, program, CLEAN_RUN_PATIENCE="0")
    assert done.returncode == 1
    assert f"left behind: {left}" in done.stderr
    assert len(done.stderr.splitlines()) == 1, "and nothing else"


@pytest.mark.parametrize(
    "program",
    [
        "assert os.listdir(tempfile.gettempdir()) == os.listdir(Path.home()) == []",
        "Path(tempfile.gettempdir(), 'x').mkdir(); Path(tempfile.gettempdir(), 'x').rmdir()",
        "Path('__pycache__').mkdir(); Path('__pycache__/x.pyc').write_text('')",
        "import subprocess; f = Path(tempfile.gettempdir(), 'x'); f.write_text('')\n"
        "subprocess.Popen([sys.executable, '-c', f'import os, time; time.sleep(1); os.remove({str(f)!r})'])",
    ],
    ids=["empty", "cleared", "cache", "cleared a moment later"],
)
def test_a_run_that_leaves_nothing_passes(tree: Path, program: str) -> None:
    (tree / "my own notes.txt").write_text("not committed, and not the run's")
    done = run(tree, program)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_code_of_a_failure_stays(tree: Path) -> None:
    assert run(tree, "sys.exit(5)").returncode == 5


def test_the_folders_are_gone_afterwards(tree: Path) -> None:
    done = run(tree, "print(tempfile.gettempdir(), Path.home())")
    assert done.returncode == 0
    assert [Path(folder).parent.exists() for folder in done.stdout.split()] == [False, False]


def test_pytest_and_hypothesis_keep_their_files_elsewhere(tree: Path) -> None:
    (tree / "test_it.py").write_text(
        "from hypothesis import given, settings, strategies as st\n"
        "@given(st.integers())\n"
        "def test_numbers(n): pass\n"
        "def test_folder(tmp_path): (tmp_path / 'x').write_text('')\n"
    )
    done = run(tree, "import pytest; sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', 'test_it.py']))")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_what_a_killed_run_left_is_cleared_by_the_next(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("place")
    (place / f"firesteel-{2**31}-abcdefgh" / "tmp").mkdir(parents=True)
    for folder in (place.glob("*/tmp"), place.glob("*")):
        for path in folder:
            os.utime(path, (1, 1))
    assert run(tree, "", TMPDIR=str(place)).returncode == 0
    assert os.listdir(place) == []


def test_an_interrupt_is_left_to_the_command(tree: Path) -> None:
    # As from a keyboard: it goes to the tool and to the command.
    program = "import signal\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(4))\nos.killpg(0, signal.SIGINT)\n"
    program += "import time; time.sleep(30)"
    assert run(tree, program).returncode == 4


def test_without_a_command(tree: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, str(TOOL)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "usage" in done.stderr
