"""`fs.verify` of programs: right ones and wrong look-alikes, and the paper's way to do it, `M and M1`."""

import random

import pytest

import firesteel as fs
from firesteel.logic import pptl
from firesteel.model import msvl, verifying
from firesteel.model.msvl import compiling
from tests.logic.pptl.random_formulas import random_formula
from tests.model.random_programs import random_source

# A lock for two processes that come when they like. In lock-step both may see it open, so the second lets the first go.
MUTEX = """
int want[2];
int inside[2];
function Process(int me) {
  (empty or skip or len(2));
  want[me] := 1;
  await(lock = 0 AND (me = 0 OR want[0] = 0));
  lock := 1 and inside[me] := 1 and want[me] := 0;
  skip;
  lock := 0 and inside[me] := 0
}
frame(want, inside, lock) and
(lock <== 0 and want[0] <== 0 and want[1] <== 0 and inside[0] <== 0 and inside[1] <== 0 and skip;
 (Process(0) || Process(1)))
"""
BOTH_SEE_IT_OPEN = MUTEX.replace("lock = 0 AND (me = 0 OR want[0] = 0)", "lock = 0")
INSIDE = {"a": "inside[0] = 1", "b": "inside[1] = 1"}

BUFFER = """
int slots[2];
function Producer() {
  while produced < n {
    await(produced - consumed < 2);
    slots[produced % 2] := 10 * produced and produced := produced + 1;
    (empty or skip)
  }
}
function Consumer() {
  while consumed < n {
    (empty or len(4));
    await(consumed < produced);
    got := got.append(slots[consumed % 2]) and consumed := consumed + 1
  }
}
frame(slots, produced, consumed, got) and
(produced <== 0 and consumed <== 0 and got <== [] and skip; (Producer() || Consumer()))
"""
ONE_TOO_MANY = BUFFER.replace("produced - consumed < 2", "produced - consumed <= 2")
FITS = {"fits": "produced - consumed <= 2 AND produced >= consumed", "in_order": "got = [0, 10, 20]"}


def verified(text, rule, propositions, **options):
    return fs.verify(msvl.load(text), rule, propositions=propositions, **options)


def test_mutual_exclusion_by_a_lock():
    report = verified(MUTEX, "[] not (a and b) and <> a and <> b", INSIDE)
    assert report.verdict.name == "TRUE"
    assert report.explored.runs == 9 == report.cases
    assert report.explored.states >= 9
    assert report.summary() == f"true in 9 runs, {report.explored.states} states"


def test_a_lock_that_both_see_open():
    with pytest.raises(fs.Falsified) as raised:
        verified(BOTH_SEE_IT_OPEN, "[] not (a and b)", INSIDE)
    found = raised.value.report.evidence
    last = found.states[found.decided]
    assert last.holds == {"a", "b"}
    assert dict(last.changes) == {"inside": "[1, 1]", "lock": "1", "want": "[0, 0]"}
    message = str(raised.value)
    assert message.startswith(f"the formula is false in a run of program: state {found.decided}\n")
    assert "inside=[1, 1]  lock=1  want=[0, 0]  yes  yes  <- false here" in message
    assert "a         inside[0] = 1" in message


def test_a_bounded_buffer():
    report = verified(BUFFER, "[] fits and fin(in_order)", FITS, inputs={"n": 3})
    assert report.explored.runs == 64  # three choices of two ways for each process


def test_a_buffer_that_takes_one_too_many():
    with pytest.raises(fs.Falsified, match="`\\[\\] fits`, a part of the formula"):
        verified(ONE_TOO_MANY, "[] fits and fin(in_order)", FITS, inputs={"n": 3})


def test_a_counterexample_is_a_run_of_the_program():
    program = msvl.load(ONE_TOO_MANY)
    with pytest.raises(fs.Falsified) as raised:
        fs.verify(program, "[] fits and fin(in_order)", propositions=FITS, inputs={"n": 3})
    found = raised.value.report.evidence
    words = [[repr(state["produced"]) for state in run] for run in program.models({"n": 3}, bound=60)]
    now, seen = "", []
    for state in found.states:
        now = dict(state.changes).get("produced", now)
        seen.append(now)
    assert seen in words


