"""What valgrind's options put into its logs, the functions that it names, and the totals that logs state themselves."""

import json
import pickle
import re
import unittest

from memsweep_cli import SOURCE, CliTest

LOGS = SOURCE / "tests/trace/logs"


class Imports(CliTest):
    def put(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def imported(self, log, *options):
        """The totals that import prints, and what it warns of."""
        outcome = self.expect(0, "import", str(log), "-o", str(self.folder / "t.mst"), "--json", *options)
        return json.loads(outcome.text), outcome.errors

    def check(self, content, wanted, *options, name="log"):
        totals, errors = self.imported(self.put(name, content), *options)
        self.assertEqual({key: totals[key] for key in wanted}, wanted, content if isinstance(content, str) else name)
        self.assertEqual("bad line" in errors, totals["bad_lines"] != 0, errors)
        return totals

    def info(self):
        return json.loads(self.expect(0, "info", str(self.folder / "t.mst"), "--json").text)


class Valgrind(Imports):
    TOTALS = {"allocations": 23, "frees": 22, "bytes_allocated": 110160, "end_live_bytes": 31337, "failures": 1, "unknown_frees": 0,
              "duplicate_allocations": 0, "bad_lines": 0}

    def test_all_operators_as_valgrind_counts_them(self):
        """Its own HEAP SUMMARY: 23 allocs, 22 frees, 110,160 bytes allocated, 31,337 in use at exit."""
        totals, errors = self.imported(LOGS / "valgrind_operators.txt")
        self.assertEqual({key: totals[key] for key in self.TOTALS}, self.TOTALS)
        self.assertEqual(errors.strip(), "")
        self.assertEqual([(one["stated"], one["imported"]) for one in totals["stated_totals"]], [(23, 23), (110160, 110160), (22, 22)])
        self.assertEqual(self.info()["stated_totals"], totals["stated_totals"])

    def test_time_stamps(self):
        text = (LOGS / "valgrind_operators.txt").read_text()
        stamped = re.sub(r"^(--|==)(\d+)", lambda found: f"{found[1]}00:00:00:06.289 {found[2]}", text, flags=re.MULTILINE)
        self.check(stamped, self.TOTALS, name="stamped.txt")
        self.check(stamped.replace("06.289 14425-- _Znwm(17)", "07.789 14425-- _Znwm(17)"), self.TOTALS, name="later.txt")
        self.assertIn("1.50 s", self.expect(0, "info", str(self.folder / "t.mst")).text)

    def test_a_total_that_differs_is_a_warning_with_both_figures(self):
        whole = (LOGS / "valgrind_operators.txt").read_text()
        lost = "".join(line for line in whole.splitlines(True) if "_ZnwmSt11align_val_t(" not in line and "_ZdlPvmSt11align_val_t" not in line)
        path = self.put("lost.txt", lost)
        totals, errors = self.imported(path)
        found = {one["what"].split(" of ")[0]: (one["stated"], one["imported"]) for one in totals["stated_totals"]}
        self.assertEqual(found["allocations"], (23, 21))
        self.assertEqual(found["bytes allocated"], (110160, 110160 - 128 - 18))
        self.assertIn("23 by the log, 21 imported", errors)
        self.assertIn("by the log itself", self.expect(0, "info", str(self.folder / "t.mst")).text)
        self.expect(2, "import", str(path), "-o", str(self.folder / "x.mst"), "--strict")

    def test_names_and_arguments(self):
        """(a call, a free of its block, the bytes)."""
        forms = [("malloc(100)", "free", 100), ("calloc(3,7)", "free", 21), ("valloc(size 55)", "free", 55), ("pvalloc(56)", "cfree", 56),
                 ("memalign(al 32, size 99)", "free", 99), ("aligned_alloc(al 64, size 128)", "free_aligned_sized", 128), ("realloc(0x0,42)", "free_sized", 42),
                 ("_Znwj(4)", "_ZdlPv", 4), ("_ZnamSt11align_val_t(size 384, al 64)", "_ZdaPvSt11align_val_t", 384)]
        for call, free, size in forms:
            with self.subTest(call=call):
                self.check(f"==7== Memcheck\n--7-- {call} = 0x7F10\n--7-- {free}(0x7F10)\n", {"allocations": 1, "frees": 1, "bytes_allocated": size, "bad_lines": 0})
                self.check(f"--7-- {call} = 0x0\n--7-- malloc(1) = 0x10\n", {"allocations": 1, "failures": 1, "bad_lines": 0})
        for line in ("posix_memalign(al 64, size 77) = 0", "malloc(five) = 0x2000", "malloc(5) = what", "malloc(5"):
            with self.subTest(line=line):
                self.check(f"--7-- malloc(16) = 0x1000\n--7-- {line}\n--7-- free(0x1000)\n", {"allocations": 1, "frees": 1, "bad_lines": 1})

    def test_an_unknown_function_is_counted(self):
        text = (LOGS / "valgrind_operators.txt").read_text()
        for line in ("new_malloc_of_tomorrow(16) = 0x5000", "quick_free(0x5000)", "memalign_or_die(al 8, size 9) = 0x5000"):
            self.check(text.replace("--14425-- malloc(6)", f"--14425-- {line}\n--14425-- malloc(6)"), {**self.TOTALS, "bad_lines": 1})
        for line in ("malloc_usable_size(0x4D72C80) = 100", "REDIR: 0x401f (libc.so.6:malloc) redirected to 0x48 (malloc)", "Reading syms from /x (free)"):
            self.check(text.replace("--14425-- malloc(6)", f"--14425-- {line}\n--14425-- malloc(6)"), self.TOTALS)

    def test_a_fork_begins_with_its_parents_counts(self):
        log = ("==1== Memcheck, a memory error detector\n==1== Command: a\n--1-- malloc(10) = 0x10\n--2-- malloc(5) = 0x20\n"
               "==2== HEAP SUMMARY:\n==2==   total heap usage: 2 allocs, 0 frees, 15 bytes allocated\n--1-- free(0x10)\n==1== HEAP SUMMARY:\n"
               "==1==   total heap usage: 1 allocs, 1 frees, 10 bytes allocated\n")
        totals, errors = self.imported(self.put("fork.txt", log))
        self.assertEqual((totals["allocations"], errors.strip()), (2, ""))
        _, errors = self.imported(self.put("fork.txt", log.replace("2 allocs", "4 allocs")))
        self.assertIn("allocations of process 2: 4 by the log, 1 imported", errors)

    def test_a_log_without_a_call_is_whole_where_it_says_so(self):
        text = "==1== Memcheck, a memory error detector\n==1==   total heap usage: {} allocs, 0 frees, 0 bytes allocated\n"
        self.check(text.format(0), {"events": 0, "bad_lines": 0})
        self.expect(2, "import", str(self.put("log", text.format(3))), "-o", str(self.folder / "x.mst"))


class Others(Imports):
    def test_a_header_alone_is_a_log(self):
        for log in ("Thread,Time,Action,Pointer,Size,Stream\n", "v 10400 3\nX ./a\n", "= Start\n= End\n"):
            self.check(log, {"events": 0, "bad_lines": 0})

    def test_heaptrack_that_came_late_says_so(self):
        late = "v 10400 3\nX ./a\nA\na 64 1\n+ 0\n+ 0\n- 0\n"
        for log in (late, late.replace("\nA\n", "\nA \n")):
            self.check(log, {"allocations": 2, "bad_lines": 0})
            self.assertIn("attached", self.info()["facts"]["beginning"])

    def test_what_a_snapshot_says_is_live(self):
        """The segments against what the events leave."""
        block = {"address": 1 << 40, "size": 512, "requested_size": 500, "state": "active_allocated"}
        alloc = {"action": "alloc", "addr": 1 << 40, "size": 500, "stream": 0, "time_us": 1}
        gone = {"action": "free_completed", "addr": 1 << 40, "size": 500, "stream": 0, "time_us": 2}
        segment = {"device": 0, "address": 1 << 40, "total_size": 2 << 20, "stream": 0, "blocks": [block]}
        for events, left in (([alloc], 1), ([], 1), ([alloc, gone], 0)):
            snapshot = {"segments": [segment], "device_traces": [events]}
            totals, errors = self.imported(self.put("s.pickle", pickle.dumps(snapshot, 4)))
            stated = {one["what"]: (one["stated"], one["imported"]) for one in totals["stated_totals"]}
            self.assertEqual(stated, {"blocks live at the snapshot": (1, left), "bytes live at the snapshot": (500, 500 * left)})
            self.assertEqual("imported" in errors, left == 0)


if __name__ == "__main__":
    unittest.main()
