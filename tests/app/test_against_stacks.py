"""run --against --stacks: the call site that a change comes from is named first, in every report, and nothing is where nothing changed."""

import json
import os
import random
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

from memsweep_cli import BINARY, NO_TIMES, CliTest, default_signals, environment, seed, validator

STATIC = BINARY.parent / "recorded_static"
METRICS = ("allocations", "allocated_bytes", "live_bytes_peak", "live_bytes_end")
SITES = 200

HELD = """
__attribute__((noinline)) static char *parse_row(int size)
{
    return memset(malloc(size), 1, size);
}
"""


def sites_program(more=None, gone=None, lines=0, held=0, frees=True, wrapper=""):
    """C with 200 sites that ask for 20 to 200 blocks; `more`: {site: further blocks}; `held`: bytes live at the peak."""
    draw = random.Random(7)
    text = ["#include <stdlib.h>", "#include <string.h>", "static void *volatile kept;"] + [""] * lines
    take = "malloc"
    if wrapper:
        take = wrapper
        text += [f"__attribute__((noinline)) static void *{wrapper}(size_t size)", "{", "    void *block = malloc(size);",
                 "    if (block == NULL) { abort(); }", "    return block;", "}"]
    text += [HELD] if held else []
    calls = []
    for site in range(SITES):
        blocks, size = draw.randrange(20, 200) + (more or {}).get(site, 0), draw.randrange(16, 512)
        if site != gone:
            text += [f"__attribute__((noinline)) static void site_{site:03}(void)", "{", f"    for (int i = 0; i < {blocks}; ++i) {{",
                     f"        kept = {take}({size});", "        free(kept);", "    }", "}"]
            calls.append(f"    site_{site:03}();")
    calls += [f"    char *row = parse_row({held});", "    kept = row;"] if held else []
    calls += ["    free(row);"] if held and frees else []
    return "\n".join([*text, "int main(void)", "{", *calls, "    return 0;", "}", ""])