def test_a_run_that_ends_too_early():
    with pytest.raises(fs.Falsified, match="The run ends with state 1, and the formula is false then"):
        verified("frame(x) and x <== 0 and skip", "<> up", {"up": "x > 0"})


def test_a_name_without_a_proposition_is_a_variable():
    assert verified("frame(p) and p <== true and len(2)", "[] p", None).verdict.name == "TRUE"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("frame(x) and (x <== 1 and skip ; while true {skip})", {"bound": 50}, "a run that is longer than 50 states"),
        ("frame(x) and (x <== 1 and skip ; (skip or len(2)) ; (skip or len(2)))", {"runs": 2}, "more runs than 2 runs"),
    ],
)
def test_a_bound_that_is_reached_is_inconclusive(text, options, said):
    with pytest.raises(fs.Inconclusive, match=said) as raised:
        verified(text, "[] one", {"one": "x = 1"}, **options)
    assert raised.value.report.verdict.name == "INCONCLUSIVE"


def test_a_run_that_breaks_the_rule_comes_before_the_bound():
    text = "frame(x) and (x <== 1 and skip ; (empty or while true {skip}))"
    with pytest.raises(fs.Falsified):
        verified(text, "<> two", {"two": "x = 2"}, bound=50)


def test_a_program_without_a_model_is_not_true():
    with pytest.raises(msvl.NoModel):
        verified("x <== 1 and x <== 2 and empty", "true", None)


def test_a_proposition_is_evaluated_only_where_a_variable_of_it_was_assigned(monkeypatch):
    asked = []
    holds = verifying._Proposition.holds

    def counted(self, machine):
        asked.append((self.name, machine.number))
        return holds(self, machine)

    monkeypatch.setattr(verifying._Proposition, "holds", counted)
    text = "frame(x, y) and (x <== 0 and y <== 0 and skip ; len(5) ; x := 1 ; len(5) ; y := previous x)"
    verified(text, "[] (p and q and r)", {"p": "x >= 0", "q": "y >= 0", "r": "x + y >= 0"})
    assert asked == [("p", 0), ("q", 0), ("r", 0), ("p", 7), ("r", 7), ("q", 13), ("r", 13)]


@pytest.mark.parametrize(
    ("rule", "propositions", "said"),
    [
        ("[] p", {"p": "z > 0"}, "the proposition 'p' reads 'z'. The program's variables are x"),
        ("[] p", {"q": "x > 0"}, "propositions has 'q', and the formula has no such name: it has p"),
        ("[] p", {"p": 3}, r"propositions\['p'\]=3 \(int\) is not an MSVL expression"),
        ("[] p", {"p": "x >"}, "expected an expression, found the end of the text"),
        ("[] p", {"p": "ext f(x)"}, "calls a function from outside, or looks ahead"),
        ("[] p", ["p"], "is not a dict"),
        ("[ p", {}, "write `\\[\\]` for always"),
        ("[] p", {}, "the proposition 'p' reads 'p'"),
    ],
)
def test_bad_rules(rule, propositions, said):
    with pytest.raises(fs.InvalidArgument, match=said):
        verified("frame(x) and x <== 1 and skip", rule, propositions)


def test_a_proposition_that_is_not_true_or_false():
    with pytest.raises(msvl.Unusable, match="the proposition 'p' is 1, neither true nor false"):
        verified("frame(x) and x <== 1 and skip", "[] p", {"p": "x"})


def test_a_proposition_that_reads_what_has_no_value():
    with pytest.raises(msvl.Undefined, match="state 1: the proposition 'p' reads a variable that has no value there"):
        verified("x <== 1 and skip", "[] p", {"p": "x = 1"})


@pytest.mark.parametrize("options", [{"bound": 0}, {"runs": 0}, {"runs": True}, {"bound": 1.5}])
def test_bad_bounds(options):
    with pytest.raises(fs.InvalidArgument, match="is not a number of"):
        verified("frame(x) and x <== 1 and skip", "[] p", {"p": "x = 1"}, **options)


