"""Planted mistakes and the frees of profiles from outside: what a run says, with which exit code, and when it is silent."""

import json
import re
import unittest

from memsweep_cli import CATALOG, MIB, SOURCE, CliTest, alloc, drop, sample, scenario, strict_json


def free(name="a"):
    return {"op": "free", "target": name}


def read(name="a"):
    return {"op": "read", "target": name}


def write(name="a", **keys):
    return {"op": "write", "target": name, **keys}


def release_stray(name="a"):
    return {"op": "release", "target": name}


def repeat(times, *steps):
    return {"op": "repeat", "times": times, "steps": list(steps)}


def scope(*steps):
    return {"op": "scope", "steps": list(steps)}


EXPLICIT = {"release": {"mode": "explicit"}}
ARENA = {"release": {"mode": "arena"}}
LEVELS = ("null", "flag", "quarantine", "unmap")


class ReleaseTest(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "configs").symlink_to(SOURCE / "configs")  # what ships is looked for where memsweep is started

    def run_steps(self, code, steps, *options, **keys):
        """The only case of a run of these steps."""
        self.small(steps=steps, **keys)
        (self.folder / "r.json").unlink(missing_ok=True)
        self.outcome = self.expect(code, "run", "small.json", "-o", "r.json", *options)
        return self.result()["cases"][0]

    def defects(self, case):
        return [(one["kind"], one["target"], one["count"]) for one in case.get("defects", [])]


