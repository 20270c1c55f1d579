"""The documents' commands and quotations: docs/tasks.md and docs/memory-answers.md run as written, from an installed package; what
README.md and docs/ quote of a reference result is what memsweep prints of it; links lead somewhere."""

import json
import mmap
import os
import re
import shlex
import shutil
import subprocess
import unittest

from memsweep_cli import BINARY, CATALOG, SOURCE, CliTest, environment, execute, sanitized, validator

TASKS = SOURCE / "docs/tasks.md"
ANSWERS = SOURCE / "docs/memory-answers.md"
DOCUMENTS = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))]
PATIENCE_S = 300


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def sections(path):
    """Heading -> text below it, of the second level."""
    return dict(part.split("\n", 1) for part in path.read_text().split("\n## ")[1:])


class Command:
    def __init__(self, text):
        self.text = text
        self.exit_code = 0
        self.prints = []


def commands(block):
    """One per line; a here-document belongs to its line, and so do the comments below it that say what is expected."""
    found = []
    lines = iter(block.splitlines())
    for line in lines:
        if expected := re.fullmatch(r"# exit code (\d+)", line):
            found[-1].exit_code = int(expected[1])
        elif expected := re.fullmatch(r"# prints: (.+)", line):
            found[-1].prints.append(expected[1])
        elif line:
            whole = [line]
            if end := re.search(r"<<'(\w+)'", line):
                whole += iter(lambda: next(lines), end[1])
                whole.append(end[1])
            found.append(Command("\n".join(whole)))
    return found


def spaced(text):
    """Without the breaks of lines, which depend on how long figures are."""
    return " ".join(text.split())


class RunDocument(CliTest):
    document = TASKS

    def setUp(self):
        super().setUp()
        if shutil.which("cmake") is None or not (BINARY.parent / "cmake_install.cmake").exists() or sanitized():
            self.leave_out(self.id(), f"{BINARY.parent} has nothing to install")
        prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", BINARY.parent, "--prefix", prefix], check=True, capture_output=True)
        self.env = environment(PATH=f"{prefix}/bin:{os.environ['PATH']}")

    def run_task(self, heading):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        found = [one for block in blocks(sections(self.document)[heading], "sh") for one in commands(block)]
        self.assertTrue(found)
        for command in found:
            done = subprocess.run(["bash", "-c", command.text], cwd=scratch, env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=PATIENCE_S)
            said = f"$ {command.text}\n{done.stdout}{done.stderr}"
            self.assertEqual(done.returncode, command.exit_code, said)
            for phrase in command.prints:
                self.assertIn(spaced(phrase), spaced(done.stdout + done.stderr), said)


class Tasks(RunDocument):
    def test_release_mode(self):
        self.run_task("Choose a release mode for your own arrays")

    def test_machine(self):
        self.run_task("Find out what a machine's memory does")

    def test_gate(self):
        self.run_task("Gate memory in CI")

    def test_service(self):
        self.run_task("Find out where a service's memory goes")

    def test_which_line(self):
        self.need_commands([("g++", "g++")])
        self.run_task("Find out which line allocates it")

    def test_library(self):
        self.need_commands([("gcc", "gcc")])
        self.run_task("Find out whether a library leaks")

    def test_leak_retention_or_fragmentation(self):
        self.need_commands([("gcc", "gcc")])
        self.run_task("Find out why a program stays large: leak, retention or fragmentation")

    def test_regression(self):
        self.need_commands([("gcc", "gcc")])
        self.run_task("Find out which line a regression comes from")

    def test_advice(self):
        self.need_commands([("sqlite3", "sqlite3")])
        self.run_task("Which allocator for my service")
        self.check_advice("sqlite3")

    def test_advice_of_a_server(self):
        self.need_commands([("redis-server", "redis-server"), ("redis-cli", "redis-tools")])
        self.run_task("Which allocator for my server")
        self.check_advice("sh serve.sh")

    def check_advice(self, program):
        """Whatever the advice is: a program can take it, and it can be copied."""
        report = json.loads((self.folder / "scratch/advice.json").read_text())
        judge = validator("advice")
        if judge is not None:
            self.assertEqual([(list(error.absolute_path), error.message) for error in judge.iter_errors(report)], [])
        self.assertIn(report["verdict"], ("change", "change_nothing", "predicted_only"))
        self.assertTrue(report["headline"].startswith(f"{program}, rss@end: "), report["headline"])
        self.assertEqual(report["end_when"], "file:ready")
        self.assertLessEqual(report["cost"]["real_runs"], 20)
        self.assertGreater(report["default"]["value"]["median"], 0)
        for advice in report["advice"]:
            section, *lines = advice["systemd"].splitlines()
            self.assertEqual(section, "[Service]")
            self.assertTrue(all(line.startswith("Environment=") for line in lines), lines)
            words = [word for line in lines for word in shlex.split(line.removeprefix("Environment="))]
            self.assertEqual(dict(word.split("=", 1) for word in words), advice["environment"])
            self.assertTrue(advice["dockerfile"].startswith("ENV "))
            self.assertEqual(dict(word.split("=", 1) for word in shlex.split(advice["dockerfile"])[1:]), advice["environment"])

    def test_gpu_pool(self):
        self.run_task("Size a GPU's memory pool without a GPU")


