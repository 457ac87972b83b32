"""Plain values: records, batches, streams, instants, traces, cases, equality, windows, schemas. They know no Spark."""
