"""How long a test run waits for Spark: `fs.session()` with the class-data archive, against PySpark's default one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from run import Bound

from firesteel.spark.session import archive

ROUNDS = 3

# Each in its own Python and its own JVM; the time starts before the imports, as it does for a user.
_TIMED = """
import time
start = time.perf_counter()
{session}
spark.range(100).selectExpr("id % 3 AS k").groupBy("k").count().collect()
print(time.perf_counter() - start)
"""
PROGRAMS = {
    "default": _TIMED.format(
        session='from pyspark.sql import SparkSession\nspark = SparkSession.builder.master("local[2]").getOrCreate()'
    ),
    "firesteel": _TIMED.format(session="from firesteel.spark.session.start import session\nspark = session()"),
}


def seconds(program: str) -> float:
    """Seconds to the first aggregate, as the program itself says in its last line."""
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=180, env=environment, check=True
    )
    return float(done.stdout.splitlines()[-1])


def ensure_archive() -> None:
    if archive.status().state != "ready":
        print("building the class-data archive, about a minute ...", flush=True)
    now = archive.build()
    if now.state != "ready":
        raise SystemExit(f"no class-data archive to measure with: {now.state}, {now.detail}")


def measure() -> Mapping[str, Bound]:
    ensure_archive()
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    print(f"{'round':8}" + "".join(f"{name:>12}" for name in PROGRAMS))
    for number in range(1, ROUNDS + 1):
        for name, program in PROGRAMS.items():
            times[name].append(seconds(program))
        print(f"{number:<8}" + "".join(f"{times[name][-1]:10.2f} s" for name in PROGRAMS), flush=True)
    best = {name: min(values) for name, values in times.items()}
    print(f"{'best':8}" + "".join(f"{best[name]:10.2f} s" for name in PROGRAMS))
    return {"ratio": Bound(best["firesteel"] / best["default"], at_most=0.5)}