class AgainstStacks(CliTest):
    def setUp(self):
        super().setUp()
        self.need_commands([("cc", "gcc")])
        self.result = self.folder / "r.json"

    def build(self, name, text, *flags, compiler="cc", language="c"):
        """In folders whose names are as long, of a file of one name, as in two checkouts."""
        self.write(f"{name}/app.{language}", text)
        subprocess.run([compiler, "-g", "-O1", *flags, "-o", "app", f"app.{language}"], cwd=self.folder / name, check=True)
        return f"./{name}/app"

    def compare(self, code, base, candidate, *options):
        return self.expect(code, "run", "-o", self.result, *NO_TIMES, *options, "--stacks", "--against", base, "--", candidate)

    def sites(self):
        document = json.loads(self.result.read_text())
        judge = validator("result")
        if judge is not None:
            self.assertEqual([problem.message for problem in judge.iter_errors(document)], [])
        return document["sites"][0]

    def named(self, metric):
        """[(site, change, share)] of a metric, the first first."""
        for one in self.sites()["metrics"]:
            if one["metric"] == metric:
                return [(site["site"], site["change"], site["share"]) for site in one["sites"]]
        return []

    def test_one_percent_more_at_one_of_two_hundred_sites_is_named_first(self):
        base = self.build("base", sites_program())
        draw = random.Random(seed("sites with one percent more"))
        for site in draw.sample(range(SITES), 5):
            with self.subTest(site):
                candidate = self.build("next", sites_program({site: 1 + draw.randrange(2)}, lines=draw.randrange(40)))
                outcome = self.compare(1, base, candidate)
                [(name, change, share), *others] = self.named("allocations")
                self.assertRegex(name, rf"^site_{site:03} \(app\.c:\d+\)$")
                self.assertEqual((share, others), (1, []))
                self.assertIn(f"allocations +{change:.0f}: all of it from site_{site:03}", " ".join(outcome.text.split()))
                self.assertEqual(self.sites()["runs"], 2)

    def test_bytes_at_the_peak_and_at_the_end(self):
        base = self.build("base", sites_program(held=1000, frees=False))
        candidate = self.build("next", sites_program(held=3000000, frees=False))
        text = " ".join(self.compare(1, base, candidate).text.split())
        for metric in ("live_bytes_peak", "live_bytes_end"):
            self.assertRegex(text, rf"{metric} \+2\.86 MiB: all of it from parse_row \(app\.c:\d+\)")
            [(name, change, share)] = self.named(metric)
            self.assertEqual((change, share), (2999000, 1))
        freed = self.build("base", sites_program(held=3000000))
        self.compare(1, freed, candidate)
        self.assertEqual([change for _, change, _ in self.named("live_bytes_end")], [3000000])
        self.assertEqual(self.named("live_bytes_peak"), [])
        [end] = [one for one in self.sites()["metrics"] if one["metric"] == "live_bytes_end"]
        self.assertEqual(end["sites"][0]["blocks"], 1)

    def test_the_peak_of_several_processes_is_that_of_the_largest(self):
        forks = '''#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char *volatile kept;
__attribute__((noinline)) static void in_parent(size_t size) { kept = memset(malloc(size), 1, size); }
__attribute__((noinline)) static void in_child(size_t size) { char *volatile p = memset(malloc(size), 1, size); free(p); }
int main(void)
{
    in_parent(HELD);
    for (int i = 0; i < 2; ++i) {
        pid_t child = fork();
        if (child == 0) { in_child(IN_CHILD); _exit(0); }
        waitpid(child, 0, 0);
    }
    free(kept);
    return 0;
}
'''
        # Of the tree the peak is what parent and child hold; of one image that of the child, which grows.
        base = self.build("base", forks, "-DHELD=1000000", "-DIN_CHILD=2000000")
        candidate = self.build("next", forks, "-DHELD=1200000", "-DIN_CHILD=5000000")
        text = " ".join(self.compare(1, base, candidate).text.split())
        [(name, change, share)] = self.named("live_bytes_peak")
        self.assertRegex(name, r"^in_child \(app\.c:\d+\)$")
        self.assertEqual((change, share), (3000000, 1))
        self.assertRegex(text, r"live_bytes_peak \+2\.86 MiB: all of it from in_child")

    def test_a_site_that_is_new_and_one_that_is_gone(self):
        base, candidate = self.build("base", sites_program(gone=5)), self.build("next", sites_program(gone=50))
        self.compare(1, base, candidate)
        [metric] = [one for one in self.sites()["metrics"] if one["metric"] == "allocations"]
        found = {(site["site"].split()[0], site["in"]) for site in metric["sites"]}
        self.assertEqual(found, {("site_005", "candidate"), ("site_050", "base")})
        self.assertIn("which is new", self.memsweep("report", self.result).text.replace("\n    ", " "))

    def test_nothing_is_named_where_nothing_changed(self):
        program = self.build("base", sites_program())
        moved = self.build("next", sites_program(lines=17))
        for candidate in (program, moved):
            with self.subTest(candidate):
                text = " ".join(self.compare(0, program, candidate).text.split())
                self.assertIn("call sites: equal within their noise in 2 recorded runs of each program", text)
                self.assertEqual(self.sites()["metrics"], [])

    def test_who_asks_through_a_wrapper_is_named(self):
        for wrapper in ("xmalloc", "take"):
            with self.subTest(wrapper):
                base = self.build("base", sites_program(wrapper=wrapper))
                self.compare(1, base, self.build("next", sites_program({77: 9}, wrapper=wrapper)))
                [metric] = [one for one in self.sites()["metrics"] if one["metric"] == "allocations"]
                [site] = metric["sites"]
                self.assertTrue(site["site"].startswith("site_077 "), site)
                self.assertTrue(site["through"][0].startswith(f"{wrapper} "), site)

    def test_names_of_other_lengths_explain_no_percent(self):
        base = self.build("base", sites_program())
        self.compare(1, base, self.build("in_a_folder_with_a_longer_name", sites_program({61: 230})))
        self.assertRegex(self.named("allocations")[0][0], "^site_061 ")
        self.compare(0, base, self.build("in_a_folder_with_a_longer_name", sites_program()))
        self.assertEqual(self.sites()["metrics"], [])

    def test_lines_of_one_function(self):
        def program(more, inserted):
            lines = [f"    for (int i = 0; i < {40 + site + (more if site == 30 else 0)}; ++i) {{ kept = malloc(32); free(kept); }}" for site in range(60)]
            lines.insert(10, "\n" * inserted)
            return "\n".join(["#include <stdlib.h>", "static void *volatile kept;", "int main(void)", "{", *lines, "    return 0;", "}"])

        self.compare(1, self.build("base", program(0, 0)), self.build("next", program(3, 4)))
        self.assertEqual(self.named("allocations"), [("main (app.c:40)", 3, 1)])

    def test_without_symbols_it_is_said(self):
        base = self.build("base", sites_program(), "-s")
        candidate = self.build("next", sites_program({5: 300}), "-s")
        outcome = self.compare(1, base, candidate)
        self.assertIn("no symbols: app", self.sites()["reason"])
        self.assertIn("no call site is named: no symbols", " ".join(outcome.text.split()))
        self.assertIn("sites-unnamed", [warning["code"] for warning in json.loads(self.result.read_text())["warnings"]])
        self.assertIn("regressed", outcome.text)

    def test_what_cannot_be_recorded_keeps_its_verdict(self):
        if not STATIC.exists():
            self.leave_out(self.id(), f"{STATIC} is not built")
        options = ("--threshold", "wall_time=1000%", "--threshold", "cpu_time=1000%", "--threshold", "instructions=1000%")
        outcome = self.expect(0, "run", "-o", self.result, *options, "--stacks", "--against", os.fspath(STATIC), "--", STATIC)
        self.assertIn("statically linked", self.sites()["reason"])
        self.assertIn("No regression", outcome.text)
        self.assertIn("no call site is named", " ".join(outcome.text.split()))

    def test_every_report_has_the_site(self):
        base, candidate = self.build("base", sites_program()), self.build("next", sites_program({123: 400}))
        pages = {name: self.folder / f"gate.{name}" for name in ("html", "md", "junit")}
        self.compare(1, base, candidate, *(word for name, path in pages.items() for word in ("-r", f"{name}={path}")))
        failures = [one.get("message") for one in ElementTree.parse(pages["junit"]).getroot().iter("failure")]
        self.assertTrue(any("all of it from site_123 (app.c:" in message for message in failures), failures)
        for name in ("html", "md"):
            self.assertIn("all of it from site_123", pages[name].read_text().replace("\\", ""), name)
        for name in ("html", "md", "junit", "text", "json"):
            stored = self.expect(0, "report", self.result, "-f", name).text.replace("\\", "")
            self.assertIn("all of it from site_123", " ".join(stored.split()), name)
        between = self.expect(1, "compare", self.result, "--between", "build=base", "build=candidate", "-f", "json")
        [comparison] = json.loads(between.text)["comparisons"]
        self.assertEqual(comparison["sites"], json.loads(self.result.read_text())["sites"])
        [finding] = [one for one in comparison["finding_values"] if one["kind"] == "site-changes" and one["metric"] == "allocations"]
        self.assertEqual((finding["importance"], finding["sites"][0]["share"]), ("failure", 1))

    def test_names_of_templates_are_escaped(self):
        self.need_commands([("g++", "g++")])
        text = """#include <cstdlib>
template <typename T> struct Box { T value; };
template <typename T> __attribute__((noinline)) void* make(int count) { return std::malloc(count * sizeof(T)); }
template <typename A, typename B> struct Pair { __attribute__((noinline)) static void* of(int count) { return make<Box<A>>(count * sizeof(B)); } };
int main() { return Pair<Box<char>, long>::of(COUNT) == nullptr; }
"""
        base = self.build("base", text, "-DCOUNT=10", compiler="g++", language="cpp")
        candidate = self.build("next", text, "-DCOUNT=100000", compiler="g++", language="cpp")
        page, junit = self.folder / "p.html", self.folder / "j.xml"
        self.compare(1, base, candidate, "-r", f"html={page}", "-r", f"junit={junit}")
        [(name, change, share)] = self.named("live_bytes_end")
        self.assertRegex(name, r"^make<Box<Box<char> ?> ?> \(app\.cpp:3\)$")
        self.assertIn("make&lt;Box&lt;Box&lt;char&gt;", page.read_text())
        self.assertNotIn("make<Box<Box", page.read_text().partition("<script")[0])
        self.assertIn("make<Box<Box<char>", "".join(one.get("message") for one in ElementTree.parse(junit).getroot().iter("failure")))

    def test_what_varies_is_recorded_more_often(self):
        text = """#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void noisy(int count) { for (int i = 0; i < count; ++i) { kept = malloc(64); free(kept); } }
__attribute__((noinline)) static void steady(int count) { for (int i = 0; i < count; ++i) { kept = malloc(64); free(kept); } }
int main(void) { noisy(500 + getpid() % 61); steady(COUNT); return 0; }
"""
        allowed = [word for metric in METRICS for word in ("--threshold", f"{metric}=1000%")]
        base = self.build("base", text, "-DCOUNT=1000")
        self.expect(0, "run", "-n", "5", "-o", self.result, *NO_TIMES, *allowed, "--stacks", "--against", base, "--",
                    self.build("next", text, "-DCOUNT=3000"))
        sites = self.sites()
        self.assertEqual((sites["varies"], sites["runs"]), (True, 5))
        self.assertEqual(self.named("allocations")[0][:2], ("steady (app.c:5)", 2000))
        self.expect(0, "run", "-n", "5", "-o", self.result, *NO_TIMES, *allowed, "--stacks", "--against", base, "--", base)
        self.assertNotIn("steady", json.dumps(self.sites()["metrics"]))

    def test_an_interruption_keeps_the_verdict(self):
        def recordings():
            return [name for name in os.listdir(self.folder) if name.startswith("memsweep-stacks-")]

        running = subprocess.Popen([BINARY, "run", "-q", "-n", "5", "--warmup", "0", "-o", self.result, "--stacks", "--against", "sleep 0.2", "--", "sleep", "0.2"],
                                   env=environment(TMPDIR=os.fspath(self.folder)), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=default_signals)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not recordings():
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(60), 130)
        document = json.loads(self.result.read_text())
        self.assertEqual((document["run"]["interrupted"], [case["repetitions"] for case in document["cases"]]), (False, [5, 5]))
        self.assertEqual(self.sites()["reason"], "the recording was interrupted")
        self.assertEqual(recordings(), [])

    def test_nothing_is_left_behind(self):
        program = self.build("base", sites_program())
        self.compare(0, program, program)
        self.assertEqual([name for name in os.listdir("/tmp") if name.startswith("memsweep-stacks-")], [])

    def test_what_does_not_go_together(self):
        self.assertIn("record --stacks", self.expect(2, "run", "--stacks", "--", "true").errors)
        self.expect(2, "run", "--stacks", "churn")


if __name__ == "__main__":
    unittest.main()
