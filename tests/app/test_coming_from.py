"""Command lines of other tools with memsweep's name in front: the right column of docs/coming-from.md runs, hyperfine's options keep their
meanings, and what has another word here says so."""

import json
import os
import re
import shlex
import subprocess
import unittest

from memsweep_cli import SOURCE, CliTest, environment

PAGE = SOURCE / "docs/coming-from.md"


def rows(heading):
    text = PAGE.read_text().split(f"\n## From {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [tuple(re.findall(r"`([^`]+)`", line)) for line in text.splitlines() if line.startswith("| `")]


class ComingFrom(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "n.txt").write_text("".join(f"{n * 7919 % 1000}\n" for n in range(1000)))

    def line(self, text, code=0):
        words = shlex.split(text)
        self.assertEqual(words[0], "memsweep")
        return self.expect(code, *words[1:])

    def times(self, path):
        return {one["command"]: one["times"] for one in json.loads((self.folder / path).read_text())["results"]}

    def values(self, *arguments):
        self.expect(0, *arguments, "-o", "r.json", "-q")
        return json.loads((self.folder / "r.json").read_text())

    def test_page_hyperfine(self):
        found = rows("hyperfine")
        self.assertGreater(len(found), 12)
        for theirs, ours in found:
            with self.subTest(ours):
                self.assertTrue(theirs.startswith("hyperfine "))
                self.line(ours)

    def test_page_heaptrack(self):
        for theirs, ours in rows("heaptrack"):
            with self.subTest(theirs):
                self.line(ours)

    def test_page_google_benchmark(self):
        for name in ("base", "new"):
            self.expect(0, "run", "churn", "-n", "5", "-q", "-o", f"{name}.json", "-k", "refcount")
        for theirs, ours in rows("Google Benchmark"):
            with self.subTest(theirs):
                code = self.memsweep(*shlex.split(ours)[1:]).code
                self.assertIn(code, (0, 1, 5) if "compare" in ours else (0,))

    def test_several_are_ranked(self):
        outcome = self.expect(0, "run", "--runs", "8", "sleep 0.01", "sleep 0.06", "sleep 0.11")
        for other in ("0.06", "0.11"):
            self.assertRegex(outcome.text, rf"sleep 0.01 ran [\d.]+ (± [\d.]+|\([\d.]+ to [\d.]+\)) times faster than sleep {other}")

    def test_names_and_exports(self):
        self.expect(0, "run", "-q", "-n", "3", "--command-name", "short", "--command-name", "long", "true", "sleep 0.01",
                    "--export-json", "t.json", "--export-markdown", "t.md", "--export-csv", "t.csv")
        self.assertEqual({name: len(times) for name, times in self.times("t.json").items()}, {"short": 3, "long": 3})
        for name in ("t.md", "t.csv"):
            self.assertIn("long", (self.folder / name).read_text())

    def test_a_name_is_the_case_wherever_it_is_given(self):
        for words in (["--command-name", "plain", "--", "sort", "n.txt"], ["--name", "plain", "sort n.txt"],
                      ["--name", "plain", "--shell", "--", "sort n.txt > out"]):
            with self.subTest(words):
                report = self.expect(0, "run", "-n", "1", "-o", "r.json", *words)
                self.assertIn("command=plain", report.text)
                cases = json.loads((self.folder / "r.json").read_text())["cases"]
                self.assertEqual([(one["params"], one["id"]) for one in cases], [({"command": "plain"}, "sort/command=plain")])
        several = self.values("run", "-n", "1", "--name", "one", "true", "--name", "two", "sleep 0.01")
        self.assertEqual([one["params"]["command"] for one in several["cases"]], ["one", "two"])
        fewer = self.values("run", "-n", "1", "--name", "one", "true", "sleep 0.01")
        self.assertEqual([one["params"]["command"] for one in fewer["cases"]], ["one", "sleep 0.01"])
        self.assertIn("2 names for 1", self.expect(2, "run", "--name", "a", "--name", "b", "--", "true").errors)
        self.assertIn("base and candidate", self.expect(2, "run", "--name", "a", "--against", "true", "--", "true").errors)

    def test_parameters(self):
        cases = self.values("run", "-n", "1", "-P", "n", "0.5", "1.5", "-D", "0.5", "-L", "word", "a,b", "echo {n} {word} $HOME")["cases"]
        self.assertEqual({(float(one["params"]["n"]), one["params"]["word"]) for one in cases},
                         {(n, word) for n in (0.5, 1, 1.5) for word in "ab"})
        self.assertEqual({one["status"] for one in cases}, {"ok"})
        escaped = self.values("run", "-n", "1", "-L", "a", r"a\,b,c", "echo {a}")["cases"]
        self.assertEqual([one["params"]["a"] for one in escaped], ["a,b", "c"])

    def outputs(self, *arguments):
        """What the program of each case prints, in the order of the cases."""
        return self.expect(0, "run", "-n", "1", "-w", "0", "-q", "--show-output", *arguments).text.split()

    def test_values_reach_the_program_as_they_were_typed(self):
        for values, printed in (("3.9,3.10", ["<3.9>", "<3.10>"]), ("0.50,1e10,-0", ["<0.50>", "<1e10>", "<-0>"]), ("1,2", ["<1>", "<2>"]),
                                ("[a],b", ["<[a]>", "<b>"]), ("[1:8:*2]", ["<[1:8:*2]>"]), (r"a\,b,c", ["<a,b>", "<c>"]), ("true,null", ["<true>", "<null>"])):
            with self.subTest(values):
                self.assertEqual(self.outputs("-L", "v", values, "printf '<%s>\\n' '{v}'"), printed)
        self.assertEqual(self.outputs("-L", "v", "\"q r\",b", "printf '<%s>\\n' {v}"), ["<q", "r>", "<b>"])
        numbers = self.values("run", "-n", "1", "-L", "n", "1,2", "true {n}")["cases"]
        self.assertEqual([one["params"]["n"] for one in numbers], [1, 2])

    def test_values_reach_the_words_behind_dashes(self):
        self.assertEqual(self.outputs("-L", "v", "0.50,a b", "--", "printf", "<%s>\\n", "{v}", "{w}"), ["<0.50>", "<{w}>", "<a", "b>", "<{w}>"])
        self.assertEqual(self.outputs("-P", "n", "1", "2", "--shell", "bash", "--", "echo $(({n} + 1))"), ["2", "3"])
        self.expect(0, "run", "-n", "1", "-w", "0", "-q", "-o", "r.json", "-L", "n", "1,2", "--", "true", "{n}")
        cases = json.loads((self.folder / "r.json").read_text())["cases"]
        self.assertEqual([one["command"] for one in cases], ["true 1", "true 2"])
        self.assertEqual(len({one["fingerprint"] for one in cases}), 2)

    def test_a_parameter_that_stands_nowhere_is_said(self):
        said = "{nn} stands in no command"
        self.assertIn(said, self.expect(0, "run", "-n", "1", "-w", "0", "-L", "nn", "1,2", "true {n}").errors)
        self.assertIn(said, self.expect(0, "run", "-n", "1", "-w", "0", "-P", "nn", "1", "2", "--", "true", "{n}").errors)
        for used in (["true {nn}"], ["--prepare", "true {nn}", "true"], ["--", "true", "${axis.nn}"]):
            self.assertNotIn("stands in no", self.expect(0, "run", "-n", "1", "-w", "0", "-L", "nn", "1,2", *used).errors)

    def test_a_value_that_needs_a_shell_gets_one(self):
        self.assertEqual(self.outputs("-L", "what", "n.tx*,$((1+1))", "echo {what}"), ["n.txt", "2"])
        self.expect(0, "run", "-n", "1", "-q", "[ -f n.txt ]")
        for needy in ("echo [mn].txt", "! false", "echo a # b"):
            self.assertIn("needs a shell", self.expect(2, "run", "-N", needy).errors)
        self.assertIn("needs a shell", self.expect(2, "run", "-N", "-L", "x", "*.txt,b", "ls {x}").errors)

    def test_steps_of_a_scan(self):
        for scan, values in ((["1e-3", "3e-3", "-D", "1e-3"], [0.001, 0.002, 0.003]), (["1", "8", "-D", "25e-1"], [1, 3.5, 6]), (["1", "3"], [1, 2, 3])):
            cases = self.values("run", "-n", "1", "-P", "n", *scan, "true {n}")["cases"]
            self.assertEqual([float(one["params"]["n"]) for one in cases], values)
        self.assertIn("one for each -P", self.expect(2, "run", "-P", "x", "1", "2", "-P", "y", "1", "2", "-D", "0.5", "echo {x}{y}").errors)

    def test_a_shell_in_front_of_a_command(self):
        for shell in (["--shell", "bash --norc"], ["--shell", "sh"], ["--shell", "none"], ["--shell"], ["--shell=bash"], ["-S", "bash --norc"]):
            with self.subTest(shell):
                self.assertEqual(len(self.values("run", "-n", "1", *shell, "true a")["cases"]), 1)
        self.assertEqual(self.outputs("--shell", "bash", "echo {1..3}"), ["1", "2", "3"])
        self.assertEqual(self.outputs("--shell=bash", "--", "echo {1..3}"), ["1", "2", "3"])
        self.assertEqual(self.outputs("--shell", "bash", "--", "echo {1..3}"), ["1", "2", "3"])
        self.expect((0, 1, 3, 5), "run", "-n", "5", "-q", "--shell=bash", "--against", "test {1..1} = 1", "--", "test {1..1} = 1")
        self.assertIn("put all of it into quotes", self.expect(2, "run", "--shell=bash", "--", "echo", "a").errors)

    def test_exit_codes_that_are_ignored(self):
        self.expect(0, "run", "-n", "1", "-q", "--ignore-failure=1,3", "exit 3", "exit 0")
        self.expect(3, "run", "-n", "1", "-q", "--ignore-failure=1,2", "exit 3")
        self.expect(0, "run", "-n", "1", "-q", "--ignore-failure=all-non-zero", "exit 3")
        for words in (["-i"], ["-Nqi"], ["-qi"], ["-i=3"], ["-i", "-w", "0"]):
            with self.subTest(words):
                self.expect(0, "run", "-n", "1", "-q", *words, "sh -c 'exit 3'")
        self.assertIn("256", self.expect(2, "run", "--ignore-failure=256", "true").errors)

    def test_exported_commands_are_lines(self):
        for arguments, commands in ((["true n.txt"], ["true n.txt"]), (["-L", "t", "1,2", "true {t}"], ["true 1", "true 2"]),
                                    (["--command-name", "y {t}", "-L", "t", "1,2", "true {t}"], ["y 1", "y 2"]),
                                    (["--command-name", "first", "true", "true " + "x" * 90], ["first", "true " + "x" * 90])):
            with self.subTest(arguments):
                self.expect(0, "run", "-n", "1", "-q", "--export-json", "t.json", *arguments)
                self.assertEqual(list(self.times("t.json")), commands)

    def test_output_goes_through_a_pipe(self):
        self.expect(0, "run", "-n", "2", "-q", "--output", "pipe", "test -p /dev/stdout")
        self.assertFalse((self.folder / "pipe").exists())

    def test_what_contradicts_itself_is_refused(self):
        self.assertIn("--max-runs 5", self.expect(2, "run", "--min-runs", "20", "--max-runs", "5", "true").errors)
        self.assertIn("neither true nor false", self.expect(2, "run", "--quick=7", "true").errors)

    def test_a_clean_up_that_fails_is_told(self):
        self.assertRegex(self.expect(0, "run", "-n", "1", "--cleanup", "exit 4", "true").text, r"cleanup-failed: true: [^:]*: exit\s+code 4")
        self.assertIn("after a repetition", self.expect(3, "run", "-n", "1", "--conclude", "exit 4", "true").errors)

    def test_surroundings_are_run_as_often_as_hyperfine_runs_them(self):
        self.expect(0, "run", "-q", "-w", "1", "-n", "3", "--setup", "echo setup {n} >> log", "--prepare", "echo prepare {n} >> log",
                    "--conclude", "echo conclude {n} >> log", "--cleanup", "echo cleanup {n} >> log", "-L", "n", "1,2", "true {n}")
        log = (self.folder / "log").read_text().split("\n")[:-1]
        one = [["setup"], *[["prepare"], ["conclude"]] * 4, ["cleanup"]]
        self.assertEqual(log, [f"{words[0]} {n}" for n in "12" for words in one])

    def test_a_name_that_is_cut_says_so_and_the_export_has_the_whole_line(self):
        lines = [f"true {'long ' * 12}{end}" for end in ("one", "two")] + [f"true {'ö' * 40}", "true short", f"true {'x' * 53}"]
        self.expect(0, "run", "-n", "1", "-q", "--export-json", "h.json", "-o", "r.json", *lines)
        names = [one["params"]["command"] for one in json.loads((self.folder / "r.json").read_text())["cases"]]
        self.assertTrue(all(len(name.encode()) <= 64 for name in names), names)
        self.assertTrue(names[0].endswith("…") and names[2].endswith("…"), names)
        self.assertEqual((names[1], names[3:]), (f"{names[0]} (2)", lines[3:]))
        exported = [one["command"] for one in json.loads((self.folder / "h.json").read_text())["results"]]
        self.assertEqual(exported[:2] + exported[3:], lines[:2] + lines[3:])

    def test_failures(self):
        self.expect(3, "run", "-n", "2", "-q", "grep nothing n.txt")
        self.expect(0, "run", "-n", "2", "-q", "-i", "grep nothing n.txt")
        self.assertIn("setup", self.expect(3, "run", "-n", "2", "-q", "--setup", "false", "true").errors)

    def test_a_shell_where_one_is_needed(self):
        self.expect(0, "run", "-n", "1", "-q", "cat n.txt | wc -l > out")
        self.assertEqual((self.folder / "out").read_text().strip(), "1000")
        self.expect(0, "run", "-n", "1", "-q", "LC_ALL=C sort n.txt")
        self.assertIn("needs a shell", self.expect(2, "run", "-N", "cat n.txt | wc -l").errors)

    def test_what_has_another_word_is_told(self):
        for word, *arguments in (
                ("--runs 10", "-r", "10", "--", "true"), ("--command-name", "-n", "name", "--", "true"),
                ("--setup", "-s", "make", "--", "true"), ("--progress", "--style", "full", "true"),
                ("no counterpart", "--sort", "command", "true"), ("--against", "--reference", "true", "true"),
                ("is a program", "true"), ("env LC_ALL=C sort", "--", "LC_ALL=C", "sort"), ("--shell", "--", "cd", "/"),
                ("each word stands alone", "--", "sleep 0.1")):
            with self.subTest(arguments):
                self.assertIn(word, self.expect(2, "run", *arguments).errors)

    def test_the_word_for_a_report_of_a_sibling_is_told(self):
        for words in (("run", "-f", "html", "x"), ("run", "--format=html", "x"),
                      ("advise", "-f", "html", "-o", "x", "--", "true")):
            errors = self.expect(2, *words).errors
            self.assertIn("a report is -r FMT[=FILE]", errors)
            self.assertNotIn("true", errors)
        for words in (("explain", "-r", "html", "--", "true"), ("report", "--report", "html", "x")):
            self.assertIn("a report is -f FMT -o FILE", self.expect(2, *words).errors)

    def test_only_near_words_are_suggested(self):
        self.assertIn("--warmup", self.expect(2, "run", "--warmpu", "3", "--", "true").errors)
        for far in ("--fancy", "--zzz", "--reps"):
            self.assertNotIn("did you mean", self.expect(2, "run", far, "true").errors)

    def test_interpreters_that_are_missing(self):
        for name, first, says in (("dos", "#!/bin/sh\r\n", "carriage return"), ("gone", "#!/nowhere/perl\n", "/nowhere/perl")):
            script = self.folder / name
            script.write_bytes(first.encode() + b"true\n")
            script.chmod(0o755)
            self.assertIn(says, self.expect(2, "run", "--", f"./{name}").errors)

    def test_a_program_of_addresssanitizer_is_refused_before_it_ends(self):
        source = self.folder / "a.c"
        source.write_text("int main(void) { return 0; }\n")
        if subprocess.run(["gcc", "-fsanitize=address", "-o", self.folder / "asan", source], capture_output=True, check=False).returncode != 0:
            self.leave_out(self.id(), "gcc links no program with AddressSanitizer here")
        self.assertIn("-fsanitize=address", self.expect(2, "record", "-o", "t.mst", "--", "./asan").errors)
        self.expect(0, "record", "-o", "t.mst", "--", "true")

    def test_files_of_other_tools_are_named(self):
        for begin, name in (('{"dhatFileVersion":2', "DHAT"), ("desc: --x\ncmd: a\n", "massif"), ("memray\0\0", "memray"),
                            ("heap profile: 1: 2 [3: 4] @ heapprofile\n", "gperftools"), ("heap_v2/524288\n", "jemalloc"),
                            ("# callgrind format\n", "callgrind"), ("PERFILE2\0\0", "perf")):
            (self.folder / "f").write_text(begin)
            for command in (("import", "f", "-o", "t.mst"), ("report", "f")):
                with self.subTest(command=command, name=name):
                    self.assertIn(name, self.expect(2, *command).errors)

    # Lines that public READMEs and mailing lists have behind "hyperfine", over programs of these names that do nothing.
    def test_lines_of_readmes(self):
        for name in ("fd", "jit", "bf", "target/release/ours", "git_2.50.1", "git_pq", "git"):
            program = self.folder / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text("#!/bin/sh\ntrue\n")
            program.chmod(0o755)
        (self.folder / "in").write_text("0000")
        path = environment(PATH=f"{self.folder}:{os.environ['PATH']}")
        for line in ("""--warmup 3 'fd -e jpg' 'find . -iname "*.jpg"'""",
                     "--warmup 2 './jit mandelbrot.bf' './bf mandelbrot.bf'",
                     "-m 30 ./target/release/ours",
                     "-w3 -L git ./git_2.50.1,./git_pq,./git '{git} rev-parse :/^Initial.revision'",
                     "--warmup=1 'git -c transfer.hideRefs=refs/pull upload-pack . <in' 'git upload-pack . <in'",
                     "--warmup 1 --runs 5 'sh -c exit' 'bash -c exit'"):
            with self.subTest(line):
                self.expect(0, "run", *shlex.split(line), env=path)


if __name__ == "__main__":
    unittest.main()
