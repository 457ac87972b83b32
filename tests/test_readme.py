"""The README's Python runs as it stands there, block after block, as a reader would type it."""

import re
from pathlib import Path

import pytest

import firesteel as fs

README = Path(__file__).parent.parent / "README.md"


def blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_the_code_runs_and_prints_what_its_comments_say(spark, capsys, tmp_path):
    assert len(blocks()) >= 5
    names = {"__name__": "readme"}
    for number, code in enumerate(blocks()):
        file = tmp_path / f"readme_{number}.py"  # a file, so that lambdas can be shown by their source
        file.write_text(code)
        exec(compile(code, str(file), "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        promised = re.findall(r"^# (.*)$", code.split("print(")[-1], re.MULTILINE) if "print(" in code else []
        assert printed == promised
    names["test_bans_last"]()
    forgets = lambda events: events.where("NOT honest").select("user")  # noqa: E731
    with pytest.raises(fs.Falsified):
        fs.for_all(names["events"], forgets, fs.always(names["all_who_ever_misbehaved"]), cases=20, spark=spark)
    names["test_every_click_is_counted_in_its_hour"]()
    names["test_nobody_is_above_the_limit"]()


def test_the_make_targets_exist():
    makefile = (README.parent / "Makefile").read_text()
    for target in re.findall(r"^    make ([a-z-]+)", README.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
