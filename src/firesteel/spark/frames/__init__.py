"""Batches that stay in Spark, and the comparison of DataFrames."""
