#!/usr/bin/env python3
"""Checks that folders are layers: a file includes only what lies on a lower line, or what is named below.

    scripts/check_layers.py               check this repository; exit 1 when something is found
    scripts/check_layers.py --root DIR    check another tree
    scripts/check_layers.py --self-test   plant one violation of each kind in a temporary tree; all must be seen

Reads the text of #include lines only (whatever #if surrounds them), so it needs no compiler and no build.
"""

import argparse
import pathlib
import re
import sys
import tempfile

# The layers, lowest first. docs/architecture.md draws the same picture and says what each folder holds.
LINES = (
    ("core/trace/format",),  # no library: the recorder compiles it in
    ("core/base", "core/trace/recorder"),
    ("core/model", "core/sys", "core/device"),
    ("core/memory", "core/measure"),
    ("core/transfer", "core/lifetime", "core/schedule"),
    ("core/array", "core/trace", "core/probe"),
    ("core/trace/import", "core/trace/replay", "core/trace/symbols"),
    ("scenarios", "reporters", "core/engine"),
    ("app/cli",),
    ("app/commands",),
    ("app", "app/mpi"),  # each a program's main
)
# Rooms of a folder, lowest first: a file includes from its own room and from lower ones. What lies in the folder
# itself is above its rooms. Other folders see the folder as a whole.
ROOMS = {
    "core/engine": (("repetition",), ("steps", "command")),
    "reporters": (("text",), ("wording",), ("document",), ("json",), ("terminal", "html", "markdown", "svg", "ci")),
}
# Includes within a line that are allowed, from -> to.
ALSO = {
    ("core/sys", "core/model"),  # facts about the machine are model values
}
# These may include anything; what ships may not include them.
FREE = ("tests", "benchmarks")
# Libraries that belong to one place: pattern of the include, the files that may have it, in words.
LIBRARIES = (
    (r"nlohmann/", r"scenarios/reader/|reporters/text/json_parse\.cpp$|core/trace/import/[^/]+\.cpp$",
     "scenarios/reader/, reporters/text/json_parse.cpp and .cpp files of trace importers"),
    (r"CLI/", r"app/cli/command_line\.cpp$", "app/cli/command_line.cpp"),  # its header takes seconds to compile
    (r"re2/", r"app/commands/plans\.cpp$", "app/commands/plans.cpp"),
    (r"xxhash\.h", r"core/(engine/command/program_output|sys/left_behind)\.cpp$", "core/engine/command/program_output.cpp and core/sys/left_behind.cpp"),
    (r"hwloc(\.h|/)", r"core/sys/topology\.cpp$", "core/sys/topology.cpp"),
    (r"(cuda|cublas|cufft)\w*\.h|cuda/|nvml\.h|driver_types\.h|nvToolsExt\.h", r"core/device/cuda/", "core/device/cuda/"),
    (r"elfutils/|dwarf\.h", r"core/trace/symbols/libdw\.hpp$", "core/trace/symbols/libdw.hpp"),
    (r"(CL|OpenCL)/", r"core/device/opencl/", "core/device/opencl/"),
    (r"catch2/|valijson/", None, "tests/"),
    (r"benchmark/", None, "benchmarks/"),
)

