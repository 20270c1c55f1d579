#!/usr/bin/env python3
"""Turns a document of docs/ into a manual page in roff's man macros, for the build.

    scripts/manual_page.py docs/result-format.md --name memsweep-result --section 5 --date 2026-01-31 --version 0.1.0

Knows the Markdown that docs/ uses: headings, paragraphs, lists, tables, fenced code, `code`, **bold**, *emphasis*,
links, and comments of one line, which it leaves out. A table becomes a list: its first column names the entry, the titles of the others stand before their cells.
"""

import argparse
import pathlib
import re
import sys
import textwrap

CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
STRONG = re.compile(r"\*\*(.+?)\*\*")
EMPHASIS = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])")
CELL_BORDER = re.compile(r"(?<!\\)\|")
BULLET = re.compile(r"^(\s*)(?:[-*]|\d+\.) +(.*)$")


def plain(text):
    """Characters that roff would read as its own."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def markup(text):
    """Fonts and links of a line of Markdown."""
    parts, end = [], 0
    for match in CODE.finditer(text):
        parts += [fonts(text[end:match.start()]), f"\\fB{plain(match.group(2).strip())}\\fR"]
        end = match.end()
    return "".join([*parts, fonts(text[end:])])


def fonts(text):
    text = LINK.sub(r"\1", text.replace("\\|", "|"))
    text = plain(text)
    text = STRONG.sub(r"\\fB\1\\fR", text)
    return EMPHASIS.sub(r"\\fI\1\\fR", text)


def lines(text):
    """Filled input lines, none of which is taken for a request."""
    filled = textwrap.wrap(markup(text), 79, break_long_words=False, break_on_hyphens=False)
    return ["\\&" + line if line[0] in ".'" else line for line in filled]


def request(name, text):
    return f'.{name} "{markup(text).replace(chr(34), "(dq")}"'.replace("(dq", "\\(dq")


def cells(row):
    return [cell.strip() for cell in CELL_BORDER.split(row.strip().strip("|"))]


def table(rows):
    titles = cells(rows[0])
    out = []
    for row in rows[2:]:
        values = cells(row)
        notes = [value if title == "meaning" or value == "required" else f"{title}: {value}" for title, value in zip(titles[1:], values[1:]) if value]
        out += [".TP", markup(values[0]) or "\\&"]
        out += lines("; ".join(notes)) or ["\\&"]
    return [*out, ".PP"]


def code(rows):
    return [".PP", ".in +4n", ".nf", *("\\&" + plain(row) if row else "\\&" for row in rows), ".fi", ".in", ".PP"]


class Page:
    """The body, block by block."""

    def __init__(self, text):
        self.rows = text.splitlines()
        self.out = []

    def take_while(self, wanted):
        taken = []
        while self.rows and wanted(self.rows[0]):
            taken.append(self.rows.pop(0))
        return taken

    def block(self):
        row = self.rows[0]
        if not row.strip() or row.startswith("<!--"):
            self.rows.pop(0)
        elif row.lstrip().startswith("```"):
            self.rows.pop(0)
            self.out += code(self.take_while(lambda line: not line.lstrip().startswith("```")))
            self.rows = self.rows[1:]
        elif row.startswith("#"):
            self.heading(self.rows.pop(0))
        elif row.startswith("|"):
            self.out += table(self.take_while(lambda line: line.startswith("|")))
        elif BULLET.match(row):
            self.bullet()
        else:
            paragraph = self.take_while(lambda line: line.strip() and not line.startswith(("|", "#", "```", "<!--")) and not BULLET.match(line))
            self.out += [".PP", *lines(" ".join(part.strip() for part in paragraph))]

    def heading(self, row):
        marks, _, title = row.partition(" ")
        if len(marks) > 1:
            self.out.append(request("SH" if len(marks) == 2 else "SS", title))

    def bullet(self):
        first = BULLET.match(self.rows.pop(0))
        more = self.take_while(lambda line: line.startswith(" ") and line.strip() and not BULLET.match(line))
        self.out += [".IP \\(bu 2", *lines(" ".join([first.group(2), *(part.strip() for part in more)]))]

    def body(self):
        while self.rows:
            self.block()
        return self.without_idle_paragraphs()

    def without_idle_paragraphs(self):
        """A .PP before another macro or at the end of a section says nothing."""
        breaks = (".PP", ".SH", ".SS", ".TP", ".IP")
        kept = []
        for line in self.out:
            if kept and kept[-1] == ".PP" and line.startswith(breaks):
                kept.pop()
            if line != ".PP" or kept and not kept[-1].startswith((".SH", ".SS")):
                kept.append(line)
        return kept[:-1] if kept and kept[-1] == ".PP" else kept


def page(document, name, section, date, version):
    title = document.splitlines()[0].lstrip("# ").strip()
    summary = title[0].lower() + title[1:]
    head = [f'.TH {name.upper()} {section} {date} "memsweep {version}" "File Formats"',
            ".SH NAME", f"{plain(name)} \\- {plain(summary)}", ".SH DESCRIPTION"]
    tail = [".SH SEE ALSO", *(f".BR {plain(other)} ({number}){comma}" for other, number, comma in
                              (("memsweep", 1, ","), ("memsweep-scenario" if name.endswith("result") else "memsweep-result", 5, "")))]
    return "\n".join([*head, *Page(document).body(), *tail, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--name", required=True)
    parser.add_argument("--section", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--version", required=True)
    options = parser.parse_args()
    document = options.document.read_text(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(page(document, options.name, options.section, options.date, options.version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
