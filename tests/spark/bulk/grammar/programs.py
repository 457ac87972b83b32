"""A program under way, and random expressions for it.

A program is drawn as a list of steps, each with the text that says what it does. The columns that a step leaves, with
their types, decide which steps can follow. Some programs are ones that Spark refuses; these are left out.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import firesteel as fs
from firesteel.spark.running import Running

TYPES = {"ts": "time", "k": "int", "n": "int", "s": "text", "x": "real", "xs": "list"}
Step = tuple[str, Callable[[Any], Any]]


@dataclass
class Program:
    """A program under way: its steps, and the columns that it has so far."""

    rng: random.Random
    steps: list[Step] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=lambda: dict(TYPES))
    inputs: tuple[str, ...] = ("input",)
    mode: str = "append"
    marked: bool = False
    grouped: bool = False
    stateful: bool = False
    close: bool = True
    over: fs.Window | None = None
    second: list[Step] | None = None
    """The steps of a second output, which are the first ones of the whole."""

    def add(self, text: str, step: Callable[[Any], Any]) -> None:
        self.steps.append((text, step))

    def of(self, *kinds: str) -> list[str]:
        """The columns of some types."""
        return [name for name, kind in self.columns.items() if kind in kinds]

    @property
    def subject(self) -> Callable[..., Any]:
        def after(frame: Any, steps: list[Step]) -> Any:
            for _, step in steps:
                frame = step(frame)
            return frame

        def of_one(frame: Any) -> Any:
            whole = after(frame, self.steps)
            return whole if self.second is None else {"output": whole, "second": after(frame, self.second)}

        return of_one if self.inputs == ("input",) else lambda left, right: of_one((left, right))

    @property
    def text(self) -> str:
        also = "" if self.second is None else f" (second output: after {len(self.second)} of them)"
        return f"{self.mode}, close={self.close}: " + " | ".join(text for text, _ in self.steps) + also

    @property
    def how(self) -> Running:
        mode = self.mode if self.second is None else {"output": self.mode}
        return Running(output_mode=mode, close=self.close, over=self.over)


# --- expressions ---


def expression(p: Program, kind: str, depth: int = 2) -> str:
    """A random expression in SQL, of a type."""
    rng = p.rng

    def sub(of: str) -> str:
        return expression(p, of, depth - 1)

    columns = p.of(kind)
    if depth <= 0 or rng.random() < 0.25:
        if columns and rng.random() < 0.8:
            return rng.choice(columns)
        return {"int": str(rng.randint(-3, 9)), "text": rng.choice(["'a'", "'b'", "''"]), "real": "0.5",
                "bool": "true", "list": "array(1, 2)", "time": "timestamp'2024-01-01 00:05:00'"}[kind]  # fmt: skip
    choices: dict[str, list[Callable[[], str]]] = {
        "int": [
            lambda: f"({sub('int')} {rng.choice('+-')} {sub('int')})",
            lambda: f"({sub('int')} % 5)",
            lambda: f"coalesce({sub('int')}, {sub('int')})",
            lambda: f"CASE WHEN {sub('bool')} THEN {sub('int')} ELSE {sub('int')} END",
            lambda: f"length({sub('text')})",
            lambda: f"size({sub('list')})",
            lambda: f"pmod(hash({sub('text')}, {sub('int')}), 7)",
            lambda: f"minute({sub('time')})",
            lambda: f"greatest({sub('int')}, {sub('int')})",
            lambda: f"aggregate({sub('list')}, 0, (a, b) -> a + coalesce(b, 0))",
            lambda: f"nullif({sub('int')}, 1)",
            lambda: f"named_struct('a', {sub('int')}, 'b', {sub('text')}).a",
            lambda: f"map('a', {sub('int')}, 'b', {sub('int')})['b']",
            lambda: f"CAST(CAST({sub('int')} AS DECIMAL(20, 2)) / 3 AS INT)",
            lambda: f"datediff(date'2024-01-03', CAST({sub('time')} AS DATE))",
            lambda: f"try_element_at({sub('list')}, 1)",
        ],
        "text": [
            lambda: f"concat({sub('text')}, {sub('text')})",
            lambda: f"upper({sub('text')})",
            lambda: f"cast({sub('int')} AS STRING)",
            lambda: f"substr(md5({sub('text')}), 1, 2)",
            lambda: f"concat_ws('-', {sub('text')}, {sub('text')})",
            lambda: f"date_format({sub('time')}, 'HH:mm')",
            lambda: f"coalesce({sub('text')}, 'none')",
            lambda: f"regexp_replace({sub('text')}, 'a', 'c')",
            lambda: f"to_json(named_struct('a', {sub('int')}))",
            lambda: f"array_join(transform({sub('list')}, e -> CAST(e AS STRING)), ',')",
        ],
        "real": [
            lambda: f"({sub('real')} + {sub('int')})",
            lambda: f"({sub('real')} * 0.1D)",
            lambda: f"sqrt(abs({sub('real')}))",
            lambda: f"cast({sub('int')} AS DOUBLE)",
            lambda: f"round({sub('real')}, 1)",
        ],
        "bool": [
            lambda: f"{sub('int')} > {sub('int')}",
            lambda: f"({sub('bool')} AND {sub('bool')})",
            lambda: f"({sub('bool')} OR {sub('bool')})",
            lambda: f"NOT ({sub('bool')})",
            lambda: f"{sub('text')} = {sub('text')}",
            lambda: f"{sub('int')} IS NULL",
            lambda: f"array_contains({sub('list')}, 1)",
            lambda: f"{sub('int')} IN (0, 1, 2)",
            lambda: f"{sub('time')} < current_timestamp()",
            lambda: f"exists({sub('list')}, e -> e > 2)",
        ],
        "list": [
            lambda: f"array({sub('int')}, {sub('int')})",
            lambda: f"sort_array({sub('list')})",
            lambda: f"transform({sub('list')}, e -> e + 1)",
            lambda: f"filter({sub('list')}, e -> e > 1)",
            lambda: f"slice({sub('list')}, 1, 2)",
            lambda: f"array_union({sub('list')}, {sub('list')})",
        ],
        "time": [lambda: f"{sub('time')} + INTERVAL 1 MINUTE", lambda: f"date_trunc('HOUR', {sub('time')})"],
    }  # fmt: skip
    return rng.choice(choices[kind])()
