"""A property on executors that are processes of their own, with batches of 100,000 records that stay there."""

import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import pyspark
    from pyspark.sql import SparkSession, functions as F
    from hypothesis import strategies as st
    import firesteel as fs
    from firesteel import strategies as ss
    from firesteel.spark.frames.large import LargeBatch

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")  # quicker for a short life
    builder = builder.config("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    event = ss.records("user BIGINT NOT NULL, amount INT NOT NULL", user=st.integers(0, 9), amount=st.integers(0, 99))
    big = ss.always(ss.batches(event, min_size=100_000, max_size=100_000), during=2)

    sizes = []

    def kept(now):
        assert isinstance(now.output, LargeBatch) and "spark" in type(now.output.df).__module__
        sizes.append(len(now.output))
        return now.output.same_as(now.input)

    def total(now):
        return now.output.every(lambda r: 0 <= r.amount < 100)

    report = fs.for_all(big, lambda f: f.repartition(2), fs.always(kept) & fs.always(total), cases=1, spark=spark)
    assert report.verdict is fs.Verdict.TRUE and sizes == [100_000] * 2, sizes

    # Some are lost, and found to be.
    from hypothesis import Phase, settings
    try:
        fs.for_all(big, lambda f: f.where("amount < 50"), fs.always(lambda now: now.output.same_as(now.input)),
                   settings=settings(max_examples=2, phases=[Phase.generate]), spark=spark, seconds=300)
        raise SystemExit("the lost records were not noticed")
    except fs.Falsified as failure:
        print(str(failure)[:1500])
        assert "missing: Record(" in str(failure)
        (leaf,) = failure.report.counterexample.explanation.leaves()
        assert 0 < len(leaf.records) <= 20 and all(r.amount >= 50 for r in leaf.records)
    spark.stop()
    print("cluster ok")
"""

ENVIRONMENT = {**os.environ, "PYSPARK_PYTHON": sys.executable}


@pytest.mark.slow
def test_large_batches_on_a_local_cluster(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=ENVIRONMENT,
        cwd=tmp_path,  # the replay line is long, and goes to a file there
    )  # fmt: skip
    assert done.stdout.endswith("cluster ok\n"), done.stdout[-3000:] + done.stderr[-3000:]
