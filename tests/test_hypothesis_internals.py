"""What firesteel uses of Hypothesis's internals does what it says, with the version that is installed."""

import subprocess
import sys

import hypothesis
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

from firesteel import hypothesis_internals as internals


def test_choices_and_targets_of_an_example():
    seen = []

    @settings(max_examples=20, database=None)
    @given(st.lists(st.integers(0, 9), max_size=3))
    def example(values):
        hypothesis.target(float(len(values)), label="length")
        seen.append((internals.choices_now(), internals.targets_now(), values))

    example()
    for choices, targets, values in seen:
        assert [choice for choice in choices if not isinstance(choice, bool)] == values
        assert targets == {"length": float(len(values))}
    assert len({choices for choices, _, _ in seen}) > 1


def test_choices_come_back_from_a_database_in_order():
    """Each entry is drawn as it stands; the shortest comes first; the first key is of what is shrunk already."""
    offered = [(True, 5, True, 7, False), (False,), (True, 3, False)]
    texts = {internals.as_bytes(choices): choices for choices in offered}
    keys, drawn = [], []

    class Offers(InMemoryExampleDatabase):
        def fetch(self, key):
            keys.append(key)
            return list(texts) if internals.is_first_choice(key) else []

    @settings(database=Offers(), phases=[hypothesis.Phase.reuse], max_examples=10)
    @given(st.lists(st.integers(0, 9)))
    def example(values):
        drawn.append(internals.choices_now())

    internals.identify(example.hypothesis.inner_test, b"a digest of its own")
    example()
    assert drawn == [texts[text] for text in sorted(texts, key=internals.order_of_offers)]
    assert sum(map(internals.is_first_choice, keys)) == 1
    assert any(map(internals.is_second_choice, keys))


def test_a_digest_of_its_own_is_a_key_of_its_own():
    keys = []

    class Watched(InMemoryExampleDatabase):
        def fetch(self, key):
            keys.append(key)
            return []

    for digest in (b"one", b"two", b"one"):

        def example(value):
            pass

        internals.identify(example, digest)
        settings(database=Watched(), max_examples=1)(given(st.integers())(example))()
    firsts = [key for key in keys if internals.is_first_choice(key)]
    assert firsts[0] == firsts[2] != firsts[1]


def test_no_seed_is_forced_here():
    assert internals.forced_seed() is None


def test_strategies_inside_others():
    def all_inside(strategy):
        inside = list(internals.strategies_inside(strategy))
        return [*inside, *(deeper for each in inside for deeper in all_inside(each))]

    mapped, text = st.integers().map(abs), st.text()
    assert all_inside(mapped | text)[:2] == [mapped, text]
    inside = all_inside((mapped | text).filter(bool))
    assert len(inside) >= 2 and any("map(abs)" in repr(each) for each in inside)


KNOWN = """
from hypothesis.internal.conjecture import providers
from firesteel.hypothesis_internals import leave_out_constants_of_the_project

print(len(providers._get_local_constants()) > 0)
leave_out_constants_of_the_project()
print(len(providers._get_local_constants()) > 0)
"""


def test_constants_of_the_project_are_left_out_of_what_our_tests_draw():
    said = subprocess.run([sys.executable, "-c", KNOWN], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "False"]


def test_as_if_an_example_were_run():
    """What the user calls there is forgotten, and may be called again. Inside an example, that one stays in force."""
    assert not internals.in_example()
    for _ in range(2):
        with internals.forgotten_example():
            assert internals.in_example()
            hypothesis.event("seen")
            hypothesis.note("seen")
            hypothesis.target(1.0, label="seen")
    assert not internals.in_example()

    @settings(max_examples=1, database=None)
    @given(st.none())
    def example(_):
        assert internals.in_example()

    example()
