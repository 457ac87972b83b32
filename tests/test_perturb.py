"""Perturbations as values: how they read, what they yield, what is refused. What Spark makes of them: tests/spark."""

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel import InvalidArgument, Stream, perturb
from firesteel.perturb import Perturbation, Variant, ends
from firesteel.spark.perturb.perturbed import perturbed_case, refuse
from firesteel.spark.running import Running
from firesteel.values.cases import Case
from firesteel.values.streams import Batch

ALL = [
    perturb.partitions(1, 2, 7),
    perturb.row_order(),
    perturb.batch_boundaries(),
    perturb.shuffle_partitions(1, 5),
    perturb.adaptive_execution(),
    perturb.shuffle_order(),
    perturb.restart(),
    perturb.replayed_batch(),
]
NAMESPACE = {name: getattr(perturb, name) for name in dir(perturb)}


@pytest.mark.parametrize("perturbation", [*ALL, perturb.partitions(4) & perturb.shuffle_order()], ids=repr)
def test_values(perturbation):
    for same in (eval(repr(perturbation), NAMESPACE), pickle.loads(pickle.dumps(perturbation))):
        assert same == perturbation and hash(same) == hash(perturbation) and repr(same) == repr(perturbation)
    for length in range(12):
        variants = perturbation.variants(length)
        assert variants == perturbation.variants(length), "always the same ones"
        assert len(variants) == len(set(variants)) <= 4
        for variant in variants:
            assert tuple(variant.changes) == perturbation.names
            assert eval(repr(variant), NAMESPACE) == variant == pickle.loads(pickle.dumps(variant))
    texts = [str(variant) for variant in perturbation.variants(9)]
    assert len(set(texts)) == len(texts) and all(texts)


def test_they_are_named_after_what_makes_them():
    for perturbation in ALL:
        (name,) = perturbation.names
        assert name in dir(perturb) and repr(perturbation).startswith(f"{name}(")


@pytest.mark.parametrize(
    "length, after, replayed",
    [(0, [], []), (1, [], [0]), (2, [0], [1, 0]), (3, [1, 0], [1, 2, 0]), (9, [4, 0, 7], [4, 8, 0])],
)
def test_where_a_run_is_interrupted(length, after, replayed):
    assert [variant.restart for variant in perturb.restart().variants(length)] == after
    assert [variant.replayed_batch for variant in perturb.replayed_batch().variants(length)] == replayed


@pytest.mark.parametrize(
    "length, cuts", [(0, []), (1, ["halved"]), (2, ["one", "halved"]), (3, ["one", "halved", "paired"])]
)
def test_boundaries_that_would_be_the_same_are_left_out(length, cuts):
    assert [variant.batch_boundaries for variant in perturb.batch_boundaries().variants(length)] == cuts


def test_two_at_once():
    both = perturb.partitions(2, 3) & perturb.row_order()
    assert both.variants(1) == (
        Variant(partitions=2, row_order="reversed"),
        Variant(partitions=3, row_order=1),
        Variant(partitions=2, row_order=2),
    )
    assert (perturb.restart() & perturb.partitions(2)).variants(1) == (), "there is nothing to restart"
    assert str(both.variants(1)[1]) == "3 partitions, rows shuffled by seed 1"
    assert str(Variant()) == "nothing changed"


def test_twice_the_same_is_refused():
    with pytest.raises(
        InvalidArgument, match=r"partitions\(2\) & partitions\(3\) is not possible: .* under=\[\.\.\.\]"
    ):
        perturb.partitions(2) & perturb.partitions(3)
    with pytest.raises(TypeError):
        perturb.partitions(2) & 3
    with pytest.raises(TypeError):
        Variant(partitions=2) & 3


@pytest.mark.parametrize("make", [perturb.partitions, perturb.shuffle_partitions])
@pytest.mark.parametrize("count", [0, -1, True, 1.0, "2", None, [1, 2]])
def test_counts_that_are_none(make, count):
    with pytest.raises(InvalidArgument, match=rf"counts=.* of {make.__name__} is no number of partitions: write whole"):
        make(2, count)


@pytest.mark.parametrize("make", [perturb.partitions, perturb.shuffle_partitions])
def test_no_counts(make):
    with pytest.raises(InvalidArgument, match=rf"{make.__name__}\(\) changes nothing: write how many, such as"):
        make()


def test_counts_given_twice_are_run_once():
    assert perturb.partitions(2, 2) == perturb.partitions(2)


@given(st.integers(0, 50), st.integers(1, 10))
def test_parts_hold_everything_and_are_of_about_one_size(size, parts):
    cuts = ends(size, parts)
    sizes = [b - a for a, b in pairwise(cuts)]
    assert len(sizes) == parts and cuts[0] == 0 and cuts[-1] == size and max(sizes) - min(sizes) <= 1


