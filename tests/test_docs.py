"""The README and the pages of the documentation: their code runs as a reader would type it, and says what they say.

The Python blocks of a page run in order, in one namespace. Functions named `test_*` are called, with the session if
they ask for `spark`. What is printed has to be what the comments below a `print` say, or the block titled "Output" that
follows. A block titled "Failure" says how the last test before it fails. `...` stands for any text there.
"""

import ast
import doctest
import inspect
import json
import re
import runpy
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import firesteel as fs
from firesteel import operators, perturb, rules, strategies
from firesteel.cli.command import all_commands
from firesteel.logic import pptl
from firesteel.model import msvl

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PICTURES = runpy.run_path(str(ROOT / "tools" / "pictures.py"))["PICTURES"]
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
FENCE = re.compile(r"^( *)```(\w*)(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
USES_SPARK = re.compile(r"fs\.(for_all|run|stable|equivalent|assert_same|session|events|watch|capture)\(|def test_")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    found = []
    for fence in FENCE.finditer(page):
        indent, language, head, text = fence.groups()
        title = re.search(r'title="(.*?)"', head)
        lines = [line.removeprefix(indent) for line in text.splitlines()]
        place = page[: fence.start()].count("\n") + 2
        found.append(Block(language, title[1] if title else "", "\n".join(lines) + "\n", place))
    return found


def promised(code: str) -> str:
    """What the comments below each statement that prints say will be printed."""
    lines = code.splitlines()
    said = []
    for statement in ast.parse(code).body:
        prints = any(isinstance(part, ast.Name) and part.id == "print" for part in ast.walk(statement))
        if not prints or isinstance(statement, ast.FunctionDef):
            continue
        for line in lines[statement.end_lineno :]:
            if not line.startswith("#"):
                break
            said.append(line[1:].removeprefix(" "))
    return "".join(line + "\n" for line in said)


def assert_alike(shown: str, really: str, where: str) -> None:
    """Is the text as it is shown? `...` matches anything, and white space at the end of a line does not matter."""
    want, got = ("\n".join(map(str.rstrip, text.rstrip().splitlines())) + "\n" for text in (shown, really))
    if not doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS):
        pytest.fail(f"{where} says\n\n{want}\nbut it is\n\n{got}", pytrace=False)


def uses_spark(page: Path) -> bool:
    code = (block.text for block in blocks(page.read_text()) if block.language == "python")
    return USES_SPARK.search("".join(code)) is not None


def slow_where_it_uses_spark(page: Path):
    return pytest.param(page, id=page.name, marks=pytest.mark.slow if uses_spark(page) else [])


class Reader:
    """Somebody who types what a page says, block after block."""

    def __init__(self, page: Path, folder: Path, capsys, spark) -> None:
        self.page, self.folder, self.capsys, self.spark = page, folder, capsys, spark
        self.module = ModuleType(f"{page.stem.replace('-', '_')}_page")
        self.names = vars(self.module)

    def read(self) -> None:
        found = [block for block in blocks(self.page.read_text()) if block.language in ("python", "text")]
        for place, block in enumerate(found):
            if block.language == "python":
                self.type(block, next(iter(found[place + 1 :]), None))

    def type(self, block: Block, following: Block | None) -> None:
        where = f"{self.page.name}:{block.line}"
        file = self.folder / (block.title or f"{self.page.stem}_{block.line}.py")
        file.write_text(block.text)  # a file, so that lambdas can be shown by their source
        exec(compile(block.text, str(file), "exec"), self.names)
        shown = following.text if following is not None and following.title == "Output" else promised(block.text)
        assert_alike(shown, self.capsys.readouterr().out, where)
        defined = [node.name for node in ast.parse(block.text).body if isinstance(node, ast.FunctionDef)]
        tests = [name for name in defined if name.startswith("test_")]
        fails = following is not None and following.title == "Failure"
        for name in tests[:-1] if fails else tests:
            self.call(name)
        if fails:
            failure = self.failure_of(tests[-1])
            message = f"{type(failure).__module__}.{type(failure).__name__}: {failure}"
            assert_alike(following.text, message, f"{self.page.name}:{following.line}")

    def failure_of(self, name: str) -> fs.Failed:
        """How a test fails, in a module that is known: so the test to paste names its functions, as for a user.

        Only here: where a module is known, Spark's workers import it, and this one they cannot.
        """
        self.module.__file__ = __file__  # the file of the test that is running: nothing has to be imported from it
        with pytest.MonkeyPatch.context() as patch, pytest.raises(fs.Failed) as raised:
            patch.setitem(sys.modules, self.module.__name__, self.module)
            self.call(name)
        return raised.value

    def call(self, name: str) -> None:
        wanted = inspect.signature(self.names[name]).parameters
        assert set(wanted) <= {"spark"}, f"{self.page.name}: {name} wants a fixture that is not known here"
        self.names[name](**({"spark": self.spark} if wanted else {}))


