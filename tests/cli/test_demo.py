"""The demo: the right job passes, the forgetful one is caught, and the reader is told why."""

import pytest

from firesteel.cli import demo


@pytest.mark.slow
def test_the_demo(spark, capsys):
    assert demo.main() == 0
    printed = capsys.readouterr().out
    assert "true in all 20 cases" in printed
    assert "Falsified: the property is false in batch 1" in printed
    assert "user_15_misbehaves held in batch 0, so user_15_is_banned had to hold in batches 0 to 4." in printed
    assert "(none)   no                  NO                 <- false here" in printed
    assert "Keep it as a test:" in printed and "replay=" in printed
