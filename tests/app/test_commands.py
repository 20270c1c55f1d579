"""What the commands print, where, and in which dress."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import termios
import threading
import unicodedata
import unittest

from memsweep_cli import (BINARY, CATALOG, NO_TIMES, UTC, CliTest, alloc, drop, environment, event_lines, execute, idle, sample, scenario,
                          strict_json)

COMMANDS = ("run", "compare", "report", "new", "validate", "list", "schema", "merge", "doctor", "info", "import", "export", "fit", "cliffs",
            "profile", "completion")
SUBJECTS = ("scenarios", "cases", "metrics", "ops", "resources", "disciplines", "allocators", "profiles", "formats")
ESCAPE, RETURN = b"\x1b", b"\r"


class Helping(CliTest):
    def test_help_goes_to_stdout(self):
        outcome = self.expect(0, "--help")
        self.assertEqual(outcome.err, b"")
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", outcome.text)
        self.assertNotIn("worker", outcome.text, "the worker is no command for users")
        self.assertEqual(self.expect(0, "-h").out, outcome.out)

    def test_help_of_every_command(self):
        for command in COMMANDS:
            with self.subTest(command):
                outcome = self.expect(0, command, "--help")
                self.assertEqual(outcome.err, b"")
                self.assertIn(f"memsweep {command}", outcome.text)
                self.assertEqual(self.expect(0, command, "-h").out, outcome.out)
                self.assertEqual(self.expect(0, "help", command).out, outcome.out)
        self.assertLessEqual({"--out", "--report", "--axis", "--set", "--filter", "--repetitions", "--warmup", "--seed", "--isolation",
                              "--timeout", "--max-memory", "--tag", "--events", "--resume", "--fail-fast", "--dry-run", "--quick", "--baseline"},
                             set(re.findall(r"--[a-z-]+", self.expect(0, "run", "--help").text)))

    def test_hints_name_only_commands_that_exist(self):
        self.small(repetitions=2, steps=[alloc(), idle("1ms"), drop()])
        text = self.memsweep("run", "small.json", "-o", "r.json").text
        result = self.result()
        text += " ".join(f"{warning['message']} {warning['hint']}" for warning in result["warnings"])
        text = text.replace("this memsweep is a", "")  # a debug build says so of itself
        data = BINARY.read_bytes()  # hints for what did not happen here
        named = set(re.findall(r"memsweep ([a-z]+)", text)) | {word.decode() for word in re.findall(rb"\(memsweep ([a-z]+)[ )]", data)}
        self.assertLessEqual(named, set(COMMANDS) | {"result"}, "advises a command that this version does not have")

    def test_version(self):
        outcome = self.expect(0, "--version")
        self.assertRegex(outcome.text, r"^memsweep \d+\.\d+\.\d+ \(\S+\)\n$")
        self.assertEqual(self.expect(0, "-V").out, outcome.out)
        parsed = strict_json(self.expect(0, "--version", "--json").out)
        self.assertEqual(parsed["name"], "memsweep")
        self.assertIn(parsed["version"], outcome.text)
        self.assertLessEqual({"name", "version", "git", "build_type", "compiler"}, set(parsed))


class Json(CliTest):
    def test_both_spellings_give_the_same_document_with_a_format(self):
        self.small()
        self.expect(0, "run", "small.json", "-q", "-n", "6", "-o", "r.json")
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:01,allocate,0x10,64,0\n1,00:00:02,free,0x10,64,0\n")
        self.expect(0, "import", "log.csv", "-o", "t.mst", "-q")
        for name, command in (("validation", ("validate", "small.json")), ("comparison", ("compare", "r.json", "r.json")),
                              ("fit", ("fit", "t.mst")), ("result", ("report", "r.json")), ("trace-summary", ("info", "t.mst")),
                              ("list", ("list", "formats")), ("result", ("watch", "-i", "10ms", "--", "true"))):
            with self.subTest(command):
                long, short = (self.memsweep(command[0], *how, *command[1:]) for how in (("--json",), ("-f", "json")))
                self.assertEqual(long.code, short.code, long)
                document = strict_json(long.out)
                self.assertEqual((document["format"], document["format_version"]), (f"memsweep-{name}", 1))
                self.assertEqual(set(strict_json(short.out)), set(document))
        self.assertEqual(strict_json(self.expect(0, "--version", "--json").out)["format"], "memsweep-version")

    def test_a_run_prints_its_result(self):
        self.small()
        outcome = self.expect(0, "run", "small.json", "-n", "6", "-o", "r.json", "--json")
        self.assertEqual(outcome.out, (self.folder / "r.json").read_bytes())

    def test_validation(self):
        self.small()
        self.write("bad.json", "{")
        rows = strict_json(self.expect(2, "validate", "small.json", "bad.json", "--json").out)["rows"]
        self.assertEqual(rows[0], {"file": "small.json", "valid": True, "cases": 1, "error": None})
        self.assertEqual((rows[1]["valid"], rows[1]["cases"]), (False, None))
        self.assertIn("bad.json:1:", rows[1]["error"])


class Listing(CliTest):
    def listing(self, what, *files):
        text = self.expect(0, "list", what, *files)
        document = strict_json(self.expect(0, "list", what, *files, "--json").out)
        self.assertEqual((document["format"], document["format_version"]), ("memsweep-list", 1))
        rows = document["rows"]
        self.assertEqual(text.err, b"")
        self.assertLessEqual(max(map(len, text.text.splitlines())), max(80, *(len(word) + 4 for word in text.text.split())))
        self.assertTrue(rows)
        self.assertEqual({frozenset(row) for row in rows}, {frozenset(rows[0])}, "every row has the same keys")
        return text.text, rows

    def test_scenarios(self):
        text, rows = self.listing("scenarios", str(CATALOG))
        self.assertEqual([row["name"] for row in rows], sorted(path.stem for path in CATALOG.glob("*.json")))
        for row in rows:
            self.assertGreaterEqual(row["cases"], 1)
            self.assertTrue(row["description"])
            self.assertIn(row["name"], text)
        from_source = execute("list", "scenarios", "--json", cwd=CATALOG.parents[1])
        self.assertEqual([row["name"] for row in json.loads(from_source.out)["rows"]], [row["name"] for row in rows])

    def test_a_line_names_the_columns_and_the_description_comes_before_the_path(self):
        self.write("mine.json", scenario("mine", description="One of mine."))
        lines = self.expect(0, "list", "scenarios", ".").text.splitlines()
        self.assertEqual(lines[0].split(), ["name", "cases", "description", "path"])
        self.assertRegex(lines[1], r"^mine +1 +One of mine\. +\./mine\.json$")
        lines = self.expect(0, "list", "metrics").text.splitlines()
        self.assertEqual(lines[0].split()[0], "name")

    def test_a_text_is_wrapped_behind_the_columns_before_it(self):
        words = " ".join(f"word{i}" for i in range(40))
        self.write("mine.json", scenario("mine", description=words))
        lines = self.expect(0, "list", "scenarios", ".").text.splitlines()
        self.assertEqual(lines[:2], ["name  cases  description", "    path"])
        self.assertRegex(lines[2], r"^mine  1      word0 word1 ")
        for line in lines[3:-1]:
            self.assertRegex(line, r"^ {13}word")
        self.assertEqual(" ".join(line[13:] for line in lines[2:-1]), words)
        self.assertEqual(lines[-1], "    ./mine.json")

    def test_scenarios_of_a_folder_with_a_broken_file(self):
        self.small()
        self.write("broken.json", "{")
        _, rows = self.listing("scenarios", ".")
        self.assertTrue([row for row in rows if row["name"] == "small"])
        self.assertTrue([row for row in rows if "broken.json" in row["path"] and "invalid" in row["description"]])

    def test_cases(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        text, rows = self.listing("cases", "small.json")
        self.assertEqual(rows, [{"case": "small/n=1", "peak_bytes": 65536}, {"case": "small/n=2", "peak_bytes": 131072}])
        self.assertIn("small/n=2", text)

    def test_profiles(self):
        text, rows = self.listing("profiles")
        shipped = sorted((CATALOG.parents[1] / "configs/runtimes").glob("*.json"))
        self.assertEqual([row["profile"] for row in rows], [path.stem for path in shipped])
        profiles = {row["profile"]: row for row in rows}
        for path in shipped:
            document, row = json.loads(path.read_text()), profiles[path.stem]
            self.assertTrue(path.samefile(row["path"]), row)
            self.assertEqual((row["description"], row["confirmed"]), (document["description"], document.get("verified", False)))
            self.assertEqual(row["family"], profiles[document["inherits"]]["family"] if "inherits" in document else path.stem)
            self.assertIn(path.stem, text)
        self.assertEqual(profiles["jvm-directbuffer-g1"]["family"], "jvm-cleaner")
        self.assertEqual(profiles["mono"]["mode"], "finalizer", "inherited")

    def test_a_profile_that_cannot_be_used_says_why(self):
        for name in ("configs/runtimes", "share/memsweep/configs/runtimes"):  # what lies in the working folder is not what ships
            self.write(f"{name}/circle.json", {"format": "memsweep-profile", "version": 1, "name": "circle", "description": "its own heir",
                                               "inherits": "circle", "release": {"mode": "finalizer"}})
            self.write(f"{name}/cut.json", "{")
        self.assertNotIn("circle", [row["profile"] for row in self.listing("profiles")[1]])
        (self.folder / "bin").mkdir()
        moved = shutil.copy(BINARY, self.folder / "bin/memsweep")
        done = subprocess.run([moved, "list", "profiles", "--json"], capture_output=True, check=True, env=environment(), stdin=subprocess.DEVNULL)
        rows = json.loads(done.stdout)["rows"]
        self.assertIn("inherits from itself", rows[0]["description"])
        self.assertRegex(rows[1]["description"], "^invalid: ")

    def test_metrics(self):
        _, rows = self.listing("metrics")
        self.assertEqual({row["of"] for row in rows}, {"repetition", "point"})
        self.assertLessEqual({row["unit"] for row in rows}, {"B", "s", "B/s", "1", "op/s"})
        self.small()
        self.expect(0, "run", "small.json", "-q", "-o", "r.json")
        case = self.result()["cases"][0]
        self.assertLessEqual(set(case["metrics"]), {row["name"] for row in rows if row["of"] == "repetition"}, "a metric nobody lists")

    def test_ops_resources_disciplines_formats(self):
        ops = self.listing("ops")
        self.assertLessEqual({"alloc", "write", "drop", "collect", "drain", "sample", "repeat", "idle"},
                             {line.split()[0] for line in ops[0].splitlines()})
        for row in ops[1]:
            self.assertTrue(row["section"].startswith("step"))
            self.assertTrue(row["type"] and row["meaning"])
        self.assertLessEqual({"malloc", "pages", "null"}, {line.split()[0] for line in self.listing("resources")[0].splitlines()})
        self.assertLessEqual({"refcount", "finalizer", "deferred_batch", "leak"},
                             {line.split()[0] for line in self.listing("disciplines")[0].splitlines()})
        self.assertLessEqual({"json", "csv", "csv-summary", "csv-series", "html"}, {row["format"] for row in self.listing("formats")[1]})

    def test_schemas(self):
        for which in ("scenario", "result", "gate", "comparison", "history", "limits", "fleet", "fleet-trend", "explain", "advice"):
            schema = strict_json(self.expect(0, "schema", which).out)
            self.assertIn("draft-07", schema["$schema"])
            self.assertIn(which, schema["title"])
        self.assertEqual(self.expect(0, "schema", "gates").out, self.expect(0, "schema", "gate").out)


class Checking(CliTest):
    def test_dry_run_measures_nothing(self):
        self.small(axes={"n": [1, 1000]}, repetitions=3, warmup=1, steps=[alloc(size="1MiB", count="${axis.n}"), idle("20s"), drop()])
        before = sorted(os.listdir(self.folder))
        outcome = self.expect(0, "run", "small.json", "--dry-run", "--max-memory", "100MiB", "--events", "e", "-r", "csv=r.csv", timeout=10)
        self.assertEqual(outcome.err, b"")
        self.assertEqual(sorted(os.listdir(self.folder)), before, "wrote a file")
        self.assertRegex(outcome.text, r"small: 2 cases, 3 repetitions after 1 warm-up")
        self.assertRegex(outcome.text, r"small/n=1: .*1\.00 MiB")
        self.assertRegex(outcome.text, r"small/n=1000: .*1,000.*MiB.*would be skipped")

    def test_validate_prints_every_error_at_once(self):
        self.small()
        self.write("bad.json", scenario(name="Bad Name", repetitons=1, timeout="5", steps=[
            {"op": "alloc", "as": "a", "bytes": "8M"}, {"op": "drop", "target": "b"}, {"op": "idel", "duration": "1s"}]))
        outcome = self.expect(2, "validate", "bad.json", "small.json", "missing.json")
        places = re.findall(r"(?m)^bad\.json:(\d+):(\d+): ", outcome.errors)
        self.assertGreaterEqual(len(places), 6, f"\n{outcome}")
        lines = (self.folder / "bad.json").read_text().splitlines()
        for line, column in places:
            self.assertLessEqual(int(line), len(lines))
            self.assertLessEqual(int(column), len(lines[int(line) - 1]) + 1)
        self.assertIn("missing.json: ", outcome.errors)
        self.assertEqual(outcome.text, "small.json: ok, 1 cases\n" if "1 cases" in outcome.text else "small.json: ok, 1 case\n")

    def test_places_are_exact(self):
        self.write("bad.json", '{ "format": "memsweep-scenario", "version": 1, "name": "bad",\n  "steps": [\n    { "op": "drp" } ] }\n')
        self.assertRegex(self.expect(2, "validate", "bad.json").errors, r'(?m)^bad\.json:3:13: .*"drp"')
        self.write("bad.json", '{ "format": "memsweep-scenario",\n\n  "version": 1 "name": "bad" }')
        self.assertRegex(self.expect(2, "validate", "bad.json").errors, r"(?m)^bad\.json:3:16: ")

    def test_validate_quietly_and_from_stdin(self):
        self.small()
        self.assertEqual(self.expect(0, "validate", "-q", "small.json").out, b"")
        self.expect(0, "validate", "-", stdin=(self.folder / "small.json").read_bytes())
        outcome = self.expect(2, "validate", "-", stdin=b"{")
        self.assertRegex(outcome.errors, r":1:2: ")

    def test_scenarios_of_the_catalog_have_names(self):
        source = CATALOG.parents[1]
        self.assertEqual(self.expect(0, "validate", "churn", cwd=source).text, "churn: ok, 6 cases\n")
        self.assertIn("churn/collect_every=20/mode=refcount", self.expect(0, "list", "cases", "churn", cwd=source).text)
        self.assertIn("first_touch: ", self.expect(0, "run", "first_touch", "--dry-run", cwd=source).text)
        self.assertIn("chrun: cannot read", self.expect(2, "run", "chrun", cwd=source).errors)
        self.write("churn", scenario("mine"))
        self.assertNotIn("mine", self.expect(0, "list", "cases", "churn").text)
        self.assertIn("mine", self.expect(0, "list", "cases", "./churn").text)

    def test_a_profile_is_no_settings_file(self):
        profile = CATALOG.parents[1] / "configs/runtimes/dotnet.json"
        self.write("mine.json", profile.read_text())
        for include, name in (("mine.json", "mine.json"), ("missing/dotnet.json", "dotnet"),
                              (os.path.relpath(profile, self.folder.resolve()), "dotnet")):
            with self.subTest(include):
                self.write("s.json", scenario(include=include))
                errors = self.expect(2, "validate", "s.json").errors
                self.assertIn('release.profile names it: "release": {"profile": "%s"}' % name, errors)
                self.assertEqual(len(errors.splitlines()), 1, errors)

    def test_comments_and_free_keys(self):
        self.write("c.json", '// a comment\n{ "format": "memsweep-scenario", /* another */ "version": 1, "name": "c", "x-mine": {"any": [1]},\n'
                             '  "steps": [ {"op": "alloc", "as": "a", "bytes": "4KiB", "x-why": null} ] }')
        self.expect(0, "validate", "c.json")


class Dress(CliTest):
    def setUp(self):
        super().setUp()
        self.small(assert_=[{"expr": "end.live_bytes.max == 1B"}])  # a failure is what colour is for
        self.expect(1, "run", "small.json", "-q", "-o", "r.json")

    def terminal(self, *args, stderr_too=True, columns=None, **variables):
        """Output of a command whose stdout, and stderr if wanted, is a terminal."""
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        if columns:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))

        def attach():
            os.dup2(slave, 1)
            if stderr_too:
                os.dup2(slave, 2)

        chunks = []

        def drain():  # while the command runs: a terminal's buffer is small
            while True:
                try:
                    chunks.append(os.read(master, 65536))
                except OSError:
                    return

        reader = threading.Thread(target=drain)
        reader.start()
        try:
            outcome = self.memsweep(*args, prepare=attach, env=environment(**{"TERM": "xterm-256color"} | variables))
        finally:
            os.close(slave)
            reader.join()
        return outcome, b"".join(chunks)

    def test_a_pipe_gets_neither_colour_nor_carriage_returns(self):
        for command in (["run", "small.json", "-o", "r2.json"], ["report", "r.json"], ["list", "metrics"], ["--help"], ["validate", "small.json"]):
            outcome = self.memsweep(*command, env=environment(TERM="xterm-256color", COLORTERM="truecolor"))
            for stream in (outcome.out, outcome.err):
                self.assertNotIn(ESCAPE, stream, command)
                self.assertNotIn(RETURN, stream, command)

    def test_who_decides_about_colour(self):
        def colored(*args, **variables):
            return ESCAPE in self.expect(0, "report", "r.json", *args, env=environment(**variables)).out

        self.assertFalse(colored())
        self.assertTrue(colored("--color", "always"))
        self.assertTrue(colored(CLICOLOR_FORCE="1"))
        self.assertFalse(colored(CLICOLOR_FORCE="0"))
        self.assertFalse(colored(CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertFalse(colored("--color", "never", CLICOLOR_FORCE="1"))
        self.assertTrue(colored("--color", "always", NO_COLOR="1"), "the command line wins")

    def test_colour_on_a_terminal(self):
        self.assertIn(ESCAPE, self.terminal("report", "r.json")[1])
        self.assertNotIn(ESCAPE, self.terminal("report", "r.json", NO_COLOR="1")[1])
        self.assertIn(ESCAPE, self.terminal("report", "r.json", NO_COLOR="")[1], "an empty NO_COLOR says nothing")
        self.assertNotIn(ESCAPE, self.terminal("report", "r.json", "--color", "never")[1])
        for form in ("json", "csv", "html"):
            self.assertNotIn(ESCAPE, self.terminal("report", "r.json", "-f", form, "--color", "always")[1], "data is never coloured")

    def test_progress_on_a_terminal_is_one_status_line(self):
        _, shown = self.terminal("run", "small.json", "-o", "r.json")
        self.assertIn(RETURN, shown)
        self.assertNotIn(RETURN + ESCAPE, self.terminal("run", "small.json", "-o", "r.json", "--progress", "plain")[1])
        _, quiet = self.terminal("run", "small.json", "-o", "r.json", "-q")
        self.assertNotIn(RETURN + ESCAPE, quiet)
        self.assertNotIn(ESCAPE, self.terminal("run", "small.json", "-o", "r.json", TERM="dumb")[1], "it could not be redrawn")

    def test_status_line_keeps_what_is_left_to_do(self):
        self.small(axes={"n": ["naïve 数组 " + 40 * "x"]}, repetitions=3, steps=[alloc(), drop()])
        for columns in (40, 60, 80, 200):
            _, shown = self.terminal("run", "small.json", "-o", "r.json", columns=columns)
            lines = re.findall(r"\r\x1b\[K(\d/3 [^\r]*)", shown.decode())
            self.assertEqual(len(lines), 3, "one per repetition")
            for line in lines:
                width = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)
                self.assertLess(width, columns, line)
            if columns >= 60:
                peak = ", last peak .* MiB" if columns >= 80 else ""
                self.assertRegex(lines[2], rf"^2/3 small.* repetition 3, ETA [\d.]+ m?s{peak}$")

    def test_progress_elsewhere_is_one_line_per_case(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()], repetitions=2)
        lines = self.expect(0, "run", "small.json", "-o", "r.json").errors.splitlines()
        self.assertEqual([line for line in lines if line.startswith("[")], ["[1/2] small/n=1: ok", "[2/2] small/n=2: ok"])
        self.assertNotIn("[1/2]", self.expect(0, "run", "small.json", "-o", "r.json", "--progress", "none").errors)

    def test_progress_elsewhere_begins_with_what_is_to_come(self):
        """One line, in time: before the first worker, and of every command that runs cases."""
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop(), idle("20ms")], repetitions=3, warmup=1)
        self.write("log.csv", "Thread,Time,Action,Pointer,Size,Stream\n1,00:00:01,allocate,0x10,64,0\n1,00:00:02,free,0x10,64,0\n")
        self.expect(0, "import", "log.csv", "-o", "t.mst", "-q")
        time = r"(about|at least) [\d.]+ m?s"
        later = "how long is known when each has run once"
        for first, command in ((rf"small: 2 cases, 6 repetitions after 2 warm-ups, {time}", ("run", "small.json")),
                               (rf"small: 1 case, 1 repetition, {time}", ("run", "small.json", "--quick", "-k", "n=1")),
                               (rf"\S+: 1 case, 2 repetitions.*, {later}", ("run", "-n", "2", "--", "true")),
                               (rf"\S+: 2 cases, 4 repetitions.*, {later}", ("run", "-n", "2", *NO_TIMES, "--against", "true", "--", "true")),
                               (r"\S+: 2 cases, at most 200 repetitions.*, until the verdict is sure, at most 2.00 s",
                                ("run", "--budget", "2s", *NO_TIMES, "--against", "true", "--", "true")),
                               (rf"\S+: 1 case, 1 repetition.*, {time}", ("replay", "t.mst", "--on", "glibc", "-n", "1", "--settle", "0s"))):
            with self.subTest(command):
                lines = [line for line in self.memsweep(*command).errors.splitlines() if not line.startswith("memsweep: ")]
                self.assertRegex(lines[0], f"^{first}$")
                self.assertEqual([line for line in lines if re.search(r"cases?, ", line)], lines[:1])
        for silent in (("-q",), ("--progress", "none")):
            self.assertNotIn("case", self.expect(0, "run", "small.json", "-o", "r.json", *silent).errors)

    def test_progress_elsewhere_has_a_line_for_each_tenth_of_a_run_that_takes_long(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop(), idle("280ms")], repetitions=10, warmup=1)
        lines = self.expect(0, "run", "small.json", "-o", "r.json").errors.splitlines()
        told = [re.fullmatch(r"(\d+) of 22 runs in [\d.]+ s, about [\d.]+ m?s to go", line) for line in lines]
        done = [int(found[1]) for found in told if found]
        self.assertGreaterEqual(len(done), 3)
        self.assertLessEqual(len(done), 9)
        self.assertEqual(done, sorted(set(done)))
        self.assertLess(done[-1], 22)
        for silent in (("-q",), ("--progress", "none"), ("--progress", "json")):
            self.assertNotIn(" runs in ", self.expect(0, "run", "small.json", "-o", "r.json", "-n", "3", *silent).errors)

    def test_quiet(self):
        outcome = self.expect(1, "run", "small.json", "-q", "-o", "r2.json")
        self.assertEqual(outcome.out, b"")
        self.assertNotIn("[1/1]", outcome.errors)
        self.assertIn(b"run_id,", self.expect(1, "run", "small.json", "-q", "-o", "r2.json", "-r", "csv").out, "what is asked for is data")

    def test_progress_as_json(self):
        lines = self.expect(1, "run", "small.json", "-o", "r2.json", "--progress", "json").err.splitlines()
        events = [strict_json(line) for line in lines if line.startswith(b"{")]
        self.assertEqual([event["type"] for event in events if event["type"] != "warning"],
                         ["run_start", "case_start", "repetition", "case_end", "assertion", "run_end"])
        self.assertEqual([line for line in lines if not line.startswith((b"{", b"memsweep: "))], [])


class Events(CliTest):
    def test_order_and_content(self):
        self.small(axes={"n": [1, 2, 3]}, repetitions=3, warmup=1, steps=[alloc(count="${axis.n}"), sample("held"), drop()],
                   assert_=[{"expr": "held.live_bytes.max < 190kB", "severity": "warn"}])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--events", "e", "--max-memory", "150KiB")
        text = (self.folder / "e").read_bytes()
        self.assertTrue(text.endswith(b"}\n"))
        events = event_lines(self.folder / "e")
        result = self.result()
        self.assertEqual({event["run_id"] for event in events}, {result["run"]["id"]})
        for event in events:
            self.assertRegex(event["t"], UTC)
        times = [event["t"] for event in events]
        self.assertEqual(times, sorted(times))
        kinds = [event["type"] for event in events]
        self.assertEqual((kinds[0], kinds[-1]), ("run_start", "run_end"))
        self.assertEqual((events[0]["scenario"], events[0]["cases"], events[0]["repetitions"]), ("small", 3, 6), "one case is refused")
        self.assertEqual(events[-1]["exit_code"], 0)
        self.assertEqual(kinds.count("case_start"), 2, "once per case")
        self.assertEqual([event["case"] for event in events if event["type"] == "case_end" and event["status"] == "ok"], ["small/n=1", "small/n=2"])
        self.check_repetitions(events, result)
        judged = [event for event in events if event["type"] == "assertion"]
        self.assertEqual(len(judged), len(result["assertions"]))
        self.assertEqual([{key: event[key] for key in one} for event, one in zip(judged, result["assertions"])], result["assertions"])

    def check_repetitions(self, events, result):
        """Each worker is announced with its pid before its repetition ends, one at a time."""
        running = None
        ended = []
        for event in events:
            if event["type"] in ("case_start", "repetition_start"):
                self.assertIsNone(running, "two workers at once")
                running = event
                self.assertGreater(event["pid"], 1)
            elif event["type"] == "repetition":
                for key in ("case", "pid", "repetition"):
                    self.assertEqual(event[key], running[key])
                running = None
                wall_time = self.case(result, event["case"])["metrics"]["wall_time"]["values"][event["repetition"]]
                self.assertEqual((event["status"], event["wall_time"]), ("ok", wall_time))
                ended.append((event["case"], event["repetition"]))
            elif event["type"] == "case_end" and event["status"] != "skipped":
                self.assertEqual(ended.count((event["case"], 2)), 1, "a case ends after its last repetition")
        self.assertEqual(ended, [(f"small/n={n}", i) for i in range(3) for n in (1, 2)], "interleaved, warm-ups not counted")

    def test_every_warning_is_an_event(self):
        self.small(repetitions=2)
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--events", "e")
        warnings = self.result()["warnings"]
        self.assertTrue(warnings, "two repetitions are too few for an interval")
        told = [event for event in event_lines(self.folder / "e") if event["type"] == "warning"]
        self.assertEqual([event["message"] for event in told], [warning["message"] for warning in warnings])

    def test_a_refused_case_has_an_end_too(self):
        self.small(axes={"n": [1, 2]}, steps=[alloc(count="${axis.n}"), drop()])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--events", "e", "--max-memory", "100KiB")
        ends = {event["case"]: event["status"] for event in event_lines(self.folder / "e") if event["type"] == "case_end"}
        self.assertEqual(ends, {"small/n=1": "ok", "small/n=2": "skipped"}, "whoever counts case_end waits for ever")

    def test_every_documented_key(self):
        documented = {}
        text = pathlib.Path(CATALOG.parents[1] / "docs/result-format.md").read_text()
        for kind, keys in re.findall(r"(?m)^\| `([a-z_]+)` \| (.*) \|$", text.partition("\n## Events")[2]):
            documented[kind] = set(re.findall(r"`([a-z_]+)`", keys.split("(")[0])) if "warnings[]" not in keys else set()
        self.small(repetitions=2, assert_=[{"expr": "end.live_bytes.max == 0B"}])
        self.expect(0, "run", "small.json", "-q", "-o", "r.json", "--events", "e")
        for event in event_lines(self.folder / "e"):
            with self.subTest(event["type"]):
                self.assertIn(event["type"], documented, "an event that docs/result-format.md does not know")
                self.assertLessEqual(documented[event["type"]] - {"null"}, set(event))

    def test_on_stdout(self):
        self.small()
        outcome = self.expect(0, "run", "small.json", "-o", "r.json", "--events", "-")
        kinds = [strict_json(line)["type"] for line in outcome.out.splitlines()]
        self.assertEqual((kinds[0], kinds[-1]), ("run_start", "run_end"))

    def test_of_two_scenarios_in_one_file(self):
        self.small("one")
        self.small("two")
        self.expect(0, "run", "one.json", "two.json", "-q", "-o", "%s.out", "--events", "e")
        self.assertEqual([event["scenario"] for event in event_lines(self.folder / "e") if event["type"] == "run_start"], ["one", "two"])
        self.assertEqual(len({event["run_id"] for event in event_lines(self.folder / "e")}), 2)


if __name__ == "__main__":
    unittest.main()
