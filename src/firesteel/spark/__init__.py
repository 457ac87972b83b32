"""Everything that touches PySpark or py4j: sessions, engines, bulk runs, plans, comparisons of DataFrames.

Nothing outside this package imports py4j or starts a JVM, and importing this package does neither. There is no
re-export of `session` here: `firesteel.spark.session.start` is the module. Users write `fs.session()`.
"""
