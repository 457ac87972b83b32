"""Micro-batches as parquet files: written without Spark, read in order as a stream."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


class Files:
    """A folder that streams read. Each micro-batch takes `per_batch` files of it, in order."""

    def __init__(self, spark, folder: Path, schema: str, per_batch: int = 1):
        from pyspark.sql.pandas.types import to_arrow_schema

        from firesteel.values import schemas

        self.spark, self.folder, self.per_batch = spark, folder, per_batch
        self.schema = schemas.parse(schema)
        self.arrow = to_arrow_schema(self.schema, timezone="UTC")
        self.count = 0
        folder.mkdir(parents=True)

    def batch(self, rows) -> None:
        """One more micro-batch: its rows are cut into `per_batch` files."""
        rows = list(rows)
        for part in range(self.per_batch):
            own = rows[len(rows) * part // self.per_batch : len(rows) * (part + 1) // self.per_batch]
            columns = [pa.array(values, field.type) for values, field in zip(_columns(own, self.arrow), self.arrow)]
            path = self.folder / f"{self.count:06}.parquet"
            pq.write_table(pa.Table.from_arrays(columns, schema=self.arrow), path)
            os.utime(path, (1_000_000 + self.count, 1_000_000 + self.count))
            self.count += 1

    def stream(self):
        source = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", self.per_batch)
        return source.parquet(str(self.folder))


def _columns(rows, schema):
    return list(zip(*rows)) if rows else [()] * len(schema)


def run(frame, folder: Path, sink: str = "out"):
    """Run a frame on all that is there, from the checkpoint in a folder; all rows that it ever put out."""
    query = (
        frame.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .option("path", str(folder / sink))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return frame.sparkSession.read.schema(frame.schema).parquet(str(folder / sink)).collect()
