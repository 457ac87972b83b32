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
        """One more micro-batch. Rows go to its files by their first column, so that those of one key stay in order."""
        rows = list(rows)
        for part in range(self.per_batch):
            own = [row for row in rows if row[0] % self.per_batch == part]
            values = zip(_columns(own, self.arrow), self.arrow, strict=True)
            columns = [pa.array(column, field.type) for column, field in values]
            path = self.folder / f"{self.count:06}.parquet"
            pq.write_table(pa.Table.from_arrays(columns, schema=self.arrow), path)
            os.utime(path, (1_000_000 + self.count, 1_000_000 + self.count))
            self.count += 1

    def stream(self):
        source = self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", self.per_batch)
        return source.parquet(str(self.folder))


def _columns(rows, schema):
    return list(zip(*rows, strict=True)) if rows else [()] * len(schema)


def run(frame, folder: Path):
    """Run a frame on all that is there, from the checkpoint in a folder; all rows that it ever put out."""
    started(frame, folder).awaitTermination()
    return written(frame, folder)


def started(frame, folder: Path):
    """The query that runs a frame on all that is there."""
    return (
        frame.writeStream.format("parquet")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .option("path", str(folder / "out"))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )


def written(frame, folder: Path):
    return frame.sparkSession.read.schema(frame.schema).parquet(str(folder / "out")).collect()
