"""Python's functions stand in the stacks of a Python program, and each line has exactly the memory that it asked for."""

import ast
import collections
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from memsweep_cli import environment
from test_record import Recording

# The first block of each line has a size of its own, so that who asked for it is known without a stack.
SCRIPT = """
import ctypes, functools, os, sys, threading, traceback

class Worker:
    @classmethod
    def make(cls, count):
        for _ in range(count):
            block = bytearray(10_007)  # in_method
            KEPT.append(block)
    def listed(self):
        return [
            bytearray(20_011)  # in_comprehension
            for _ in range(7)]

def inner(count):
    for _ in range(count):
        block = bytearray(30_013)  # in_nested
        KEPT.append(block)

def outer(count):
    return inner(count)

def generate(count):
    for _ in range(count):
        yield bytearray(40_009)  # in_generator

def key(number):
    block = bytearray(50_021)  # in_callback
    KEPT.append(block)
    return -number

def add(one, other):
    block = bytearray(60_013)  # in_reduce
    KEPT.append(block)
    return one + other

def failing(depth):
    if depth == 0:
        block = bytearray(70_001)  # in_recursion
        KEPT.append(block)
        raise ValueError("meant")
    failing(depth - 1)

def in_thread():
    for _ in range(3):
        block = bytearray(80_021)  # in_thread
        KEPT.append(block)

def größe_λ():
    block = bytearray(110_017)  # in_unicode
    KEPT.append(block)

KEPT = []
outer(11)
Worker.make(5)
KEPT.append(Worker().listed())
KEPT.append(list(generate(13)))
sorted(range(9), key=key)
functools.reduce(add, range(9))
for depth in (3, 20, 700):
    try:
        failing(depth)
    except ValueError:
        KEPT.append(traceback.format_exc())
threads = [threading.Thread(target=in_thread) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
exec(compile("for i in range(6):\\n    KEPT.append(\\n        bytearray(90_001))\\n", "<made up>", "exec"))
def run_and_forget(source, file):  # so that the next code lies where this one lay, and its texts where these lay
    names = {}
    exec(compile(source, file, "exec"), names)
    names.clear()
for i in range(60):
    run_and_forget("\\n" * (i % 5) + "def made():\\n    return len(bytearray(100_003))\\nmade()\\n", f"<made {i % 3}>")
for i in range(60):
    run_and_forget(f"def made_{i % 4}():\\n    return len(bytearray(130_003))\\nmade_{i % 4}()\\n", "<also made>")
größe_λ()
MALLOC = ctypes.CDLL(None).malloc
MALLOC(150_001 + 1)  # without_the_gil
import odd_module
print(len(KEPT), flush=True)
"""
MODULE = "BLOCK = bytearray(120_011)  # at_import\n"
EXPECTED = {  # (how many, of how many bytes, in which function)
    "in_method": (5, 10_007, "Worker.make"),
    "in_nested": (11, 30_013, "inner"),
    "in_generator": (13, 40_009, "generate"),
    "in_callback": (9, 50_021, "key"),
    "in_reduce": (8, 60_013, "add"),
    "in_recursion": (3, 70_001, "failing"),
    "in_thread": (12, 80_021, "in_thread"),
    "in_unicode": (1, 110_017, "größe_λ"),
    "without_the_gil": (1, 150_001, "<module>"),
    "at_import": (1, 120_011, "<module>"),
}

LOADED = """
import asyncio, gc, json, os, re, threading, weakref

def churn(rounds):
    kept = []
    for i in range(rounds):
        kept.append({str(i): [bytes(i % 700), (i, str(i) * 3), re.compile(f"a{i % 5}b")]})
        kept = kept[-50:]
        exec(compile(f"def made_{i % 7}(): return [{i}] * {i % 90}\\nmade_{i % 7}()", f"<{i}>", "exec"), {})
    return json.loads(json.dumps(kept[0], default=repr)) is not None

class Node:
    def __init__(self): self.own, self.ref = self, weakref.ref(self)
    def __del__(self): [bytes(100 + i) for i in range(3)]

async def task(number):
    for _ in range(20):
        await asyncio.sleep(0)
        [Node() for _ in range(5)]
    return number

async def tasks():
    return sum(await asyncio.gather(*(task(i) for i in range(30))))

def fork_one():
    child = os.fork()
    if child == 0:
        churn(50)
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

threads = [threading.Thread(target=churn, args=(300,)) for _ in range(4)]
[thread.start() for thread in threads]
codes = [fork_one() for _ in range(5)]
total = asyncio.run(tasks())
[thread.join() for thread in threads]
gc.collect()
daemon = threading.Thread(target=churn, args=(10**9,), daemon=True)
daemon.start()
print(codes, total, churn(100), flush=True)
"""

