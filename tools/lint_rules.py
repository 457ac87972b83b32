"""Writes docs/lint-rules.md: a section for each rule of the lint, with programs that the tests plant.

`python tools/lint_rules.py` writes it. A test checks that the page is what this would write.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "lint-rules.md"

HEAD = """# Rules of the lint

`firesteel lint SCRIPT`, `dag.lint()` and `fs.assert_clean(program)` know these rules: see [Lint](lint.md). An *error*
is bad whatever the data is. A *warning* is bad for some data, after a failure, or from one run to the next. Every
program here is one of firesteel's own tests: the first is found, the second is not.

The programs use these names:

```python
"""


def page() -> str:
    """The text of the page."""
    sys.path.insert(0, str(ROOT))
    from tests.model.lint import programs

    from firesteel.model.lint.rules.catalogue import RULES

    source = inspect.getsource(programs)
    begin, end = source.index("import datetime"), source.index("PLANTED = []")
    helpers = [programs.pairs, programs.rows, programs.events]
    parts = [HEAD + source[begin:end].strip(), *(inspect.getsource(one).strip() for one in helpers)]
    text = "\n\n\n".join(parts) + "\n```\n"
    first: dict[str, tuple[object, object]] = {}
    for rule, wrong, right in programs.PLANTED:
        first.setdefault(rule, (wrong, right))
    for rule in RULES.values():
        text += "\n" + "\n".join(_section(rule, *first[rule.name], programs))
    return text


def _section(rule, wrong, right, programs) -> Iterator[str]:
    yield f"## {rule.name}\n"
    yield f"*{rule.severity.value.capitalize()}.* Finds {rule.summary}.\n"
    yield f'```python title="Bad"\n{_code(wrong, programs)}\n```\n'
    yield f'```python title="Good"\n{_code(right, programs)}\n```\n'
    yield f"Why: {rule.why}\n"
    yield f"For example: {rule.example}.\n"
    yield f"Instead: {rule.instead}.\n"
    if rule.ticket:
        yield f"Ticket: [{rule.ticket}](https://issues.apache.org/jira/browse/{rule.ticket})\n"


def _code(function, programs) -> str:
    """The text of a program, after that of the functions of its own that it needs."""
    own = {name: one for name, one in vars(programs).items() if inspect.isfunction(one)}
    helpers = ["latest", "two_streams", "adds", "adds_once", "replaces"]
    needed = [own[name] for name in function.__code__.co_names if name in helpers]
    texts = [inspect.getsource(one).strip() for one in needed]
    body = inspect.getsource(function).strip().partition("\n")[2]  # without the decorator
    return "\n\n\n".join([*texts, body])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written to {PAGE}")
