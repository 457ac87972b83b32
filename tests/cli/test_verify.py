"""`firesteel verify` and `firesteel rules`."""

import json

import pytest

from firesteel import rules
from firesteel.cli.main import main
from tests.history import real

LOST = str(real.KEPT / "lost_block.zst")


def run(capsys, *arguments):
    code = main([*arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_ready_rules(capsys):
    code, out, _ = run(capsys, "verify", LOST, "--rule", "PARENTS_BEFORE_CHILDREN", "--rule", "attempts_at_most=3")
    assert code == 0 and out == "true: 2 rules, 50 events\n"
    code, out, _ = run(capsys, "verify", LOST, "--rule", "shuffle_at_most=10")
    assert code == 1 and out.startswith("Falsified: shuffle_at_most(10) is false")
    assert run(capsys, "verify", LOST, "--rule", "shuffle_at_most=1 MiB")[0] == 0
    assert run(capsys, "verify", LOST, "--rule", "skew_at_most=10000.5")[0] == 0


def test_a_formula_with_definitions(capsys):
    arguments = ["verify", LOST, "--formula", "[] (again -> <> job_succeeded)", "--define", "again=stage.attempt > 1"]
    assert run(capsys, *arguments)[0] == 0
    arguments = ["verify", LOST, "--formula", "[] not again", "--define", "again=stage.attempt > 1", "--each", "stage"]
    code, out, _ = run(capsys, *arguments)
    assert code == 1 and "Stage 4: false" in out and "for each stage" in out


def test_json(capsys):
    code, out, _ = run(capsys, "verify", LOST, "--rule", "shuffle_at_most=10", "--rule", "NO_SPILL", "--json")
    data = json.loads(out)
    assert code == 1 and data["verdict"] == "FALSE"
    first, second = data["applications"][0]["rules"]
    assert [one["about"] for one in first["violations"]] == ["stage 0", "stage 4"]
    assert second["verdict"] == "TRUE" and data["applications"][0]["events"] == 50
    code, out, _ = run(capsys, "verify", LOST, "--rule", "NO_SPILL", "--json")
    assert code == 0 and json.loads(out)["verdict"] == "TRUE"


def test_a_log_that_does_not_decide(capsys, tmp_path):
    log = tmp_path / "app-1"
    log.write_text('{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}\n')
    code, out, _ = run(capsys, "verify", str(log), "--formula", "[] not job_failed")
    assert code == 3 and "could not be decided" in out and "the log is not complete" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([LOST], "no rule is given: write --rule NAME or --formula TEXT"),
        ([LOST, "--rule", "PARENT_BEFORE_CHILD"], "is not a rule (is PARENTS_BEFORE_CHILDREN meant?)"),
        ([LOST, "--rule", "NO_SPILL=3"], "takes no argument: write --rule NO_SPILL"),
        ([LOST, "--rule", "attempts_at_most"], "needs an argument: write --rule attempts_at_most=10"),
        ([LOST, "--rule", "attempts_at_most=few"], "n='few' (str) is not a number here"),
        ([LOST, "--formula", "[] ("], "expected a formula"),
        ([LOST, "--formula", "[] p", "--define", "p"], "is not a definition: write a name, = and an expression"),
        ([LOST, "--formula", "[] p", "--define", "p==3"], "is not a definition"),
        ([LOST, "--formula", "[] p", "--define", "p=n >"], "expected a number"),
        ([LOST, "--formula", "[] p"], "'p', which is not a proposition about Spark"),
        ([LOST, "--formula", "true", "--each", "row"], "each='row' (str) is not something to have a rule for"),
        (["/nowhere", "--rule", "NO_SPILL"], "path='/nowhere' (str) does not exist"),
    ],
)
def test_wrong_arguments(capsys, arguments, message):
    code, out, err = run(capsys, "verify", *arguments)
    assert code == 2 and not out and err.startswith("firesteel verify: ") and message in err


def test_the_list_of_rules_has_all_of_them(capsys):
    code, out, _ = run(capsys, "rules")
    assert code == 0 and all(name in out for name in rules.READY)
    assert "attempts_at_most=N, for each task\n  No task is started more than N times" in out
    code, out, _ = run(capsys, "rules", "--propositions")
    assert code == 0 and "rows_dropped_late" in out and "stage.skew" in out
    code, out, _ = run(capsys, "rules", "--json")
    assert [one["name"] for one in json.loads(out)["rules"]] == list(rules.READY)
