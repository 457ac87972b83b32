"""The listings of the paper on S2M (sections 4.1 and 4.2): they parse, run, and do what the text says of them.

They are the paper's, with constants for N, M and L, the misprints mended (`!=` and `<==` are printed with spaces or
other signs there), and functions that the paper names and does not list.
"""

import pytest

from firesteel.model import msvl

STRUCTS = """
struct ReadData { char *data[10] and int value[10] and int order };
struct KeyValue { char *data and int value and int order };
struct CollectData { char *data and int value and int idle };
struct PrepData { char *data and int value[10] and int idle };
"""

# Function 2, with N = 2 buffers.
SHUFFLE = """
function shuffle(int tNum, char *Op) {
  frame(i, brk) and
  (
    int i <== 0, brk <== 0 and skip;
    while (lineData[0].order != 1 OR lineData[1].order ! = 1 OR readOver != 1) {
      await(lineData[0].order = tNum OR lineData[1].order = tNum);
      i := 0; brk := 0;
      while (i < N AND brk = 0) {
        if (lineData[i].order = tNum) then {brk := 1} else {i := i + 1}
      };
      Collect(i);
      lineData[i].order := 1;
    };
    Pretreat(Op);
    readOver := 0;
    read_num := 0
  )
}
"""

# Function 3, with M = 2.
REDUCE_BY_KEY = """
function ReduceByKey(int n) {
  frame(i, brk) and
  (
    int i <== 0, brk <== 0 and skip;
    while (readOver = 0) {
      Bakery(n, number, choose);
      await(finaldata[0].order = 1 OR finaldata[1].order = 1 OR readOver=1);
      i := 0; brk := 0;
      while (i < M AND brk = 0) {
        if (finaldata[i].order = 1 AND parallel[i] = 0) then {brk := 1} else {i := i + 1}
      };
      parallel[i] := 1;
      reduceImplicit(i, n);
      finaldata[i].order := finaldata[i].order + 1;
      parallel[i] := 0
    };
  )
}
"""

# Function 4.
REDUCE_IMPLICIT = """
function reduceImplicit(int sign, int n) {
  frame(k, num) and
  (
    int k <== 0, num <== 0 and skip;
    num :== read_num;
    read_num := read_num + 1;
    number[n] := 0;
    if (end_Data[num].idle=1) then {
      finaldata[sign].data := end_Data[num].data;
      while (end_Data[num].value[k] != 0) {
        finaldata[sign].value := finaldata[sign].value + end_Data[num].value[k];
        k := k + 1
      };
      end_Data[num].idle := 0
    } else {
      readOver := 1
    }
  )
}
"""


def test_the_structures_are_those_of_section_4_1():
    source = msvl.load(STRUCTS + "empty").source
    assert [struct.name for struct in source.structs] == ["ReadData", "KeyValue", "CollectData", "PrepData"]
    data, value, order = source.structs[0].fields
    assert (data.type.name, len(data.sizes), value.type.name, len(value.sizes)) == ("string", 1, "int", 1)
    assert order.name == "order" and order.sizes == ()


def test_reduce_implicit_adds_up_the_values_of_a_key():
    program = msvl.load(
        STRUCTS
        + REDUCE_IMPLICIT
        + """
        output finaldata, read_num, readOver, number, end_Data;
        input struct KeyValue finaldata[2];
        input struct PrepData end_Data[2];
        int number[3];
        frame(finaldata, end_Data, number, read_num, readOver) and
        (read_num <== 0 and readOver <== 0 and number[1] <== 7 and skip;
         reduceImplicit(0, 1);
         reduceImplicit(1, 1))
        """
    )
    assert program.inputs == ("finaldata", "end_Data")
    block = {"data": "", "value": 0, "order": 1}
    prepared = [
        {"data": "url", "value": [2, 3, 4] + [0] * 7, "idle": 1},
        {"data": "", "value": [0] * 10, "idle": 0},
    ]
    results = program.run({"finaldata": [block, block], "end_Data": prepared})
    assert results["finaldata"] == [{"data": "url", "value": 9, "order": 1}, block]
    assert results["number"][1] == 0  # unlocked
    assert results["end_Data"][0]["idle"] == 0  # used up
    assert results["read_num"] == 2
    assert results["readOver"] == 1  # the second call found nothing more to read


BAKERY = """
function Bakery(int n, int number[], int choose[]) {
  frame(most) and
  (
    int most <== 0 and skip;
    choose[n] := 1;
    most := max(number[0], number[1]);
    number[n] := most + 1;
    choose[n] := 0;
    await(choose[1 - n] = 0);
    await(number[1 - n] = 0 OR number[n] < number[1 - n] OR number[n] = number[1 - n] AND n < 1 - n)
  )
}
"""

