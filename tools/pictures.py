"""Draws the pictures of the documentation into docs/pictures/: `make pictures`. A test checks that they are up to date.

Those of programs are drawn while Spark runs them, and no test compares them: their stages are numbered by the session.

They are SVG that the pages hold inside, so that they take on the page's colours (docs/site.css), light or dark. On
their own they follow the reader's system.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"

_LIGHT = "--ink:#1f2328;--soft:#59636e;--line:#9aa4af;--box:#eef1f5;--mark:#1a5fb4;--bad:#c01c28"
_DARK = "--ink:#e6e9ed;--soft:#a5afba;--line:#6b7682;--box:#2a3038;--mark:#7ab7ff;--bad:#ff8a80"
_STYLE = (
    f".fsp{{{_LIGHT};font-family:system-ui,sans-serif}}"
    f"@media(prefers-color-scheme:dark){{.fsp{{{_DARK}}}}}"
    ".fsp text{fill:var(--ink);font-size:15px}.fsp .soft{fill:var(--soft);font-size:14px}"
    ".fsp .code{font-family:ui-monospace,monospace;font-size:14px}.fsp .mid{text-anchor:middle}"
    ".fsp .right{text-anchor:end}.fsp .strong{font-weight:600}.fsp .bad{fill:var(--bad)}"
    ".fsp .mark{fill:var(--mark)}.fsp .box{fill:var(--box);stroke:var(--line)}"
    ".fsp path{fill:none;stroke:var(--line);stroke-width:1.5}.fsp .grid{stroke-width:1;stroke-dasharray:2 4}"
    ".fsp .water{stroke:var(--mark);stroke-width:2.5}.fsp .head{fill:var(--line);stroke:none}"
    ".fsp .dot{fill:var(--ink)}.fsp .dot.late{fill:var(--bad)}"
)


def svg(width: int, height: int, title: str, parts: list[str], *, least: int = 0) -> str:
    """A whole picture. It shrinks with the page, but not below `least` pixels: then it can be scrolled."""
    style = f' style="min-width:{least}px;max-width:{width}px"'
    lines = [
        f'<svg class="fsp"{style} viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def text(x: float, y: float, said: str, kinds: str = "") -> str:
    classes = f' class="{kinds}"' if kinds else ""
    return f'<text x="{x:g}" y="{y:g}"{classes}>{escape(said)}</text>'


def box(x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'


def path(steps: str, kind: str = "") -> str:
    classes = f' class="{kind}"' if kind else ""
    return f'<path{classes} d="{steps}"/>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> list[str]:
    """A straight arrow: a line, and a head at its end."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    along_x, along_y = (x2 - x1) / length, (y2 - y1) / length
    base_x, base_y = x2 - 9 * along_x, y2 - 9 * along_y
    corners = [
        (x2, y2),
        (base_x - 4.5 * along_y, base_y + 4.5 * along_x),
        (base_x + 4.5 * along_y, base_y - 4.5 * along_x),
    ]
    head = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z"
    return [path(f"M{x1:.1f} {y1:.1f}L{base_x:.1f} {base_y:.1f}"), path(head, "head")]


# --- the pipeline of a check ------------------------------------------------------------------------------------------

STEPS = [
    ("generate", "A strategy draws a stream of batches."),
    ("run", "Spark runs your job, batch after batch."),
    ("record", "Input and output are kept, as a trace."),
    ("check", "Does the formula hold for the trace?"),
    ("show", "The smallest stream that breaks it."),
]


def pipeline() -> str:
    """Five steps from top to bottom; from the check an arrow leads back to the first, for the next stream."""
    parts: list[str] = []
    left, wide, high, gap = 82, 104, 40, 26
    for place, (name, said) in enumerate(STEPS):
        y = 10 + place * (high + gap)
        parts += [box(left, y, wide, high), text(left + wide / 2, y + 25, name, "mid strong")]
        parts.append(text(left + wide + 16, y + 25, said))
        if place:
            parts += arrow(left + wide / 2, y - gap, left + wide / 2, y - 1)
    first, check = 10 + high / 2, 10 + 3 * (high + gap) + high / 2
    parts.append(path(f"M{left} {check}H20Q10 {check} 10 {check - 10}V{first + 10}Q10 {first} 20 {first}H{left - 10}"))
    parts.append(path(f"M{left - 1} {first}l-9 -4.5v9Z", "head"))
    middle = (first + check) / 2
    parts += [text(18, middle - 4, "next", "soft"), text(18, middle + 14, "stream", "soft")]
    parts.append(text(left + wide / 2 + 12, check + high / 2 + 18, "false", "bad"))
    return svg(490, 20 + 5 * high + 4 * gap, "The five steps of a check", parts)


# --- arrival against event time ---------------------------------------------------------------------------------------

# The clicks of the page "Time", which prints the watermarks: minutes after nine, by batch.
CLICKS = [[5, 20], [50, 30], [100], [45, 110]]
WATERMARKS: list[int | None] = [None, 10, 40, 90]
LATE = {(3, 45)}


