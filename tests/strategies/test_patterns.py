"""Patterns against Python's regular expressions, letter by letter; and what a wrong pattern is told."""

import re
from itertools import product
from random import Random

import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st

from firesteel import Batch, InvalidArgument, Stream
from firesteel import strategies as ss
from firesteel.strategies.patterns import MORE

LETTERS = {letter: st.just(Batch([letter])) for letter in "abc"}


def word(stream):
    return "".join(letter for batch in stream for letter in batch)


def parts_of(expression):
    return {letter: strategy for letter, strategy in LETTERS.items() if letter in expression}


SUFFIXES = ["", "", "*", "+", "?", "{2}", "{0,2}", "{1,3}", "{1,}", " *"]


def random_expression(rng, depth):
    """A pattern of one-letter names, which without its spaces is a regular expression of the same words."""
    if depth == 0 or rng.random() < 0.4:
        single = rng.choice("abc")
    else:
        joint = rng.choice([" ", " | ", "|", "  "])
        single = f"({joint.join(random_expression(rng, depth - 1) for _ in range(rng.randint(1, 3)))})"
    return single + rng.choice(SUFFIXES)


def as_re(expression):
    return re.compile(re.sub(r"\s", "", expression))


@pytest.mark.slow
@settings(max_examples=150, database=None)
@given(st.integers(0, 10**9), st.data())
def test_what_is_drawn_is_a_word_of_the_language(seed, data):
    expression = random_expression(Random(seed), 3)
    stream = data.draw(ss.pattern(expression, **parts_of(expression)))
    assert isinstance(stream, Stream) and all(len(batch) == 1 for batch in stream)
    assume(len(stream) <= 14)  # Python's own matching is exponential where stars stand in stars
    assert as_re(expression).fullmatch(word(stream)), (expression, word(stream))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_every_short_word_can_be_drawn(seed):
    expression = random_expression(Random(seed), 1)
    language = as_re(expression)
    words = {"".join(letters) for n in range(3) for letters in product(parts_of(expression), repeat=n)}
    strategy = ss.pattern(expression, **parts_of(expression))
    quick = settings(max_examples=3_000, database=None, phases=[Phase.generate])
    for one in filter(language.fullmatch, words):
        assert word(find(strategy, lambda s, one=one: word(s) == one, settings=quick, random=Random(1))) == one


@pytest.mark.parametrize(
    "expression, words",
    [
        ("a b* (c | a)", {"ac", "aa", "abc", "aba", "abbc", "abba"}),
        ("a{2}{2} b?", {"aaaa", "aaaab"}),
        ("(a b | c){1,2}", {"ab", "c", "abab", "abc", "cab", "cc"}),
        ("a | b c | c+", {"a", "bc", "c", "cc", "ccc"}),
        ("a{0} b", {"b"}),
        ("(a?)*\n  b", {"b", "ab", "aab"}),
        ("((a))", {"a"}),
    ],
)
def test_the_words_of_some_patterns(expression, words):
    """All that are drawn of up to four letters, and no others."""
    drawn = set()

    @settings(max_examples=600, database=None, phases=[Phase.generate])
    @given(ss.pattern(expression, **parts_of(expression)))
    def draw(stream):
        drawn.add(word(stream))

    draw()
    longest = max(map(len, words))
    assert {one for one in drawn if len(one) <= longest} == words


def test_open_repetitions_are_bounded():
    for expression, least in (("a*", 0), ("a+", 1), ("a{3,}", 3)):
        strategy = ss.pattern(expression, a=LETTERS["a"])
        many = settings(max_examples=20_000, database=None, phases=[Phase.generate])
        find(strategy, lambda s, least=least: len(s) == least, settings=many)
        find(strategy, lambda s, least=least: len(s) == least + MORE, settings=many)

        lengths = set()

        @settings(max_examples=300, database=None)
        @given(strategy)
        def draw(stream):
            lengths.add(len(stream))  # noqa: B023

        draw()
        assert least <= min(lengths) and max(lengths) <= least + MORE


QUICK = settings(max_examples=2_000, database=None, phases=[Phase.generate, Phase.shrink])
N = ss.batches(st.integers(0, 100), max_size=5)
SOME = ss.batches(st.integers(0, 100), min_size=1, max_size=5)