@given(st.integers(2, 30), st.integers(0, 5), st.sampled_from(perturb.row_order().variants(1)))
def test_rows_are_permuted(size, batch, variant):
    order = list(variant.rows(size, batch))
    assert sorted(order) == list(range(size)) and order == list(variant.rows(size, batch))


def test_rows_are_really_in_another_order():
    for variant in perturb.row_order().variants(1):
        assert list(variant.rows(12, 0)) != list(range(12))
    assert list(Variant(row_order=1).rows(12, 0)) != list(Variant(row_order=1).rows(12, 1))
    assert list(Variant(row_order=1).rows(12, 0)) != list(Variant(row_order=2).rows(12, 0))


STREAMS = st.lists(st.lists(st.integers(), max_size=5), max_size=6)


@given(STREAMS, STREAMS, st.sampled_from(perturb.batch_boundaries().variants(9)))
def test_other_boundaries_keep_every_record_and_the_order(left, right, variant):
    case = Case({"left": Stream(None, left), "right": Stream(None, right)})
    made = perturbed_case(case, variant)
    for name, batches in (("left", left), ("right", right)):
        assert [r for b in made.inputs[name] for r in b.records] == [r for b in batches for r in b]
    if case.length:
        assert len(made.inputs["left"]) == len(made.inputs["right"]), "cut at the same batches"
    if variant.batch_boundaries == "one":
        assert made.length == min(case.length, 1)
    if variant.batch_boundaries == "paired":
        assert made.length == (case.length + 1) // 2


def test_boundaries_by_hand():
    case = Case({"a": Stream("n INT", [[(1,), (2,), (3,)], [(4,)], []]), "b": Stream("n INT", [[(5,)], [(6,), (7,)]])})

    def cut(how):
        made = perturbed_case(case, Variant(batch_boundaries=how)).inputs
        return {name: [b.values("n") for b in stream] for name, stream in made.items()}

    assert cut("one") == {"a": [[1, 2, 3, 4]], "b": [[5, 6, 7]]}
    assert cut("paired") == {"a": [[1, 2, 3, 4], []], "b": [[5, 6, 7], []]}
    assert cut("halved") == {"a": [[1], [2, 3], [], [4], []], "b": [[], [5], [6], [7], []]}


@given(STREAMS, st.sampled_from([v for p in ALL for v in p.variants(9)]))
def test_the_records_of_a_case_stay_the_same(batches, variant):
    case = Case({"input": Stream(None, batches)})
    made = perturbed_case(case, variant).inputs["input"]
    assert sorted(r for b in made for r in b) == sorted(r for b in batches for r in b)
    if variant.batch_boundaries is None:
        assert made == case.inputs["input"], "batch by batch"
    for batch in made:
        assert batch.partitions is None or len(batch.partitions) == variant.partitions


def test_order_changes_the_placement_and_partitions_do_not_change_the_order():
    stream = Stream("n INT", [Batch([(n,) for n in range(5)], schema="n INT", partitions=(1, 4))])
    case = Case({"input": stream})
    reordered = perturbed_case(case, Variant(row_order="reversed")).inputs["input"][0]
    assert reordered.values("n") == [4, 3, 2, 1, 0] and reordered.partitions == (1, 4)
    parted = perturbed_case(case, Variant(partitions=3)).inputs["input"][0]
    assert parted.values("n") == [0, 1, 2, 3, 4] and parted.partitions == (1, 2, 2)
    assert perturbed_case(Case({"input": stream}), Variant(restart=0)).inputs["input"][0].partitions == (1, 4)


def test_the_span_of_event_time_stays():
    import datetime

    span = (datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2030, 1, 2, tzinfo=datetime.UTC))
    stream = Stream("n INT", [[(1,)], [(2,)]], span=span)
    for perturbation in ALL:
        for variant in perturbation.variants(2):
            assert perturbed_case(Case({"input": stream}), variant).inputs["input"].span == span


REFUSED = {
    "structured": set(),
    "batch": {"batch_boundaries", "restart", "replayed_batch"},
    "dstream": {"shuffle_partitions", "adaptive_execution", "restart", "replayed_batch"},
}


@pytest.mark.parametrize("engine", REFUSED)
@pytest.mark.parametrize("perturbation", ALL, ids=repr)
def test_what_means_nothing_for_an_engine_is_refused(engine, perturbation):
    (name,) = perturbation.names
    for variant in perturbation.variants(5):
        if name in REFUSED[engine]:
            with pytest.raises(InvalidArgument, match=rf"{name}\(\) is not possible with engine='{engine}': \w+"):
                refuse(variant, Running(engine=engine))
        else:
            refuse(variant, Running(engine=engine))


def test_the_type():
    assert all(isinstance(perturbation, Perturbation) for perturbation in ALL)
    with pytest.raises(AttributeError):
        perturb.restart().calls = ()
