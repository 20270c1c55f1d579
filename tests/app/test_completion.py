"""Completions and the manual page say what --help says: bash, zsh and fish are asked themselves where they are installed."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time
import unittest

from memsweep_cli import BINARY, CATALOG, SOURCE, CliTest, environment, execute

HIDDEN = {"worker", "man"}
MPI = BINARY.with_name("memsweep-mpi")
WORDS = (("memsweep run --iso", {"--isolation"}), ("memsweep run --isolation ", {"process", "none"}), ("memsweep mer", {"merge"}),
         ("memsweep list me", {"metrics"}), ("memsweep --color a", {"auto", "always"}))


def help_of(*command):
    return execute(*command, "--help").text


def commands():
    section = help_of().partition("Subcommands:")[2]
    return re.findall(r"(?m)^  ([a-z]+) ", section)


def options_in(text):
    """Every option that a help text explains: short and long names at the start of its lines."""
    found = set()
    for line in text.splitlines():
        names = re.match(r"^  (-[\w-]+(?:,-[\w-]+)*)", line)
        if names:
            found |= set(names.group(1).split(","))
    return found


class Bash(CliTest):
    def setUp(self):
        super().setUp()
        if shutil.which("bash") is None:
            self.leave_out(self.id(), "bash is not installed")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/memsweep").symlink_to(BINARY)
        self.script = self.write("memsweep.bash", self.expect(0, "completion", "bash", cwd=SOURCE).text)

    def complete(self, *words, cwd=None):
        """What pressing TAB behind the last word offers; = is a word of its own, as readline splits."""
        run = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _memsweep; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
        path = f"{self.folder}/bin:{environment()['PATH']}"
        done = subprocess.run(["bash", "-uc", run, "bash", self.folder / self.script, "memsweep", *words], capture_output=True,
                              text=True, check=False, cwd=cwd or self.folder, env=environment(PATH=path), stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return set(done.stdout.split())

    def test_it_registers_itself(self):
        done = subprocess.run(["bash", "-c", 'source "$1"; complete -p memsweep', "bash", self.folder / self.script],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "complete -F _memsweep memsweep\n")

    def test_commands(self):
        self.assertEqual(self.complete(""), set(commands()))
        self.assertEqual(self.complete("co"), {"compare", "completion"})
        self.assertEqual(self.complete("--color", "always", "li"), {"list"})
        self.assertFalse(HIDDEN & self.complete(""))

    def test_every_option_of_every_command(self):
        self.assertEqual(self.complete("-"), options_in(help_of()))
        for command in commands():
            with self.subTest(command):
                self.assertEqual(self.complete(command, "-"), options_in(help_of(command)) | options_in(help_of()))
        self.assertEqual(self.complete("run", "small.json", "--iso"), {"--isolation"})

    def test_words_that_options_take(self):
        self.assertEqual(self.complete("run", "--isolation", ""), {"process", "none"})
        self.assertEqual(self.complete("run", "--isolation", "=", "pro"), {"process"})
        self.assertEqual(self.complete("run", "--isolation", "="), {"process", "none"})
        self.assertEqual(self.complete("--color", "a"), {"auto", "always"})
        self.assertEqual(self.complete("report", "r.json", "--color", "n"), {"never"})
        self.assertEqual(self.complete("list", "me"), {"metrics"})
        self.assertEqual(self.complete("completion", ""), {"bash", "zsh", "fish"})
        self.assertEqual(self.complete("compare", "-f", "j"), {"json", "junit"})
        self.assertIn("csv", self.complete("report", "-f", "c"))
        self.assertIn("wall_time", self.complete("compare", "--metric", "wall"))
        self.assertIn("memory", self.complete("compare", "--gate", "mem", cwd=SOURCE))
        self.assertEqual(self.complete("run", "--seed", ""), set())

    def test_scenario_names_and_files(self):
        self.write("church.json", "{}")
        self.assertEqual(self.complete("run", "chur", cwd=SOURCE), {"churn"})
        self.assertEqual(self.complete("run", "chur"), {"church.json", "churn"}, "files here, and what ships with the binary")
        names = {path.stem for path in CATALOG.glob("*.json")}
        self.assertLessEqual(names, self.complete("run", "", cwd=SOURCE))
        self.assertEqual(self.complete("merge", "chur"), {"church.json"})
        self.assertEqual(self.complete("run", "x.json", "-o", "chur"), {"church.json"})

    def test_shellcheck(self):
        if shutil.which("shellcheck") is None:
            self.leave_out(self.id(), "shellcheck is not installed")
        done = subprocess.run(["shellcheck", "-s", "bash", self.folder / self.script], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Shells(CliTest):
    """Asked as a user asks them: a line is typed, and TAB pressed."""

    PROMPT = "EDITS:"

    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        for program in (BINARY, MPI):
            (self.folder / "bin" / program.name).symlink_to(program)
        self.surroundings = environment(HOME=str(self.folder), PATH=f"{self.folder}/bin:{environment()['PATH']}", TERM="dumb", LC_ALL="C.UTF-8")

    def script_for(self, shell, text):
        if shutil.which(shell) is None:
            self.leave_out(self.id(), f"{shell} is not installed")
        self.write(f"memsweep.{shell}", text)
        checked = subprocess.run([shell, "-n", self.folder / f"memsweep.{shell}"], capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def in_fish(self, line):
        done = subprocess.run(["fish", "-c", f"source memsweep.fish; complete -C '{line}'"], capture_output=True, text=True,
                              check=False, cwd=self.folder, env=self.surroundings)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return {row.split("\t")[0] for row in done.stdout.splitlines()}

    def zsh(self):
        """An interactive zsh on a terminal of its own that lists what TAB would offer, and nothing else."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.surroundings)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.close, terminal)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 200, 200, 0, 0))
        self.said(terminal, f"PS1={self.PROMPT}; autoload -Uz compinit; compinit -u -d ./dump; source ./memsweep.zsh; LISTMAX=10000; "
                            "zstyle ':completion:*' verbose no; bindkey '^I' list-choices\n")
        return terminal

    def said(self, terminal, typed):
        """What it shows of `typed`; a marked line behind it tells when that is all.

        It returns once zsh edits again: until then the terminal itself would take what is typed next, and its ^U would drop it."""
        os.write(terminal, typed.encode() + b"\x15print -r -- END$((6*7))\n")
        shown, deadline = b"", time.monotonic() + 60
        while self.PROMPT.encode() not in shown.partition(b"END42")[2]:
            ready = select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]
            self.assertTrue(ready, f"zsh does not answer: {shown}")
            shown += os.read(terminal, 65536)
        return shown.decode()

    def in_zsh(self, terminal, line):
        listed = self.said(terminal, line + "\t").partition(line)[2].partition(line)[0]
        return {word for word in re.split(r"\s+", listed) if word and word != self.PROMPT}


