"""What perturbations do to a case whose source keeps an order. What Spark makes of it: tests/spark."""

import pickle
from random import Random

import pytest

import firesteel as fs
from firesteel import InvalidArgument, perturb
from firesteel.perturb import changes
from firesteel.perturb.changes import Partitions, RowOrder, ShuffleOrder, UnevenPace, Variant
from firesteel.values.cases import Case
from tests.equivalence.random_streams import dependences, record

KEY = fs.same_key("k")
NAMESPACE = vars(fs) | vars(perturb) | vars(changes)
KEPT = [
    perturb.row_order(keeping=KEY),
    perturb.shuffle_order(keeping=KEY | fs.same_key("n")),
    perturb.batch_boundaries(keeping=KEY),
    perturb.partitions(3) & perturb.shuffle_order(keeping=KEY),
]


def flat(stream):
    return [r for batch in stream for r in batch.records]


def is_kept(before, after, dependence):
    """Has no record overtaken one that it depends on? Records are told apart by what they are, not by their values."""
    place = {id(r): number for number, r in enumerate(after)}
    assert sorted(map(id, before)) == sorted(map(id, after)), "the same records"
    return all(
        place[id(before[i])] < place[id(before[j])]
        for j in range(len(before))
        for i in range(j)
        if dependence.depends_on(before[i], before[j])
    )


@pytest.mark.parametrize("seed", range(4))
def test_records_that_depend_on_each_other_stay_in_order(seed):
    """Of every kind of change, with every kind of dependence, alone and after other partitions."""
    random = Random(seed)
    for dependence in dependences(random).values():
        records = [record(random) for _ in range(9)]
        case = Case(fs.Stream(None, [records[:5], [], records[5:]]))
        for make in (perturb.row_order, perturb.shuffle_order, perturb.batch_boundaries):
            for perturbation in (make(keeping=dependence), perturb.partitions(3) & make(keeping=dependence)):
                for variant in perturbation.variants(3):
                    made = variant.applied(case)["input"]
                    assert is_kept(records, flat(made), dependence), (perturbation, variant)


@pytest.mark.parametrize("seed", range(4))
def test_what_depends_on_each_other_is_in_one_partition(seed):
    random = Random(seed)
    for dependence in dependences(random).values():
        records = [record(random) for _ in range(8)]
        for batch in Variant(Partitions(3), ShuffleOrder(1, dependence)).applied(Case(fs.Stream(None, [records])))[
            "input"
        ]:
            partition_of = [number for number, size in enumerate(batch.partitions) for _ in range(size)]
            assert len(batch.partitions) == 3
            for i, first in enumerate(batch.records):
                for j in range(i):
                    assert partition_of[i] == partition_of[j] or not dependence.depends_on(batch.records[j], first)


def test_another_order_is_really_tried():
    rows = [(n % 3, n) for n in range(12)]
    case = Case(fs.Stream("k INT, n INT", [rows]))
    found = [tuple(flat(v.applied(case)["input"])) for v in perturb.row_order(keeping=KEY).variants(1)]
    assert len({tuple(rows), *found}) == 4, "all three differ, and from the order that there was"
    same = [tuple(flat(v.applied(case)["input"])) for v in perturb.row_order(keeping=fs.ordered()).variants(1)]
    assert set(same) == {tuple(rows)}, "one order is allowed"


def test_each_batch_has_random_numbers_of_its_own():
    rows = [(0, n) for n in range(12)]
    made = RowOrder(1, fs.unordered()).applied(Case(fs.Stream("k INT, n INT", [rows, rows])))["input"]
    assert made[0].records != made[1].records


def test_keys_at_different_speeds():
    case = Case(fs.Stream("k INT, n INT", [[(1, 1), (2, 2), (3, 3)], [], [(2, 4), (1, 5)]]))
    made = UnevenPace(KEY).applied(case)["input"]
    assert [batch.values("n") for batch in made] == [[1, 3], [2], [5], [4]]
    assert UnevenPace(fs.ordered()).applied(case) == case
    assert perturb.batch_boundaries(keeping=KEY).variants(0) == ()
    assert perturb.batch_boundaries(keeping=KEY).variants(1)[-1] == Variant(UnevenPace(KEY))
    assert not any(UnevenPace in map(type, v.changes) for v in perturb.batch_boundaries().variants(5))


def test_partitions_are_cut_before_keys_are_brought_together():
    case = Case(fs.Stream("k INT", [[(1,), (2,), (1,), (2,)]]))
    for variant in (Variant(Partitions(2), ShuffleOrder(1, KEY)), Variant(ShuffleOrder(1, KEY), Partitions(2))):
        (batch,) = variant.applied(case)["input"]
        assert batch.partitions == (4, 0) and batch.values("k") == [1, 2, 1, 2]
    (two,) = Variant(Partitions(2), ShuffleOrder(1, KEY)).applied(Case(fs.Stream("k INT", [[(1,), (1,), (2,), (1,)]])))[
        "input"
    ]
    assert two.partitions == (3, 1) and two.values("k") == [1, 1, 1, 2]


@pytest.mark.parametrize("perturbation", KEPT, ids=repr)
def test_values(perturbation):
    for same in (eval(repr(perturbation), NAMESPACE), pickle.loads(pickle.dumps(perturbation))):
        assert same == perturbation and hash(same) == hash(perturbation) and repr(same) == repr(perturbation)
    for variant in perturbation.variants(5):
        assert eval(repr(variant), NAMESPACE) == variant == pickle.loads(pickle.dumps(variant))
    plain = [str(v) for p in (perturb.row_order(), perturb.shuffle_order()) for v in p.variants(5)]
    texts = [str(v) for v in perturbation.variants(5)]
    assert len(set(texts)) == len(texts) and not set(texts) & set(plain), "names of runs have to differ"


@pytest.mark.parametrize("make", [perturb.row_order, perturb.shuffle_order, perturb.batch_boundaries])
def test_refused(make):
    with pytest.raises(InvalidArgument, match=r"keeping='taxi' .*is not a dependence: write fs.same_key"):
        make(keeping="taxi")
    with pytest.raises(TypeError):
        make(KEY)


def test_a_column_that_the_input_does_not_have():
    with pytest.raises(InvalidArgument, match=r"same_key\('cab'\) asks for the column 'cab'"):
        RowOrder(1, fs.same_key("cab")).applied(Case(fs.Stream("k INT", [[(1,)]])))
