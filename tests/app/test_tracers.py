"""What tracers' options put into their logs, what their tables of functions name, and the totals that logs state themselves."""

import json
import pickle
import re
import unittest

from memsweep_cli import SOURCE, CliTest

LOGS = SOURCE / "tests/trace/logs"

# The calls of one program, with -e of all forms of allocation, by the sizes that its source asks for. strdup and posix_memalign were
# not traced: their two blocks are freed all the same. An over-aligned new of 18 bytes asks aligned_alloc for 32.
SIZES = [100, 200, 300, 21, 128, 99, 55, 42, 4, 36, 4, 20, 128, 384, 128, 256, 31337, 17, 32]
OPERATORS = {"allocations": len(SIZES), "frees": len(SIZES) - 1, "bytes_allocated": sum(SIZES), "end_live_bytes": 31337, "max_size": 31337,
             "peak_live_bytes": 31337 + 32, "failures": 1, "unknown_frees": 2, "duplicate_allocations": 0, "bad_lines": 0}

CALLS = ["malloc(16) = 0x1000", "malloc(32) = 0x2000", "realloc(0x1000, 64) = 0x3000", "free(0x2000) = <void>", "malloc(8) = 0x1000",
         "free(0x3000) = <void>"]
CALLED = {"allocations": 4, "frees": 3, "peak_live_bytes": 96, "end_live_bytes": 8, "unknown_frees": 0, "duplicate_allocations": 0,
          "bad_lines": 0, "failures": 0}


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