class OtherShells(Shells):
    def test_fish(self):
        self.script_for("fish", self.expect(0, "completion", "fish", cwd=SOURCE).text)
        for line, wanted in WORDS:
            self.assertEqual(self.in_fish(line), wanted, line)
        self.assertIn("churn", self.in_fish("memsweep run chu"))
        for command in commands():
            with self.subTest(command):
                self.assertEqual(self.in_fish(f"memsweep {command} -"), options_in(help_of(command)) | options_in(help_of()))

    def test_zsh(self):
        self.script_for("zsh", self.expect(0, "completion", "zsh", cwd=SOURCE).text)
        terminal = self.zsh()
        self.assertIn("_memsweep", self.said(terminal, "print -r -- ${_comps[memsweep]}\n"))
        for line, wanted in WORDS:
            self.assertEqual(self.in_zsh(terminal, line), wanted, line)
        self.assertIn("churn", self.in_zsh(terminal, "memsweep run chu"))
        for command in commands():
            with self.subTest(command):
                offered = self.in_zsh(terminal, f"memsweep {command} -")
                self.assertEqual(offered, options_in(help_of(command)) | options_in(help_of()))

    def test_unknown_shell(self):
        self.assertRegex(self.expect(2, "completion", "tcsh").errors, "tcsh")


