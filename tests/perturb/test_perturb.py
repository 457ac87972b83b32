"""Perturbations as values: how they read, what they yield, what is refused. What Spark makes of them: tests/spark."""

import pickle

import pytest

from firesteel import InvalidArgument, perturb
from firesteel.perturb import Perturbation, changes
from firesteel.perturb.changes import Partitions, RowOrder, Variant

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
NAMESPACE = vars(perturb) | vars(changes)


@pytest.mark.parametrize("perturbation", [*ALL, perturb.partitions(4) & perturb.shuffle_order()], ids=repr)
def test_values(perturbation):
    for same in (eval(repr(perturbation), NAMESPACE), pickle.loads(pickle.dumps(perturbation))):
        assert same == perturbation and hash(same) == hash(perturbation) and repr(same) == repr(perturbation)
    for length in range(12):
        variants = perturbation.variants(length)
        assert variants == perturbation.variants(length), "always the same ones"
        assert len(variants) == len(set(variants)) <= 4
        for variant in variants:
            assert tuple(change.name for change in variant.changes) == perturbation.names
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
    assert [stop.batch for variant in perturb.restart().variants(length) for stop in variant.stops] == after
    assert [stop.batch for variant in perturb.replayed_batch().variants(length) for stop in variant.stops] == replayed


@pytest.mark.parametrize(
    "length, cuts", [(0, []), (1, ["halved"]), (2, ["one", "halved"]), (3, ["one", "halved", "paired"])]
)
def test_boundaries_that_would_be_the_same_are_left_out(length, cuts):
    assert [variant.changes[0].cut for variant in perturb.batch_boundaries().variants(length)] == cuts


def test_two_at_once():
    both = perturb.partitions(2, 3) & perturb.row_order()
    assert both.variants(1) == (
        Variant(Partitions(2), RowOrder("reversed")),
        Variant(Partitions(3), RowOrder(1)),
        Variant(Partitions(2), RowOrder(2)),
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
        Variant(Partitions(2)) & 3


@pytest.mark.parametrize("make", [perturb.partitions, perturb.shuffle_partitions])
@pytest.mark.parametrize("count", [0, -1, True, 1.0, "2", None, [1, 2]])
def test_counts_that_are_none(make, count):
    with pytest.raises(InvalidArgument, match=rf"counts=.* of {make.__name__} is not a number of partitions: write"):
        make(2, count)


@pytest.mark.parametrize("make", [perturb.partitions, perturb.shuffle_partitions])
def test_no_counts(make):
    with pytest.raises(InvalidArgument, match=rf"{make.__name__}\(\) changes nothing: write how many, such as"):
        make()


def test_counts_given_twice_are_run_once():
    assert perturb.partitions(2, 2) == perturb.partitions(2)


def test_the_type():
    assert all(isinstance(perturbation, Perturbation) for perturbation in ALL)
    with pytest.raises(AttributeError):
        perturb.restart().calls = ()
