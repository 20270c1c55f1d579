"""What explains the command line is made of words: no number stands for one, no control byte, no line is too wide."""

import re
import subprocess
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, environment, execute

MPI = BINARY.with_name("memsweep-mpi")
WIDEST = 80  # where the output is no terminal
SHELLS = ("bash", "zsh", "fish")

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# {always->1,auto->0}, and what CLI11 says of ranges and sets: "value in {1,0,2}", "UINT in [0 - 9]", ":{process,none}".
MADE_FOR_MACHINES = (
    ("a word that stands for a number", re.compile(r"\w->\s*[\w\\]")),
    ("a set of numbers", re.compile(r"\{[\d\x00-\x1f, -]+\}")),
    ("a set in braces", re.compile(r"[:=]\{[^}$]*\}")),
    ("a check in the library's words", re.compile(r"\b(?:value in|U?INT in|U?INT\b|FLOAT\b)")),
)


def problems(text, widest=None):
    """Everything that no help text, manual page or completion may hold, one message each."""
    found = [f"a control byte {match.group()!r} at {match.start()}" for match in CONTROL.finditer(text)]
    for what, pattern in MADE_FOR_MACHINES:
        found += [f"{what}: {match.group()!r}" for match in pattern.finditer(text)]
    if widest is not None:
        found += [f"{len(line)} columns: {line}" for line in text.splitlines() if len(line) > widest]
    return found


def commands():
    return re.findall(r"(?m)^  ([a-z-]+) ", execute("--help").text.partition("Subcommands:")[2])


def of_mpi(*args):
    return subprocess.run([MPI, *args], capture_output=True, text=True, check=True, env=environment(), stdin=subprocess.DEVNULL).stdout