class PlantedDefects(ReleaseTest):
    # what, options, keys, the steps with the mistake, the same without, kind, target, count, what the reason says
    PLANTED = (
        ("read after free", ["--detect", "flag"], EXPLICIT, [alloc(), alloc("b"), free(), read(), read("b"), drop(), drop("b")],
         [alloc(), alloc("b"), read(), free(), read("b"), drop(), drop("b")], "use_after_free", "a", 1, r'use after free of "a": 1 time'),
        ("write after free", ["--detect", "unmap"], EXPLICIT, [alloc(), free(), write(), write(), drop()],
         [alloc(), write(), write(), free(), drop()], "use_after_free", "a", 2, r'use after free of "a": 2 times'),
        ("double free", [], EXPLICIT, [alloc(), alloc("b"), free("b"), free("b"), drop(), drop("b")],
         [alloc(), alloc("b"), free("b"), drop(), drop("b")], "double_free", "b", 1, r'double free of "b": 1 time'),
        ("stray release", [], {}, [alloc(count=3), release_stray(), drop()], [alloc(count=3), drop()], "stray_release", "a", 3,
         r'stray release of "a": 3 times'),
        ("overrun", [], {"safety": {"guard_pages": True}}, [alloc(), write(overrun="1B"), drop()], [alloc(), write(), drop()], "overrun", "a", 1,
         r'overrun past the end of "a": 1 time'),
        ("leak by rebinding", [], EXPLICIT, [repeat(21, alloc()), drop()], [repeat(21, alloc(), drop())], "leak", "a", 20,
         r'leak: 20 arrays of "a" \(1\.25 MiB\) dropped and never freed, the oldest .* before the end'),
        ("leak by an exception", [], EXPLICIT, [repeat(20, scope(alloc(), {"op": "throw", "every": 5}, drop()))],
         [repeat(20, scope(alloc(), {"op": "throw", "every": 21}, drop()))], "leak", "a", 4, r'leak: 4 arrays of "a"'),
        ("exception in an arena", [], ARENA, [repeat(20, scope(alloc(), {"op": "throw", "every": 10}, drop()))],
         [scope(repeat(20, scope(alloc(), {"op": "throw", "every": 10}, drop())))], "leak", "a", 2, r'leak: 2 arrays of "a"'),
    )

    def test_each_is_found_by_its_name(self):
        for what, options, keys, steps, _, kind, target, count, said in self.PLANTED:
            with self.subTest(what):
                case = self.run_steps(1, steps, *options, **keys)
                self.assertEqual(self.defects(case), [(kind, target, count)])
                self.assertEqual(case["status"], "failed")
                self.assertRegex(case["reason"], said)
                self.assertRegex(self.outcome.text, said.replace(" ", r"\s+"))

    def test_the_same_without_the_mistake_is_silent(self):
        for what, options, keys, _, steps, kind, *_ in self.PLANTED:
            with self.subTest(what):
                case = self.run_steps(0, steps, *options, **keys)
                self.assertEqual((case["status"], self.defects(case)), ("ok", []))
                self.assertNotIn(kind.replace("_", " "), self.outcome.text)

    def test_every_level_of_detection_finds_a_use_after_free(self):
        for level in LEVELS:
            for use in (read(), write()):
                with self.subTest(level, use=use["op"]):
                    case = self.run_steps(1, [alloc(), free(), use, drop()], "--detect", level, **EXPLICIT)
                    self.assertEqual(self.defects(case), [("use_after_free", "a", 1)])
                    case = self.run_steps(0, [alloc(), use, free(), drop()], "--detect", level, **EXPLICIT)
                    self.assertEqual(case["metrics"]["use_after_free"]["values"], [0])

    def test_guard_pages_on_the_command_line_catch_what_touches_freed_memory(self):
        case = self.run_steps(1, [alloc(), free(), read(), drop()], "--guard-pages", **EXPLICIT)
        self.assertEqual(self.defects(case), [("use_after_free", "a", 1)])
        case = self.run_steps(0, [alloc(), read(), free(), drop()], "--guard-pages", **EXPLICIT)
        self.assertEqual(self.defects(case), [])

    def test_an_overrun_without_guard_pages_is_not_even_begun(self):
        self.small(steps=[alloc(), write(overrun="1B"), drop()])
        outcome = self.expect(2, "run", "small.json", "-o", "r.json")
        self.assertRegex(outcome.errors, r"(?m)^small\.json:\d+:\d+: an overrun would destroy other arrays.*guard_pages")

    def test_a_level_that_is_off_looks_for_nothing(self):
        case = self.run_steps(0, [alloc(), free(), drop()], "--detect", "off", **EXPLICIT)
        self.assertNotIn("use_after_free", case["metrics"])

    def test_every_repetition_reports_its_own(self):
        case = self.run_steps(1, [alloc(), free(), free(), drop()], "-n", "3", **EXPLICIT)
        self.assertEqual([(one["repetition"], one["count"]) for one in case.get("defects", [])], [(0, 1), (1, 1), (2, 1)])
        self.assertEqual(case["reason"].count("double free"), 1, "each kind and name once")

    def test_one_case_fails_and_the_others_do_not(self):
        self.small(steps=[repeat(3, alloc()), drop()], axes={"mode": ["explicit", "refcount"]}, release={"mode": "${axis.mode}"})
        self.expect(1, "run", "small.json", "-q", "-o", "r.json")
        self.assertEqual([case["status"] for case in self.result()["cases"]], ["failed", "ok"])

    def test_wrong_options(self):
        self.small()
        for options in (["--detect", "sometimes"], ["--detect"], ["--guard-pages=perhaps"]):
            self.assertEqual(self.expect(2, "run", "small.json", *options).out, b"")


class IgnoredFrees(ReleaseTest):
    def arange(self, name="a"):
        return {"op": "alloc", "as": name, "dtype": "float64", "shape": [1000], "fill": "arange", "touch": "full"}

    def test_a_program_without_mistakes_has_the_same_checksum(self):
        right = [repeat(10, self.arange(), read(), free(), drop())]
        for mode in ("explicit", "must_free", "unsafe_free", "finalize_now"):
            with self.subTest(mode):
                keys = {"release": {"mode": mode}}
                with_frees = self.run_steps(0, right, **keys)["metrics"]
                without = self.run_steps(0, right, "--ignore-manual-free", **keys)["metrics"]
                self.assertEqual(with_frees["checksum"]["values"], without["checksum"]["values"])
                self.assertEqual((with_frees["freed_early"]["values"], without["freed_early"]["values"]), ([10], [0]))
                self.assertGreater(without["live_bytes_peak"]["values"][0], with_frees["live_bytes_peak"]["values"][0])

    def test_a_read_after_a_free_shows_as_a_difference(self):
        wrong = [self.arange(), free(), read(), drop()]
        poisoned = self.run_steps(1, wrong, "--detect", "quarantine", **EXPLICIT)["metrics"]["checksum"]["values"]
        ignored = self.run_steps(0, wrong, "--detect", "quarantine", "--ignore-manual-free", **EXPLICIT)
        self.assertNotEqual(poisoned, ignored["metrics"]["checksum"]["values"])
        self.assertEqual(self.defects(ignored), [])


