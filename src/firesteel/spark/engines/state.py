"""The state that a query keeps, read from its checkpoint with Spark's state reader."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from firesteel.spark.engines.recorded import from_local
from firesteel.values.batches import Batch, make_batch
from firesteel.values.records import Record, make_record
from firesteel.values.schemas.conform import conformer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Store = tuple[int, str, Mapping[str, str]]
"""An operator's id, what is stored, and how the reader is told to read it."""


class StateReader:
    """Reads the state of one query after a micro-batch."""

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._spark, self._checkpoint = spark, checkpoint
        self._stores: list[Store] | None = None

    def after(self, batch_id: int) -> Batch:
        """All keys and values, of every stateful operator; the same stores throughout a query's life."""
        if self._stores is None:
            self._stores = list(self._found())
        return make_batch([record for store in self._stores for record in self._read(store, batch_id)], None)

    @property
    def keeps_any(self) -> bool:
        """Does the query keep state at all?"""
        return bool(self._stores)

    def _found(self) -> Iterator[Store]:
        rows = self._spark.read.format("state-metadata").load(self._checkpoint).collect()
        for row in sorted(rows, key=lambda row: (row.operatorId, row.stateStoreName)):
            side, joined, part = row.stateStoreName.partition("-key")
            if joined:
                if part == "ToNumValues":  # the other stores of a join repeat this one, by index
                    yield row.operatorId, side, {"joinSide": side}
            elif row.operatorName == "symmetricHashJoin":  # from state format 3 on all of a join is in one store
                yield from ((row.operatorId, side, {"joinSide": side}) for side in ("left", "right"))
            elif "stateVariables" in (properties := json.loads(row.operatorProperties or "{}")):
                for variable in properties["stateVariables"]:
                    if variable["stateVariableType"] == "TimerState":
                        yield row.operatorId, "timers", {"readRegisteredTimers": "true"}
                    else:
                        yield row.operatorId, variable["stateName"], {"stateVarName": variable["stateName"]}
            else:
                yield row.operatorId, row.stateStoreName, {}

    def _read(self, store: Store, batch_id: int) -> Iterator[Record]:
        operator, name, options = store
        reader = self._spark.read.format("statestore").options(**options)
        frame = reader.option("operatorId", operator).option("batchId", batch_id).load(self._checkpoint)
        frame = frame.drop("partition_id")
        make = conformer(frame.schema, moment=from_local)
        for row in frame.collect():
            yield make_record({"operator": operator, "name": name, **_columns(make(row))})


def _columns(record: Any) -> dict[str, Any]:
    return dict(record.__dict__)
