"""Reads the text of a formula. Written by hand, because the logic has no dependencies.

Words and signs are found first, then the formula: operators that stand between formulas by how tightly they bind
(`syntax.LEVELS`), everything else by its first word.
"""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.errors import InvalidArgument, described
from firesteel.logic.pptl.formulas import (
    DEEPEST,
    Constant,
    Empty,
    Formula,
    Len,
    More,
    Name,
    Prj,
    Repeat,
    Skip,
    Star,
    While,
)
from firesteel.logic.pptl.syntax import (
    CALLS,
    IFF,
    KEYWORDS,
    LARGEST,
    LEFT,
    LEVELS,
    MANY,
    PREFIXES,
    PRJ,
    RIGHT,
    SIGNS,
)

# What people write who know another notation.
_HINTS = {
    "&": "write `and`",
    "|": "write `or`, or `||` for two formulas in parallel",
    "!": "write `not`",
    "~": "write `not`",
    "=": "write `->` for implication and `<->` for equivalence",
    "<": "write `<>` for eventually, `<->` for equivalence",
    "-": "write `->` for implication; numbers start at 0",
    ">": "a condition on data is a predicate that has a name",
    "[": "write `[]` for always",
    ".": "put a name with other characters than letters, digits and _ in double quotes",
    "'": "put names in double quotes",
}
_WORDS = {
    **dict.fromkeys(("always", "globally", "G"), "write `[]` for always"),
    **dict.fromkeys(("eventually", "finally", "F"), "write `<>` for eventually"),
    **dict.fromkeys(("X", "N"), "write `next`"),
    **dict.fromkeys(("U", "R", "W"), "write `until` or `release`"),
    **dict.fromkeys(("implies", "iff"), "write `->` for implication and `<->` for equivalence"),
    **dict.fromkeys(("AND", "OR", "NOT", "xor"), "write `and`, `or`, `not`"),
}