class WrittenData(ReleaseTest):
    def test_what_steps_write_is_data_and_what_they_touch_first_reads_as_zeroes(self):
        size = 1_000_000

        def checksum(*steps):
            one = {"op": "alloc", "as": "a", "dtype": "uint8", "shape": [size], "touch": "full"}
            return self.run_steps(0, [one, *steps, read(), drop()])["metrics"]["checksum"]["values"]
        zeroes = checksum()
        self.assertEqual(checksum(write(touch="page")), zeroes)
        written = checksum(write(touch="full"))
        self.assertNotEqual(written, zeroes)
        self.assertEqual(checksum({"op": "stream", "target": "a", "chunk": "64KiB", "write": True}), written)


class LeakSlope(ReleaseTest):
    CATALOGUED = json.loads((CATALOG / "leak_slope.json").read_text())

    def with_steps(self, steps):
        document = dict(self.CATALOGUED, steps=steps)
        document.pop("$schema")
        self.write("slope.json", document)
        outcome = self.memsweep("run", "slope.json", "-q", "-o", "r.json")
        return outcome.code, self.result()

    def actual(self, document):
        """Of the assertion on each mode."""
        return [(one["actual"], one["passed"]) for one in document["assertions"]]

    def test_the_catalog_is_silent(self):
        self.expect(0, "run", str(CATALOG / "leak_slope.json"), "-q", "-o", "r.json")
        document = self.result()
        self.assertEqual(self.actual(document), [(0, True)] * 3)
        self.assertEqual({case["status"] for case in document["cases"]}, {"ok"})

    def test_a_leak_of_one_per_call_is_a_slope_of_one(self):
        once, loop = self.CATALOGUED["steps"]
        kept = dict(loop, steps=[loop["steps"][0]])  # bound again, never dropped
        code, document = self.with_steps([once, kept])
        self.assertEqual(code, 1)
        self.assertEqual(self.actual(document), [(0, True), (1, False), (0, True)])
        leaking = [case for case in document["cases"] if case["params"]["mode"] == "explicit"]
        self.assertEqual([self.defects(case)[0] for case in leaking], [("leak", "a", 9), ("leak", "a", 19)])

    def test_two_leaks_per_call_are_a_slope_of_two(self):
        once, loop = self.CATALOGUED["steps"]
        twice = dict(loop, steps=[loop["steps"][0], dict(loop["steps"][0], **{"as": "b"})])
        self.assertEqual(self.actual(self.with_steps([once, twice])[1])[1], (2, False))

    def test_what_is_lost_once_has_no_slope(self):
        once, loop = self.CATALOGUED["steps"]
        code, document = self.with_steps([once, once, once, loop])
        self.assertEqual(self.actual(document), [(0, True)] * 3)
        self.assertEqual(code, 1, "a leak all the same")