def huge_zeroes_are_told():
    """PAGEMAP_SCAN is there (Linux 6.7), and the kernel gives a huge page to who asks for one."""
    if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 7):
        return False
    memory = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    memory[16 << 20] = 1
    with open("/proc/self/smaps_rollup", encoding="ascii") as rollup:
        return int(re.search(r"AnonHugePages: +(\d+)", rollup.read())[1]) != 0


class MemoryAnswers(RunDocument):
    document = ANSWERS

    def setUp(self):
        super().setUp()
        self.need_commands([("gcc", "gcc")])

    def test_fastbins(self):
        self.run_task("Freed small blocks that glibc keeps")

    def test_arenas(self):
        self.run_task("Arenas of threads")

    def test_aligned(self):
        self.run_task("Large blocks with a small one behind each")

    def test_huge(self):
        if not huge_zeroes_are_told():
            self.leave_out(self.id(), "no huge pages here, or the kernel does not tell which parts of them are zero")
        self.run_task("Huge pages that are mostly zero")

    def test_redis(self):
        self.need_commands([("redis-server", "redis-server"), ("redis-cli", "redis-tools")])
        self.run_task("A cache with holes: redis")

    def test_python(self):
        self.run_task("Survivors in Python")

    def test_leak(self):
        self.run_task("A leak")


def anchors(path):
    """What GitHub names the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}


class Documents(CliTest):
    def test_links_lead_somewhere(self):
        for document in DOCUMENTS:
            prose = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)]+)\)", prose):
                path, _, anchor = target.partition("#")
                with self.subTest(f"{document.name}: {target}"):
                    if re.match(r"https?:", path):
                        continue
                    led_to = (document.parent / path).resolve() if path else document
                    self.assertTrue(led_to.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(led_to))

    def test_the_index_has_every_document(self):
        index = (SOURCE / "docs/index.md").read_text()
        for document in DOCUMENTS:
            if document.name != "index.md":
                with self.subTest(document.name):
                    self.assertIn(f"({os.path.relpath(document, SOURCE / 'docs')})", index)

    def test_the_tables_are_complete(self):
        names = {name for cell in re.findall(r"^\| (`.+?) \|", (SOURCE / "docs/catalog.md").read_text(), re.M)
                 for name in re.findall(r"`(\w+)`", cell)}
        self.assertEqual({path.stem for path in CATALOG.glob("*.json")} - names, set())
        table = (SOURCE / "docs/commands.md").read_text().partition("| format | reader |")[2].partition("\n\n")[0]
        formats = {row["format"] for row in json.loads(self.expect(0, "list", "formats", "--json").out)["rows"]}
        self.assertEqual(formats - set(re.findall(r"`([\w-]+)`", table)), set())

    def test_quotations_are_what_is_printed(self):
        """Line by line and in order; a quotation may leave lines out."""
        quotations = 0
        for document in DOCUMENTS:
            for command, quotation in re.findall(r"^<!-- prints: memsweep ([^\n]+) -->\n```\n(.*?)^```$", document.read_text(), re.M | re.S):
                outcome = execute(*shlex.split(command), cwd=SOURCE)
                self.assertIn(outcome.code, (0, 1), outcome)
                printed = iter([line.rstrip() for line in outcome.text.splitlines()])
                wrong = next((line for line in quotation.splitlines() if line.rstrip() not in printed), None)
                with self.subTest(f"{document.name}: {command}"):
                    self.assertIsNone(wrong, outcome.text)
                quotations += 1
        self.assertGreaterEqual(quotations, 4)

    def test_scenarios_of_the_guide_run(self):
        if sanitized():
            self.leave_out(self.id(), "a sanitizer has a malloc of its own")
        found = blocks((SOURCE / "docs/scenarios.md").read_text(), "jsonc")
        self.assertEqual(len(found), 3)
        (self.folder / "words.txt").write_text("".join(f"{n}\n" for n in range(2000)))
        installed = {row["allocator"] for row in json.loads(self.expect(0, "list", "allocators", "--json").out)["rows"] if row["installed"]}
        for number, text in enumerate(found):
            file = self.folder / f"{number}.json"
            file.write_text(text)
            with self.subTest(text):
                self.expect(0, "validate", file)
                result = json.loads(self.expect(0, "run", file, "--quick", "--json", "-o", self.folder / f"{number}.result.json").out)
                self.assertTrue(result["cases"])
                for case in result["cases"]:
                    self.assertIn(case["status"], ("ok", "skipped"), case)
                    if case["status"] == "skipped":
                        self.assertTrue("--quick" in case["reason"] or case["parameters"]["allocator"] not in installed, case)

    def test_every_task_is_run(self):
        run = re.findall(r'self\.run_task\("(.*)"\)', (SOURCE / "tests/app/test_tasks.py").read_text())
        self.assertEqual(run, [*sections(TASKS), *sections(ANSWERS)])


if __name__ == "__main__":
    unittest.main()
