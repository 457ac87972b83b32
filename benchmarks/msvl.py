"""How long the model of TopN takes: the paper's case study, captured once, with more and more lines of a click log.

The growth is measured from a tenth of the lines to all of them, and given as a multiple of what a linear cost would be.
The check of four formulas at once is measured beside the bare run of the same model.
"""

from __future__ import annotations

import gc
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from run import Bound

import firesteel as fs
from firesteel.model import msvl

SIZES = (1_000, 10_000, 100_000)
PARTITIONS, URLS, ROUNDS = 5, 1_000, 3
FORMULA = (
    "[] (stage_2_runs -> stage_1_done) and [] (taken -> stage_2_done) and [] small and [] (stage_1_done -> all_read)"
)
COUNTED = ", ".join(f"reduceByKey1_{place}" for place in range(PARTITIONS))
READ = ", ".join(f"map1_{place}" for place in range(PARTITIONS))


def propositions(lines: int) -> dict[str, str]:
    known = f"tomap([(url, 1) for url in flat([{READ}])])"
    counted = f"[kv[0] for kv in flat([{COUNTED}])]"
    return {
        "taken": "!(take1 = null) AND size(take1) > 0",
        "small": " AND ".join(f"size(map2_{place}) <= {lines}" for place in range(PARTITIONS)),
        # Looked at where the reduction is done only: before that it says nothing.
        "all_read": f"!stage_1_done() OR (let read = {known} in all([contains(read, url) for url in {counted}]))",
    }


def top_n(sc: Any, path: Path) -> list[Any]:
    lines = sc.textFile(str(path), PARTITIONS).filter(lambda x: len(x.split(" ")) > 10)
    ones = lines.map(lambda x: x.split(" ")[10]).map(lambda x: (x, 1))
    found: list[Any] = ones.reduceByKey(lambda a, b: a + b).sortBy(lambda kv: kv[1], ascending=False).take(5)
    return found


def log_lines(number: int) -> list[str]:
    draw = random.Random(number)
    return [f"0 1 2 3 4 5 6 7 8 9 /page/{draw.randrange(URLS)} agent" for _ in range(number)]


def captured() -> msvl.Program:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "TopN.txt")
        path.write_text("\n".join(log_lines(100)), encoding="utf-8")
        spark = fs.session()
        with fs.capture(spark) as dag:
            top_n(spark.sparkContext, path)
        return msvl.load(dag.msvl())


def cpu(action: Callable[[], object]) -> float:
    """Seconds of this process: what else the machine does counts less."""
    gc.collect()
    start = time.process_time()
    action()
    return time.process_time() - start


def measure() -> Mapping[str, Bound]:
    model = captured()
    print(f"{'lines':>9}{'seconds':>10}{'us a line':>12}{'with four formulas':>20}")
    bare: dict[int, float] = {}
    checked: dict[int, float] = {}
    for size in SIZES:
        lines = log_lines(size)
        each = size // PARTITIONS
        inputs = {"textFile1": [lines[place * each : (place + 1) * each] for place in range(PARTITIONS)]}
        rounds = ROUNDS if size < SIZES[-1] else 1
        bare[size] = min(cpu(lambda: model.run(inputs)) for _ in range(rounds))  # noqa: B023
        checked[size] = min(
            cpu(lambda: fs.verify(model, FORMULA, propositions=propositions(size), inputs=inputs))  # noqa: B023
            for _ in range(rounds)
        )
        print(f"{size:9,}{bare[size]:10.2f}{bare[size] / size * 1e6:12.1f}{checked[size] / bare[size]:20.2f}")
    few, many = SIZES[-2:]
    return {
        "seconds_for_100000_lines": Bound(bare[many], at_most=60),
        "growth_against_linear": Bound(bare[many] / bare[few] / (many / few), at_most=1.3),
        "with_four_formulas": Bound(checked[many] / bare[many], at_most=1.5),
    }
