"""The speed-up table of DiffStream's Figure 11 for 1 and 2 cores: topics of documents, the words' topics in Redis.

The job is that of examples/test_topic_count.py, on one micro-batch of long documents. As in the paper there is a query
for every word; beside it, longer documents where a query asks for the topics of many words.

Redis runs on the same cores, which limits what a second task can gain where there are only two. So nothing is promised.
"""

from __future__ import annotations

import importlib
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F
from run import Bound

import firesteel as fs

DOCUMENTS, WORDS, TOPICS = 2, 10_000, 20
LENGTHS = {1: 100_000, 10_000: 500_000}
"""The words of a document, by the words that a query asks for."""
PAPER = {"sequential": "", "rightly parallel, 1 task": "1.00", "rightly parallel, 2 tasks": "2.01"}


def measure() -> Mapping[str, Bound]:
    if shutil.which("redis-server") is None:
        print("redis-server is not installed, nothing is measured: on Debian, sudo apt-get install redis-server")
        return {}
    print("this takes a minute or two ...", file=sys.stderr, flush=True)
    sys.path.append(str(Path(__file__).parent.parent / "examples"))
    example: Any = importlib.import_module("test_topic_count")
    draw = random.Random(0)
    topics = {f"word {number}": f"topic {draw.randrange(TOPICS)}" for number in range(WORDS)}
    with tempfile.TemporaryDirectory() as folder, example.redis_server(Path(folder), topics) as port:
        spark = fs.session({"spark.driver.memory": "2g"})
        small = _documents(spark, 1_000)
        tables = {}
        for words_a_query, length in LENGTHS.items():
            one, two = (example.TopicCount(port, tasks, words_a_query) for tasks in (1, 2))
            jobs = dict(zip(PAPER, (one.sequential, one.rightly_parallel, two.rightly_parallel), strict=True))
            _seconds(jobs, small)  # workers start, code is compiled
            tables[words_a_query] = _seconds(jobs, _documents(spark, length))
    print(f"{DOCUMENTS} documents of words out of {WORDS:,}, {TOPICS} topics")
    for words_a_query, seconds in tables.items():
        print(f"\n{LENGTHS[words_a_query]:,} words each, {words_a_query:,} a query")
        print(f"{'':30}{'seconds':>9}{'speed-up':>10}{'paper':>8}")
        alone = seconds["rightly parallel, 1 task"]
        for name, took in seconds.items():
            faster = "" if name == "sequential" else f"{alone / took:.2f}"
            print(f"{name:30}{took:9.1f}{faster:>10}{PAPER[name] if words_a_query == 1 else '':>8}")
    print("\nThe paper: 5 documents of 500,000 words in Flink on a large server, 80 s with 1 task.")
    return {}


def _documents(spark: Any, length: int) -> Any:
    """Documents word by word, in one partition, in memory."""
    last = F.col("id") % (length + 1) == length
    word = F.concat(F.lit("word "), F.floor(F.rand(0) * WORDS))
    name = F.concat(F.lit("document "), F.floor(F.col("id") / (length + 1)))
    words = spark.range(DOCUMENTS * (length + 1), numPartitions=1)
    frame = words.select(F.when(~last, word).alias("word"), F.when(last, name).alias("ends")).cache()
    frame.count()
    return frame


def _seconds(jobs: Mapping[str, Any], words: Any) -> dict[str, float]:
    """The seconds of each version, which all have to give the same answer."""
    took: dict[str, float] = {}
    answers = set()
    for name, job in jobs.items():
        began = time.perf_counter()
        rows = job(words).collect()
        took[name] = time.perf_counter() - began
        answers.add(tuple(sorted((row.document, row.topic) for row in rows)))
    assert len(answers) == 1 and all(len(answer) == DOCUMENTS for answer in answers), answers
    return took
