"""A class-data archive's surroundings, made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.spark.session import archive


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, a made-up Spark, and none of the variables that switch things."""
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark-core.jar").write_text("one")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("FIRESTEEL_ARCHIVE", raising=False)
    (tmp_path / "firesteel").mkdir()
    return tmp_path / "firesteel"


@pytest.fixture
def file(cache: Path) -> Path:
    made = archive.path()
    assert made is not None and made.parent == cache
    return made