class Profiles(ReleaseTest):
    def profile(self, name, **keys):
        document = {"format": "memsweep-profile", "version": 1, "name": name, "description": "of a test", "release": {}}
        return self.write(f"{name}.json", dict(document, **keys))

    def refused(self, said, **release):
        self.small(release=release)
        outcome = self.expect(2, "run", "small.json", "-o", "r.json")
        self.assertRegex(outcome.errors, said)
        self.assertNotIn("internal error", outcome.errors)
        self.assertFalse((self.folder / "r.json").exists())

    def test_unknown_profile_lists_what_there_is(self):
        shipped = sorted(path.stem for path in (SOURCE / "configs/runtimes").glob("*.json"))
        self.refused(r'(?m)^small\.json:\d+:\d+: no profile "dotnte".*' + re.escape("there are " + ", ".join(shipped)), profile="dotnte")

    def test_unreadable_path(self):
        self.refused(r'(?m)^small\.json:\d+:\d+: no profile "\./absent\.json": cannot read', profile="./absent.json")

    def test_profiles_that_inherit_in_a_circle(self):
        self.profile("one", inherits="./two.json")
        self.profile("two", inherits="./one.json")
        self.refused(r"(?m)^.*(one|two)\.json:\d+:\d+: .*inherits from itself", profile="./one.json")

    def test_a_profile_of_itself(self):
        self.profile("self", inherits="./self.json")
        self.refused(r"(?m)^.*self\.json:\d+:\d+: .*inherits from itself", profile="./self.json")

    def test_bad_keys_are_errors_in_their_place(self):
        for what, release, said in (
                ("unknown key", {"pressrue": "none"}, r'"pressrue".*did you mean "pressure"'),
                ("unknown value", {"pressure": "corecrl"}, r'"corecrl".*did you mean "coreclr"'),
                ("wrong unit", {"nursery": "4M"}, r"4M"),
                ("out of bounds", {"finalizer_threads": 0}, r"finalizer_threads"),
                ("a profile inside", {"profile": "dotnet"}, r"inherits")):
            with self.subTest(what):
                self.profile("mine", release=release)
                self.refused(r"(?m)^mine\.json:\d+:\d+: .*" + said, profile="./mine.json")

    def test_no_profile_at_all(self):
        self.write("mine.json", "{")
        self.refused(r"(?m)^mine\.json:\d+:\d+: .", profile="./mine.json")

    def test_keys_of_the_scenario_win_over_the_profile_and_it_over_what_it_inherits(self):
        self.profile("base", release={"mode": "finalizer", "collect_every": 5})
        self.profile("mine", inherits="./base.json", release={"collect_every": 10})
        steps = [repeat(41, alloc(), drop())]
        of_profile = self.run_steps(0, steps, release={"profile": "./mine.json"})
        own = self.run_steps(0, steps, release={"profile": "./mine.json", "collect_every": 20})
        self.assertEqual((of_profile["metrics"]["collections"]["values"], own["metrics"]["collections"]["values"]), ([4], [2]))
        self.assertEqual((of_profile["release"]["mode"], of_profile["release"]["profile"]), ("finalizer", "./mine.json"))

    def test_every_shipped_profile_runs_and_frees_everything(self):
        for path in sorted((SOURCE / "configs/runtimes").glob("*.json")):
            with self.subTest(path.stem):
                case = self.run_steps(0, [scope(repeat(5, alloc(), drop())), {"op": "collect"}, {"op": "drain"}, sample("end")],
                                      release={"profile": path.stem})
                self.assertEqual(case["release"]["profile"], path.stem)
                self.assertEqual(case["metrics"]["outstanding"]["values"], [0])


