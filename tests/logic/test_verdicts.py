import pytest

from firesteel import Verdict

T, F, U = Verdict.TRUE, Verdict.FALSE, Verdict.INCONCLUSIVE


@pytest.mark.parametrize("left", [T, F, U])
@pytest.mark.parametrize("right", [T, F, U])
def test_connectives_are_those_of_the_order(left, right):
    order = [F, U, T]
    assert order.index(left & right) == min(order.index(left), order.index(right))
    assert order.index(left | right) == max(order.index(left), order.index(right))
    assert ~(left & right) is (~left | ~right)


def test_boolean_context():
    assert T
    assert not F
    with pytest.raises(ValueError, match="neither true nor false"):
        bool(U)


def test_definite():
    assert T.definite and F.definite and not U.definite
