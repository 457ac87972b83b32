"""The tokens of a DDL text, and messages that point at the one where the text went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from firesteel.errors import InvalidArgument, described

# Spark's own lexer: its blanks, names of ASCII letters and digits, two kinds of quoted text.
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+|--(?:\\\n|[^\r\n])*)
      | (?P<text>[rR](?:'[^']*'|"[^"]*") | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
      | (?P<word>[A-Za-z0-9_]+)
      | (?P<quoted>`(?:[^`]|``)*`)
      | (?P<mark>[<>(),:])""",
    re.VERBOSE | re.DOTALL,
)
NUMBER = re.compile(r"\d+(?:[LSY]|(?:E\d+)?(?:F|D|BD)?)", re.IGNORECASE)  # looks like a name, but is a literal
_ESCAPE = re.compile(r"\\(?:([01][0-7]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}


class Token(NamedTuple):
    """A piece of a DDL text, and where it starts."""

    kind: str  # "text", "word", "quoted", "mark", or "end"
    text: str
    start: int


class Tokens:
    """The tokens of a DDL text, read one after the other. `firesteel.values.schemas.ddl` adds the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._scan())
        self.at = 0

    def _scan(self) -> Iterator[Token]:
        position = 0
        while position < len(self.text):
            if self.text.startswith("/*", position) and not self.text.startswith("/*+", position):
                position = self._comment_end(position)
                continue
            found = _TOKEN.match(self.text, position)
            if found is None:
                raise self._mistake(_unscanned(self.text[position]), position)
            kind = str(found.lastgroup)
            if kind != "blank":
                yield Token(kind, found.group(), position)
            position = found.end()
        yield Token("end", "", len(self.text))

    def _comment_end(self, start: int) -> int:
        """The end of a bracketed comment, which may hold others."""
        depth = 0
        for mark in re.finditer(r"/\*|\*/", self.text[start:]):
            depth += 1 if mark.group() == "/*" else -1
            if depth == 0:
                return start + mark.end()
        raise self._mistake("expected */, the end of the comment that starts", start)

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """Reads the next token."""
        token = self.next
        self.at += 1
        return token

    def is_word(self, *words: str) -> bool:
        """Is the next token one of these words, in any case?"""
        return self.next.kind == "word" and self.next.text.upper() in words

    def skip(self, mark: str) -> bool:
        """Reads the mark or the word if it comes next, and says whether it did."""
        if self.is_word(mark) or (self.next.kind == "mark" and self.next.text == mark):
            self.at += 1
            return True
        return False

    def expect(self, mark: str, why: str) -> None:
        """Reads the mark or the word, and refuses the text where another token comes next."""
        if not self.skip(mark):
            raise self.unlike(f"{mark} {why}".strip())

    def unlike(self, expected: str, hint: str = "") -> InvalidArgument:
        """The error that the next token is not what is expected."""
        found = "the end" if self.next.kind == "end" else repr(self.next.text)
        return self._mistake(f"expected {expected}", self.next.start, f", found {found}{hint}")

    def _mistake(self, problem: str, position: int, rest: str = "") -> InvalidArgument:
        before = self.text[:position]
        start = before.rfind("\n") + 1
        line, column = before.count("\n") + 1, position - start
        cut = max(0, column - 70)  # a long line shows only what is around the mistake
        shown = self.text[start:].split("\n")[0][cut : column + 30].replace("\t", " ")
        return InvalidArgument(
            f"{described('schema', self.text)} is not DDL: {problem} at line {line}, column {column + 1}{rest}\n"
            f"  {shown}\n  {' ' * (column - cut)}^"
        )


def _unscanned(char: str) -> str:
    match char:
        case "`" | "'" | '"':
            return f"expected a closing {char} for the one"
        case _:
            return f"expected no {char!r} (names with it go in backquotes)"


def unquoted(literal: str) -> str:
    """What a quoted text says, without its quotes and escapes."""
    if literal[0] in "rR":
        return literal[2:-1]
    quote, inside = literal[0], literal[1:-1]
    # A doubled quote is one; \' was an escape before it could be half of a pair.
    pattern = re.compile(_ESCAPE.pattern + f"|({quote}{quote})", re.DOTALL)
    return pattern.sub(lambda found: quote if found.group(5) else _unescaped(found), inside)


def _unescaped(found: re.Match[str]) -> str:
    octal, short, long, char = found.group(1, 2, 3, 4)
    if octal:
        return chr(int(octal, 8))
    if short or long:
        return chr(int(short or long, 16))
    return _ESCAPED.get(char, char)
