"""Cases of streams on Spark: how they are run, judged, screened in bulk and remembered, for any check on streams."""
