#!/usr/bin/env python3
"""Lays a model's curve over the recording of a runtime: unreleased buffers by iteration, of both, in one picture.

    tests/runtimes/overlay.py RESULT.json RECORDING.csv                  a table on stdout
    tests/runtimes/overlay.py RESULT.json RECORDING.csv -o overlay.html  table and picture in one file (-o x.txt: the table)
    ... --case ID              of a result with several cases: which one
    ... --point NAME           of a case with several names of points: which one; default: the most frequent
    ... --repetition N         which repetition's points, from 0; default: the first
    ... --bytes-per-buffer N   default: the case's allocated_bytes / allocations

RESULT.json is a memsweep result of a scenario that allocates and drops buffers one after another, with a `sample` step in
every iteration: the i-th point of that name is iteration i, and its live_bytes are so many buffers not yet released.
RECORDING.csv has a row per iteration (i,t_ms,rss_mib,unreleased,gc0,...), or some of them: `i` says which.

Exit codes  0 written; 2 the files do not fit together.
"""

import argparse
import html
import json
import pathlib
import sys
from collections import Counter

import record

WIDTH, HEIGHT = 900, 360
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 40
TABLE_ROWS = 25

STYLE = """
:root { color-scheme: light; --page: #f4f6f8; --surface: #ffffff; --text: #1a2129; --muted: #55606d; --line: #d8dee6;
  --recorded: #0b5fad; --model: #c2410c; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --page: #11151a; --surface: #191f27;
  --text: #e5e9ee; --muted: #a4afbb; --line: #343e4a; --recorded: #86bdf3; --model: #f5a15c; } }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
figure { margin: 1rem 0; padding: 1rem; background: var(--surface); border: 1px solid var(--line); overflow-x: auto; }
svg { display: block; width: 100%; min-width: 32rem; height: auto; } svg text { fill: var(--muted); font-size: 12px; }
.grid { stroke: var(--line); } .curve { fill: none; stroke-width: 2; } .recorded { stroke: var(--recorded); }
.model { stroke: var(--model); stroke-dasharray: 6 3; }
.key { display: inline-block; width: 1.6rem; border-top: 3px solid var(--recorded); vertical-align: middle; }
.key.dashed { border-top: 3px dashed var(--model); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
"""


class Mismatch(Exception):
    pass


class Curve:
    """Unreleased buffers at iterations, in rising order, and the collections that came in all (None: not known)."""

    def __init__(self, rows, collections):
        self.rows = rows
        self.collections = collections
        self.by_iteration = dict(rows)

    @property
    def peak(self):
        return max(value for _, value in self.rows)

    @property
    def end(self):
        return self.rows[-1][1]

    @property
    def last(self):
        return self.rows[-1][0]


def read_recording(path):
    rows = record.rows_of(path)
    try:
        values = [(int(row["i"]), float(row["unreleased"])) for row in rows]
        return Curve(values, int(rows[-1]["gc0"]) - int(rows[0]["gc0"]))
    except (IndexError, KeyError, TypeError, ValueError) as problem:
        raise Mismatch(f"{path}: no recording: it needs a row, and numbers in the columns i, unreleased, gc0") from problem


def choose_case(cases, wanted, path):
    found = [case for case in cases if wanted is None or case["id"] == wanted]
    if len(found) == 1:
        return found[0]
    raise Mismatch(f"{path}: {len(found)} cases fit; --case one of: {', '.join(case['id'] for case in cases)}")


def metric_of(case, name, repetition):
    values = case["metrics"].get(name, {}).get("values") or []
    return values[repetition] if repetition < len(values) else None


def bytes_per_buffer(case, repetition, path):
    allocations, allocated = (metric_of(case, name, repetition) for name in ("allocations", "allocated_bytes"))
    if not allocations or not allocated:
        raise Mismatch(f"{path}: the case does not say how large a buffer is; give --bytes-per-buffer")
    return allocated / allocations


def read_model(path, options):
    with open(path, encoding="utf-8") as file:
        try:
            result = json.load(file)
        except ValueError as problem:
            raise Mismatch(f"{path}: not JSON: {problem}") from problem
    if not isinstance(result, dict) or result.get("format") != "memsweep-result":
        raise Mismatch(f"{path}: not a memsweep result")
    case = choose_case(result["cases"], options.case, path)
    points = [point for point in case["points"] if point["repetition"] == options.repetition]
    names = Counter(point["name"] for point in points)
    if not names:
        raise Mismatch(f"{path}: case {case['id']} has no points in repetition {options.repetition}")
    name = options.point or names.most_common(1)[0][0]
    live = [point["live_bytes"] for point in points if point["name"] == name]
    if not live or any(value is None for value in live):
        raise Mismatch(f"{path}: case {case['id']} has no live_bytes at points named '{name}'")
    size = options.bytes_per_buffer or bytes_per_buffer(case, options.repetition, path)
    rows = [(i, value / size) for i, value in enumerate(live)]
    return Curve(rows, metric_of(case, "collections", options.repetition)), case["id"]