class MpiCompletions(Shells):
    """memsweep-mpi has no commands: its options, and the words that they take."""

    LINES = (("memsweep-mpi --at", {"--at-once"}), ("memsweep-mpi --at-once ", {"one", "pairs", "all"}), ("memsweep-mpi --links ri", {"ring"}))

    def setUp(self):
        super().setUp()
        if not MPI.exists():
            self.leave_out(self.id(), "memsweep-mpi was not built: MPI was not found")

    def said_by(self, *args):
        done = subprocess.run([MPI, *args], capture_output=True, text=True, check=False, cwd=SOURCE, stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_bash(self):
        script = self.folder / self.write("memsweep-mpi.bash", self.said_by("--completion", "bash"))
        run = ('source "$1"; complete -p memsweep-mpi; shift; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _memsweep_mpi; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
        for line, wanted in (*self.LINES, ("memsweep-mpi -", options_in(self.said_by("--help")))):
            done = subprocess.run(["bash", "-uc", run, "bash", script, *line.split(" ")], capture_output=True, text=True, check=False,
                                  cwd=self.folder, env=self.surroundings)
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            self.assertEqual(done.stdout.splitlines()[0], "complete -F _memsweep_mpi memsweep-mpi")
            self.assertEqual(set(done.stdout.splitlines()[1:]), wanted, line)
        if shutil.which("shellcheck") is not None:
            done = subprocess.run(["shellcheck", "-s", "bash", script], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_fish(self):
        self.script_for("fish", self.said_by("--completion", "fish"))
        for line, wanted in (*self.LINES, ("memsweep-mpi -", options_in(self.said_by("--help")))):
            self.assertEqual(self.in_fish(line), wanted, line)

    def test_zsh(self):
        self.script_for("zsh", self.said_by("--completion", "zsh"))
        terminal = self.zsh()
        for line, wanted in (*self.LINES, ("memsweep-mpi -", options_in(self.said_by("--help")))):
            self.assertEqual(self.in_zsh(terminal, line), wanted, line)

    def test_manual(self):
        page = BINARY.parent / "manuals/memsweep-mpi.1"
        text = page.read_text()
        self.assertEqual(text, self.said_by("--man", text.split()[3]), "the page is older than the program")
        options = text.partition(".SH OPTIONS")[2].partition(".SH LINKS")[0].replace("\\-", "-")
        self.assertEqual(set(re.findall(r"\\fB(-[\w-]+)\\fR", options)), options_in(self.said_by("--help")))


class Manuals(CliTest):
    def page(self, name):
        path = BINARY.parent / "manuals" / name
        if not path.exists():
            self.leave_out(self.id(), f"{path} is not built")
        return path

    def rendered(self, path):
        if shutil.which("man") is None:
            self.leave_out(self.id(), "man is not installed")
        done = subprocess.run(["man", "-l", "--warnings", path], capture_output=True, text=True, check=False,
                              env=environment(MANWIDTH="120", LC_ALL="C.UTF-8", MANPAGER="cat", GROFF_NO_SGR="1"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        return re.sub(".\x08", "", done.stdout)

    def test_every_option_of_every_command_is_in_the_page(self):
        text = self.page("memsweep.1").read_text()
        self.assertEqual(text, self.expect(0, "man", "--date", text.split()[3], cwd=SOURCE).text, "the page is older than the binary")
        sections = dict(zip(["", *re.findall(r"(?m)^\.SS memsweep (\w+)$", text)], re.split(r"(?m)^\.SS memsweep \w+$", text)))
        self.assertEqual(list(sections)[1:], commands())
        for command, section in sections.items():
            bold = set(re.findall(r"\\fB(-[\w-]+)\\fR", section.partition("\n.SH EXIT")[0].replace("\\-", "-")))
            self.assertEqual(bold, options_in(help_of(*[command] if command else [])))

    def pages(self):
        """Each with a word that it must show."""
        shown = {"memsweep.1": "memsweep doctor", "memsweep-scenario.5": "repetitions", "memsweep-result.5": "working_set"}
        return shown | ({"memsweep-mpi.1": "all-to-one"} if MPI.exists() else {})

    def test_pages_render_without_a_warning(self):
        for name, said in self.pages().items():
            with self.subTest(name):
                text = self.rendered(self.page(name))
                self.assertIn(said, text)
                self.assertIn("SEE ALSO", text)

    def test_mandoc_finds_nothing(self):
        if shutil.which("mandoc") is None:
            self.leave_out(self.id(), "mandoc is not installed")
        for name in self.pages():
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", self.page(name)], capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout + done.stderr, "", name)

    def test_formats_are_there_in_full(self):
        for form in ("scenario", "result"):
            page = self.page(f"memsweep-{form}.5").read_text().replace("\\-", "-").replace("\\e", "\\")
            document = (SOURCE / f"docs/{form}-format.md").read_text()
            for heading in re.findall(r"(?m)^## (.*)$", document):
                self.assertIn(re.sub(r"[`*]", "", heading), re.sub(r"\\f[BIR]", "", page))
            for key in re.findall(r"(?m)^\| `([a-z_]+)` \|", document):
                self.assertIn(f"\\fB{key}\\fR", page)


if __name__ == "__main__":
    unittest.main()
