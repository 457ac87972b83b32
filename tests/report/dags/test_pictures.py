"""Pictures of programs: what stands in them, that nothing overlaps, and that what users wrote is escaped."""

import itertools
import random
import re
from xml.etree import ElementTree

import pytest

import firesteel as fs
from firesteel.dags import Dag
from firesteel.report.dags import graphs, page, svg, text
from firesteel.report.dags.groups import groups_of, numbers
from firesteel.report.dags.layered import layered, layers, spread
from firesteel.values.programs import (
    Action,
    Api,
    CallSite,
    Difference,
    Edge,
    Function,
    Job,
    Operation,
    Program,
    Stage,
)

EVIL = "</title><script>alert(1)</script>&\"'\\\n"


def made(operations, edges, actions=()):
    """A program of names and stages."""
    return Program(
        tuple(
            Operation(number, name, Api.RDD, tuple(s for s, t, _ in edges if t == number), stages=stages)
            for number, (name, stages) in enumerate(operations)
        ),
        tuple(Edge(*edge) for edge in edges),
        tuple(Action(number, name, Api.RDD, on, jobs=(0,)) for number, (name, on) in enumerate(actions)),
    )


WORDS = made(
    [("textFile", (0,)), ("map", (0,)), ("reduceByKey", (1,)), ("filter", ())],
    [(0, 1, False), (1, 2, True), (0, 3, False)],
    [("collect", (2,))],
)


def test_a_box_holds_what_ran_in_the_same_stages():
    assert [(group.title, [one.id for one in group.operations]) for group in groups_of(WORDS)] == [
        ("stage 0", [0, 1]),
        ("stage 1", [2]),
        ("not run", [3]),
    ]


def test_no_way_leads_out_of_a_box_and_back():
    circle = made([("a", (0,)), ("b", (0, 1)), ("c", (0,))], [(0, 1, False), (1, 2, False), (0, 2, False)])
    assert [[one.id for one in group.operations] for group in groups_of(circle)] == [[0], [1], [2]]
    apart = made([("a", (0,)), ("b", (1,)), ("c", (0,))], [(0, 1, True), (1, 2, True)])
    assert [[one.id for one in group.operations] for group in groups_of(apart)] == [[0], [1], [2]]
    svg.svg(circle), svg.svg(apart)


def test_what_did_not_run_is_held_together_by_edges_within_partitions():
    unrun = made([("a", ()), ("b", ()), ("c", ())], [(0, 1, True), (1, 2, False)])
    assert [[one.id for one in group.operations] for group in groups_of(unrun)] == [[0], [1, 2]]


def test_numbers():
    assert numbers([]) == "" and numbers([3]) == "3" and numbers([1, 2]) == "1, 2"
    assert numbers([1, 2, 3, 7]) == "1 to 3, 7"


def test_text():
    program = Program(WORDS.operations, WORDS.edges, WORDS.actions, (Job(0, (0, 1), (), 0, succeeded=True),))
    assert text.text(program).splitlines() == [
        "4 operations, 1 action, 1 job, 0 stages",
        "",
        "stage 0",
        "    0  textFile",
        "    1  map          <- 0",
        "",
        "stage 1",
        "    2  reduceByKey  <= 1",
        "",
        "not run",
        "    3  filter       <- 0",
        "",
        "actions",
        "       collect  <- 2  job 0",
    ]


def test_differences_are_never_left_out():
    program = Program(WORDS.operations, WORDS.edges, differences=(Difference("stage 7 came <from> nowhere"),))
    assert "stage 7 came <from> nowhere" in text.text(program)
    assert "stage 7 came &lt;from&gt; nowhere" in page.page(program)


def evil():
    site = CallSite(f"/tmp/{EVIL}.py", 3, EVIL)
    function = Function("f", lambda x: "<b>" + x)
    operation = Operation(0, EVIL, Api.RDD, (), (function,), site, {"path": EVIL}, stages=(0,))
    action = Action(0, EVIL, Api.RDD, (0,), (), site, error=EVIL)
    stage = Stage(0, EVIL, (), 1, attempts=1, failure=EVIL, operations=(0,))
    return Program((operation,), (), (action,), (Job(0, (0,), action=0),), (stage,))


def test_what_users_wrote_is_escaped():
    picture = svg.svg(evil())
    ElementTree.fromstring(picture)
    whole = page.page(evil())
    for written in (picture, whole):
        assert "<script" not in written and "<b>" not in written
        assert "&lt;script&gt;" in written
    assert "src=" not in whole and "href=" not in whole, "a page that needs no other file"
    for line in graphs.mermaid(evil()).splitlines():
        assert "<script" not in line and line.count('"') in (0, 2)
    assert graphs.dot(evil()).count("\n") == len(graphs.dot(evil()).splitlines())
    outside = re.sub(r'"(\\.|[^"\\])*"', "", graphs.dot(evil()))
    assert "script" not in outside and '"' not in outside
    assert r'label="a\\\"b' in graphs.dot(made([('a\\"b', ())], []))


def test_functions_show_when_an_operation_is_pointed_at():
    root = ElementTree.fromstring(svg.svg(evil()))
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any('lambda x: "<b>" + x' in title for title in titles)


def test_wide_edges_are_marked():
    root = ElementTree.fromstring(svg.svg(WORDS))
    kinds = [element.get("class") for element in root.iter("{http://www.w3.org/2000/svg}path") if element.get("class")]
    assert sorted(kinds) == ["edge", "edge", "edge shuffle", "edge wanted"]
    assert "o1 -> o2 [style=bold" in graphs.dot(WORDS) and "o0 -> o1;" in graphs.dot(WORDS)
    assert "o1 == shuffle ==> o2" in graphs.mermaid(WORDS) and "o0 --> o1" in graphs.mermaid(WORDS)


