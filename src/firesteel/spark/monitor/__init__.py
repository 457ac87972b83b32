"""Streaming queries that monitor other streaming queries.

Rows are written as text or as Arrow's bytes before the shuffle, with their partition and their position in it. The
stateful operator sees only these, so that no value changes on its way through pandas. What it says is made rows of
Spark's types again afterwards.

A watermark reaches the stateful operator on a column of its own that is always null. So its timeouts follow event time,
but Spark drops no row as late before it is seen: Spark goes by the column with the watermark.
"""
