"""What tests of operators on Spark share."""

from __future__ import annotations

import pytest


@pytest.fixture
def no_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence stays as it is: where rows are given, they are small."""
    monkeypatch.setattr("firesteel.operators.onspark.examine._SHRINK_SECONDS", 0.0)