def test_something_else_cannot_be_verified():
    with pytest.raises(fs.InvalidArgument, match=r"source='x := 1' \(str\) is a text"):
        fs.verify("x := 1", "[] p")
    with pytest.raises(fs.InvalidArgument, match=r"bound=3 .* is for programs of MSVL"):
        fs.verify([{"p": True}], "[] p", bound=3)
    with pytest.raises(fs.InvalidArgument, match="is not a formula of PPTL; join several"):
        fs.verify(msvl.load("skip"), ["[] p", "<> p"])


# --- M and M1 ---


def test_a_property_is_written_as_in_the_paper():
    negated = str(msvl.property("<> (p and empty) or not <> p"))
    assert negated.splitlines()[0] == "function Q0() {"
    assert "if p then {" in negated and "empty or next Q" in negated
    assert msvl.load(negated) == msvl.property("<> (p and empty) or not <> p")


def agree(seed, count, longest):
    """How often `M and M1` and the quick way found that a random formula holds, or not."""
    rng = random.Random(seed)
    answers = {True: 0, False: 0}
    propositions = {"p": "x = 1", "q": "y = 1"}
    while sum(answers.values()) < count:
        source = random_source(rng)
        if compiling.compiled(source).inputs or {"x", "y"} - compiling.compiled(source).variables.keys():
            continue
        program = msvl.Program(source)
        formula = random_formula(rng, 2)
        used = {name: text for name, text in propositions.items() if name in formula.names}
        try:
            report = verifying.verify_program(program, formula, used, bound=longest, runs=100_000)
        except (msvl.NoModel, msvl.Undefined):
            continue
        both = program & msvl.property(formula, used)
        broken = next(iter(both.models(bound=longest)), None) is not None
        assert broken == (report.verdict.name == "FALSE"), (str(program), str(formula))
        answers[broken] += 1
    return answers


def test_m_and_m1_agrees_with_the_quick_way():
    answers = agree(seed=220, count=40, longest=4)
    assert min(answers.values()) >= 10, answers


@pytest.mark.sweep
def test_m_and_m1_agrees_with_the_quick_way_for_long(sweep_seed):
    answers = agree(seed=2_200_000 + sweep_seed, count=1_500, longest=4)
    print(f"\nM and M1 agrees on {sum(answers.values()):,} programs and formulas: {answers}")


@pytest.mark.parametrize(
    ("text", "rule", "propositions", "inputs"),
    [
        (MUTEX, "[] not (a and b)", INSIDE, {}),
        (BOTH_SEE_IT_OPEN, "[] not (a and b)", INSIDE, {}),
        (BUFFER, "[] fits and fin(in_order)", FITS, {"n": 2}),
        (ONE_TOO_MANY, "[] fits", {"fits": FITS["fits"]}, {"n": 3}),
    ],
    ids=["lock", "wrong lock", "buffer", "wrong buffer"],
)
def test_m_and_m1_on_the_programs_above(text, rule, propositions, inputs):
    program = msvl.load(text)
    if inputs == {"n": 2}:
        propositions = {**propositions, "in_order": "got = [0, 10]"}
    both = program & msvl.property(rule, propositions)
    broken = next(iter(both.models(inputs, bound=80)), None)
    report = verifying.verify_program(program, pptl.parse(rule), propositions, inputs=inputs)
    assert (broken is not None) == (report.verdict.name == "FALSE")
    if broken is not None:
        assert len(broken) == len(report.evidence.states)


def test_a_state_with_many_changes_has_one_line_of_them():
    names = [f"variable_{number}" for number in range(40)]
    start = " and ".join(f"{name} <== 0" for name in names)
    with pytest.raises(fs.Falsified) as caught:
        verified(f"frame({', '.join(names)}) and ({start} and skip)", "[] p", {"p": "variable_0 = 1"})
    first = next(line for line in str(caught.value).splitlines() if "variable_0=0" in line)
    assert len(first) < 150 and "(and 34 more)" in first
