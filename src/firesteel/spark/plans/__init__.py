"""Spark's logical plans as trees of plain values: what a subject does, as far as its plan can say it."""
