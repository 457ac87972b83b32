"""A lint as a whole, on programs made by hand: comments that switch rules off, reuse, notes. Without Spark."""

import random
import re
from dataclasses import replace
from operator import add

import pytest

from firesteel.dags import Dag
from firesteel.evidence.lint import Severity
from firesteel.model.lint.flows import Help
from firesteel.model.lint.linting import linted
from firesteel.report.dags.graphs import dot, mermaid
from firesteel.report.dags.marks import marks_of, of_action
from firesteel.report.dags.page import page
from firesteel.report.dags.svg import svg
from firesteel.values.programs import Action, Api, CallSite, Difference, Edge, Function, Level, Operation, Program


def operation(id_, name, *parents, function=None, site=None, **more):
    functions = () if function is None else (Function("f", function),)
    return Operation(id_, name, Api.RDD, tuple(parents), functions, site, **more)


def program(operations, *actions):
    edges = tuple(Edge(parent, one.id, False) for one in operations for parent in one.parents)
    acted = tuple(Action(number, name, Api.RDD, (id_,)) for number, (name, id_) in enumerate(actions))
    return Program(tuple(operations), edges, acted)


def rules(made, **options):
    return [one.rule for one in linted(made, **options).findings]


def noisy(**more):
    return [operation(0, "parallelize"), operation(1, "map", 0, function=lambda x: x + random.random(), **more)]


def test_reuse_counts_every_way_to_compute():
    assert "uncached-reuse" not in rules(program(noisy(), ("collect", 1)))
    assert "uncached-reuse" in rules(program(noisy(), ("collect", 1), ("count", 1)))
    assert "uncached-reuse" not in rules(program(noisy(cached=True), ("collect", 1), ("count", 1)))
    diamond = [*noisy(), operation(2, "filter", 1), operation(3, "union", 1, 2)]
    assert "uncached-reuse" in rules(program(diamond, ("collect", 3)))
    kept = [*noisy(), operation(2, "filter", 1, cached=True), operation(3, "union", 2, 2)]
    assert "uncached-reuse" not in rules(program(kept, ("collect", 3)))
    assert "uncached-reuse" not in rules(program(kept, ("collect", 2), ("count", 2)))
    assert "uncached-reuse" in rules(program(kept, ("count", 2), ("collect", 1))), "the cache was filled from it"


@pytest.mark.parametrize(
    "source, expected",
    [
        ("x = counts.zipWithIndex()\n", ["index-after-shuffle"]),
        ("x = counts.zipWithIndex()  # firesteel: ignore[index-after-shuffle]\n", []),
        ("# firesteel: ignore[sort-destroyed, index-after-shuffle]\nx = counts.zipWithIndex()\n", []),
        ("y = 1  # firesteel: ignore[index-after-shuffle]\nx = counts.zipWithIndex()\n", ["index-after-shuffle"]),
        ("x = counts.zipWithIndex()  # firesteel: ignore[sort-destroyed]\n", ["index-after-shuffle"]),
    ],
)
def test_comments_switch_a_rule_off_where_they_stand(tmp_path, source, expected):
    file = tmp_path / "job.py"
    file.write_text(source)
    site = CallSite(str(file), source.count("\n"), "<module>")
    made = program(
        [operation(0, "parallelize"), operation(1, "groupByKey", 0), operation(2, "zipWithIndex", 1, site=site)],
        ("collect", 2),
    )
    assert rules(made) == expected


def test_a_comment_that_names_no_rule_is_told(tmp_path):
    file = tmp_path / "job.py"
    file.write_text("x = counts.zipWithIndex()  # firesteel: ignore[index-after-shufle]\n")
    site = CallSite(str(file), 1, "<module>")
    steps = [operation(0, "parallelize"), operation(1, "groupByKey", 0), operation(2, "zipWithIndex", 1, site=site)]
    found = linted(program(steps, ("collect", 2)))
    assert len(found.findings) == 1 and "index-after-shufle, which is not a rule" in found.notes[0]


def test_what_spark_believes_stands_beside_what_it_is():
    steps = [operation(0, "parallelize"), operation(1, "groupByKey", 0)]
    steps.append(operation(2, "zipWithIndex", 1, level=Level.UNORDERED))
    found = linted(program(steps, ("collect", 2)))
    (one,) = found.findings
    assert (one.spark_level, one.level, one.severity) == (Level.UNORDERED, Level.INDETERMINATE, Severity.ERROR)
    levels = [(each.level, each.spark_level) for each in found.levels]
    assert levels == [
        (Level.DETERMINATE, None),
        (Level.UNORDERED, None),
        (Level.INDETERMINATE, Level.UNORDERED),
    ]
    assert found.levels[2].reasons and not found.levels[0].reasons


def test_findings_are_confirmed_by_those_who_can_run_them():
    steps = [operation(0, "parallelize"), operation(1, "groupByKey", 0)]
    help = Help(runs=lambda finding: f"seen for {finding.rule}")
    (one,) = linted(program(steps, ("first", 1)), help=help).findings
    assert one.confirmed == "seen for take-without-order" and one.action == 0


def test_a_program_without_actions_is_linted_at_its_ends():
    steps = [operation(0, "parallelize"), operation(1, "groupByKey", 0), operation(2, "zipWithIndex", 1)]
    assert rules(program(steps)) == ["index-after-shuffle"]
    dropped = [*steps, operation(3, "keys", 2)]
    assert rules(program(dropped)) == []


