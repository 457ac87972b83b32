"""Operators of PySpark whose true answers are known: the suite of the benchmark `operators-spark`."""
