"""Runs one benchmark by name: `python benchmarks/run.py logic`. Some take numbers: `... monitor-soak --minutes 3`. With
`--quick`, a part of it, if it has such a part.

Both sides are measured in this one run. A readable table comes first; the last line is JSON, with one entry for every
bound that was promised: {"benchmark": "logic", "bounds": {"doubling": {"measured": 1.98, "at_most": 2.2}}, "ok": true}
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUICK = {"operators-spark": "OPERATORS_QUICK"}
"""Benchmarks with a quick part, and the variable that asks for it."""


@dataclass(frozen=True)
class Bound:
    """A measured number and the promise it is held against."""

    measured: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ok(self) -> bool:
        return (self.at_most is None or self.measured <= self.at_most) and (
            self.at_least is None or self.measured >= self.at_least
        )

    def as_json(self) -> dict[str, float]:
        promised = {"at_most": self.at_most, "at_least": self.at_least}
        return {"measured": round(self.measured, 3)} | {k: v for k, v in promised.items() if v is not None}


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem != "run")


def load(name: str) -> Callable[..., Mapping[str, Bound]]:
    """The `measure` function of a benchmark: prints its table, returns its bounds."""
    measure: Callable[..., Mapping[str, Bound]] = load_module(name).measure
    return measure


def numbers(arguments: list[str]) -> dict[str, float]:
    """Arguments of `measure`.

    >>> numbers(["--minutes", "3"])
    {'minutes': 3.0}
    """
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    return {option.removeprefix("--").replace("-", "_"): float(value) for option, value in pairs}


def load_module(name: str) -> Any:
    """A benchmark's module; one may use another's subjects."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: list[str]) -> int:
    # Benchmarks import this file as `run`; it must be the same module object that is running now.
    sys.modules["run"] = sys.modules[__name__]
    match arguments:
        case [name, "--quick"] if name in QUICK:
            os.environ[QUICK[name]] = "1"
            more: list[str] = []
        case [name, *more] if name in names() and "--quick" not in more and len(more) % 2 == 0:
            pass
        case _:
            print(f"usage: python benchmarks/run.py NAME, with NAME one of: {', '.join(names())}", file=sys.stderr)
            print(f"--quick after it: {', '.join(QUICK)}", file=sys.stderr)
            return 2
    bounds = load(name)(**numbers(more))
    ok = all(bound.ok for bound in bounds.values())
    print(json.dumps({"benchmark": name, "bounds": {k: b.as_json() for k, b in bounds.items()}, "ok": ok}))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