def difference(model, recorded):
    """In percent of the recorded value."""
    if model is None or recorded is None:
        return "-"
    if model == recorded:
        return "0 %"
    return f"{(model - recorded) / recorded * 100:+.1f} %" if recorded else "-"


def number(value):
    return "-" if value is None else f"{value:.1f}".removesuffix(".0")


def summary_rows(recorded, model):
    pairs = [("peak unreleased", recorded.peak, model.peak),
             ("unreleased at the end", recorded.end, model.end),
             ("collections", recorded.collections, model.collections),
             ("iterations", recorded.last + 1, model.last + 1)]
    return [(name, number(ours), number(theirs), difference(theirs, ours)) for name, ours, theirs in pairs]


def iteration_rows(recorded, model):
    """Iterations that both know, evenly spaced, with the last."""
    common = [i for i, _ in recorded.rows if i in model.by_iteration]
    step = max(1, -(-len(common) // TABLE_ROWS))
    shown = common[::step]
    if common and shown[-1] != common[-1]:
        shown.append(common[-1])
    return [(str(i), number(recorded.by_iteration[i]), number(model.by_iteration[i]),
             number(model.by_iteration[i] - recorded.by_iteration[i])) for i in shown]


def text_table(header, rows):
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    return "".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                             for column, (cell, width) in enumerate(zip(row, widths))).rstrip() + "\n"
                   for row in [header, *rows])


def html_table(header, rows):
    def line(tag, cells):
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>\n"

    return f"<table>\n{line('th', header)}{''.join(line('td', row) for row in rows)}</table>\n"


def ticks(top):
    """Zero and round steps up to `top`, four to eight of them."""
    step = 1
    while top / step > 8:
        step *= 2.5 if str(step)[0] == "2" else 2
        step = int(step)
    return list(range(0, int(top) + 1, step))


def picture(recorded, model):
    last = max(recorded.last, model.last, 1)
    top = max(recorded.peak, model.peak, 1) * 1.05

    def x(i):
        return LEFT + i / last * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)

    def curve(rows, kind):
        return f'<polyline class="curve {kind}" points="{" ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in rows)}"/>'

    lines = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="unreleased buffers by iteration">']
    for value in ticks(top):
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value}</text>')
    for i in ticks(last):
        lines.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{i}</text>')
    lines += [f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">iteration</text>',
              curve(recorded.rows, "recorded"), curve(model.rows, "model"), "</svg>"]
    return "\n".join(lines)


def as_text(names, recorded, model):
    return (f"recorded: {names[0]}\nmodel:    {names[1]}\n\n"
            + text_table(("", "recorded", "model", "model against recorded"), summary_rows(recorded, model))
            + "\n" + text_table(("iteration", "recorded", "model", "difference"), iteration_rows(recorded, model)))


def as_html(names, recorded, model):
    name, case = (html.escape(text) for text in names)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name} and {case}</title><style>{STYLE}</style></head><body>
<h1>Unreleased buffers by iteration</h1>
<p><span class="key"></span> recorded: {name}<br><span class="key dashed"></span> model: {case}</p>
<figure>{picture(recorded, model)}</figure>
{html_table(("", "recorded", "model", "model against recorded"), summary_rows(recorded, model))}
<h2>At single iterations</h2>
{html_table(("iteration", "recorded", "model", "difference"), iteration_rows(recorded, model))}
</body></html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("recording", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    parser.add_argument("--case")
    parser.add_argument("--point")
    parser.add_argument("--repetition", type=int, default=0)
    parser.add_argument("--bytes-per-buffer", type=float)
    options = parser.parse_args()
    try:
        recorded = read_recording(options.recording)
        model, case = read_model(options.result, options)
    except (Mismatch, OSError) as problem:
        print(f"overlay: {problem}", file=sys.stderr)
        return 2
    names = (options.recording.name, case)
    write = as_html if options.out and options.out.suffix in (".html", ".htm") else as_text
    text = write(names, recorded, model)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