TWO_REDUCERS = (
    STRUCTS
    + BAKERY
    + REDUCE_IMPLICIT
    + REDUCE_BY_KEY
    + """
    output finaldata, readOver;
    input struct KeyValue finaldata[2];
    input struct PrepData end_Data[4];
    int number[2];
    int choose[2];
    int parallel[2];
    frame(finaldata, end_Data, number, choose, parallel, read_num, readOver) and
    (read_num <== 0 and readOver <== 0 and number[0] <== 0 and number[1] <== 0 and choose[0] <== 0 and choose[1] <== 0
     and parallel[0] <== 0 and parallel[1] <== 0 and skip;
     CALLS)
    """
)


def prepared(*rows):
    return [
        {"data": data, "value": [*values, *[0] * (10 - len(values))], "idle": int(bool(data))} for data, *values in rows
    ]


def test_reduce_by_key_reads_until_all_is_read():
    """One function at a time: a block is taken, filled, and its order is counted up."""
    program = msvl.load(TWO_REDUCERS.replace("CALLS", "ReduceByKey(0)"))
    blocks = [{"data": "", "value": 0, "order": 1}, {"data": "", "value": 0, "order": 1}]
    given = {"M": 2, "finaldata": blocks, "end_Data": prepared(("a", 1, 2), ("",), ("",), ("",))}
    results = program.run(given, bound=2_000)
    first, second = results["finaldata"]
    assert first == {"data": "a", "value": 3, "order": 2}
    assert second == {"data": "", "value": 0, "order": 2}  # taken, and then there was nothing to read
    assert results["readOver"] == 1


def test_two_reducers_in_parallel_take_a_block_each():
    program = msvl.load(TWO_REDUCERS.replace("CALLS", "(ReduceByKey(0) || (len(3) ; ReduceByKey(1)))"))
    blocks = [{"data": "", "value": 0, "order": 1} for _ in range(2)]
    run = {"M": 2, "finaldata": blocks, "end_Data": prepared(("a", 1, 2), ("b", 5), ("",), ("",))}
    both = []
    locked = set()
    for state in program.states(run, bound=400):
        both.append((state["read_num"], state["finaldata"]))
        locked.add(tuple(state["parallel"]))
        if state["read_num"] == 2 and not any(state["parallel"]):
            break
    assert {(each["data"], each["value"]) for each in both[-1][1]} == {("a", 3), ("b", 5)}
    assert (1, 1) in locked  # each has locked a block of its own, at the same time


SHUFFLE_PROGRAM = (
    STRUCTS
    + SHUFFLE
    + """
    function Collect(int i) { collected := collected.append(lineData[i].data[0]) }
    function Pretreat(char *Op) { op := Op }
    function Read(list lines) {
      frame(k) and (int k <== 0 and skip;
        while k < size(lines) {
          await(lineData[0].order = 1 OR lineData[1].order = 1);
          if lineData[0].order = 1
          then {lineData[0].data[0] := lines[k] and lineData[0].order := 2}
          else {lineData[1].data[0] := lines[k] and lineData[1].order := 2};
          k := k + 1
        };
        readOver := 1)
    }
    output collected, op, readOver, read_num;
    struct ReadData lineData[2];
    frame(lineData, readOver, read_num, collected, op) and
    (lineData[0].order <== 1 and lineData[1].order <== 1 and readOver <== 0 and read_num <== 5 and collected <== []
     and op <== "" and skip;
     (Read(lines) || shuffle(2, "reduceByKey")))
    """
)


def test_shuffle_collects_all_data_and_then_prepares_them():
    program = msvl.load(SHUFFLE_PROGRAM)
    assert program.inputs == ("N", "lines")
    results = program.run({"N": 2, "lines": ["a", "b", "c", "d", "e"]}, bound=2_000)
    assert sorted(results["collected"]) == ["a", "b", "c", "d", "e"]
    assert results["op"] == "reduceByKey"
    assert (results["readOver"], results["read_num"]) == (0, 0)


def test_the_formalized_result_of_figure_6_parses():
    calls = [f"{name}(2,{number})" for name in ("Filter1", "Map1") for number in range(1, 6)]
    text = f'(ReadWords1("TopN.txt")||{"||".join(calls)}||shuffle1(5,"reduceByKey"));'
    text += "(ReduceByKey1(1)||ReduceByKey1(2)||SortBy(2));Take(5);Foreach()"
    from firesteel.model.msvl import tree as t
    from firesteel.model.msvl.grammar import parse

    body = parse(text).body
    assert isinstance(body, t.Chop) and [type(part) for part in body.parts] == [t.Par, t.Par, t.Call, t.Call]
    assert len(body.parts[0].parts) == 12
    with pytest.raises(msvl.MsvlError, match="there is no function 'ReadWords1'"):
        msvl.load(text)