# What a line holds by Python's own count, or, without a word of that, the same program on its own.
COUNTED = """
import os, sys, tracemalloc

class Point:
    __slots__ = ("x", "y")
    def __init__(self, x):
        self.x = str(x) * 9  # text
        self.y = bytes(x % 300 + 40)  # bytes

def points(count):
    for i in range(count):
        yield Point(i)  # object

def negative(count):
    return [
        bytes(77) for i in
        range(count)
    ] + [bytes(
        88)
    ]

if sys.argv[1] == "count":
    tracemalloc.start()
kept = list(points(500)), negative(31), [bytearray(i + 1) for i in range(40)], sorted((str(i) * 2 for i in range(1000, 1100)), key=lambda text: text[::-1])
if sys.argv[1] == "count":
    lines = {}
    for trace in tracemalloc.take_snapshot().traces:
        frame = trace.traceback[0]
        if frame.filename == __file__:
            lines[frame.lineno] = lines.get(frame.lineno, 0) + 1
    print(lines)
sys.stdout.flush()
os._exit(0)
"""


GREENLETS = """
import greenlet
KEPT = []

def leaf(size):
    KEPT.append(bytearray(size))  # leaf

def first(main):
    for _ in range(5):
        leaf(10_001)
        main.switch()

def second(main):
    def inner():
        for _ in range(5):
            leaf(20_003)
            main.switch()
    inner()

def run():
    here = greenlet.getcurrent()
    greenlets = [greenlet.greenlet(first), greenlet.greenlet(second)]
    for _ in range(6):
        for one in greenlets:
            one.dead or one.switch(here)
        leaf(30_011)
run()
"""
NUMPY = """
import numpy

def make(count):
    return numpy.full(count, 1.5)

def twice(array):
    return array * 2.0  # product

def run():
    return [twice(make(100_003)) for _ in range(10)]
KEPT = run()
"""


def interpreters():
    """Real ones, each version once: what is on the path may be a script that picks one."""
    found = {}
    words = [sys.executable, "/usr/bin/python3", *os.environ.get("MEMSWEEP_TEST_PYTHONS", "").split(":"),
             *(f"python3.{minor}" for minor in (11, 12, 13))]
    question = "import sys; print(sys.executable, *sys.version_info[:2])"
    for word in words:
        path = word and shutil.which(word)
        asked = path and subprocess.run([path, "-c", question], capture_output=True, text=True, check=False)
        if asked and asked.returncode == 0:
            executable, major, minor = asked.stdout.split()
            if int(major) == 3 and 11 <= int(minor) <= 13:
                found.setdefault(int(minor), executable)
    return [found[minor] for minor in sorted(found)]


PYTHONS = interpreters()


def with_each_python(test):
    @functools.wraps(test)
    def run(self):
        for python in PYTHONS:
            with self.subTest(python):
                test(self, python)
    return run


def lines_of(script):
    return {line.rsplit("# ", 1)[1].strip(): number for number, line in enumerate(script.splitlines(), 1) if "  # " in line}