class DirectBuffers(ReleaseTest):
    """java.nio.Bits without System.gc(): the 135th buffer of 8 MB under a cap of 1 GiB fails after nine sleeps, 511 ms."""

    RUNTIME = str(CATALOG / "runtime_jvm_direct.json")
    AXES = ["-a", "mode=[cleaner]", "-a", "profile=[jvm-directbuffer]", "-a", "garbage=[0]", "-n", "1"]

    def refused(self, cap, size):
        outcome = self.expect(3, "run", self.RUNTIME, "-q", "-o", "r.json", *self.AXES, "--set", "explicit_gc=false", "--set", f"cap={cap}",
                              "--set", f"bytes={size}", "--set", "count=140")
        case = self.result()["cases"][0]
        self.assertEqual(case["status"], "error")
        self.assertRegex(case["reason"], r"refused with .* live, after 134 arrays: .*limit.*; it had waited through 9 sleeps, \d")
        metrics = {name: metric["values"] for name, metric in case["metrics"].items()}
        self.assertEqual((metrics["reserve_sleeps"], metrics["allocations"], metrics["collections"]), ([9], [134], [0]))
        self.assertGreaterEqual(metrics["reserve_sleep_time"][0], 0.511)
        return outcome

    def test_small_buffers_below_a_small_cap(self):
        self.refused(16 * MIB, 125_000)  # 64 times less of both

    def test_real_buffers_below_a_real_cap(self):
        self.refused("1GiB", 8_000_000)

    def test_with_explicit_collections_nothing_is_refused(self):
        self.expect(0, "run", self.RUNTIME, "-q", "-o", "r.json", *self.AXES, "--set", f"cap={16 * MIB}", "--set", "bytes=125000")
        case = self.result()["cases"][0]
        self.assertEqual(case["metrics"]["allocations"]["values"], [600])
        self.assertEqual(case["metrics"]["collections"]["values"], [5], "at buffers 134, 268, 402 and 536, and the program's own")
        self.assertLessEqual(case["metrics"]["live_bytes_peak"]["values"][0], 16 * MIB)

    def test_references_never_reach_the_cap(self):
        self.expect(0, "run", self.RUNTIME, "-q", "-o", "r.json", "-a", "mode=[refcount]", *self.AXES[2:], "--set", "explicit_gc=false",
                    "--set", "cap=1MiB", "--set", "bytes=125000")


class BetweenModes(ReleaseTest):
    SMALL = ["--set", "elements=100000", "--set", "times=50", "-n", "6", "--warmup", "0"]

    def run_catalog(self, *options):
        """Without its assertions, which know arrays of 8 MB."""
        document = json.loads((CATALOG / "release_modes.json").read_text())
        self.write("modes.json", {key: value for key, value in document.items() if key not in ("$schema", "assert")})
        self.expect(0, "run", "modes.json", "-q", "-o", "r.json", *options)
        return self.result()["cases"]

    def test_finalizer_against_refcount(self):
        self.run_catalog("-a", "mode=[refcount,finalizer]", *self.SMALL)
        compare = ["compare", "r.json", "--between", "mode=refcount", "mode=finalizer", "--metric", "time_per_op", "--metric", "live_bytes_peak",
                   "--no-gate"]
        outcome = self.memsweep(*compare, "-f", "json")
        self.assertIn(outcome.code, (0, 5), f"\n{outcome}")
        document = strict_json(outcome.out)
        judged = {one["metric"]: one for one in document["comparisons"][0]["judgements"]}
        time = judged["time_per_op"]
        self.assertEqual(time["effect"]["kind"], "ratio")
        self.assertGreater(time["effect"]["estimate"], 0)
        low, high = time["effect"]["ci95"]
        self.assertLessEqual(low, time["effect"]["estimate"])
        self.assertLessEqual(time["effect"]["estimate"], high)
        self.assertIn(time["verdict"], {"same", "improved", "regressed", "inconclusive"})
        # At least ten arrays of 800 kB are there at once where references hold one. Its class differs between the two.
        peak = judged["live_bytes_peak"]
        self.assertEqual((peak["verdict"], peak["class"]), ("regressed", "noisy"))
        self.assertRegex(self.memsweep(*compare).text, rf"(?m)^time_per_op .* {time['verdict']}$")

    def test_every_mode_reads_the_same(self):
        cases = self.run_catalog(*self.SMALL[:4], "-n", "1", "--warmup", "0")
        self.assertEqual(len(cases), 20)
        self.assertEqual(len({case["metrics"]["checksum"]["values"][0] for case in cases}), 1)
        self.assertEqual([self.defects(case) for case in cases], [[]] * 20)


if __name__ == "__main__":
    unittest.main()
