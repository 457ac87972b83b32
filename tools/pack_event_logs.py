"""Trims and packs the logs that tools/event_logs.py makes, for tests/history/logs.

python tools/pack_event_logs.py FROM TO
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from firesteel.verification import event_log


def pack(source: Path, target: Path) -> None:
    """A copy of every log, without what tells about the machine and without plans, packed with zstd."""
    import pyarrow as pa

    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        lines = [json.dumps(trimmed(dict(event)), separators=(",", ":")) for event in event_log(path)]
        text = "".join(line + "\n" for line in lines).encode()
        with pa.OSFile(str(target / f"{path.name}.zst"), "wb") as file, pa.CompressedOutputStream(file, "zstd") as out:
            out.write(text)


def trimmed(event: dict[str, Any]) -> dict[str, Any]:
    match event["Event"].rpartition(".")[2]:
        case "SparkListenerEnvironmentUpdate":
            return {"Event": event["Event"]}
        case "SparkListenerSQLExecutionStart" | "SparkListenerSQLAdaptiveExecutionUpdate":
            return event | {"physicalPlanDescription": "", "details": "", "sparkPlanInfo": {}, "modifiedConfigs": {}}
        case "SparkListenerJobStart" | "SparkListenerStageSubmitted":
            kept = ("spark.sql.", "sql.streaming.", "streaming.sql.", "callSite", "spark.job")
            properties = {key: value for key, value in event["Properties"].items() if key.startswith(kept)}
            return event | {"Properties": properties}
        case _:
            return event


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pack(*map(Path, sys.argv[1:]))
