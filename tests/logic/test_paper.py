"""The examples of the sscheck paper and the corrected cases, by number."""

import pytest

import firesteel as fs
from firesteel import Verdict
from tests.logic.next_form import END, explicit_next_form, judge, lazy_next_form, simplify

T, F, U = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE
WORD = [("b", 0), ("b", 2), ("a", 3), ("a", 6)]


def is_(letter):
    return fs.now(lambda x: x[0] == letter, name=letter)


A, B, C = is_("a"), is_("b"), is_("c")
AA = fs.next_(A & fs.next_(A))


def both(formula, trace):
    """The verdict, by the monitor and by the paper's own procedure."""
    assert judge(formula, trace) is formula.evaluate(trace)
    return formula.evaluate(trace)


@pytest.mark.parametrize(
    "formula, verdict",
    [
        (fs.eventually(C, within=4), F),
        (fs.eventually(C, within=5), U),
        (fs.always(A | B, during=5), U),
        (fs.until(B, A, within=2), F),
        (fs.until(B, A, within=5), T),
        (fs.release(A, B, during=2), T),
        (fs.always(fs.implies(A, fs.next_(A)), during=3), T),
        (fs.always(fs.implies(B, fs.eventually(A, within=2)), during=2), F),
        (fs.until(B, AA, within=2), T),
        (fs.consume(lambda x: fs.always(x[0] == "b", during=x[1] + 6)), T),
    ],
)
def test_example_2_and_4(formula, verdict):
    assert both(formula, WORD) is verdict


def test_example_2_sum_of_two_letters_is_false_not_true_as_printed():
    sums = fs.eventually(fs.consume(lambda x: fs.now(lambda y: x + y >= 5)), within=2)
    assert both(sums, [0, 1, 2]) is F
    assert both(sums, [0, 1, 4]) is T


def test_example_5_explicit_next_form():
    assert explicit_next_form(fs.eventually(C, within=4)) == C | fs.next_(C) | fs.next_(C, times=2) | fs.next_(
        C, times=3
    )
    assert explicit_next_form(fs.until(B, A, within=2)) == A | (B & fs.next_(A))
    ahead = fs.implies(B, A | fs.next_(A))
    written = explicit_next_form(fs.always(fs.implies(B, fs.eventually(A, within=2)), during=2))
    assert written == ahead & fs.next_(ahead)
    assert explicit_next_form(fs.until(B, AA, within=2)) == AA | (B & fs.next_(AA.body, times=2))


def test_example_6_lazy_next_form():
    inner = fs.implies(B, fs.eventually(A, within=2))
    unfolded = lazy_next_form(fs.always(inner, during=2))
    assert unfolded == fs.implies(B, A | fs.next_(fs.eventually(A, within=1))) & fs.next_(fs.always(inner, during=1))


def test_example_7_letter_by_letter():
    inner = fs.implies(B, fs.eventually(A, within=2))
    left = simplify(lazy_next_form(fs.always(inner, during=2)), WORD[0])
    assert left == fs.eventually(A, within=1) & fs.always(inner, during=1)
    assert simplify(lazy_next_form(left), WORD[1]) == fs.FALSE
    body = fs.always(fs.TRUE, during=6)
    left = simplify(fs.consume(lambda x: body), WORD[0])
    for n, letter in enumerate(WORD[1:], start=1):
        left = simplify(lazy_next_form(left), letter)
        assert left == fs.always(fs.TRUE, during=6 - n)
    assert simplify(left, END) == fs.TRUE


def test_example_8_safe_word_length():
    assert fs.always(fs.implies(A, fs.next_(A)), during=3).required_length == 4
    assert fs.until(B, AA, within=2).required_length == 4


def test_release_is_weak_and_until_is_not():
    never = fs.now(lambda x: False)
    assert both(fs.release(never, lambda x: x > 0, during=3), [1, 2, 3]) is T
    assert both(fs.until(lambda x: x > 0, never, within=3), [1, 2, 3]) is F
    # the instant that ends an until need not satisfy its first part; the one that releases must satisfy `then`
    assert both(fs.until(lambda x: x < 2, lambda x: x == 2, within=3), [1, 2]) is T
    assert both(fs.release(lambda x: x == 2, lambda x: x < 2, during=3), [1, 2]) is F


