"""Logs that real Spark writes while the tests run: the same applications as those of the kept copies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import firesteel as fs
from tests.history import real

TOOL = Path(__file__).parents[2] / "tools" / "event_logs.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All applications, one after another in one process: they need other settings than the session of the tests."""
    made = tmp_path_factory.mktemp("logs")
    done = subprocess.run(
        [sys.executable, str(TOOL), str(made)],
        capture_output=True,
        text=True,
        timeout=1500,
        # A cluster that ends may make its folders once more after they were removed.
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "TMPDIR": str(tmp_path_factory.mktemp("tmp"))},
        cwd=made.parent,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return made


@pytest.mark.parametrize("name", real.SHOWS)
def test_a_fresh_log_shows_what_it_is_there_for_and_breaks_what_it_should_and_nothing_else(folder, name):
    log = fs.event_log(folder / name)
    assert real.shown_by(log, real.SHOWS[name]) == real.SHOWS[name]
    assert real.broken_by(log, *real.GENEROUS) == real.BROKEN.get(name, set())
    for of, rule in real.STRICT:
        if of == name:
            assert real.broken_by(log, rule) == {rule.name}


def test_a_folder_of_fresh_logs_is_a_history_folder(folder):
    logs = fs.event_log(folder).applications
    assert sorted(Path(one.path).name for one in logs) == sorted(real.SHOWS)
    rolled = fs.event_log(folder / "cluster")
    assert any(path.name.endswith(".zstd") for path in (folder / "cluster").iterdir()) and list(rolled)