@pytest.mark.parametrize("page", [*map(slow_where_it_uses_spark, PAGES)])
def test_the_code_of_a_page_does_what_the_page_says(page, request, capsys, tmp_path, monkeypatch):
    spark = request.getfixturevalue("spark") if uses_spark(page) else None
    monkeypatch.chdir(tmp_path)
    Reader(page, tmp_path, capsys, spark).read()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_exist(page):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    subcommands = {command.name for command in all_commands()}
    text = page.read_text()
    shell = "\n".join(block.text for block in blocks(text) if block.language == "sh")
    inline = "\n".join(re.findall(r"`((?:make|firesteel) [^`]*)`", text))
    for target in re.findall(r"^\s*make ([a-z-]+)|&& make ([a-z-]+)", f"{shell}\n{inline}", re.MULTILINE):
        assert "".join(target) in targets
    for command in re.findall(r"^\s*(?:\S*/)?firesteel ([a-z]+)", f"{shell}\n{inline}", re.MULTILINE):
        assert command in subcommands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_other_blocks_of_a_page_can_be_read(page):
    for block in blocks(page.read_text()):
        assert block.language in ("python", "text", "sh", "toml", "json"), f"{page.name}:{block.line}: which language?"
        if block.language == "toml":
            tomllib.loads(block.text)
        if block.language == "json":
            json.loads(block.text)


# --- the harness itself ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("```python\nprint(1)\n# 2\n```\n", "says\n\n2\n\nbut it is\n\n1"),
        ("```python\nprint(1)\n```\n", "but it is\n\n1"),
        ('```python\nprint(1)\n```\n\n```text title="Output"\n2\n```\n', "says\n\n2"),
        ("```python\nassert False, 'no'\n```\n", "no"),
        ("```python\ndef test_it():\n    assert False, 'no'\n```\n", "no"),
        ('```python\ndef test_it():\n    pass\n```\n\n```text title="Failure"\n...\n```\n', "DID NOT RAISE"),
    ],
)
def test_a_page_that_says_something_wrong_is_found(page, wrong, tmp_path, capsys):
    file = tmp_path / "page.md"
    file.write_text(page)
    with pytest.raises((AssertionError, pytest.fail.Exception), match=re.escape(wrong)):
        Reader(file, tmp_path, capsys, None).read()


def test_a_page_that_is_right_passes(tmp_path, capsys):
    file = tmp_path / "page.md"
    file.write_text(
        "```python\nfor n in 1, 2:\n    print(n)\n# 1\n# 2\nlast = 3\n```\n\n```python\nassert last == 3\n```\n"
    )
    Reader(file, tmp_path, capsys, None).read()


# --- the site --------------------------------------------------------------------------------------------------------


def test_every_page_is_in_the_navigation():
    # Zensical builds a page that is not there, and nobody finds it.
    nav = re.search(r"^nav:\n((?: .*\n)*)", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)[1]
    assert sorted(re.findall(r"(\S+\.md)$", nav, re.MULTILINE)) == sorted(page.name for page in PAGES[1:])


@pytest.mark.parametrize(
    ("module", "page"),
    [
        (fs, "reference.md"),
        (strategies, "reference-strategies.md"),
        (perturb, "reference-perturb.md"),
        (operators, "reference-operators.md"),
        (rules, "reference-rules.md"),
        (pptl, "reference-pptl.md"),
        (msvl, "reference-msvl.md"),
    ],
    ids=lambda given: getattr(given, "__name__", given),
)
def test_the_reference_has_every_public_name(module, page):
    # Twice, where a module inside has the same name: `ss.records` is strategies.records.records.
    named = rf"^::: {re.escape(module.__name__)}\.(\w+)(?:\.\1)?$"
    described = re.findall(named, (DOCS / page).read_text(), re.MULTILINE)
    assert sorted(described) == sorted(public_names(module))


def public_names(module) -> set[str]:
    """The names that a module gives out: what it imports under its own name (`from x import y as y`), or defines."""
    found = set()
    for node in ast.parse(Path(module.__file__).read_text()).body:
        match node:
            case ast.ImportFrom():
                found |= {name.name for name in node.names if name.name == name.asname}
            case ast.FunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Assign(targets=[ast.Name(id=name)]) if isinstance(vars(module).get(name), rules.Rule):
                found.add(name)
    return {name for name in found if not name.startswith("_")} - {"operators", "perturb", "rules"}


def test_the_readme_is_short_and_links_to_every_page():
    readme = PAGES[0].read_text()
    assert len(readme.splitlines()) <= 120
    linked = set(re.findall(r"\(docs/([\w-]+\.md)\)", readme))
    unlinked = {page.name for page in PAGES[1:]} - linked
    assert all(name.startswith("reference-") for name in unlinked), unlinked  # reference.md leads to these


def test_the_links_of_the_readme_lead_somewhere():
    # The site's own links are checked by `make docs`.
    for target in re.findall(r"\]\((?!http)([^)#]+)", PAGES[0].read_text()):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_what_the_script_draws(name):
    assert (DOCS / "pictures" / f"{name}.svg").read_text() == PICTURES[name](), "run `make pictures`"


def test_examples_in_docstrings_become_blocks_of_code():
    pytest.importorskip("griffe", reason="comes with `make docs`")
    as_markdown = runpy.run_path(str(ROOT / "tools" / "docstrings.py"))["as_markdown"]
    public = {"ss": {"timed": "firesteel.strategies.timed"}}
    assert as_markdown("See `ss.timed` and `ss.other`.\n\n>>> 1  # doctest: +SKIP\n1\n\nMore.", public) == (
        "See [`ss.timed`][firesteel.strategies.timed] and `ss.other`.\n\n```pycon\n>>> 1\n1\n```\n\nMore."
    )