def test_until_on_a_short_trace_is_eventually():
    p = fs.now(lambda x: x == 9)
    assert both(fs.until(fs.TRUE, p, within=5), [1, 2]) is U
    assert both(fs.eventually(p, within=5), [1, 2]) is U


def test_until_whose_end_never_comes_is_false_even_if_its_first_part_is_open():
    open_ = fs.next_(lambda x: x > 0, times=9)
    assert both(fs.until(open_, lambda x: x == 9, within=3), [1, 2, 3]) is F


@pytest.mark.parametrize(
    "formula, trace, verdict",
    [
        (fs.always(lambda x: x > 0, during=5), range(1, 11), T),
        (fs.always(lambda x: x > 0, during=5), range(-10, 1), F),
        (fs.always(lambda x: x > 0, during=5), [1, 2], U),
        (fs.eventually(lambda x: x > 0, within=5), range(-2, 11), T),
        (fs.eventually(lambda x: x > 0, within=5), range(-10, 1), F),
        (fs.eventually(lambda x: x > 0, within=5), [-1], U),
        (fs.now(lambda x: x == 1), [1], T),
        (fs.now(lambda x: x == 1), [0], F),
        (fs.now(lambda x: x == 1), [], U),
        (fs.consume(lambda x: fs.now(lambda y: y == x)), [1, 1], T),
        (fs.consume(lambda x: fs.now(lambda y: y == x)), [1, 2], F),
        (fs.consume(lambda x: fs.now(lambda y: y == x)), [], U),
        (fs.always(fs.consume(lambda x: fs.eventually(lambda y: y > x, within=3)), during=2), [1, 0, 1, 2], T),
        (fs.always(fs.consume(lambda x: fs.eventually(lambda y: y > x, within=3)), during=2), [1, 0, 1, 0], F),
        (fs.always(fs.consume(lambda x: fs.eventually(lambda y: y > x, within=3)), during=2), [1], U),
        (fs.next_(fs.TRUE), [], T),
        (fs.always(fs.TRUE, during=10), [0, 1], T),
        (fs.consume(lambda x: x == 0), [0], T),
    ],
)
def test_cases(formula, trace, verdict):
    assert both(formula, list(trace)) is verdict


def test_bounds_left_out_mean_the_end_of_the_stream():
    positive = fs.now(lambda x: x > 0)
    assert both(fs.always(positive), [1, 2]) is T
    assert both(fs.always(positive), []) is T
    assert both(fs.release(fs.FALSE, positive), [1, 2]) is T
    assert both(fs.eventually(positive), [-1, -2]) is F
    assert both(fs.until(fs.TRUE, positive), [-1, -2]) is F
    assert both(fs.always(fs.next_(positive)), [1, 2]) is U


def test_let_starts_now_and_consume_at_the_next_instant():
    trace = [3, 3, 9]
    assert both(fs.let(lambda x: fs.now(lambda y: y == x)), trace[:1]) is T
    assert both(fs.consume(lambda x: fs.next_(lambda y: y == 3 * x)), trace) is T
    assert both(fs.let(lambda x: fs.next_(lambda y: y == x)), trace) is T


def test_example_1_needs_fourteen_instants_in_its_tail():
    p = fs.now(bool)
    assert fs.always(fs.implies(p, fs.always(p, during=5)), during=10).required_length == 14


def test_example_16_is_decided_by_a_shorter_stream_than_its_required_length():
    always_soon = fs.always(fs.eventually(fs.now(bool), within=12), during=16)
    assert always_soon.required_length == 27
    with_consume = fs.always(fs.next_(fs.eventually(fs.now(bool), within=12)), during=16)
    assert with_consume.required_length == 28
    assert with_consume.shortest_true == 17