class PptlSyntaxError(InvalidArgument):
    """The text of a formula that cannot be read; `position` counts characters from 0."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    def __reduce__(self) -> tuple[type[PptlSyntaxError], tuple[str, int]]:
        return type(self), (str(self), self.position)


def parse(text: str) -> Formula:
    """The formula that a text says.

    >>> from firesteel.logic import pptl
    >>> pptl.parse("quiet* ; alarm ; true") == pptl.chop("quiet*", "alarm", "true")
    True
    >>> pptl.parse("[] (request -> )")
    Traceback (most recent call last):
        ...
    firesteel.logic.pptl.parser.PptlSyntaxError: expected a formula, found ')', at position 15 (line 1, column 16):
        [] (request -> )
                       ^
    """
    if not isinstance(text, str):
        raise InvalidArgument(f'{described("text", text)} is not a text: write pptl.parse("[] (request -> <> reply)")')
    return _Parser(text).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    """A keyword or sign as it is written, or "name", "number", "end"."""
    value: str
    at: int
    end: int

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else repr(self.value)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._read()
        self._closing = _matches(self._tokens)
        self._next = 0
        self._depth = 0

    def whole(self) -> Formula:
        formula = self._formula(IFF)
        if self._token.kind != "end":
            words = [token.value for token in self._tokens[max(0, self._next - 1) : self._next + 1]]
            hints = [f" ({_WORDS[word]})" for word in words if word in _WORDS]
            raise self._unexpected("expected an operator or the end of the text" + "".join(hints[:1]))
        return formula

    # --- words and signs ---

    def _read(self) -> list[_Token]:
        tokens, at, text = [], 0, self._text
        while at < len(text):
            if text[at].isspace():
                at += 1
                continue
            token = self._token_at(at)
            tokens.append(token)
            at = token.end
        tokens.append(_Token("end", "", len(text), len(text)))
        return tokens

    def _token_at(self, at: int) -> _Token:
        text = self._text
        for sign in SIGNS:
            if text.startswith(sign, at):
                return _Token(sign, sign, at, at + len(sign))
        if text[at] == '"':
            return self._quoted(at)
        end = at
        while end < len(text) and (text[end].isidentifier() or text[end].isdecimal()):
            end += 1
        word = text[at:end]
        if word and all("0" <= character <= "9" for character in word):
            return _Token("number", word, at, end)
        if word.isidentifier():
            return _Token(word if word in KEYWORDS else "name", word, at, end)
        hint = _HINTS.get(text[at])
        raise self._error(f"{text[at]!r} means nothing here{': ' + hint if hint else ''}", at)

    def _quoted(self, start: int) -> _Token:
        text, at, name = self._text, start + 1, ""
        while at < len(text) and text[at] != '"':
            if text[at] == "\\":
                at += 1
            name += text[at : at + 1]
            at += 1
        if at >= len(text):
            raise self._error('a name in quotes has no closing `"`', start)
        if not name:
            raise self._error("a name has at least one character", start)
        return _Token("name", name, start, at + 1)

    # --- formulas ---

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _formula(self, loosest: int) -> Formula:
        """A formula whose operators bind at least as tightly as `loosest`."""
        self._deeper()
        left = self._list(loosest)
        if left is None:
            left = self._prefixed()
        while LEVELS.get(self._token.kind, -1) >= loosest:
            left = self._joined(left)
        self._depth -= 1
        return left

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(f"the formula is nested deeper than {DEEPEST}: use P^n, len(n) or P*", self._token.at)

    def _joined(self, left: Formula) -> Formula:
        sign = self._take().kind
        level = LEVELS[sign]
        if sign in LEFT:
            return LEFT[sign](left, self._formula(level + 1))
        if sign in RIGHT:
            return RIGHT[sign](left, self._formula(level))
        if sign in MANY:
            parts = [left, self._formula(level + 1)]
            while self._token.kind == sign:
                self._take()
                parts.append(self._formula(level + 1))
            return MANY[sign](tuple(parts))
        return Prj((left,), self._formula(PRJ))

    def _list(self, loosest: int) -> Formula | None:
        """`(P, Q) prj R`, if that is what stands here."""
        closing = self._closing.get(self._next)
        if closing is None or loosest > PRJ or self._tokens[closing + 1].kind != "prj":
            return None
        self._take("(")
        parts = [self._formula(IFF)]
        while self._token.kind == ",":
            self._take()
            parts.append(self._formula(IFF))
        self._take(")")
        self._take("prj")
        return Prj(tuple(parts), self._formula(PRJ))

    def _prefixed(self) -> Formula:
        if self._token.kind in PREFIXES:
            made = PREFIXES[self._take().kind]
            self._deeper()
            body = self._prefixed()
            self._depth -= 1
            return made(body)
        formula = self._primary()
        while self._token.kind in ("*", "^"):
            if self._take().kind == "*":
                formula = Star(formula)
            else:
                formula = Repeat(formula, self._number("`^`"))
        return formula

    def _primary(self) -> Formula:
        token = self._token
        match token.kind:
            case "name":
                return Name(self._take().value)
            case "true" | "false":
                return Constant(self._take().kind == "true")
            case "empty" | "more" | "skip":
                return {"empty": Empty, "more": More, "skip": Skip}[self._take().kind]()
            case "(":
                return self._in_parentheses()
            case "fin" | "keep" | "halt":
                made = CALLS[self._take().kind]
                self._take("(")
                body = self._formula(IFF)
                self._take(")")
                return made(body)
            case "len":
                self._take()
                self._take("(")
                number = self._number("`len(`")
                self._take(")")
                return Len(number)
            case "while":
                self._take()
                test = self._formula(IFF)
                self._take("{")
                body = self._formula(IFF)
                self._take("}")
                return While(test, body)
        raise self._unexpected("expected a formula")

    def _in_parentheses(self) -> Formula:
        self._take("(")
        inside = self._formula(IFF)
        if self._token.kind == ",":
            raise self._unexpected(
                "expected ')' (a list of formulas stands only before `prj`, and a `prj` inside a larger formula needs "
                "parentheses of its own: ((P, Q) prj R))"
            )
        self._take(")")
        return inside

    def _number(self, after: str) -> int:
        token = self._token
        if token.kind != "number":
            raise self._unexpected(f"expected a whole number after {after}")
        # Python reads no more than a few thousand digits, and a longer number is out of range all the same.
        if len(token.value) > 9 or int(token.value) > LARGEST:
            raise self._error(f"{token.value[:20]} is out of range: write a whole number from 0 to {LARGEST}", token.at)
        self._take()
        return int(token.value)

    def _take(self, expected: str | None = None) -> _Token:
        token = self._token
        if expected is not None and token.kind != expected:
            raise self._unexpected(f"expected {expected!r}")
        self._next += 1
        return token

    # --- errors ---

    def _unexpected(self, expected: str) -> PptlSyntaxError:
        return self._error(f"{expected}, found {self._token}", self._token.at)

    def _error(self, complaint: str, at: int) -> PptlSyntaxError:
        before = self._text[:at]
        line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
        shown = self._text.split("\n")[line - 1]
        start = max(0, column - 60)
        return PptlSyntaxError(
            f"{complaint}, at position {at} (line {line}, column {column}):\n"
            f"    {shown[start : start + 100]}\n    {' ' * (column - 1 - start)}^",
            at,
        )


def _matches(tokens: list[_Token]) -> dict[int, int]:
    """For every opening parenthesis its closing one, as far as they match."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.kind == "(":
            opened.append(index)
        elif token.kind == ")" and opened:
            closing[opened.pop()] = index
    return closing