def test_what_could_not_be_seen_is_told():
    made = eval("lambda x: x")
    steps = [operation(0, "parallelize"), operation(1, "map", 0, function=made)]
    whole = program(steps, ("collect", 1))
    notes = linted(
        Program(whole.operations, whole.edges, whole.actions, differences=(Difference("stage 3 is new"),))
    ).notes
    assert any("has no source" in note for note in notes) and any("stage 3 is new" in note for note in notes)
    assert (
        linted(program([operation(0, "parallelize"), operation(1, "map", 0, function=len)], ("collect", 1))).notes == ()
    )


def test_many_things_that_could_not_be_seen_are_counted():
    many = tuple(Difference(f"job {number} ran") for number in range(40))
    notes = linted(Program((operation(0, "parallelize"),), differences=many)).notes
    assert len(notes) == 4 and "job 2 ran" in notes[2] and "37 more like these" in notes[3]


def test_what_a_library_makes_is_reported_where_it_is_read(tmp_path):
    here, there = CallSite("job.py", 3, "main"), CallSite("job.py", 9, "main")
    steps = [operation(0, "parallelize", site=here), operation(1, "groupByKey", 0), operation(2, "zipWithIndex", 1)]
    made = program(steps, ("collect", 2))
    (one,) = linted(replace(made, actions=(replace(made.actions[0], call_site=there),))).findings
    assert one.rule == "index-after-shuffle" and one.where == there
    more = program([*steps, operation(3, "filter", 2, function=bool, site=there)], ("collect", 3))
    (one,) = linted(more).findings
    assert one.rule == "index-after-shuffle" and one.where == there
    assert linted(made).findings[0].where is None


def test_ignore_leaves_rules_out():
    made = program([operation(0, "parallelize"), operation(1, "groupByKey", 0)], ("first", 1))
    assert rules(made) == ["take-without-order"]
    assert rules(made, ignore=["take-without-order"]) == []


def test_how_sums_round_is_not_reported_by_itself():
    steps = [operation(0, "parallelize"), Operation(1, "reduceByKey", Api.RDD, (0,), (Function("func", add),))]
    help = Help(sample=lambda id_: [("a", 0.5)])
    found = linted(program(steps, ("collect", 1)), help=help)
    assert found.findings == () and found.levels[1].level is Level.INDETERMINATE


def test_pictures_are_coloured():
    steps = [operation(0, "parallelize"), operation(1, "groupByKey", 0), operation(2, "zipWithIndex", 1)]
    made = program(steps, ("collect", 2))
    marked = marks_of(linted(made).findings)
    assert set(marked) == {2}
    plain, coloured = svg(made), svg(made, marked)
    assert plain.count('class="operation error"') == 0 and coloured.count('class="operation error"') == 1
    assert "index-after-shuffle" in coloured and "index-after-shuffle" not in plain
    assert "fillcolor" in dot(made, marked) and "fillcolor" not in dot(made)
    assert "style o2 fill:" in mermaid(made, marked) and "style o" not in mermaid(made)
    assert "hangs on luck" in page(made, marked) and "hangs on luck" not in page(made)


def test_an_action_is_coloured_itself():
    made = program([operation(0, "parallelize"), operation(1, "groupByKey", 0)], ("count", 1), ("first", 1))
    marked = marks_of(linted(made).findings)
    assert set(marked) == {of_action(1)}
    coloured = svg(made, marked)
    assert coloured.count('class="action error"') == 1 and 'class="operation error"' not in coloured
    assert "<title>error: first takes whichever rows arrive first [take-without-order]</title>" in coloured
    assert re.findall(r"a1 .*fillcolor", dot(made, marked)) and not re.findall(r"a0 .*fillcolor", dot(made, marked))
    assert "style a1 fill:" in mermaid(made, marked) and "style a0" not in mermaid(made, marked)


@pytest.mark.parametrize("ending, marked", [("svg", 'class="action error"'), ("html", 'class="action error"')])
def test_a_drawing_is_coloured(tmp_path, ending, marked):
    made = program([operation(0, "parallelize"), operation(1, "groupByKey", 0)], ("count", 1), ("first", 1))
    dag = Dag.of(made)
    assert dag.draw(tmp_path / f"job.{ending}").read_text().count(marked) == 1
    assert dag._repr_svg_().count('class="action error"') == 1
    clean = Dag.of(program([operation(0, "parallelize"), operation(1, "groupByKey", 0)], ("count", 1)))
    assert marked not in clean.draw(tmp_path / f"clean.{ending}").read_text()
    assert 'class="action error"' not in clean._repr_svg_()


def test_colours_win_over_other_styles():
    """Of two rules of CSS the one with more classes wins, then the later one."""
    style = svg(program([operation(0, "parallelize")])).partition("<style>")[2].partition("</style>")[0]
    names = [rule.partition(" {")[0] for rule in style.strip().splitlines()]
    assert all(name.startswith(".fsd .") for name in names if "text" not in name)
    for colour in (".fsd .error", ".fsd .warning"):
        for other in (".fsd .operation", ".fsd .wide", ".fsd .cached", ".fsd .action", ".fsd .failed"):
            assert names.index(colour) > names.index(other)


def test_what_a_library_of_sparks_looks_at_is_its_own_affair():
    counts = [operation(0, "parallelize"), operation(1, "reduceByKey", 0, function=add)]
    made = program(counts, ("first", 1))
    assert rules(made) == ["take-without-order"]
    (action,) = made.actions
    assert rules(replace(made, actions=(replace(action, by_library=True),))) == []