SOURCES = {".cpp", ".hpp", ".h", ".c", ".cc", ".cu", ".cuh"}
HEADERS = {".hpp", ".h", ".cuh"}
EMPTY_NAMES = re.compile(r"(utils?|misc|helpers?|common)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = r'"(?:\\.|[^"\\\n])*"'
CODE_OR_COMMENT = re.compile(STRING + "|" + COMMENT.pattern, re.DOTALL)

LINE_OF = {folder: number for number, line in enumerate(LINES) for folder in line}
FLOOR_OF = {
    (folder, room): number for folder, floors in ROOMS.items() for number, floor in enumerate(floors) for room in floor
}


def folder_of(path):
    """The layer folder that a path (relative, with slashes) lies in: app/cli, core/base, ...; the innermost that has a line."""
    for folder in map(str, pathlib.PurePosixPath(path).parents):
        if folder in LINE_OF:
            return folder
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "core" else parts[0]


def room_of(path):
    """The room of its folder that a path lies in; empty for a file that lies in the folder itself."""
    rest = path[len(folder_of(path)) + 1 :].split("/")
    return rest[0] if len(rest) > 1 else ""


def without_comments(text):
    """The text with its comments blanked, line numbers kept; a // inside a string is no comment."""

    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') else "\n" * found.count("\n")

    return CODE_OR_COMMENT.sub(blank, text)


def source_files(root):
    for top in ("app", "core", "scenarios", "reporters") + FREE:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                yield path.relative_to(root).as_posix()


def includes_of(code):
    """(line number, name) of every #include."""
    for number, line in enumerate(code.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) or match.group(2)


def own_target(root, path, name):
    """The repository file that an include means, relative to the root; None for a library's."""
    if (root / name).is_file():
        return name
    beside = pathlib.PurePosixPath(path).parent / name
    return beside.as_posix() if (root / beside).is_file() else None


def layer_problem(source, target):
    """Why a file of folder `source` may not include one of folder `target`; None when it may."""
    if source == target or source in FREE:
        return None
    if target in FREE:
        return f"{target}/ is for tests and benchmarks only"
    if target not in LINE_OF or source not in LINE_OF:
        return None  # third_party/ and the like; a folder without a line is reported once per file
    if LINE_OF[target] < LINE_OF[source] or (source, target) in ALSO:
        return None
    direction = "sideways" if LINE_OF[target] == LINE_OF[source] else "upwards"
    return f"{source} (line {LINE_OF[source]}) includes {direction} from {target} (line {LINE_OF[target]})"


def room_problem(path, target):
    """Why a file may not include one of another room of its folder; None when it may."""
    folder = folder_of(path)
    source_room, target_room = room_of(path), room_of(target)
    if folder not in ROOMS or folder_of(target) != folder or source_room == target_room:
        return None
    top = len(ROOMS[folder])
    source_floor = FLOOR_OF.get((folder, source_room), top)
    target_floor = FLOOR_OF.get((folder, target_room), top)
    if target_floor < source_floor:
        return None
    direction = "sideways" if target_floor == source_floor else "upwards"
    return f"{folder}/{source_room} includes {direction} from {folder}/{target_room}".replace("/ ", " ").rstrip("/")


def library_problem(path, name):
    if folder_of(path) in FREE:
        return None
    for library, allowed, words in LIBRARIES:
        if re.match(library, name) and not (allowed and re.match(allowed, path)):
            return f"<{name}> belongs to {words} only"
    return None


def find_cycles(graph):
    """One path per cycle of the include graph: [a, b, a]."""
    done, cycles = set(), []

    def visit(node, trail):
        if node in trail:
            cycles.append(trail[trail.index(node) :] + [node])
            return
        if node in done:
            return
        for target in graph.get(node, {}):
            visit(target, trail + [node])
        done.add(node)

    for node in graph:
        visit(node, [])
    return cycles


def check(root):
    """All findings as (file, line, message), and the number of files read."""
    findings, graph = [], {}
    for path in source_files(root):
        name = pathlib.PurePosixPath(path)
        folder = folder_of(path)
        code = without_comments((root / path).read_text(encoding="utf-8", errors="replace"))
        graph[path] = {}
        if EMPTY_NAMES.match(name.stem):
            findings.append((path, 1, f"a file named {name.name} tells nothing about what it holds"))
        if folder not in LINE_OF and folder not in FREE:
            findings.append((path, 1, f"{folder} is on no line of the layers"))
        room = room_of(path)
        if room and folder in ROOMS and (folder, room) not in FLOOR_OF:
            findings.append((path, 1, f"{folder}/{room} is no room of {folder}"))
        if name.suffix in HEADERS and not re.search(r"^\s*#\s*pragma\s+once\b", code, re.MULTILINE):
            findings.append((path, 1, "a header without #pragma once"))
        for line, included in includes_of(code):
            target = own_target(root, path, included)
            if target:
                graph[path].setdefault(target, line)
                problem = layer_problem(folder, folder_of(target)) or room_problem(path, target)
            elif folder_of(included) in LINE_OF or folder_of(included) in FREE and included.endswith(".hpp"):
                problem = f"{included} does not exist"
            else:
                problem = library_problem(path, included)
            if problem:
                findings.append((path, line, problem))
    for cycle in find_cycles(graph):
        findings.append((cycle[0], graph[cycle[0]][cycle[1]], "include cycle: " + " -> ".join(cycle)))
    return sorted(findings), len(graph)


# What the self-test plants: file, its text, and what must be found in it as (line, part of the message).
PLANTED = (
    ("core/base/error.hpp", "#pragma once\n#include <string>\n", ()),
    ("core/base/upward.hpp", '#pragma once\n#include "core/model/plan.hpp"\n', ((2, "upwards from core/model"),)),
    ("core/model/plan.hpp", '#pragma once\n#include "core/base/error.hpp"\n', ()),
    ("core/model/facts.cpp", '#include "core/sys/facts.hpp"\n', ((1, "sideways from core/sys"),)),
    ("core/sys/facts.hpp", '#pragma once\n#include "core/model/plan.hpp"\n', ()),
    ("core/sys/topology.cpp", "#include <hwloc.h>\n", ()),
    ("core/sys/topology.hpp", "#pragma once\n#include <hwloc.h>\n", ((2, "core/sys/topology.cpp"),)),
    ("core/memory/stack.hpp", '#pragma once\n#include "core/measure/stats.hpp"\n', ((2, "sideways from core/measure"),)),
    ("core/measure/stats.hpp", "#pragma once\n", ()),
    ("core/lifetime/heap.hpp", '#pragma once\n#include "core/transfer/route.hpp"\n', ((2, "sideways from core/transfer"),)),
    ("core/transfer/route.hpp", '#pragma once\n#include "core/probe/probe.hpp"\n', ((2, "upwards from core/probe"),)),
    ("core/probe/probe.hpp", "#pragma once\n", ()),
    ("core/probe/transfers.cpp", '#include "core/transfer/end_memory.hpp"\n', ()),
    ("core/transfer/end_memory.hpp", "#pragma once\n", ()),
    ("core/array/a.hpp", '#pragma once\n#include "core/array/b.hpp"\n', ((2, "include cycle: core/array/a.hpp"),)),
    ("core/array/b.hpp", '#pragma once\n#include "c.hpp"\n', ()),
    ("core/array/c.hpp", '#pragma once\n#include "core/array/a.hpp"\n', ()),
    ("core/device/cuda/runtime.cpp", "#include <cuda_runtime.h>\n", ()),
    ("core/device/copy.cpp", "#include <cuda_runtime_api.h>\n#include <CL/cl.h>\n",
     ((1, "core/device/cuda/"), (2, "core/device/opencl/"))),
    ("core/trace/event.hpp", '#pragma once\n#include "core/trace/format/varint.hpp"\n', ()),
    ("core/trace/reader.cpp", '#include "core/trace/event.hpp"\n#include "core/trace/import/json.hpp"\n'
     '#include "core/trace/recorder/log.hpp"\n', ((2, "upwards from core/trace/import"),)),
    ("core/trace/format/varint.hpp", '#pragma once\n#include "core/base/error.hpp"\n', ((2, "upwards from core/base"),)),
    ("core/trace/recorder/log.hpp", '#pragma once\n#include "core/trace/format/varint.hpp"\n#include "core/base/error.hpp"\n'
     '#include "core/trace/event.hpp"\n', ((3, "sideways from core/base"), (4, "upwards from core/trace"))),
    ("core/trace/import/json.hpp", '#pragma once\n#include <nlohmann/json.hpp>\n', ((2, ".cpp files of trace importers"),)),
    ("core/trace/import/json.cpp", '#include <nlohmann/json.hpp>\n#include "core/trace/event.hpp"\n', ()),
    ("core/trace/replay/run.cpp", '#include "core/trace/event.hpp"\n#include "core/trace/import/json.hpp"\n',
     ((2, "sideways from core/trace/import"),)),
    ("core/engine/run.cpp", '# include "nlohmann/json.hpp"\n#include "scenarios/reader/load.hpp"\n#include <tests/support/fake.hpp>\n',
     ((1, "json_parse.cpp and .cpp files of trace importers"), (2, "sideways from scenarios"), (3, "tests and benchmarks only"))),
    ("core/engine/gone.cpp", '#include "core/engine/gone.hpp"\n', ((1, "does not exist"),)),
    ("core/odd/odd.cpp", "", ((1, "on no line"),)),
    ("core/loose.cpp", "", ((1, "on no line"),)),
    ("scenarios/reader/load.hpp", "#pragma once\n#include <nlohmann/json.hpp>\n", ()),
    ("scenarios/catalog.cpp", "#include <nlohmann/json.hpp>\n", ((1, "scenarios/reader/"),)),
    ("scenarios/reader/cli.cpp", "#include <CLI/CLI.hpp>\n", ((1, "app/cli/command_line.cpp"),)),
    ("reporters/guarded.hpp", "#ifndef X\n#define X\n/*\n#pragma once\n*/\n#endif\n", ((1, "#pragma once"),)),
    ("reporters/commented.cpp", 'auto s = "/*";\n// #include "app/main.hpp"\n/*\n#include "app/main.hpp"\n*/\n'
     '#include "app/main.hpp"\nauto t = "*/";\n', ((6, "upwards from app"),)),
    ("reporters/formats.hpp", '#pragma once\n#include "reporters/html/page.hpp"\n', ()),
    ("reporters/text/utf8.hpp", '#pragma once\n#include "reporters/document/table.hpp"\n',
     ((2, "reporters/text includes upwards from reporters/document"),)),
    ("reporters/document/table.hpp", '#pragma once\n#include "reporters/text/utf8.hpp"\n', ((2, "include cycle"),)),
    ("reporters/html/page.hpp", '#pragma once\n#include "reporters/document/table.hpp"\n', ()),
    ("reporters/html/page.cpp", '#include "reporters/markdown/page.hpp"\n#include "reporters/formats.hpp"\n',
     ((1, "sideways from reporters/markdown"), (2, "upwards from reporters"))),
    ("reporters/markdown/page.hpp", "#pragma once\n", ()),
    ("reporters/attic/page.hpp", "#pragma once\n", ((1, "no room of reporters"),)),
    ("reporters/string_utils.cpp", "", ()),
    ("reporters/common.cpp", "", ((1, "tells nothing"),)),
    ("reporters/helper.hpp", "#pragma once\n", ((1, "tells nothing"),)),
    ("app/main.hpp", '#pragma once\n#include "scenarios/reader/load.hpp"\n#include <CLI/CLI.hpp>\n', ((3, "app/cli/command_line.cpp"),)),
    ("app/cli/command_line.cpp", "#include <CLI/CLI.hpp>\n", ()),
    ("app/cli/help.hpp", '#pragma once\n#include "app/commands/run.hpp"\n', ((2, "upwards from app/commands"),)),
    ("app/commands/run.hpp", '#pragma once\n#include "app/cli/words.hpp"\n#include "app/main.hpp"\n', ((3, "upwards from app"),)),
    ("app/cli/words.hpp", "#pragma once\n", ()),
    ("app/mpi/ranks.cpp", '#include "app/commands/run.hpp"\n#include "app/main.hpp"\n', ((2, "sideways from app"),)),
    ("app/test_it.cpp", "#include <catch2/catch.hpp>\n#include <benchmark/benchmark.h>\n", ((1, "tests/"), (2, "benchmarks/"))),
    ("tests/support/fake.hpp", '#pragma once\n#include "app/main.hpp"\n#include <hwloc.h>\n', ()),
    ("benchmarks/utils.cpp", "", ((1, "tells nothing"),)),
)


def self_test():
    with tempfile.TemporaryDirectory(prefix="check_layers_") as folder:
        root = pathlib.Path(folder)
        for path, text, _ in PLANTED:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        findings, _ = check(root)
    expected = [(path, line, part) for path, _, wanted in PLANTED for line, part in wanted]
    unseen = list(expected)
    surplus = []
    for path, line, message in findings:
        match = next((e for e in unseen if e[0] == path and e[1] == line and e[2] in message), None)
        if match:
            unseen.remove(match)
        else:
            surplus.append((path, line, message))
    for path, line, part in unseen:
        print(f"self-test: {path}:{line}: planted '{part}' and it was not seen")
    for path, line, message in surplus:
        print(f"self-test: {path}:{line}: nothing planted here, yet: {message}")
    if unseen or surplus:
        return 1
    print(f"self-test: saw all {len(expected)} planted violations and nothing else in {len(PLANTED)} files")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    findings, files = check(options.root)
    if not files:
        print(f"check_layers: no sources under {options.root}")
        return 1
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    print(f"check_layers: {len(findings)} finding(s) in {files} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
