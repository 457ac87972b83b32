"""The search knows neither Spark nor streams: here it judges plain functions, in this process."""

import time
from dataclasses import dataclass, field

import hypothesis
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from firesteel.errors import PredicateError
from firesteel.evidence.events import Drawn, Judged, Judging, Shrinking
from firesteel.evidence.limits import CutShort
from firesteel.search.find import When, find
from firesteel.search.wanted import Wanted

pairs = st.tuples(st.integers(), st.integers())
FRESH = settings(database=None)


@dataclass(frozen=True)
class Answer:
    """What came of one value."""

    fails: bool
    seen: object = None
    closeness: float | None = None
    kind: str = "wrong"
    depends_on_case: bool = True


def commutes(function):
    def judge(pair):
        a, b = pair
        return Answer(function(a, b) != function(b, a), (function(a, b), function(b, a)))

    return judge


def wanted(strategy, cases=500, **more):
    return Wanted(strategy, "a test", cases, FRESH, as_examples=False, **more)


def test_a_function_that_does_not_commute_is_found_and_shrunk_without_spark():
    result = find(wanted(pairs), commutes(lambda a, b: a - b))
    assert sorted(map(abs, result.failing.value)) == [0, 1], "the smallest that there is"
    assert set(result.failing.judgement.seen) == {1, -1} and result.failing.notes == ()


def test_one_that_does_is_left_alone():
    result = find(wanted(pairs), commutes(lambda a, b: a + b))
    assert result.failing is None and result.cases == result.of == 500


def test_no_spark_is_loaded():
    import subprocess
    import sys

    code = "import sys, firesteel.search.find; print([name for name in sys.modules if name.startswith('pyspark')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@dataclass
class Many:
    """Judges many at once, and may be wrong about some."""

    judge: object
    wrong: object = lambda value: False
    calls: list = field(default_factory=list)
    quick: bool = True
    size: int = 200
    small: int | None = None

    def __call__(self, values, /, *, when):
        self.calls.append((len(values), when is not When.FIRST))
        return [lambda value=value: Answer(True) if self.wrong(value) else self.judge(value) for value in values]

    def is_known(self, value):
        return False

    def is_sure(self, value):
        return False

    def small_one(self, values):
        return self.small

    def at_once(self, judgement):
        return self.size if self.quick else 1


class Sure(Many):
    """What it says is the last word."""

    def is_sure(self, value):
        return True


large = st.lists(st.integers(0, 1000), max_size=20)


def length(values):
    return (len(values),)


def too_large(values):
    return Answer(any(value > 600 for value in values), closeness=float(max(values, default=0)))


def test_many_at_once_give_the_same_as_one_by_one():
    alone = find(wanted(large, size=length), too_large)
    many = Many(too_large)
    together = find(wanted(large, size=length), too_large, many)
    assert alone.failing.value == together.failing.value == [601]
    assert (alone.failing.number, alone.failing.original) == (together.failing.number, together.failing.original)
    assert many.calls[0] == (500, False) and len(many.calls) < 40, "in rounds"
    assert together.failing.in_rounds and not alone.failing.in_rounds


def test_rounds_of_a_few_are_enough():
    """Where only three are judged at once, as in three threads."""
    many = Many(too_large, size=3)
    result = find(wanted(large, size=length), too_large, many)
    assert result.failing.value == [601] and result.failing.in_rounds and result.failing.cut_short is None
    assert all(size <= 3 for size, later in many.calls[1:] if later), "no round is larger"


@pytest.mark.parametrize("size", [1, 3, 200])
def test_shrinking_ends_after_so_many_candidates(size):
    judged = []

    def judge(values):
        judged.append(values)
        return too_large(values)

    result = find(wanted(large, size=length, shrink_candidates=5), judge, Many(judge, size=size))
    assert result.failing.cut_short == CutShort("shrink_candidates", 5)
    assert len(judged) <= result.failing.number + 5 + 4, "the last one is judged again, and so are its notes"


def test_without_the_phase_nothing_is_made_simpler():
    told = []
    unshrunk = settings(database=None, phases=[Phase.generate])
    result = find(Wanted(large, "a test", 200, unshrunk, as_examples=False), too_large, Many(too_large), told.append)
    assert result.failing.value == result.failing.original
    assert not any(isinstance(event, Shrinking) for event in told)


