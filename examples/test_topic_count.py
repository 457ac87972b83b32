"""Topics of documents that come word by word: DiffStream's second case study, with the words' topics in a real Redis.

A document is its words, one record each, and then a record that says which document ends here. Redis has the topic of
each word; the topic of a document is that of most of its words, and of those that tie the first by name.

Asking Redis takes long, so the words are to be spread over tasks. But words hang on the end that comes after them:
spread the stream, and the one task that gets the end knows only its own words, while the others never hear of it. The
right way is to number the documents while the stream is still in order, and only then to spread the words: a number
goes wherever its word goes.

`redis-server` has to be installed (as root on Debian `make test-all` does that); without it this is skipped.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd
import pytest
import redis_here
from hypothesis import strategies as st
from pyspark import cloudpickle
from pyspark.sql import DataFrame
from redis_here import redis_client, redis_server

import firesteel as fs
from firesteel import perturb
from firesteel import strategies as ss

pytestmark = pytest.mark.slow
for module in (sys.modules[__name__], redis_here):  # Spark's workers cannot import these files
    cloudpickle.register_pickle_by_value(module)

WORDS = "word STRING, ends STRING"  # a word, or the name of the document that ends here
OUTPUT = "document STRING, topic STRING"


# --- the job --------------------------------------------------------------------------------------


class TopicCount(NamedTuple):
    """The job in three versions."""

    port: int
    tasks: int = 4
    words_a_query: int = 10_000

    def sequential(self, words: DataFrame) -> DataFrame:
        return words.coalesce(1).mapInPandas(self._until_each_end, OUTPUT)

    def wrongly_parallel(self, words: DataFrame) -> DataFrame:
        return words.repartition(self.tasks).mapInPandas(self._until_each_end, OUTPUT)

    def rightly_parallel(self, words: DataFrame) -> DataFrame:
        spread = words.coalesce(1).mapInPandas(numbered, f"{WORDS}, number LONG").repartition(self.tasks)
        counts = spread.mapInPandas(self._counts, "number LONG, ends STRING, topic STRING, n LONG")
        return counts.groupBy("number").applyInPandas(topic_of_one, OUTPUT)

    def _until_each_end(self, parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Counts topics until a document ends, and starts anew."""
        counts: Counter[str] = Counter()
        for part in parts:
            for topic, ends in zip(self._topics(part), part.ends, strict=True):
                if topic is not None:
                    counts[topic] += 1
                if ends is not None:
                    yield pd.DataFrame({"document": [ends], "topic": [most_frequent(counts)]})
                    counts.clear()

    def _counts(self, parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """What each task adds to the counts of the documents."""
        for part in parts:
            counts = Counter(zip(part.number, part.ends, self._topics(part), strict=True))
            yield pd.DataFrame([(*of, n) for of, n in counts.items()], columns=["number", "ends", "topic", "n"])

    def _topics(self, part: pd.DataFrame) -> list[str | None]:
        words = [word or "" for word in part.word]  # the end of a document is no word, and has no topic
        with redis_client(self.port) as redis:
            queries = [words[at : at + self.words_a_query] for at in range(0, len(words), self.words_a_query)]
            return [topic for query in queries for topic in redis("MGET", *query)]


def numbered(parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Gives each record the number of documents that ended before it."""
    before = 0
    for part in parts:
        ended = part.ends.notna().astype("int64")
        yield part.assign(number=before + ended.cumsum() - ended)
        before += ended.sum()


def topic_of_one(counts: pd.DataFrame) -> pd.DataFrame:
    """The topic of one document, from what all tasks counted."""
    topic = most_frequent(counts.groupby("topic")["n"].sum().to_dict())
    return counts[["ends"]].dropna().rename(columns={"ends": "document"}).assign(topic=topic)


def most_frequent(counts: Mapping[str, int]) -> str | None:
    return min(counts, key=lambda topic: (-counts[topic], topic), default=None)


# --- the test -------------------------------------------------------------------------------------

TOPICS = {"goal": "sport", "match": "sport", "party": "politics", "vote": "politics", "band": "music"}
texts = st.lists(st.sampled_from([*TOPICS, "the"]), max_size=6)  # "the" has no topic


def documents(batch: list[tuple[str, list[str]]]) -> fs.Batch:
    """Documents with their names, word by word."""
    records = [record for name, text in batch for record in [*((word, None) for word in text), (None, name)]]
    return fs.Batch(records, schema=WORDS)


some = st.lists(st.tuples(st.sampled_from("ABC"), texts), max_size=3, unique_by=lambda document: document[0])
streams = ss.always(some.map(documents), during=2)
# A name may come again in the next batch, and its topic has to come after the first. (Twice in one batch, and the right
# version fails too: it puts out the documents of a batch in any order.)
PER_DOCUMENT = fs.same_key("document")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TopicCount]:
    redis_here.skip_without_server()
    with redis_server(tmp_path_factory.mktemp("redis"), TOPICS) as port:
        yield TopicCount(port)


def test_topics(job: TopicCount) -> None:
    batch = documents([("A", ["vote", "the", "goal", "the", "match", "the"]), ("B", ["vote", "goal"]), ("C", ["the"])])
    for version in (job.sequential, job.rightly_parallel):
        trace = fs.run(fs.Stream(WORDS, [batch]), version)
        topics = dict(trace[0].output.values("document", "topic"))
        assert topics == {"A": "sport", "B": "politics", "C": None}


def test_numbered_and_then_spread_it_is_the_same(job: TopicCount) -> None:
    under = [perturb.partitions(1, 4) & perturb.shuffle_order()]
    fs.equivalent(streams, job.sequential, job.rightly_parallel, dependence=PER_DOCUMENT, under=under, cases=15)


def test_spread_at_once_it_is_not(job: TopicCount) -> None:
    with pytest.raises(fs.Falsified) as failure:
        fs.equivalent(streams, job.sequential, job.wrongly_parallel, dependence=PER_DOCUMENT, cases=50)
    found = failure.value.report.counterexample
    assert found is not None and "document='A'" in found.reason
    # One document of one word: another task than that of the word is told of the end.
    records = [record for batch in found.inputs["input"] for record in batch]
    assert [(record.word in TOPICS, record.ends) for record in records] == [(True, None), (False, "A")]
