"""The profiles on the work of the recorded runtimes: as many buffers unreleased at the peak and at the end, and as many
collections, as the recordings in tests/runtimes have.

Buffers are smaller than in the recording, a cap on their bytes with them, and smaller still where nothing is freed in between:
what counts is how many there are.
"""

import json
import pathlib
import sys
import unittest

from memsweep_cli import SOURCE, CliTest

RUNTIMES = pathlib.Path(SOURCE) / "tests" / "runtimes"
RECORDINGS = RUNTIMES / "recordings"
CHECKS = RUNTIMES / "checks"  # curves that no profile was made from
sys.path.insert(0, str(RUNTIMES))
import record  # noqa: E402

SMALL = 100_000
LIGHT = 800_000  # a tenth of what was recorded


def recorded(curve, folder=RECORDINGS):
    """(peak, end, collections after the first row) of a recording."""
    rows = record.rows_of(folder / f"{curve}.csv")
    unreleased = [int(row["unreleased"]) for row in rows]
    return max(unreleased), unreleased[-1], int(rows[-1]["gc0"]) - int(rows[0]["gc0"])


class Profiles(CliTest):
    def lighter(self, scenario):
        """A copy of the catalog's scenario that needs the memory of smaller buffers."""
        document = json.loads((pathlib.Path(SOURCE) / "scenarios" / "catalog" / f"{scenario}.json").read_text())
        document["requires"]["memory"] = "1500MiB"
        return self.write(f"{scenario}.json", document)

    def model(self, scenario, mode, *args, bytes_each=LIGHT, code=0):
        """One repetition: the case, and its peak, end and collections."""
        path = self.lighter(scenario)
        self.expect(code, "run", path, "-q", "-n", "1", "-o", "r.json", "-a", f"mode=[{mode}]", "--set", f"bytes={bytes_each}", *args)
        (case,) = self.result("r.json")["cases"]
        if case["status"] == "skipped":
            self.leave_out(self.id(), case["reason"])
        unreleased = [round(point["live_bytes"] / bytes_each) for point in case["points"] if point["name"] == "i"]
        (collections,) = case["metrics"]["collections"]["values"]
        return case, (max(unreleased), unreleased[-1], collections - (1 if code == 0 else 0))  # one is the scenario's own

    def agree(self, curve, *args, own_buffers=0, slack=3, folder=RECORDINGS, **options):
        """Within 10 % or so many buffers (those on their way through a finalizer's hands), collections within 1 or 20 %. One
        of three tries must: on a busy machine the thread that frees may come late. Returns its case."""
        peak, end, collections = recorded(curve, folder)
        expected = (peak - own_buffers, end - own_buffers)
        tries = []
        for _ in range(3):
            case, found = self.model(*args, **options)
            near = all(abs(value - of) <= max(0.1 * of, slack) for value, of in zip(found, expected))
            if near and abs(found[2] - collections) <= max(1, 0.2 * collections):
                return case
            tries.append(found)
        return self.fail(f"{curve}: {tries}, recorded {(*expected, collections)}")

    def test_mono_with_garbage(self):
        for garbage, name in ((65536, "64k"), (262144, "256k"), (524288, "512k"), (1048576, "1m")):
            with self.subTest(name):
                case = self.agree(f"mono_loop_nopressure_garbage{name}", "runtime_mono", "finalizer", "-a", f"garbage=[{garbage}]")
                self.assertEqual(case["release"], {"mode": "finalizer", "profile": "mono", "modelled": True, "verified": True})
                self.assertEqual(case["metrics"]["collections"]["provenance"], "modelled")

    def test_mono_without_garbage_never_collects(self):
        self.agree("mono_loop_nopressure", "runtime_mono", "finalizer", "-a", "garbage=[0]", bytes_each=SMALL)

    def test_mono_with_small_garbage_collects_the_nursery_too(self):
        self.agree("mono_loop_200kB_garbage8k", "runtime_mono", "finalizer", "-a", "garbage=[8192]", "--set", "count=20000",
                   bytes_each=200_000)

    def test_jvm_serial_cleaner(self):
        for garbage, name in ((0, ""), (65536, "_garbage64k"), (262144, "_garbage256k"), (524288, "_garbage512k")):
            with self.subTest(name):
                self.agree(f"java_Serial_loop_cleaner{name}", "runtime_jvm_cleaner", "cleaner", "-a", f"garbage=[{garbage}]",
                           "-a", "profile=[jvm-cleaner]", slack=5, bytes_each=LIGHT if garbage else SMALL)

    def test_jvm_g1_cleaner(self):
        for garbage, name in ((0, ""), (65536, "_garbage64k"), (262144, "_garbage256k")):
            with self.subTest(name):
                self.agree(f"java_G1_loop_cleaner{name}", "runtime_jvm_cleaner", "cleaner", "-a", f"garbage=[{garbage}]",
                           "-a", "profile=[jvm-cleaner-g1]", bytes_each=LIGHT if garbage else SMALL)

    def test_serials_heap_collects_alike_however_it_is_said(self):
        heap = ("--set", "heap_initial=64MiB", "--set", "heap_min=64MiB", "--set", "heap_max=256MiB")
        for scenario, profile in (("runtime_jvm_cleaner", "jvm-cleaner"), ("runtime_jvm_direct", "jvm-directbuffer")):
            for garbage in (0, 65536, 131072, 262144, 400000):
                found = [self.model(scenario, "cleaner", "-a", f"garbage=[{garbage}]", "-a", f"profile=[{profile}]", *said,
                                    bytes_each=SMALL)[1][2] for said in ((), heap)]
                with self.subTest(profile, garbage=garbage):
                    self.assertEqual(found[0], found[1])
        # Just behind the fifth collection of three recordings with 128 KiB of garbage.
        for said in ((), heap):
            with self.subTest(heap=said):
                _, found = self.model("runtime_jvm_cleaner", "cleaner", "-a", "garbage=[131072]", "-a", "profile=[jvm-cleaner]",
                                      "--set", "count=593", *said, bytes_each=SMALL)
                self.assertEqual(found[2], 5)

    def test_jvm_finalize(self):
        for profile, collector in (("jvm-cleaner", "Serial"), ("jvm-cleaner-g1", "G1")):
            with self.subTest(collector):
                self.agree(f"java_{collector}_loop_finalize_garbage256k", "runtime_jvm_cleaner", "cleaner", "-a", "garbage=[262144]",
                           "-a", f"profile=[{profile}]")

    def test_jvm_direct_buffers_under_their_cap(self):
        for profile, collector in (("jvm-directbuffer", "Serial"), ("jvm-directbuffer-g1", "G1")):
            for garbage, name in ((0, "max512m"), (262144, "max512m_garbage256k")):
                with self.subTest(f"{collector} {name}"):
                    self.agree(f"java_{collector}_loop_direct_{name}", "runtime_jvm_direct", "cleaner", "-a", f"garbage=[{garbage}]",
                               "-a", f"profile=[{profile}]", "--set", f"cap={(512 << 20) // 10}", own_buffers=1)

    def test_jvm_without_explicit_collections_fails_on_the_135th_buffer(self):
        case, _ = self.model("runtime_jvm_direct", "cleaner", "-a", "garbage=[0]", "-a", "profile=[jvm-directbuffer]",
                             "--set", f"cap={(1 << 30) // 10}", "--set", "explicit_gc=false", code=3)
        self.assertEqual(case["status"], "error")
        self.assertEqual(sum(point["name"] == "i" for point in case["points"]), 134)
        self.assertIn("after 134 arrays", case["reason"])
        self.assertIn("9 sleeps", case["reason"])
        self.assertEqual(case["metrics"]["reserve_sleeps"]["values"], [9])
        self.assertGreaterEqual(case["metrics"]["reserve_sleep_time"]["values"][0], 0.511)
        self.assertEqual(case["metrics"]["collections"]["values"], [0])

    def test_cpython_counts_containers_and_not_bytes(self):
        cycle = ("runtime_cpython", "cycle")
        self.agree("python_loop_cycle", *cycle, bytes_each=SMALL, slack=0)
        self.agree("python_loop_cycle_garbage50", *cycle, "--set", "containers_beside=52", bytes_each=SMALL)
        self.agree("python_loop_cycle_80kB", *cycle, "--set", "count=1800", bytes_each=SMALL, slack=1)

    def holds(self, curve, *args, **options):
        try:
            self.agree(curve, *args, folder=CHECKS, **options)
        except AssertionError as failure:
            print(failure)
            return False
        return True

    def test_cpython_with_lists_beside_as_in_curves_it_was_not_made_from(self):
        for lists, count in record.CHECKED_LISTS.items():  # the list that holds them and the function that makes it count too
            with self.subTest(lists):
                self.assertTrue(self.holds(f"python_lists{lists}", "runtime_cpython", "cycle", "--set", f"count={count}",
                                           "--set", f"containers_beside={lists + 2}", bytes_each=10_000))

    def heaps_that_hold(self, collector, profile):
        held = []
        for initial, most, garbage in record.CHECKED_HEAPS:
            held.append(self.holds(f"java_{collector}_{initial}m_{most}m_garbage{garbage // 1000}k", "runtime_jvm_cleaner", "cleaner",
                                   "-a", f"garbage=[{garbage}]", "-a", f"profile=[{profile}]", "--set", f"heap_min={initial}MiB",
                                   "--set", f"heap_initial={initial or most}MiB", "--set", f"heap_max={most}MiB", slack=5))
        return sum(held)

    def test_serial_with_heaps_it_was_not_made_from(self):
        self.assertGreaterEqual(self.heaps_that_hold("Serial", "jvm-cleaner"), len(record.CHECKED_HEAPS) - 1)

    def test_g1_with_heaps_it_was_not_made_from(self):
        # Its second eden, and when it grows a heap without -Xms, follow times that it measured.
        self.assertGreaterEqual(self.heaps_that_hold("G1", "jvm-cleaner-g1"), len(record.CHECKED_HEAPS) - 1)

    def test_what_is_freed_at_once_never_piles_up(self):
        for scenario, more in (("runtime_mono", ("-a", "garbage=[0]")), ("runtime_cpython", ())):
            self.expect(0, "run", self.lighter(scenario), "-q", "-n", "1", "-o", "r.json", "-a", "mode=[refcount]", "--set", f"bytes={SMALL}", *more)
            (case,) = self.result("r.json")["cases"]
            self.assertEqual(case["metrics"]["live_bytes_peak"]["values"], [SMALL])

    def test_profiles_nobody_has_confirmed_say_so(self):
        self.expect(0, "run", self.lighter("runtime_julia"), "-q", "-n", "1", "-o", "r.json", "-a", "profile=[julia]", "--set", f"bytes={SMALL}")
        result = self.result("r.json")
        self.assertFalse(result["cases"][0]["release"]["verified"])
        self.assertIn("unverified-profile", [warning["code"] for warning in result["warnings"]])


if __name__ == "__main__":
    unittest.main()
