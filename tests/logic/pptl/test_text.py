"""The text of formulas: how tightly operators bind, what is printed, and where an error is."""

import pytest

from firesteel import InvalidArgument
from firesteel.logic import pptl

EVERY = {
    "not P": pptl.not_("P"),
    "P and Q": pptl.and_("P", "Q"),
    "P or Q": pptl.or_("P", "Q"),
    "P -> Q": pptl.implies("P", "Q"),
    "P <-> Q": pptl.iff("P", "Q"),
    "next P": pptl.next_("P"),
    "wnext P": pptl.weak_next("P"),
    "[] P": pptl.always("P"),
    "<> P": pptl.eventually("P"),
    "P ; Q": pptl.chop("P", "Q"),
    "P*": pptl.star("P"),
    "P^3": pptl.repeat("P", 3),
    "(P, Q) prj R": pptl.prj(["P", "Q"], "R"),
    "P || Q": pptl.par("P", "Q"),
    "P until Q": pptl.until("P", "Q"),
    "P release Q": pptl.release("P", "Q"),
    "empty": pptl.empty,
    "more": pptl.more,
    "skip": pptl.skip,
    "len(2)": pptl.len_(2),
    "fin(P)": pptl.fin("P"),
    "keep(P)": pptl.keep("P"),
    "halt(P)": pptl.halt("P"),
    "while b {P}": pptl.while_("b", "P"),
    "true": pptl.true,
    "false": pptl.false,
    "P": pptl.name("P"),
    '"Pay invoice"': pptl.name("Pay invoice"),
}


@pytest.mark.parametrize("text", EVERY)
def test_text_and_functions_make_the_same_and_print_as_each_other(text):
    formula = EVERY[text]
    assert pptl.parse(text) == formula
    assert str(formula) == text
    assert eval(repr(formula), {"pptl": pptl}) == formula


@pytest.mark.parametrize(
    "text, full",
    [
        # tightest first: postfix; prefix; until, release; and; or; `;`; `||`; prj; `->`; `<->`
        ("not p*", "not (p*)"),
        ("next p^2", "next (p^2)"),
        ("p*^2*", "((p*)^2)*"),
        ("[] p until <> q", "([] p) until (<> q)"),
        ("not next p", "not (next p)"),
        ("p until q and r", "(p until q) and r"),
        ("p release q release r", "p release (q release r)"),
        ("p until q release r", "p until (q release r)"),
        ("p and q or r", "(p and q) or r"),
        ("p or q ; r", "(p or q) ; r"),
        ("p ; q ; r", "p ; (q ; r)"),
        ("p ; q || r", "(p ; q) || r"),
        ("p || q || r", "(p || q) || r"),
        ("p || q prj r || p", "((p || q)) prj (r || p)"),
        ("p ; (q) prj r", "((p ; q)) prj r"),
        ("(p) prj (q) prj r", "(p) prj ((q) prj r)"),
        ("(p, q) prj r -> p", "((p, q) prj r) -> p"),
        ("p -> (p, q ; r) prj r", "p -> ((p, (q ; r)) prj r)"),
        ("p -> q -> r", "p -> (q -> r)"),
        ("p -> q <-> r", "(p -> q) <-> r"),
        ("p <-> q <-> r", "(p <-> q) <-> r"),
        ("p and q and r", "(p and q and r)"),
        ("while p or q {p ; q}*", "(while (p or q) {(p ; q)})*"),
        ("fin(p -> q)", "fin((p -> q))"),
    ],
)
def test_how_tightly_operators_bind(text, full):
    formula = pptl.parse(text)
    assert formula == pptl.parse(full)
    assert pptl.parse(str(formula)) == formula


def test_parentheses_tell_formulas_apart():
    assert pptl.parse("p and (q and r)") != pptl.parse("p and q and r")
    assert str(pptl.parse("p and (q and r)")) == "p and (q and r)"
    assert str(pptl.parse("((p ; q) ; r)")) == "(p ; q) ; r"
    assert str(pptl.parse("(p -> q) -> r")) == "(p -> q) -> r"
    assert str(pptl.parse("(p until q) until r")) == "(p until q) until r"
    assert str(pptl.parse("(p, q -> r) prj (p -> q)")) == "(p, q -> r) prj (p -> q)"