def event_time() -> str:
    """Batches from left to right, event time upwards: dots are records, the line is the watermark."""
    parts: list[str] = []
    left, top, wide, scale = 70, 20, 125, 2.3

    def at(minutes: int) -> float:
        return top + (120 - minutes) * scale

    for minutes in range(0, 121, 30):
        hour = f"{9 + minutes // 60}:{minutes % 60:02}"
        parts += [
            path(f"M{left} {at(minutes):g}H{left + 4 * wide}", "grid"),
            text(left - 10, at(minutes) + 5, hour, "right soft"),
        ]
    for batch, minutes in enumerate(CLICKS):
        x = left + batch * wide
        parts.append(path(f"M{x} {top}V{at(0):g}", "grid"))
        parts.append(text(x + wide / 2, at(0) + 24, f"batch {batch}", "mid"))
        for place, minute in enumerate(minutes):
            cx = x + wide * (0.4 if len(minutes) == 1 else 0.16 + 0.4 * place)
            late = (batch, minute) in LATE
            parts.append(f'<circle class="dot{" late" if late else ""}" cx="{cx:g}" cy="{at(minute):g}" r="5"/>')
            label = f"9:{minute:02}" if minute < 60 else f"10:{minute - 60:02}"
            parts.append(
                text(cx + 9, at(minute) + 5, label + (" dropped" if late else ""), "soft bad" if late else "soft")
            )
    steps = ""
    for batch, minutes in enumerate(WATERMARKS):
        if minutes is not None:
            steps += f"{'V' if steps else f'M{left + batch * wide} '}{at(minutes):g}H{left + (batch + 1) * wide}"
    parts.append(path(steps, "water"))
    parts.append(text(left + 3 * wide + 8, at(90) - 8, "watermark", "mark"))
    parts.append(text(left + 2 * wide, at(0) + 48, "arrival →", "mid soft"))
    parts.append(text(left + 8, top + 14, "↑ event time", "soft"))
    return svg(
        left + 4 * wide + 20, round(at(0) + 60), "Arrival against event time, with the watermark", parts, least=440
    )


# --- a dependence as a graph ------------------------------------------------------------------------------------------

RIDES = [(1, 10, False), (2, 70, False), (1, 11, False), (0, 0, True), (2, 71, False), (1, 12, False)]


def dependence() -> str:
    """The order that `same_key("taxi") | barrier(day_ends)` asks for: arrows lead to what comes right after."""
    import firesteel as fs
    from firesteel.equivalence.pictures import right_after

    order = fs.same_key("taxi") | fs.barrier(lambda ride: ride.day_ends)
    rides = [fs.Record(taxi=taxi, pos=pos, day_ends=ends) for taxi, pos, ends in RIDES]
    after = right_after(order, rides)
    steps: list[int] = []
    for earlier in after:
        steps.append(1 + max((steps[n] for n in earlier), default=-1))
    wide, high, column = 112, 44, 152
    row = {1: 0, 2: 2, 0: 1}
    corner = [(12 + step * column, 14 + row[ride.taxi] * 54) for step, ride in zip(steps, rides, strict=True)]
    parts: list[str] = []
    for n, earlier in enumerate(after):
        for m in earlier:
            (x1, y1), (x2, y2) = corner[m], corner[n]
            parts += arrow(x1 + wide, y1 + high / 2, x2 - 2, y2 + high / 2)
    for (x, y), ride in zip(corner, rides, strict=True):
        said = ["day ends"] if ride.day_ends else [f"taxi {ride.taxi}", f"pos {ride.pos}"]
        parts.append(box(x, y, wide, high))
        for place, line in enumerate(said):
            parts.append(
                text(
                    x + wide / 2,
                    y + (27 if len(said) == 1 else 19 + 17 * place),
                    line,
                    "mid strong" if not place else "mid soft",
                )
            )
    return svg(12 + 3 * column + wide + 12, 180, "Rides of two taxis, and the order that matters", parts, least=420)


# --- programs that were captured --------------------------------------------------------------------------------------

TOP_N = """\
def top_n(sc, path):
    lines = sc.textFile(path, 5)
    urls = lines.filter(lambda x: len(x.split(" ")) > 10).map(lambda x: x.split(" ")[10])
    counts = urls.map(lambda x: (x, 1)).reduceByKey(lambda a, b: a + b)
    return counts.sortBy(lambda kv: kv[1], ascending=False).take(5)
"""
LUCK = """\
def luck(sc):
    words = sc.parallelize(["a", "b", "a", "c", "b"], 3)
    counts = words.map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b)
    counts.sortBy(lambda pair: (-pair[1], pair[0])).collect()
    counts.take(2)
"""


def of_a_program(name: str, text: str, lines: Sequence[str] = ()) -> str:
    """What `dag.draw` draws of the function in a file, which gets the context, and a file if there are lines for it."""
    import runpy

    import firesteel as fs

    script, log = Path(f"{name}.py"), Path("log.txt")
    script.write_text(text)
    log.write_text("\n".join(lines))
    (function,) = (each for each in runpy.run_path(str(script)).values() if callable(each))
    spark = fs.session()
    with fs.capture(spark) as dag:
        function(spark.sparkContext, *([str(log)] if lines else []))
    return dag.draw("picture.svg").read_text()


def top_n() -> str:
    """The program of the page "Models", with its log."""
    log = [f"0 1 2 3 4 5 6 7 8 9 /page/{n.bit_length()} agent" for n in range(1, 64)]
    return of_a_program("topn", TOP_N, [*log, "a dirty line"])


def luck() -> str:
    """The same counts, sorted and not."""
    return of_a_program("job", LUCK)


PROGRAMS: dict[str, Callable[[], str]] = {"topn": top_n, "luck": luck}
PICTURES: dict[str, Callable[[], str]] = {"pipeline": pipeline, "event-time": event_time, "dependence": dependence}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw())
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):  # so that programs and files have short names
        for name, draw in PROGRAMS.items():
            (FOLDER / f"{name}.svg").write_text(draw())


if __name__ == "__main__":
    main()