@unittest.skipUnless(PYTHONS, "skipped: calls of Python in stacks: there is no CPython of 3.11 to 3.13")
class PythonStacks(Recording):
    def script(self, text, name="program.py"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def recorded(self, python, *words, options=("--stacks",), code=0, **variables):
        variables = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return self.record(python, *words, options=options, code=code, env=environment(**variables))

    def sites(self, by="site"):
        return json.loads(self.expect(0, "info", self.trace, "--by", by, "--top", "1000000", "-f", "json").out)["sites"]

    def by_place(self):
        """Of each file's name and line its sites."""
        places = collections.defaultdict(list)
        for site in self.sites():
            places[pathlib.PurePath(site["file"] or "").name, site["line"]].append(site)
        return places

    @with_each_python
    def test_each_line_has_what_it_asked_for(self, python):
        self.script(MODULE, "odd_module.py")
        script = self.script(SCRIPT)
        lines = {name: ("program.py", line) for name, line in lines_of(SCRIPT).items()}
        lines.update({name: ("odd_module.py", line) for name, line in lines_of(MODULE).items()})
        self.recorded(python, script)
        places = self.by_place()
        for name, (count, size, function) in EXPECTED.items():
            with self.subTest(name):
                (site,) = places[lines[name]]
                self.assertEqual((site["function"], site["allocations"], site["bytes_allocated"]),
                                 (function, count, count * (size + 1)))
        comprehension = places[lines["in_comprehension"]]
        self.assertEqual(sum(site["allocations"] for site in comprehension), 7)
        self.assertEqual(sum(site["allocations"] for site in places["<made up>", 3]), 6)
        for line in range(5):
            for file in range(3):
                with self.subTest("code in the place of other code", line=line, file=file):
                    (site,) = [site for site in places[f"<made {file}>", line + 2] if site["function"] == "made"]
                    self.assertEqual(site["bytes_allocated"], 4 * 100_004)
        also_made = {site["function"]: site["bytes_allocated"] for site in places["<also made>", 2]}
        self.assertEqual(also_made, {f"made_{i}": 15 * 130_004 for i in range(4)})
        self.assertRegex(self.info()["facts"]["python"], r"^3\.1[123]\.\d+$")

    @with_each_python
    def test_stacks_lead_from_the_line_to_the_beginning(self, python):
        script = self.script(SCRIPT)
        self.script(MODULE, "odd_module.py")
        self.recorded(python, script)
        places = self.by_place()
        lines = lines_of(SCRIPT)
        stacks = {name: [(frame["function"], frame["line"]) for frame in places["program.py", lines[name]][0]["stack"]]
                  for name in ("in_nested", "in_callback", "in_recursion")}
        for name, stack in stacks.items():
            self.assertNotIn("_PyEval_EvalFrameDefault", [function for function, _ in stack], name)
        nested = [function for function, _ in stacks["in_nested"]]
        at = nested.index("inner")
        self.assertEqual(nested[at:at + 3], ["inner", "outer", "<module>"])
        callback = [function for function, _ in stacks["in_callback"]]
        between = callback[callback.index("key") + 1:callback.index("<module>")]
        self.assertTrue(between, "sorted() stands between")

    @with_each_python
    def test_the_same_program_without(self, python):
        script = self.script(SCRIPT)
        self.script(MODULE, "odd_module.py")
        without = self.recorded(python, script, options=())
        before = self.info()
        with_stacks = self.recorded(python, script)
        self.assertEqual(without.out, with_stacks.out)
        self.assertNotIn("python", before["facts"])
        self.assertLess(abs(self.info()["allocations"] / before["allocations"] - 1), 0.02)

    @with_each_python
    def test_lines_hold_as_many_blocks_as_python_counts(self, python):
        script = self.script(COUNTED)
        counted = subprocess.run([python, script, "count"], capture_output=True, text=True, check=True)
        expected = {int(line): count for line, count in ast.literal_eval(counted.stdout).items()}
        self.recorded(python, script, "run", PYTHONMALLOC="malloc")
        places = self.by_place()
        found = {line: sum(site["end_live_blocks"] for site in places["program.py", line]) for line in expected}
        self.assertGreater(len(expected), 6)
        self.assertEqual(found, expected)

    def python_with(self, module):
        question = f"import sys, {module}; sys.exit(not (3, 11) <= sys.version_info < (3, 14))"
        for python in (*PYTHONS, "/usr/bin/python3"):
            if subprocess.run([python, "-c", question], capture_output=True, check=False).returncode == 0:
                return python
        return self.leave_out(f"call stacks with {module}", f"no CPython of 3.11 to 3.13 has it (package python3-{module})")

    def test_greenlets_have_their_own_calls(self):
        python = self.python_with("greenlet")
        self.recorded(python, self.script(GREENLETS))
        self.expect(0, "export", self.trace, "-f", "collapsed", "--weight", "allocated", "-o", self.folder / "stacks.txt")
        bytes_of = collections.Counter()
        for line in (self.folder / "stacks.txt").read_text().splitlines():
            stack, _, size = line.rpartition(" ")
            frames = stack.split(";")
            if "leaf" in frames:
                at = frames.index("leaf")
                bytes_of[tuple(frames[at - (2 if "inner" in frames[at - 1] else 1):at + 1])] += int(size)
        self.assertEqual(bytes_of, {("first", "leaf"): 5 * 10_002, ("second", "second.<locals>.inner", "leaf"): 5 * 20_004,
                                    ("run", "leaf"): 6 * 30_012})

    def test_arrays_of_an_extension_belong_to_the_line(self):
        python = self.python_with("numpy")
        self.recorded(python, self.script(NUMPY))
        (product,) = self.by_place()["program.py", lines_of(NUMPY)["product"]]
        self.assertGreaterEqual(product["bytes_allocated"], 10 * 8 * 100_003)
        self.assertLess(product["bytes_allocated"], 10 * 8 * 100_003 + 4096)
        full = [site for site in self.sites() if site["function"] == "full"]
        self.assertGreaterEqual(sum(site["bytes_allocated"] for site in full), 10 * 8 * 100_003)

    @with_each_python
    def test_under_load(self, python):
        script = self.script(LOADED)
        for allocator in ("malloc", "pymalloc"):
            outcome = self.recorded(python, script, PYTHONMALLOC=allocator)
            self.assertEqual(outcome.text.strip(), "[7, 7, 7, 7, 7] 435 True")
            functions = {site["function"] for site in self.sites("function")}
            small = {"Node.__del__"} if allocator == "malloc" else set()  # which pymalloc hides
            self.assertLessEqual({"churn"} | small, functions)

    @with_each_python
    def test_pieces_of_the_library(self, python):
        data = self.script(json.dumps([{str(i): [i, None, "ü" * i]} for i in range(300)]), "data.json")
        source = self.folder / "copied"
        source.mkdir(exist_ok=True)
        folder = subprocess.run([python, "-c", "import json; print(json.__path__[0])"], capture_output=True, text=True, check=True)
        shutil.copytree(folder.stdout.strip(), source / "json", dirs_exist_ok=True)
        for words in (["-m", "json.tool", data], ["-m", "compileall", "-qf", source], ["-m", "unittest", "-h"],
                      ["-X", "importtime", "-c", "import asyncio, decimal, sqlite3"], ["-c", "import this"],
                      ["-S", "-E", "-c", "raise SystemExit(0)"], ["-c", "import sys; sys.setrecursionlimit(10**5); f = lambda n: n and f(n - 1); f(5000)"]):
            with self.subTest(words[:2]):
                plain = subprocess.run([python, *words], capture_output=True, check=True)
                self.assertEqual(self.recorded(python, *words).out, plain.stdout)

    def test_a_sample_names_lines_too(self):
        script = self.script(SCRIPT)
        self.script(MODULE, "odd_module.py")
        self.recorded(PYTHONS[0], script, options=("--stacks=1KiB",))
        places = self.by_place()
        # Small blocks of the same caller that are outside the sample may be counted there too.
        self.assertGreaterEqual(places["program.py", lines_of(SCRIPT)["in_thread"]][0]["allocations"], 12, "none of 80 kB is missed")

    def test_in_the_flame_graph_and_in_exports(self):
        script = self.script(SCRIPT)
        self.script(MODULE, "odd_module.py")
        self.recorded(PYTHONS[0], script)
        collapsed = self.expect(0, "export", self.trace, "-f", "collapsed").text
        self.assertRegex(collapsed, r"<module>[^;]*;outer[^;]*;inner[^;]*;.*malloc|<module>[^;]*;outer[^;]*;inner")

    def test_killed_at_any_moment(self):
        script = self.script("i = 0\nwhile True:\n    exec(compile(f'x = bytes({i % 999})', f'<{i}>', 'exec'))\n    i += 1\n")
        for moment in (0.05, 0.1, 0.3):
            self.recorded("sh", "-c", '"$0" "$1" & sleep "$2"; kill -KILL $!; wait', PYTHONS[0], script, str(moment))
            self.sites()


if __name__ == "__main__":
    unittest.main()
