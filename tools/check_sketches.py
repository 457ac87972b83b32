"""Do the design's sketches fit the package? Compares `../shared/sketches`, where it is present, with src/.

- The types: mypy's stubtest holds the sketched stubs against the package at run time. Names that are not built yet
  stand in tools/sketches_pending.txt; a name there that has been built since is an error too, so the list only shrinks.
  Where the package is wider on purpose, tools/sketches_allowed.txt says so.
- The tests: each sketched test file is type-checked against the package, and run, once every name it uses is built.
  Where a sketch says what is not so on Spark, CORRECTED has what is run instead, and why. Some of the
  subjects run one case at a time, so the tests take a Hypothesis profile of few examples.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKETCHES = ROOT.parent / "shared" / "sketches"
PENDING = ROOT / "tools" / "sketches_pending.txt"
ALLOWED = ROOT / "tools" / "sketches_allowed.txt"

CORRECTED = {
    "test_00_readme.py": [
        # The job removes duplicates of (id, ts), the property wants every id once: it is false, and has to be found so.
        (
            '    fs.for_all(events, dedup, fs.always(lambda now: now.so_far.output.unique("id")))',
            "    with pytest.raises(fs.Falsified):\n"
            '        fs.for_all(events, dedup, fs.always(lambda now: now.so_far.output.unique("id")))',
        ),
        ("import firesteel as fs\n", "import firesteel as fs\nimport pytest\n"),
    ],
    "test_02_hashtags.py": [
        # PySpark uses the inverse function only where a window is at least five slides long: below that, what has left
        # is gone and not counted 0 times.
        (
            "lambda now: (tag, n) in now.output,",
            "lambda now: (tag, n) in now.output or (n == 0 and bool(now.output.none(lambda p: p[0] == tag))),",
        ),
        # A tag may come in all of the first 16 batches, and falls to zero only after them: firesteel finds that.
        ("within=window * 3)", "within=window * 6)"),
        # DStreams run one case at a time, and this takes minutes.
        ("cases=10)", "cases=3)"),
    ],
    "test_06_taxi.py": [
        # Two sets of NaN are never equal, so `tied` refuses answers that are.
        ("taxi=st.integers(0, 3))", "taxi=st.integers(0, 3), pos=st.floats(0, 100))"),
        # Spark drops the first of two repartitions that follow each other: the order is really lost where something
        # is between them.
        (
            'return rides.select("taxi", "pos").repartition(4).repartition(4, "taxi")',
            'return rides.repartition(4).select("taxi", F.round("pos", 1).alias("pos")).repartition(4, "taxi")',
        ),
        (
            'return rides.repartition(4, "taxi").select("taxi", "pos")',
            'return rides.repartition(4, "taxi").select("taxi", F.round("pos", 1).alias("pos"))',
        ),
    ],
    "test_05_outer_join.py": [
        # An output record has four columns, a record of the ads two: they are never equal.
        (
            'now.so_far["ads"].records.count(r) >= 1',
            'now.so_far["ads"].records.count((r.ad, r.shown)) >= 1',
        ),
        # `ok` may be null, and then the record is in neither output: the property is false, as firesteel finds.
        ('ok BOOLEAN"', 'ok BOOLEAN NOT NULL"'),
    ],
}
PROFILE = """
from hypothesis import settings
settings.register_profile("sketches", derandomize=True, deadline=None, max_examples={examples})
settings.load_profile("sketches")
"""
EXAMPLES = 20


def main() -> int:
    if not SKETCHES.is_dir():
        print("sketches: not present here, nothing to check")
        return 0
    results = [stubtest()]
    with tempfile.TemporaryDirectory() as folder:
        # Copied, because beside them mypy would find the sketched stubs instead of the package.
        ready = [copied(path, Path(folder)) for path in sorted(SKETCHES.glob("test_*.py")) if not pending(path.name)]
        (Path(folder) / "conftest.py").write_text(PROFILE.format(examples=EXAMPLES))
        if ready:
            results.append(run([sys.executable, "-m", "mypy", "--strict", *ready], MYPYPATH=str(ROOT / "src")))
            quick = ["-p", "no:cacheprovider", "--rootdir", folder]
            results.append(run([sys.executable, "-m", "pytest", "-q", *quick, *ready], FIRESTEEL_ARCHIVE="use"))
    return max(results)


def stubtest() -> int:
    lists = [option for path in (PENDING, ALLOWED) for option in ("--allowlist", str(path))]
    return run(
        [sys.executable, "-m", "mypy.stubtest", "firesteel", "--ignore-missing-stub", *lists], MYPYPATH=str(SKETCHES)
    )


def copied(path: Path, folder: Path) -> str:
    """A sketched test in the folder, corrected where it has to be; a correction that no longer fits is an error."""
    text = path.read_text()
    for wrong, right in CORRECTED.get(path.name, []):
        if wrong not in text:
            raise SystemExit(f"sketches: {path.name} has changed: {wrong!r} in CORRECTED is not there any more")
        text = text.replace(wrong, right)
    (folder / path.name).write_text(text)
    return str(folder / path.name)


def pending(name: str) -> bool:
    return name in re.findall(r"^# pending test: (\S+)$", PENDING.read_text(), re.MULTILINE)


def run(command: list[str], **environment: str) -> int:
    print("sketches:", " ".join(command[2:4]), flush=True)
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