def test_white_space_does_not_matter():
    assert pptl.parse("[]\n(p->\t<>q)") == pptl.parse("[] (p -> <> q)") == pptl.parse("[](p-><>q)")


@pytest.mark.parametrize("name", ["Pay invoice", 'a "quoted" one', "back\\slash", "not", "len", "ü", "1", "a.b", "\n"])
def test_any_text_may_be_a_name(name):
    formula = pptl.next_(pptl.name(name))
    assert pptl.parse(str(formula)) == formula
    assert formula.names == {name}


def test_names_that_only_look_like_keywords():
    assert pptl.parse("nextp and emptys").names == {"nextp", "emptys"}
    assert pptl.parse("len2 or while_").names == {"len2", "while_"}


@pytest.mark.parametrize(
    "text, position, message",
    [
        ("", 0, "expected a formula, found the end of the text"),
        ("p and", 5, "expected a formula, found the end of the text"),
        ("p q", 2, "expected an operator or the end of the text, found 'q'"),
        ("(p", 2, "expected ')', found the end of the text"),
        ("p)", 1, "expected an operator or the end of the text, found ')'"),
        ("[] (request -> )", 15, "expected a formula, found ')'"),
        ("p && q", 2, "'&' means nothing here: write `and`"),
        ("p | q", 2, "'|' means nothing here: write `or`"),
        ("!p", 0, "'!' means nothing here: write `not`"),
        ("p => q", 2, "'=' means nothing here: write `->`"),
        ("always p", 7, "expected an operator or the end of the text (write `[]` for always), found 'p'"),
        ("p U q", 2, "(write `until` or `release`), found 'U'"),
        ("G(p)", 1, "(write `[]` for always), found '('"),
        ("n > 3", 2, "'>' means nothing here: a condition on data is a predicate that has a name"),
        ("a.b", 1, "'.' means nothing here: put a name with other characters"),
        ("2p", 0, "'2' means nothing here"),
        ("p ? q", 2, "'?' means nothing here"),
        ("p^q", 2, "expected a whole number after `^`, found 'q'"),
        ("len(-1)", 4, "'-' means nothing here"),
        ("len(p)", 4, "expected a whole number after `len(`, found 'p'"),
        ("len 2", 4, "expected '(', found '2'"),
        ("len(10001)", 4, "10001 is out of range: write a whole number from 0 to 10000"),
        ("p^99999999999999999999999999", 2, "99999999999999999999 is out of range"),
        ("while p q", 8, "expected '{', found 'q'"),
        ("while p {q", 10, "expected '}', found the end of the text"),
        ("fin p", 4, "expected '(', found 'p'"),
        ("(p, q)", 2, "a list of formulas stands only before `prj`"),
        ("not (p, q) prj r", 6, "a list of formulas stands only before `prj`"),
        ('"p', 0, 'a name in quotes has no closing `"`'),
        ('""', 0, "a name has at least one character"),
        ("p until", 7, "expected a formula"),
        ("and p", 0, "expected a formula, found 'and'"),
        ("p prj", 5, "expected a formula"),
        ("(" * 200 + "p" + ")" * 200, 100, "nested deeper than 100"),
        ("not " * 200 + "p", 400, "nested deeper than 100"),
    ],
)
def test_an_error_names_the_position_and_what_was_expected(text, position, message):
    with pytest.raises(pptl.PptlSyntaxError) as error:
        pptl.parse(text)
    assert error.value.position == position
    assert message in str(error.value)
    assert f", at position {position} (line 1, column {position + 1}):" in str(error.value)


def test_an_error_shows_its_line():
    with pytest.raises(InvalidArgument) as error:
        pptl.parse("[] (p ->\n   q r)")
    assert str(error.value).endswith("at position 14 (line 2, column 6):\n       q r)\n         ^")
    with pytest.raises(InvalidArgument) as error:
        pptl.parse("p and " * 50 + "?" + " and p" * 50)
    shown, caret = str(error.value).splitlines()[-2:]
    assert shown[len(caret) - 1] == "?" and len(shown) <= 110


def test_what_is_not_a_text():
    with pytest.raises(InvalidArgument, match=r"text=3 \(int\) is not a text: write pptl.parse"):
        pptl.parse(3)