@pytest.mark.parametrize(
    "expression, predicate, smallest",
    [
        ("n* some", lambda s: len(s) >= 3, [[], [], [0]]),
        ("(n some)+", lambda s: len(s) >= 3, [[], [0], [], [0]]),
        ("n{2,9} some | some", lambda s: any(n > 50 for n in s[-1]), [[51]]),
        ("some | n{2,9}", lambda s: len(s) > 3, [[], [], [], []]),
        ("some* n", lambda s: any(n > 50 for b in s[:-1] for n in b), [[51], []]),
    ],
)
def test_shrinking(expression, predicate, smallest):
    strategy = ss.pattern(expression, n=N, some=SOME)
    found = find(strategy, predicate, settings=QUICK, random=Random(0))
    assert found == smallest


@pytest.mark.slow
def test_whole_streams_and_schemas():
    user = ss.batches(ss.records("user INT NOT NULL", user=st.integers(1, 3)), min_size=1, max_size=1)
    pair = ss.concat(user, ss.empty(during=1))
    strategy = ss.pattern("pair one?", pair=pair, one=user)
    assert find(strategy, lambda s: len(s) > 2) == [[(1,)], [], [(1,)]]
    none = find(ss.pattern("one*", one=user), lambda s: True)
    assert len(none) == 0 and none.schema.fieldNames() == ["user"]
    at = ss.batches(ss.records("at TIMESTAMP NOT NULL"), min_size=1, max_size=1)
    hours = find(ss.timed(ss.pattern("x{3}", x=at), every="1 hour", column="at"), lambda s: True)
    assert [batch[0].at.hour for batch in hours] == [0, 1, 2]


def test_a_name_may_be_any_identifier():
    strategy = ss.pattern("expression été_2", expression=LETTERS["a"], été_2=LETTERS["b"])
    assert word(find(strategy, lambda s: True)) == "ab"


@pytest.mark.parametrize(
    "expression, message, place",
    [
        ("a (b | c", "at character 9 a name, '(', '|' or ')' was expected, not the end", 8),
        ("a b)", "at character 4 a name, '(', '|' or the end was expected, not ')'", 3),
        ("* a", "at character 1 a name or '(' was expected, not '*'", 0),
        ("a | | b", "at character 5 a name or '(' was expected, not '|'", 4),
        ("a |", "at character 4 a name or '(' was expected, not the end", 3),
        ("a ()", "at character 4 a name or '(' was expected, not ')'", 3),
        ("a{}", "at character 3 a number was expected, not '}'", 2),
        ("a{b}", "at character 3 a number was expected, not 'b'", 2),
        ("a{2 b", "at character 5 ',' or '}' was expected, not 'b'", 4),
        ("a{2,b", "at character 5 a number or '}' was expected, not 'b'", 4),
        ("a{2,3", "at character 6 '}' was expected, not the end", 5),
        ("a{3,2}", "at character 3 {3,2} counts backwards: write {2,3}", 2),
        ("a 5", "at character 3 a name, '(', '|' or the end was expected, not '5'", 2),
        ("a  & b", "at character 4 '&' means nothing: write names, | * + ? {m,n} and parentheses", 3),
    ],
)
def test_syntax_errors_show_the_place(expression, message, place):
    with pytest.raises(InvalidArgument) as error:
        ss.pattern(expression, a=LETTERS["a"], b=LETTERS["b"])
    lines = str(error.value).splitlines()
    assert lines[0] == f"expression={expression!r} (str) is not a pattern: {message}:"
    assert lines[1:] == [f"  {expression}", "  " + " " * place + "^"]


def test_the_place_is_shown_in_its_own_line():
    with pytest.raises(InvalidArgument) as error:
        ss.pattern("a\n\tb ?? %\nc", **LETTERS)
    assert str(error.value).splitlines()[-2:] == ["  \tb ?? %", "  \t     ^"]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: ss.pattern("", a=N), "expression='' (str) is empty: write a pattern, such as 'a b* (c | d)'"),
        (lambda: ss.pattern("  \n", a=N), "is empty"),
        (lambda: ss.pattern(5), "expression=5 (int) is not text: write a pattern"),
        (lambda: ss.pattern("a x*", a=N, b=N), "names 'x' at character 3, which was not given (given: a, b): write x="),
        (lambda: ss.pattern("ab", a=N, b=N), "names 'ab' at character 1"),
        (lambda: ss.pattern("a", a=N, b=LETTERS["b"]), "b=just(Batch(['b'])) is not used in expression='a' (str)"),
        (lambda: ss.pattern("a", a=[1]), "a=[1] (list) is not a strategy"),
        (lambda: find(ss.pattern("a", a=st.just(5)), lambda s: True), "ss.pattern drew value=5 (int), where a batch"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(InvalidArgument) as error:
        make()
    assert message in str(error.value)
