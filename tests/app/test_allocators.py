"""The reserved axis allocator from outside: each malloc really serves its worker, whatever the caller's environment says."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from memsweep_cli import CliTest, environment, sanitized, strict_json

COUNTING_MALLOC = r"""
// Counts calls of malloc and passes them on; the count is written to the file that COUNTING_MALLOC_OUT names, at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static void *(*next_malloc)(size_t);
static atomic_ulong early;
static atomic_ulong *calls = &early;
static _Thread_local int resolving;
void *malloc(size_t size) {
    if (next_malloc == NULL) {
        if (resolving) return NULL;
        resolving = 1;
        next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
        resolving = 0;
    }
    atomic_fetch_add(calls, 1);
    return next_malloc(size);
}
/* In a file from the start: a worker need not come to its destructors. */
__attribute__((constructor)) static void begin(void) {
    char path[512];
    const char *base = getenv("COUNTING_MALLOC_OUT");
    if (base == NULL) return;
    snprintf(path, sizeof path, "%s.%d", base, (int)getpid());
    int file = open(path, O_CREAT | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, sizeof *calls) != 0) return;
    void *place = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (place != MAP_FAILED) calls = place;
}
"""

SCENARIO = """{
  "format": "memsweep-scenario", "version": 1, "name": "t", "repetitions": 2, "warmup": 0,
  "variables": {"times": 100},
  "axes": {"allocator": ["glibc", "jemalloc", "mimalloc", "tcmalloc"]},
  "allocators": {
    "glibc": {"arena_max": 2, "mmap_threshold": "128KiB"},
    "jemalloc": {"narenas": 3, "dirty_decay": "2s", "tcache": false},
    "mimalloc": {"eager_commit": false},
    "tcmalloc": {"heap_limit": "512MiB"}
  },
  "steps": [{"op": "repeat", "times": "${times}", "timed": true, "steps": [
    {"op": "alloc", "as": "a", "dtype": "uint8", "shape": [20000]}, {"op": "drop", "target": "a"}]}]
}"""
MARKS = {"glibc": ("libc.so", "xml", "<malloc version="), "jemalloc": ("jemalloc", "json", '"jemalloc"'),
         "mimalloc": ("mimalloc", "text", "heap stats"), "tcmalloc": ("tcmalloc", "text", "MALLOC:")}


@unittest.skipIf(sanitized(), "a sanitizer has a malloc of its own")
class Allocators(CliTest):
    def installed(self):
        rows = strict_json(self.memsweep("list", "allocators", "--json").out)["rows"]
        self.assertEqual([row["allocator"] for row in rows], list(MARKS))
        return {row["allocator"]: row for row in rows}

    def scenario(self, text=SCENARIO):
        path = pathlib.Path(self.folder) / "t.json"
        path.write_text(text)
        return str(path)

    def result(self, *arguments, code=0, **options):
        out = pathlib.Path(self.folder) / "out.json"
        outcome = self.memsweep("run", self.scenario(options.pop("text", SCENARIO)), "-o", str(out), "-q", *arguments, **options)
        self.assertEqual(outcome.code, code, f"\n{outcome}")
        return strict_json(out.read_bytes())

    def test_each_allocator_serves_its_worker_and_says_so(self):
        rows = self.installed()
        for case in self.result()["cases"]:
            name = case["params"]["allocator"]
            with self.subTest(name):
                if not rows[name]["installed"]:
                    self.assertEqual(case["status"], "skipped")
                    self.assertIn("apt-get install " + rows[name]["package"], case["reason"])
                    self.leave_out(f"{self.id()} {name}", "not installed")
                    continue
                self.assertEqual(case["status"], "ok", case["reason"])
                library, form, mark = MARKS[name]
                said = case["allocator"]
                self.assertIn(library, said["library"])
                self.assertTrue(os.path.samefile(said["library"], rows[name]["library"]))
                self.assertEqual(said["statistics"]["format"], form)
                self.assertIn(mark, said["statistics"]["text"])
                if form == "json":  # jemalloc 5.3 says a key twice: strict_json would refuse
                    json.loads(said["statistics"]["text"])

    def test_settings_reach_the_allocator(self):
        by_name = {case["params"]["allocator"]: case for case in self.result()["cases"]}
        wanted = {"glibc": {"GLIBC_TUNABLES": "glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=131072"},
                  "jemalloc": {"MALLOC_CONF": "narenas:3,dirty_decay_ms:2000,tcache:false"},
                  "mimalloc": {"MIMALLOC_EAGER_COMMIT": "0"}, "tcmalloc": {"TCMALLOC_HEAP_LIMIT_MB": "512"}}
        for name, variables in wanted.items():
            self.assertEqual(by_name[name]["allocator"]["environment"], variables)
        if by_name["jemalloc"]["status"] == "ok":
            options = json.loads(by_name["jemalloc"]["allocator"]["statistics"]["text"])["jemalloc"]["opt"]
            self.assertEqual((options["narenas"], options["dirty_decay_ms"], options["tcache"]), (3, 2000, False))

    def test_the_callers_own_allocator_and_settings_stay_behind(self):
        rows = self.installed()
        if not rows["jemalloc"]["installed"]:
            self.leave_out(self.id(), "jemalloc is not installed")
            return
        hostile = environment(LD_PRELOAD=rows["jemalloc"]["library"], MALLOC_CONF="narenas:7", GLIBC_TUNABLES="glibc.malloc.arena_max=9")
        document = self.result("-a", "allocator=[glibc,jemalloc]", env=hostile)
        by_name = {case["params"]["allocator"]: case for case in document["cases"]}
        self.assertIn("libc.so", by_name["glibc"]["allocator"]["library"])
        options = json.loads(by_name["jemalloc"]["allocator"]["statistics"]["text"])["jemalloc"]["opt"]
        self.assertEqual(options["narenas"], 3)

    def test_a_library_by_its_path_and_no_malloc_of_the_harness_in_the_measured_part(self):
        source = pathlib.Path(self.folder) / "counting.c"
        library = pathlib.Path(self.folder) / "libcounting.so"
        source.write_text(COUNTING_MALLOC)
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        counts = {}
        for times in (1000, 3000):
            log = pathlib.Path(self.folder) / f"calls{times}"
            document = self.result("-a", f"allocator=[{library}]", "-s", f"times={times}", "-n", "1",
                                   env=environment(COUNTING_MALLOC_OUT=str(log)))
            case = document["cases"][0]
            self.assertEqual(case["status"], "ok", case["reason"])
            self.assertTrue(os.path.samefile(case["allocator"]["library"], library))
            self.assertIsNone(case["allocator"]["statistics"])
            counts[times] = max(int.from_bytes(file.read_bytes(), sys.byteorder) for file in log.parent.glob(f"{log.name}.*"))
        self.assertEqual(counts[3000] - counts[1000], 2000, "every array is one malloc, and nothing else allocates meanwhile")

    def test_what_cannot_be_preloaded_is_skipped_with_a_reason(self):
        text_file = pathlib.Path(self.folder) / "libtext.so"
        text_file.write_text("no library")
        for path, reason in (("/nonexistent/lib.so", "no such file"), (str(text_file), "no shared library")):
            document = self.result("-a", f"allocator=[{path}]", code=4)
            self.assertEqual(document["cases"][0]["status"], "skipped")
            self.assertIn(reason, document["cases"][0]["reason"])

    def test_a_library_without_a_malloc_is_an_error_not_a_measurement(self):
        libm = next(line.split("=> ")[1].split()[0] for line in
                    subprocess.run(["ldd", os.environ.get("MEMSWEEP", "/bin/true")], capture_output=True, text=True, check=True)
                    .stdout.splitlines() if "libm.so" in line)
        document = self.result("-a", f"allocator=[{libm}]", code=3)
        self.assertEqual(document["cases"][0]["status"], "error")
        self.assertIn("malloc came from", document["cases"][0]["reason"])

    def test_wrong_names_and_settings_are_load_errors(self):
        for before, after, message in (
                ('"glibc", "jemalloc"', '"glibc", "jemaloc"', 'did you mean "jemalloc"?'),
                ('"arena_max": 2', '"arenas_max": 2', 'did you mean "arena_max"?'),
                ('"arena_max": 2', '"arena_max": 0', "from 1 to"),
                ('"2s"', '2', "duration"),
                ('"axes"', '"x-axes"', 'does not have')):
            outcome = self.memsweep("validate", self.scenario(SCENARIO.replace(before, after)))
            self.assertEqual(outcome.code, 2)
            self.assertIn(message, outcome.errors)


if __name__ == "__main__":
    unittest.main()