class Ltrace(Imports):
    def test_every_option_of_stamps_is_one_process(self):
        """Seconds, hours and the time between two lines are no process; with stamps the trace tells time."""
        stamps = {
            "none": lambda i: "",
            "-t": lambda i: ("12:59:58 ", "12:59:59 ", "13:00:00 ", "23:59:59 ", "00:00:00 ", "00:00:01 ")[i],
            "-tt": lambda i: ("12:59:59.999990 ", "13:00:00.000010 ", "13:00:00.1 ", "23:59:59.999999 ", "00:00:00.000001 ", "00:00:01.5 ")[i],
            "-ttt": lambda i: f"{1795740141 + i}.{700931 + i:06d} ",
            "-r": lambda i: f"  0.{100 + i:06d} ",
        }
        seconds = {"none": 0, "-t": 11 * 3600 + 3, "-tt": 11 * 3600 + 1.5, "-ttt": 5, "-r": 0.000515}
        for option, stamp in stamps.items():
            for process in ("", "4711 ", "[pid 4711] "):
                for caller in ("", "[0x55a5870bf2d2] "):
                    for library, took in (("", ""), ("app->", " <0.000280>")):
                        with self.subTest(option=option, process=process, caller=caller, library=library, took=took):
                            log = "".join(f"{process}{stamp(i)}{caller}{library}{call}{took}\n" for i, call in enumerate(CALLS))
                            self.check(log, CALLED)
                            info = self.info()
                            self.assertEqual([one["process"] for one in info["by_process"]], [4711 if process else 0])
            self.assertLess(abs(self.seconds() - seconds[option]), 1.1 if option[:2] == "-t" else 0.001, option)

    def seconds(self):
        return self.info()["seconds"] or 0

    def test_a_real_log_of_all_operators(self):
        totals, errors = self.imported(LOGS / "ltrace_operators.txt")
        self.assertEqual({key: totals[key] for key in OPERATORS}, OPERATORS)
        self.assertEqual(errors.strip(), "")
        info = self.info()
        self.assertEqual(len(info["by_process"]), 1)

    def test_an_operator_that_throws_and_threads_between_the_lines(self):
        """The program of the log: new[] of 2^62 bytes, refused and thrown; two threads; a child; a calloc that no size holds."""
        totals, errors = self.imported(LOGS / "ltrace_threads.txt")
        sizes = [136, 4, 200000] + 6 * [4] + [9]
        wanted = {"allocations": len(sizes), "frees": len(sizes), "bytes_allocated": sum(sizes), "failures": 2, "unknown_frees": 0,
                  "duplicate_allocations": 0, "bad_lines": 0, "end_live_bytes": 0}
        self.assertEqual({key: totals[key] for key in wanted}, wanted, errors)

    def test_names_and_arguments(self):
        """(a call, a free of its block, the bytes): four arguments are printed of what ltrace does not know, large ones in hexadecimal."""
        forms = [("malloc(100)", "free", 100), ("calloc(3, 7)", "free", 21), ("valloc(55, 2, 0x55, 7)", "free", 55), ("pvalloc(56)", "cfree", 56),
                 ("memalign(32, 99, 0x55a6, 7)", "free", 99), ("aligned_alloc(64, 128, 0x55a6, 0)", "free", 128),
                 ("reallocarray(0, 10, 30, 0xf0f1)", "free", 300), ("realloc(0, 42)", "free", 42), ("reallocf(0, 43)", "free", 43),
                 ("_Znwm(0x30d40, 1, 0x5, 0)", "_ZdlPvm", 200000), ("_Znam(36, 1, 0x5, 0)", "_ZdaPv", 36), ("_Znwj(4)", "_ZdlPv", 4),
                 ("_ZnwmRKSt9nothrow_t(4, 0x5)", "_ZdlPvRKSt9nothrow_t", 4), ("_ZnwmSt11align_val_t(128, 64, 0x5, 0)", "_ZdlPvmSt11align_val_t", 128),
                 ("_ZnamSt11align_val_t(384, 64, 0x5, 0)", "_ZdaPvSt11align_val_t", 384), ("_ZnwmSt11align_val_tRKSt9nothrow_t(128, 64, 0x5)", "free", 128),
                 ("operator new(unsigned long)(4, 0x8, 0, 0)", "operator delete(void*, unsigned long)", 4),
                 ("operator new[](unsigned long, std::align_val_t)(384, 64, 0, 0)", "operator delete[](void*)", 384),
                 ("malloc@libc.so.6(77)", "free@libc.so.6", 77), ("mi_malloc(78)", "mi_free", 78), ("tc_new(79)", "tc_delete", 79),
                 ("je_mallocx(80, 0)", "sdallocx", 80), ("mi_malloc_aligned(81, 64)", "mi_free_aligned", 81), ("__libc_malloc(82)", "__libc_free", 82)]
        for call, free, size in forms:
            with self.subTest(call=call):
                self.check(f"7 app->{call} = 0x7f10\n7 app->{free}(0x7f10, 4, 0, 0) = <void>\n7 +++ exited (status 0) +++\n",
                           {"allocations": 1, "frees": 1, "bytes_allocated": size, "peak_live_bytes": size, "end_live_bytes": 0, "bad_lines": 0})
                self.check(f"7 app->{call} = 0\n7 app->malloc(1) = 0x10\n", {"allocations": 1, "failures": 1, "bad_lines": 0})

    def test_what_is_not_understood_is_counted(self):
        """A function that allocates and does not say what, a result that is none, half a call."""
        for line in ("posix_memalign(0x7ffc, 64, 77, 2) = 0", 'strdup("hello") = 0x2000', 'asprintf(0x7ffc, "%d") = 3', "malloc(five) = 0x2000",
                     "malloc(5) = what", "malloc(5", "xallocx(0x10, 5, 0, 0) = 5", "recallocarray(0, 1, 2, 3) = 0x20",
                     "<... malloc resumed> ) = 0x2000"):
            with self.subTest(line=line):
                totals = self.check(f"7 app->malloc(16) = 0x1000\n7 {line}\n7 app->free(0x1000) = <void>\n7 +++ exited (status 0) +++\n",
                                    {"allocations": 1, "frees": 1, "bad_lines": 1})
                self.assertEqual(totals["end_live_bytes"], 0)
        # What speaks of allocation in a string, and what asks an allocator, allocate nothing.
        for line in ('puts("malloc(16) = 3") = 9', 'printf("free(%p)", 0x10) = 3', "malloc_usable_size(0x1000) = 24", "mallinfo() = 0", "freeaddrinfo(0x10) = <void>"):
            with self.subTest(line=line):
                self.check(f"7 app->malloc(16) = 0x1000\n7 app->{line}\n7 app->free(0x1000) = <void>\n", {"allocations": 1, "frees": 1, "bad_lines": 0})

    def test_a_call_in_two_lines_is_one(self):
        nested = ("7 app->strdup(\"x\" <unfinished ...>\n7 libc.so.6->malloc(2) = 0x10\n7 <... strdup resumed> ) = 0x10\n"
                  "7 app->reallocarray(0x10, 10, 30, 0xf0 <unfinished ...>\n7 libc.so.6->calloc(94877599202992, 300) = 0x20\n"
                  "7 <... reallocarray resumed> ) = 0x20\n7 app->free(0x20 <unfinished ...>\n8 app->malloc(5) = 0x90\n7 <... free resumed> ) = <void>\n"
                  "7 app->_Znwm(9, 1, 0, 0 <unfinished ...>\n7 <... _Znwm resumed> ) = 0x30\n")
        self.check(nested, {"allocations": 4, "frees": 2, "bytes_allocated": 2 + 300 + 5 + 9, "bad_lines": 0, "unknown_frees": 0})

    def test_one_call_by_both_of_its_names(self):
        """What -x prints: the call through the program's table, and the library's function within it."""
        log = ("7 reallocarray(0, 10, 30, 0xf0 <unfinished ...>\n7 reallocarray@libc.so.6(0, 10, 30, 0xf0 <unfinished ...>\n"
               "7 realloc@libc.so.6(0, 300) = 0x10\n7 <... reallocarray resumed> ) = 0x10\n7 <... reallocarray resumed> ) = 0x10\n"
               "7 free(0x10 <unfinished ...>\n7 free@libc.so.6(0x10) = <void>\n7 <... free resumed> ) = <void>\n")
        self.check(log, {"allocations": 1, "frees": 1, "bytes_allocated": 300, "bad_lines": 0, "unknown_frees": 0})
        name = "operator new(unsigned long)"
        log = (f"7 {name}(4, 0x8, 0, 0 <unfinished ...>\n7 {name}@libstdc++.so.6(4, 0x8, 0, 0 <unfinished ...>\n7 malloc@libc.so.6(4) = 0x10\n"
               f"7 <... {name} resumed> ) = 0x10\n7 <... {name} resumed> ) = 0x10\n")
        self.check(log, {"allocations": 1, "bytes_allocated": 4, "bad_lines": 0, "duplicate_allocations": 0})

    def test_a_log_that_is_whole_is_believed(self):
        for log in ("7 +++ exited (status 0) +++\n", "+++ exited (status 0) +++", "12:00:00 +++ killed by SIGKILL +++\n"):
            self.check(log, {"events": 0, "bad_lines": 0})
        self.check("7 app->malloc(5 <unfinished ...>\n7 +++ killed by SIGKILL +++\n7 app->malloc(5) = 0x10\n", {"allocations": 1, "bad_lines": 1})
        self.check("7 app->malloc(6) = 0x20\n7 app->malloc(5 <unfinished ...>\n", {"allocations": 1, "bad_lines": 1})


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

    def test_cnmem_says_how_many_blocks_are_live(self):
        head = "Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,Total Memory,Current Allocs,Start,End,Elapsed,Location\n"
        log = head + "".join(f"Alloc,0,{16 + 16 * i:#x},0,64,1,2,{i + 1},0.5,0.6,0.1,a.cu:1\n" for i in range(3))
        for rows, imported in ((log, 3), (log.replace("Alloc,0,0x20", "Aloc,0,0x20"), 2)):
            totals, errors = self.imported(self.put("cnmem.csv", rows))
            self.assertEqual(totals["stated_totals"], [{"what": "blocks live at the end", "stated": 3, "imported": imported}])
            self.assertEqual("3 by the log, 2 imported" in errors, imported == 2)

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