def test_what_fails_whatever_the_value_is_not_made_simpler():
    told = []
    every = lambda values: Answer(True, depends_on_case=False)  # noqa: E731
    result = find(wanted(large), every, Many(every), told.append)
    assert result.failing.number == 1 and not any(isinstance(event, Shrinking) for event in told)


def test_one_value_is_judged_before_many_are():
    """What is wrong with every value shows before many are judged at once."""
    many, judged = Many(too_large, small=7), []

    def typo(values):
        judged.append(values)
        raise PredicateError("a typo")

    with pytest.raises(PredicateError) as raised:
        find(Wanted(large, "a typo", 200, FRESH), typo, many)
    assert len(judged) == 1 and many.calls == []
    assert not hasattr(raised.value, "__notes__"), "Hypothesis adds nothing"


def test_if_that_one_fails_it_comes_first():
    drawn = []
    find(wanted(large, 50), lambda values: Answer(bool(drawn.append(values))))
    seventh = drawn[7]
    is_it = lambda values: Answer(values == seventh)  # noqa: E731
    unshrunk = settings(database=None, phases=[Phase.generate])
    search = Wanted(large, "a test", 50, unshrunk, as_examples=False)
    assert find(search, is_it, Many(is_it)).failing.number == 8
    assert find(search, is_it, Many(is_it, small=7)).failing.number == 1


@pytest.mark.parametrize("together", [True, False])
def test_a_flaky_function_that_raises_is_reported_once(together):
    asked = []

    def flaky(values):
        asked.append(values)
        if len(asked) == 3:
            raise PredicateError("only once")
        return Answer(False)

    with pytest.raises(PredicateError, match=r"^only once$"):
        find(Wanted(large, "flaky", 50, FRESH), flaky, Sure(flaky) if together else None)
    assert len(asked) == 3, "and it is not asked again"