class Help(CliTest):
    def check(self, what, text, widest=None):
        self.assertNotEqual(text, "", what)
        self.assertEqual(problems(text, widest), [], what)

    def test_every_command(self):
        self.check("memsweep", self.expect(0, "--help").text, WIDEST)
        self.assertGreater(len(commands()), 15)
        for command in commands():
            with self.subTest(command):
                self.check(command, self.expect(0, command, "--help").text, WIDEST)

    def test_many_options_stand_in_groups(self):
        """Under a heading each, so that nobody reads twenty to find one."""
        for command in commands():
            with self.subTest(command):
                headings = re.findall(r"(?ms)^(\w+):\n(.*?)(?=^\S|\Z)", self.expect(0, command, "--help").text)
                for heading, options in headings:
                    self.assertLessEqual(len(re.findall(r"(?m)^  -", options)), 14, heading)
                    if heading == "Options":
                        self.assertLessEqual(len(re.findall(r"(?m)^  -", options)), 8, "more than these need groups")

    def test_no_option_takes_an_empty_value(self):
        """An unset variable of a pipeline; --baseline "" would be a gate that always passes."""
        positionals = {"doctor": [], "probe": [], "cliffs": [], "list": ["metrics"], "profile": ["fit", "x"]}
        tried = 0
        for command in commands():
            options = re.findall(r"(?m)^  (-\S+) (\S+)((?:.*\n {5,})*.*)$", self.expect(0, command, "--help").text)
            required = [names.split(",")[-1] for names, _, described in options if "(required)" in described]
            for names, placeholder, _ in options:
                name = names.split(",")[-1]
                if not placeholder.isupper():  # a flag, with the first word of its help
                    continue
                others = [word for other in required if other != name for word in (other, "glibc" if other == "--on" else "rmm" if other == "--format" else "x")]
                values = [""] * {"--between": 2, "--parameter-list": 2, "--parameter-scan": 3}.get(name, 1)
                with self.subTest(command=command, option=name):
                    outcome = self.memsweep(command, *others, *positionals.get(command, ["x"]), name, *values)
                    self.assertEqual(outcome.code, 2, outcome)
                    self.assertIn("the value is empty", outcome.errors)
                    self.assertEqual(list(self.folder.iterdir()), [])
                    tried += 1
        self.assertGreater(tried, 60)

    def test_the_page_and_the_completions(self):
        self.check("man", self.expect(0, "man", "--date", "2026-01-31", cwd=SOURCE).text.replace("\\-", "-"))
        for shell in SHELLS:
            # Only what they say: a script's own syntax has braces too.
            script = self.expect(0, "completion", shell, cwd=SOURCE).text
            self.assertEqual([problem for problem in problems(script) if "in braces" not in problem], [], shell)

    def test_memsweep_mpi(self):
        if not MPI.exists():
            self.leave_out(self.id(), "memsweep-mpi was not built: MPI was not found")
        self.check("memsweep-mpi", of_mpi("--help"), WIDEST)
        self.check("man", of_mpi("--man", "2026-01-31").replace("\\-", "-"))
        for shell in SHELLS:
            script = of_mpi("--completion", shell)
            self.assertEqual([problem for problem in problems(script) if "in braces" not in problem], [], shell)

    def test_the_formats_pages(self):
        for page in sorted((BINARY.parent / "manuals").glob("*.[15]")):
            text = page.read_text()
            self.assertEqual([found for found in problems(text) if found.startswith("a control byte")], [], page.name)

    def test_every_choice_is_named(self):
        for command, option, said in (("run", "--isolation", ("process", "none")), ("run", "--detect", ("off", "null", "unmap")),
                                      ("replay", "--touch", ("recorded", "first-byte", "all")), ("replay", "--speed", ("maximum", "original")),
                                      ("import", "--heaptrack-order", ("lifo", "fifo", "random")), ("import", "--format", ("heaptrack", "umpire")),
                                      ("fit", "--policy", ("first_fit", "tlsf", "quad")), ("replay", "--format", ("json", "csv", "html"))):
            text = self.expect(0, command, "--help").text
            explained = re.search(rf"(?ms)^  (?:-\w,)?{option} .*?(?=^  \S|^\S|\Z)", text)
            for word in said:
                self.assertIn(word, explained.group() if explained else "", f"{command} {option}")

    def test_words_are_accepted_and_numbers_are_not(self):
        self.small()
        for option, words in (("--color", ("auto", "always", "never")), ("--progress", ("auto", "bar", "plain", "json", "none"))):
            for word in words:
                self.expect(0, "run", "small.json", "-q", "--dry-run", option, word)
            for number in ("0", "1", "2"):
                self.assertIn(option, self.expect(2, "run", "small.json", "-q", "--dry-run", option, number).errors)
        for option, words in (("--touch", ("recorded", "none", "first-byte", "all")), ("--speed", ("maximum", "original"))):
            for word in words:
                self.assertNotIn(option, self.expect(2, "replay", "missing.mst", "--on", "glibc", option, word).errors)
            for number in ("0", "1", "\x01"):
                self.assertIn(option, self.expect(2, "replay", "missing.mst", "--on", "glibc", option, number).errors)
        for word in ("lifo", "fifo", "random"):
            self.assertNotIn("--heaptrack-order", self.expect(2, "import", "missing", "-o", "x.mst", "--heaptrack-order", word).errors)
        self.assertIn("--heaptrack-order", self.expect(2, "import", "missing", "-o", "x.mst", "--heaptrack-order", "1").errors)

    def test_environment_variables_too(self):
        self.small()
        refused = self.expect(2, "run", "small.json", "--dry-run", env=environment(MEMSWEEP_COLOR="1"))
        self.assertIn("--color", refused.errors)
        self.expect(0, "run", "small.json", "--dry-run", env=environment(MEMSWEEP_COLOR="never"))


class Judge(unittest.TestCase):
    """What the checks above would say of what they are there to find."""

    def test_planted(self):
        for bad in ("  --color WHEN:value in {always->1,auto->0,never->2} OR {1,0,2}", "  --touch WHAT:{all->\x03}", "set {\x00,\x01}",
                    "  --isolation MODE:{process,none}", "  -n N:UINT in [1 - 10000]", "a\x1b[1mb"):
            with self.subTest(bad):
                self.assertNotEqual(problems(bad), [])
        self.assertEqual(problems("x" * 81, WIDEST), ["81 columns: " + "x" * 81])

    def test_not_taken_for_it(self):
        for good in ("transfers, as in 'host:pinned@node0 -> cpu -> host@node0'", "size=[4KiB:1GiB:*4]", "1 a metric regressed", "n[001-128]",
                     "wall_time=5%, working_set_peak=2%,1MiB", "exit code 130/143"):
            with self.subTest(good):
                self.assertEqual(problems(good, WIDEST), [])


if __name__ == "__main__":
    unittest.main()
