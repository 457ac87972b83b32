"""Monitors of pipelines in production: what is kept of a stream between two micro-batches, and what comes of the next.

Everything here is a function from a state and new rows to a state and verdicts. States are plain data, which Spark
keeps in its checkpoint. `firesteel.spark.monitor` makes streaming queries of these functions.
"""