def test_an_interrupt_comes_through_and_hypothesis_prints_nothing():
    """In a process of its own: pytest shows what Hypothesis prints elsewhere."""
    import subprocess
    import sys

    code = """
from hypothesis import settings, strategies as st
from firesteel.search.find import find
from firesteel.search.wanted import Wanted

def interrupted(value):
    raise KeyboardInterrupt

try:
    find(Wanted(st.integers(), "interrupted", 5, settings(database=None, derandomize=False)), interrupted)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


@pytest.mark.parametrize("together", [True, False])
def test_a_function_that_answers_differently_the_second_time_is_believed_the_first_time(together):
    """Hypothesis would raise Flaky, and not say what was found."""
    asked, original, times = [], [], 2 if together else 1

    def flaky(values):
        """All but the first value that fails do so once or twice only: then Hypothesis asks again, for the notes."""
        asked.append(values)
        if not too_large(values).fails:
            return Answer(False)
        original.append(values)
        return Answer(values == original[0] or asked.count(values) <= times)

    result = find(wanted(large, 50, size=length), flaky, Sure(flaky) if together else None)
    assert result.failing.value == [601] and result.failing.judgement.fails


def test_what_fails_at_a_glance_only_does_not_fail():
    many = Many(lambda value: Answer(False), wrong=lambda value: sum(value) > 100)
    result = find(wanted(large), lambda value: Answer(False), many)
    assert result.failing is None and result.cases == 500


def test_what_shrinks_at_a_glance_only_is_shrunk_one_by_one():
    """At a glance everything fails, so rounds end with what does not fail by itself."""
    result = find(wanted(large, size=length), too_large, Many(too_large, wrong=lambda value: True))
    assert result.failing.value == [601] and result.failing.in_rounds, "rounds were tried"


def test_where_many_are_not_quick_hypothesis_shrinks():
    many = Many(too_large, quick=False)
    result = find(wanted(large), too_large, many)
    assert result.failing.value == [601] and not result.failing.in_rounds
    assert all(not later or size < 40 for size, later in many.calls), "generations, and no rounds"


@pytest.mark.slow
def test_it_comes_closer_to_what_scores_high():
    """At random a sum this large hardly comes up."""
    rare = lambda values: Answer(sum(values) > 12_000, closeness=float(sum(values)))  # noqa: E731
    blind = lambda values: Answer(sum(values) > 12_000)  # noqa: E731
    unshrunk = settings(database=None, phases=[Phase.generate, Phase.target])
    aimed = [find(Wanted(large, f"{n}", 1_000, unshrunk, as_examples=False), rare) for n in range(3)]
    random = [find(Wanted(large, f"{n}", 1_000, unshrunk, as_examples=False), blind) for n in range(3)]
    assert all(result.failing is not None for result in aimed)
    assert sum(result.cases for result in aimed) < sum(result.cases for result in random)


def test_events_are_told_in_order():
    told = []
    result = find(wanted(pairs, cases=20), commutes(lambda a, b: a - b), tell=told.append)
    assert told[0] == Drawn(20)
    kinds = [type(event) for event in told]
    assert kinds.index(Judging) == 1 and kinds.index(Judged) == 2 and Shrinking in kinds
    judged = [event for event in told if isinstance(event, Judged)]
    assert [event.case for event in judged] == list(range(1, result.failing.number + 1))
    assert judged[-1].judgement.fails and not any(event.judgement.fails for event in judged[:-1])
    assert kinds[-1] is Shrinking and told[-1].tried >= 1


def test_the_user_may_note_assume_and_target():
    def judge(pair):
        hypothesis.assume(pair[0] != 3)
        hypothesis.note(f"saw {pair}")
        hypothesis.target(float(pair[0] % 100))
        return Answer(pair[0] > pair[1] + 5)

    result = find(Wanted(pairs, "noted", 50, FRESH), judge)
    assert result.failing.notes == (f"saw {result.failing.value}",)


def test_values_that_an_assumption_refuses_do_not_count():
    def judge(pair):
        hypothesis.assume(pair[0] % 2 == 0)
        return Answer(False)

    result = find(Wanted(pairs, "refused", 60, FRESH), judge)
    assert 0 < result.cases < 60 and result.of == 60


def test_shrinking_ends_when_time_is_up():
    def slow(values):
        time.sleep(0.01)
        return too_large(values)

    result = find(wanted(large, size=length, shrink_seconds=0.0), slow)
    assert (
        result.failing.cut_short == CutShort("shrink_seconds", 0.0) and result.failing.value == result.failing.original
    )


@pytest.mark.parametrize("together", [True, False])
def test_a_function_that_cannot_take_a_simpler_value_ends_nothing(together):
    """The simplest value that fails is one that the judge raises on: then the next one is found."""

    def judge(values):
        if values == [601]:
            raise PredicateError("not made for this one")
        return too_large(values)

    result = find(wanted(large, size=length), judge, Many(judge) if together else None)
    assert result.failing.judgement.fails and len(result.failing.value) <= 2 and result.failing.value != [601]


def test_what_failed_before_is_tried_first_and_forgotten_when_it_passes():
    kept = settings(database=InMemoryExampleDatabase())
    first = find(Wanted(large, "kept", 200, kept, as_examples=False), too_large)
    again = find(Wanted(large, "kept", 200, kept, as_examples=False), too_large)
    assert again.failing.number == 1 and again.failing.value == again.failing.original == first.failing.value
    mended = find(Wanted(large, "kept", 200, kept, as_examples=False), lambda values: Answer(False))
    mended.settle()
    last = find(Wanted(large, "kept", 200, kept, as_examples=False), too_large)
    assert last.failing.original != first.failing.value
    other = find(Wanted(large, "another key", 200, kept, as_examples=False), too_large)
    assert other.failing.original != first.failing.value, "searches with other keys know nothing of it"


def test_every_value_is_judged_once():
    seen = []
    find(wanted(pairs, cases=2_000), lambda pair: Answer(bool(seen.append(pair))))
    assert len(seen) == 2_000


def test_a_value_is_not_made_simpler_into_one_that_fails_in_another_way():
    """Once a large number has failed, every smaller one raises, which would be simpler."""
    failed = []

    def judge(value):
        if value >= 900:
            failed.append(value)
            return Answer(True, kind="false")
        return Answer(bool(failed), kind="raised")

    found = find(wanted(st.integers(0, 1000)), judge, Many(judge)).failing
    assert (found.value, found.judgement.kind, found.first.kind) == (900, "false", "false")


def test_what_is_known_counts_when_time_is_up():
    """A round that took longer than there was time for is not thrown away."""

    class Slow(Many):
        def __call__(self, values, /, *, when):
            time.sleep(0 if when is When.FIRST else 0.3)
            return super().__call__(values, when=when)

        def is_known(self, value):
            return True

    many = Slow(too_large)
    result = find(wanted(large, size=length, shrink_seconds=0.1), too_large, many)
    assert result.failing.cut_short == CutShort("shrink_seconds", 0.1)
    assert result.failing.value != result.failing.original


def test_the_database_forgets_what_passes_also_when_something_else_fails():
    database = InMemoryExampleDatabase()
    kept = settings(database=database)
    for least in (600, 700, 800, 900):
        judge = lambda values, least=least: Answer(any(value > least for value in values))  # noqa: E731
        result = find(Wanted(large, "kept", 300, kept, as_examples=False), judge)
        assert result.failing.value == [least + 1]
        result.settle()
    assert sum(len(values) for values in database.data.values()) == 1


def test_a_glance_that_raises_is_asked_again_alone_in_an_example_of_its_own():
    """The judge aims as well: twice in one example would be an error of its own."""

    def judge(values):
        hypothesis.target(float(len(values)))
        return Answer(False)

    class Raising(Many):
        def __call__(self, values, /, *, when):
            def glance(value):
                hypothesis.target(float(len(value)))
                raise PredicateError("at a glance only")

            return [lambda value=value: glance(value) for value in values]

    result = find(Wanted(large, "raising", 20, FRESH), judge, Raising(judge))
    assert result.cases == 20 and result.failing is None


def test_an_assumption_that_refuses_at_a_glance_costs_nothing_more():
    asked = []

    def judge(values):
        asked.append(values)
        return Answer(False)

    class Refusing(Many):
        def __call__(self, values, /, *, when):
            return [lambda: hypothesis.assume(False) for _ in values]

    result = find(Wanted(large, "refusing", 20, FRESH), judge, Refusing(judge))
    assert result.cases == 0 and asked == []


# --- how small a value becomes: these are given choices at which the search once ended ---

WORDS = st.lists(st.sampled_from(["goal", "vote", "the"]), max_size=6)
DOCUMENTS = st.lists(st.tuples(st.sampled_from("ABC"), WORDS), max_size=3, unique_by=lambda document: document[0])
TWO_BATCHES = st.tuples(DOCUMENTS, DOCUMENTS)


def records_and_how_late(batches):
    counts = [len(documents) + sum(len(words) for _, words in documents) for documents in batches]
    return sum(counts), sum(at * count for at, count in enumerate(counts))


def has_a_word(batches):
    return Answer(any(word != "the" for documents in batches for _, words in documents for word in words))


@pytest.mark.parametrize("size", [1, 3, 200])
@pytest.mark.parametrize(
    "choices",
    [
        # A list of different elements drew A, then A once more, which does not count, and then B with a word.
        (True, 0, False, True, 0, False, 1, True, 0, False, False, False),
        # The document is in the second batch.
        (False, True, 0, True, 0, False, False),
    ],
    ids=["drawn again", "late"],
)
def test_it_ends_at_the_smallest_value(choices, size):
    search = Wanted(TWO_BATCHES, "small", 1, FRESH, records_and_how_late, first=choices, as_examples=False)
    result = find(search, has_a_word, Many(has_a_word, size=size))
    assert result.failing.original != result.failing.value == ([("A", ["goal"])], [])


def test_hypothesis_and_rounds_take_turns():
    """With so many lists rounds do not find the document of two. Hypothesis does, and puts it into the second batch."""
    more = st.lists(st.integers(0, 9), max_size=2)
    strategy = st.tuples(DOCUMENTS, DOCUMENTS, *[more] * 14).map(lambda drawn: drawn[:2])
    choices = (True, 0, False, True, 0, False, 1, True, 0, False, False, False, *(False,) * 14)
    search = Wanted(strategy, "turns", 1, FRESH, records_and_how_late, first=choices, as_examples=False)
    result = find(search, has_a_word, Many(has_a_word, size=3))
    assert result.failing.value == ([("A", ["goal"])], [])


@pytest.mark.parametrize("size", [1, 3, 200])
def test_what_a_shorter_list_leaves_open_is_drawn_at_its_simplest(size):
    """Without the empty lists at the beginning there are too few choices. At random, there would be more numbers."""
    lists = st.tuples(*[st.lists(st.integers(0, 9), max_size=5)] * 6)

    def fails(values):
        hypothesis.note(repr(values))
        return Answer(9 in [n for numbers in values for n in numbers])

    def late(values):
        return sum(map(len, values)), sum(at * len(numbers) for at, numbers in enumerate(values))

    search = Wanted(lists, "late", 1, FRESH, late, first=(False,) * 5 + (True, 9, False))
    failing = find(search, fails, Many(fails, size=size)).failing
    assert failing.value == ([9], [], [], [], [], []) and failing.notes == (repr(failing.value),)
