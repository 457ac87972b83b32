"""Sweeps are long: they run only where `-m` names them."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent

TESTS = """
import pytest

def test_quick(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.slow
@pytest.mark.sweep
def test_sweep(sweep_seed): assert sweep_seed == 7
"""


@pytest.mark.parametrize(
    "arguments, passed, deselected",
    [([], 2, 1), (["-m", "not slow"], 1, 2), (["-m", "slow"], 1, 2), (["-m", "sweep"], 1, 2)],
    ids=["plain", "make test", "slow", "make sweep"],
)
def test_sweeps_are_left_out_unless_they_are_asked_for(pytester, monkeypatch, arguments, passed, deselected):
    monkeypatch.setenv("SWEEP_SEED", "7")
    pytester.makeini("[pytest]\nmarkers =\n  slow: s\n  sweep: s")
    pytester.makeconftest((HERE / "conftest.py").read_text())
    pytester.makepyfile(TESTS)
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
    found.assert_outcomes(passed=passed, deselected=deselected)


def test_make_sweep_asks_for_them():
    makefile = (HERE.parent / "Makefile").read_text()
    assert "-m sweep" in makefile.split("\nsweep:")[1].split("\n\n")[0]
