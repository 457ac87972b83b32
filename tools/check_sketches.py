"""Do the design's sketches fit the package? Compares `../shared/sketches`, where it is present, with src/.

- The types: mypy's stubtest holds the sketched stubs against the package at run time. Names that are not built yet
  stand in tools/sketches_pending.txt; a name there that has been built since is an error too, so the list only shrinks.
  Where the package is wider on purpose, tools/sketches_allowed.txt says so.
- The tests: each sketched test file is type-checked against the package, and run, once every name it uses is built.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKETCHES = ROOT.parent / "shared" / "sketches"
PENDING = ROOT / "tools" / "sketches_pending.txt"
ALLOWED = ROOT / "tools" / "sketches_allowed.txt"


def main() -> int:
    if not SKETCHES.is_dir():
        print("sketches: not present here, nothing to check")
        return 0
    results = [stubtest()]
    with tempfile.TemporaryDirectory() as folder:
        # Copied, because beside them mypy would find the sketched stubs instead of the package.
        ready = [
            shutil.copy(path, folder) for path in sorted(SKETCHES.glob("test_*.py")) if path.name not in pending_tests()
        ]
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


def pending_tests() -> set[str]:
    return set(re.findall(r"^# pending test: (\S+)$", PENDING.read_text(), re.MULTILINE))


def run(command: list[str], **environment: str) -> int:
    print("sketches:", " ".join(command[2:4]), flush=True)
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