def boxes(picture, kind):
    root = ElementTree.fromstring(picture)
    for element in root.iter("{http://www.w3.org/2000/svg}rect"):
        if (element.get("class") or "").split(" ")[0] == kind:
            yield tuple(float(element.get(name)) for name in ("x", "y", "width", "height"))


def overlap(one, other):
    return all(one[i] < other[i] + other[i + 2] - 0.2 and other[i] < one[i] + one[i + 2] - 0.2 for i in (0, 1))


def random_program(seed):
    draw = random.Random(seed)
    count = draw.randint(1, 25)
    stages = [tuple(sorted(draw.sample(range(6), draw.randint(0, 2)))) for _ in range(count)]
    edges = [
        (s, t, draw.random() < 0.3) for t in range(count) for s in draw.sample(range(t), min(t, draw.randint(0, 2)))
    ]
    return made([(f"operation{'x' * draw.randint(0, 9)}", one) for one in stages], edges, [("count", (count - 1,))])


@pytest.mark.parametrize("seed", range(60))
def test_nothing_overlaps(seed):
    program = random_program(seed)
    picture = svg.svg(program)
    operations, groups = list(boxes(picture, "operation")), [*boxes(picture, "box"), *boxes(picture, "action")]
    assert len(operations) == len(program.operations)
    for several in (operations, groups):
        assert not any(overlap(one, other) for one, other in itertools.combinations(several, 2))
    for one in operations:
        assert sum(overlap(one, group) for group in groups) == 1, "an operation stands in its box and in no other"


@pytest.mark.parametrize("seed", range(60))
def test_what_reads_stands_below(seed):
    draw = random.Random(seed)
    count = draw.randint(1, 15)
    sizes = {one: (draw.randint(10, 90), draw.randint(10, 40)) for one in range(count)}
    edges = [(s, t) for t in range(count) for s in range(t) if draw.random() < 0.25]
    layout = layered(sizes, edges, 10, 20)
    for source, target in edges:
        assert layout.places[source][1] + sizes[source][1] < layout.places[target][1]
        depth = layers(list(sizes), edges)
        assert len(layout.bends[source, target]) == depth[target] - depth[source] - 1
    assert all(x >= 0 and x + sizes[one][0] <= layout.width + 0.01 for one, (x, _) in layout.places.items())


@pytest.mark.parametrize("seed", range(30))
def test_spread_is_the_best_there_is(seed):
    """Nothing that keeps order and gaps is nearer to what is wanted: no single place, and no block, wants to move."""
    draw = random.Random(seed)
    wanted = [draw.uniform(-50, 50) for _ in range(draw.randint(1, 6))]
    gaps = [draw.uniform(1, 30) for _ in wanted[1:]]
    found = spread(wanted, gaps)
    assert all(b - a >= gap - 1e-9 for a, b, gap in zip(found, found[1:], gaps, strict=False))

    def cost(places):
        return sum((a - b) ** 2 for a, b in zip(places, wanted, strict=True))

    for _ in range(200):
        other = sorted(place + draw.gauss(0, 5) for place in found)
        if all(b - a >= gap for a, b, gap in zip(other, other[1:], gaps, strict=False)):
            assert cost(other) >= cost(found) - 1e-9


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="circle"):
        layered({1: (1, 1), 2: (1, 1)}, [(1, 2), (2, 1)], 1, 1)


def test_nothing_at_all():
    empty = Dag()
    assert repr(empty) == "<Dag: 0 operations, 0 actions, 0 jobs, 0 stages>"
    assert "Nothing was captured" in empty._repr_svg_()
    assert "Spark ran no job." in str(empty)


@pytest.mark.parametrize("ending", ["svg", "html", "dot", "mmd"])
def test_draw(tmp_path, ending):
    path = Dag.of(WORDS).draw(tmp_path / f"dag.{ending}")
    assert "reduceByKey" in path.read_text(encoding="utf-8")


def test_draw_says_what_it_can_draw(tmp_path):
    with pytest.raises(
        fs.InvalidArgument, match=r"does not say how to draw: let it end in \.svg, \.html, \.dot, \.mmd"
    ):
        Dag.of(WORDS).draw(tmp_path / "dag.png")
    with pytest.raises(fs.InvalidArgument, match=r"path=3 \(int\) is not a path"):
        Dag.of(WORDS).draw(3)


def test_a_dag_ends_once():
    dag = Dag.of(WORDS)
    with pytest.raises(fs.InvalidArgument, match="captured already"):
        dag._end(WORDS)


def test_a_large_program_is_drawn(tmp_path):
    count = 400
    edges = [(one, one + 1, one % 10 == 9) for one in range(count - 1)]
    program = made([("map", (one // 10,)) for one in range(count)], edges, [("count", (count - 1,))])
    assert len(list(boxes(svg.svg(program), "operation"))) == count


@pytest.mark.parametrize("severity", ["error", "warning"])
@pytest.mark.parametrize("kind", ["operation", "action", "cached", "failed"])
def test_the_colour_of_a_finding_wins_over_that_of_what_it_is_about(severity, kind):
    """Of rules of CSS with as many classes, the later one wins."""
    rules = re.findall(r"^(\S.*) {", svg._STYLE, re.MULTILINE)
    colour, plain = f".fsd .{severity}", f".fsd .{kind}"
    assert plain in rules and rules.index(colour) > rules.index(plain)
