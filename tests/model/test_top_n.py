"""TopN, the case study of the paper on S2M: captured, modelled, verified, and compared with the real run."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import firesteel as fs
from firesteel.model import msvl
from firesteel.model.translate.events import real_stages, trace
from firesteel.model.translate.model import built


def top_n(sc: Any, path: Path, partitions: int = 5) -> list[tuple[str, int]]:
    lines = sc.textFile(str(path), partitions)
    urls = lines.filter(lambda x: len(x.split(" ")) > 10).map(lambda x: x.split(" ")[10])
    ones = urls.map(lambda x: (x, 1))
    return ones.reduceByKey(lambda a, b: a + b).sortBy(lambda kv: kv[1], ascending=False).take(5)


def click_log(path: Path, lines: int, urls: int) -> Path:
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(lines):
            fields = [f"f{draw.randrange(100)}" for _ in range(draw.choice([4, 12, 13, 14]))]
            if len(fields) > 10:
                fields[10] = f"/page/{min(draw.randrange(urls), draw.randrange(urls))}"
            file.write(" ".join(fields) + "\n")
    return path


FIGURE_6 = (
    '(ReadWords1("TopN.txt")||Filter1(2,1)||Filter1(2,2)||Filter1(2,3)||Filter1(2,4)||Filter1(2,5)||Map1(3,1)||'
    "Map1(3,2)||Map1(3,3)||Map1(3,4)||Map1(3,5)||Map2(4,1)||Map2(4,2)||Map2(4,3)||Map2(4,4)||Map2(4,5)||"
    'shuffle1(5,"reduceByKey"));(ReduceByKey1(1)||ReduceByKey1(2)||ReduceByKey1(3)||ReduceByKey1(4)||'
    "ReduceByKey1(5)||SortBy(2));Take(5)"
)

RULES = {
    "the sort never starts before the reduction is complete": "[] (stage_2_runs -> stage_1_done)",
    "nothing is taken before it is sorted": "[] (taken -> stage_2_done)",
    "buffers stay small": "[] small",
    "every url that is counted was read": "[] (stage_1_done -> all_read) and <> stage_1_done",
}
COUNTED = "[kv[0] for kv in flat([reduceByKey1_0, reduceByKey1_1, reduceByKey1_2, reduceByKey1_3, reduceByKey1_4])]"
READ = "tomap([(url, 1) for url in flat([map1_0, map1_1, map1_2, map1_3, map1_4])])"
MEANING = {
    "taken": "!(take1 = null) AND size(take1) > 0",
    "small": " AND ".join(f"size(map2_{p}) < 200" for p in range(5)),
    "all_read": f"let read = {READ} in all([contains(read, url) for url in {COUNTED}])",
}


def used(rule: str) -> dict[str, str]:
    return {name: text for name, text in MEANING.items() if name in rule}


@pytest.fixture(scope="module")
def topn(spark, tmp_path_factory):
    path = click_log(tmp_path_factory.mktemp("clicks") / "TopN.txt", 400, 30)
    with fs.events(spark) as log, fs.capture(spark) as dag:
        real = top_n(spark.sparkContext, path)
    return dag, real, list(log)


@pytest.mark.slow
def test_top_n(topn):
    dag, real, _ = topn
    found = msvl.load(dag.msvl()).run()
    # Ties among the counts are broken by the order in which urls come out of the reduction.
    assert [count for _, count in found[0]] == [count for _, count in real]
    assert found == [real]


URLS = st.sampled_from(["/", "/a", "/b", "/a/b", "/é", "/c?x=1", "/d"])
FIELDS = st.lists(st.sampled_from(["x", "", "10"]), min_size=10, max_size=10)
HITS = st.builds(lambda fields, url, more: " ".join([*fields, url, *more]), FIELDS, URLS, st.lists(URLS, max_size=2))
CLICKS = st.lists(HITS | st.sampled_from(["", "too short", " " * 10]), max_size=25)


def compare_with_spark(spark: Any, path: Path, settled: Any) -> None:
    """Click logs that Hypothesis draws, in some number of partitions."""

    @settled
    @given(CLICKS, st.integers(1, 6))
    def run(lines: list[str], partitions: int) -> None:
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        with fs.capture(spark) as dag:
            real = top_n(spark.sparkContext, path, partitions)
        model = msvl.load(dag.msvl())
        assert model.externals == ()
        (found,) = model.run()
        # By count: among equal counts Spark may take any. The urls are those of the log, with their own counts.
        assert [count for _, count in found] == [count for _, count in real]
        read = Counter(line.split(" ")[10] for line in lines if len(line.split(" ")) > 10)
        assert all(read[url] == count for url, count in found)

    run()


@pytest.mark.slow
def test_top_n_of_any_log(spark, tmp_path):
    compare_with_spark(
        spark, tmp_path / "clicks.txt", settings(max_examples=5, suppress_health_check=list(HealthCheck))
    )


@pytest.mark.sweep
def test_top_n_of_many_logs(spark, tmp_path, sweep_seed):
    often = settings(max_examples=50, suppress_health_check=list(HealthCheck), database=None)
    compare_with_spark(spark, tmp_path / "clicks.txt", lambda test: seed(sweep_seed)(often(test)))


@pytest.mark.slow
def test_top_n_with_other_inputs(topn):
    model = msvl.load(topn[0].msvl())
    line = "0 1 2 3 4 5 6 7 8 9 /url x"
    other = [[line, "dirty"], [line.replace("/url", "/b")], [], [line], ["", line]]
    assert model.run({"textFile1": other}) == [[("/url", 3), ("/b", 1)]]
    with pytest.raises(msvl.MsvlError, match="it needs a list of 5"):
        model.run({"textFile1": [[line]]})


@pytest.mark.slow
def test_the_paper_prints_top_n_like_this(topn):
    assert topn[0].msvl(style="paper") == FIGURE_6


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_what_holds_of_top_n(topn, name):
    model = msvl.load(topn[0].msvl())
    assert fs.verify(model, RULES[name], propositions=used(RULES[name])).verdict is fs.Verdict.TRUE


SORTED, UNSORTED = (", ".join(f"{name}_{p}" for p in range(5)) for name in ("sortBy1", "reduceByKey1"))
ONE = "map2_f(records[i])"
PLANTED = {
    # A task of the sort does not wait.
    "the sort never starts before the reduction is complete": ("(await(stage_1_done()) ; runs_2_0", "(runs_2_0"),
    # The driver takes what is not sorted yet.
    "nothing is taken before it is sorted": (
        f"(await(stage_2_done()) ; Take1([{SORTED}]",
        f"(await(stage_1_done()) ; Take1([{UNSORTED}]",
    ),
    # Every record is put out five times.
    "buffers stay small": (f"append(out, {ONE})", f"extend(out, [{ONE}, {ONE}, {ONE}, {ONE}, {ONE}])"),
    # The shuffle changes the urls.
    "every url that is counted was read": (
        "out[mod(keyhash(pairs[i][0]), 5)], pairs[i])",
        'out[mod(keyhash(pairs[i][0]), 5)], (pairs[i][0] + "/", 1))',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_a_planted_bug_is_refuted(topn, name):
    written, wrong = PLANTED[name]
    text = topn[0].msvl()
    assert written in text
    with pytest.raises(fs.Falsified):
        fs.verify(msvl.load(text.replace(written, wrong)), RULES[name], propositions=used(RULES[name]))


STAGES = [
    "[] (stage_2_runs -> stage_1_done)",
    "[] (stage_1_runs -> stage_0_done)",
    "<> stage_2_done",
    "[] not (stage_0_runs and stage_1_runs)",
    "not stage_2_runs until stage_1_done",
    "[] (stage_0_done -> [] not stage_0_runs)",
    "<> (stage_0_runs and stage_2_runs)",
    "[] (stage_1_done -> stage_2_done)",
    "stage_0_done",
    "[] not stage_1_runs",
]


@pytest.mark.slow
@pytest.mark.parametrize("rule", STAGES)
def test_the_real_run_answers_like_the_model(topn, rule):
    dag, _, events = topn
    builder = built(dag.program)
    assert sorted(real_stages(builder)) == [0, 1, 2]

    def verdict(source: Any) -> Any:
        try:
            return fs.verify(source, rule).verdict
        except fs.Falsified:
            return fs.Verdict.FALSE

    assert verdict(msvl.load(dag.msvl())) is verdict(trace(builder, events))
