"""Every function that gives or takes a block is recorded and counted, whichever allocator serves it and however it got there."""

import json
import os
import shutil
import subprocess
import unittest

from memsweep_cli import BINARY, MIB, SOURCE, CliTest, environment, execute
from test_counting import CountedPrograms

BUILD = BINARY.parent
DOORS = BUILD / "recorded_doors"
PAGES = BUILD / "recorded_pages"
AS_PLUGIN = (BUILD / "recorded_plugin_host", BUILD / "librecorded_doors_library.so")
KINDS = ("malloc", "calloc", "aligned_alloc", "realloc", "free", "failed_alloc")
GIVING = KINDS[:4]
OWN = {"jemalloc": "mallocx", "mimalloc": "mi", "tcmalloc": "tc"}  # the doors that an allocator alone has
REFUSALS = "bad_alloc bad_alloc null null bad_alloc null null"
PLAIN = """
#include <cstdio>
#include <map>
#include <string>
struct Early { std::string text = std::string(100, 'x'); } early;
int main()
{
    std::map<int, std::string> all;
    for (int i = 0; i < 5000; ++i)
        all[i] = std::string(40 + i % 7, 'x');
    std::puts(all[7].c_str());
}
"""
OWN_NEW = """
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>
long made;
void* operator new(std::size_t bytes) { ++made; return std::malloc(bytes + 16); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
int main()
{
    for (int i = 0; i < 1000; ++i)
        std::vector<int>(100 + i).push_back(1);
    std::printf("%ld\\n", made);
    std::fflush(stdout);
}
"""
WRAPPER = """
#include <cstddef>
#include <new>
extern "C" void* __libc_malloc(std::size_t);
extern "C" void __libc_free(void*);
extern "C" void* malloc(std::size_t bytes) { return __libc_malloc(bytes); }
extern "C" void free(void* block) { __libc_free(block); }
void* operator new(std::size_t bytes) { return malloc(bytes); }
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, std::size_t) noexcept { free(block); }
"""
OTHER_NAMES = """
#include <cstddef>
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);
extern "C" void __libc_free(void*);
int main()
{
    for (int i = 0; i < 1000; ++i) {
        __libc_free(__libc_realloc(__libc_malloc(100), 200));
        __libc_free(__libc_calloc(2, 100));
        __libc_free(__libc_memalign(64, 100));
    }
}
"""


class Doors(CountedPrograms):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.libraries = {"glibc": ""}
        for line in execute("list", "allocators", cwd=SOURCE).text.splitlines():
            name = line.split()[0] if line.split() else ""
            library = next((word for word in line.split() if word.startswith("/") and ".so" in word), None)
            if name in OWN and library is not None:
                cls.libraries[name] = library

    def recorded(self, *command, library="", code=0):
        trace = self.folder / "t.mst"
        preloaded = {"LD_PRELOAD": os.fspath(library)} if library else {}
        outcome = execute("record", "-o", trace, "--", *command, env=environment(**preloaded), cwd=self.folder, timeout=120)
        self.assertEqual(outcome.code, code, f"\n{outcome}")
        return outcome.text.splitlines(), json.loads(self.expect(0, "info", trace, "--json").out)

    def totals_of(self, *command, library=""):
        images = self.count(*command, library=library)
        return [sum(getattr(image, name) for image in images) for name in ("allocations", "bytes", "live")]

    def assert_exact(self, command, way, library=""):
        """What the program says it did stands in the recording beyond what its start does, and in the counts."""
        idle = "idle" if way == "threads" else "nothing"
        _, start = self.recorded(*command, idle, library=library)
        said, info = self.recorded(*command, way, library=library)
        said = json.loads(said[-1])
        found = {kind: info["by_kind"].get(kind, 0) - start["by_kind"].get(kind, 0) for kind in KINDS}
        found["bytes"] = info["bytes_allocated"] - start["bytes_allocated"]
        found["live"] = info["end_live_bytes"] - start["end_live_bytes"]
        self.assertEqual(found, said)
        self.assertGreater(said["free"], 1000)
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0), "each call is recorded once")
        before, after = (self.totals_of(*command, one, library=library) for one in (idle, way))
        self.assertEqual([b - a for a, b in zip(before, after)],
                         [sum(said[kind] for kind in GIVING), said["bytes"], said["live"]], "so are the counts")

    def compiled(self, name, source, *options):
        compiler = shutil.which("g++")
        if compiler is None:
            self.leave_out(self.id(), "g++ is not installed")
        self.write(f"{name}.cpp", source)
        path = self.folder / name
        subprocess.run([compiler, "-O1", "-fno-builtin", "-o", path, self.folder / f"{name}.cpp", *options], check=True)
        return path

    def test_every_door_of_every_allocator(self):
        for name, library in self.libraries.items():
            for way in ("c", "new", "threads", "fork", *([OWN[name]] if name in OWN else [])):
                with self.subTest(allocator=name, way=way):
                    self.assert_exact([DOORS], way, library)

    def test_an_allocator_that_is_linked(self):
        source = (SOURCE / "tests/recorded/recorded_doors.cpp").read_text()
        for name, library in self.libraries.items():
            if not library:
                continue
            program = self.compiled(f"with_{name}", source, "-std=c++20", "-Wl,--no-as-needed", library, "-pthread")
            for way in ("c", "new", "threads", OWN[name]):
                with self.subTest(allocator=name, way=way):
                    self.assert_exact([program], way)

    def test_a_library_of_cpp_in_a_program_of_c(self):
        for name, library in self.libraries.items():
            for way in ("new", "threads"):
                with self.subTest(allocator=name, way=way):
                    self.assert_exact(AS_PLUGIN, way, library)

    def test_refusals_stay_what_they_are(self):
        for name, library in self.libraries.items():
            if name == "mimalloc":
                continue  # built for C, it aborts
            for command in ([DOORS], AS_PLUGIN):
                with self.subTest(allocator=name, command=command):
                    outcome, info = self.recorded(*command, "refused", library=library)
                    self.assertEqual(outcome[0], REFUSALS)
                    self.assertEqual(info["failures"], 7)
                    self.assertEqual(self.recorded(*command, "handler", library=library)[0][0], "bad_alloc after 3 tries")

    def test_a_program_counts_alike_on_every_allocator(self):
        """But for what an allocator itself asks for: one block of tcmalloc's."""
        for linked in ((), ("-static-libstdc++", "-static-libgcc")):
            program = self.compiled("plain", PLAIN, *linked)
            found = {name: self.totals_of(program, library=library) for name, library in self.libraries.items()}
            for name, (allocations, size, _) in found.items():
                with self.subTest(allocator=name, linked=linked):
                    self.assertGreater(allocations, 10_000)
                    self.assertLessEqual(abs(allocations - found["glibc"][0]), 3)
                    self.assertLessEqual(abs(size - found["glibc"][1]), 80_000, "libstdc++'s reserve for exceptions")

    def test_a_program_with_an_operator_of_its_own(self):
        program = self.compiled("own_new", OWN_NEW)
        for name, library in self.libraries.items():
            with self.subTest(allocator=name):
                said, info = self.recorded(program, library=library)
                made = int(said[-1])
                self.assertGreaterEqual(made, 1000)
                self.assertLessEqual(info["by_kind"]["malloc"] - made, 4, "its malloc is what is seen")
                self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))

    def test_a_wrapper_in_front_of_the_allocator(self):
        wrapper = self.compiled("libwrapper.so", WRAPPER, "-shared", "-fPIC")
        program = self.compiled("plain", PLAIN)
        self.assertEqual(self.totals_of(program, library=wrapper), self.totals_of(program), "nothing is counted twice")
        _, info = self.recorded(program, library=os.fspath(wrapper))
        self.assertEqual((info["unknown_frees"], info["duplicate_allocations"]), (0, 0))

    def test_other_names_of_the_c_library(self):
        program = self.compiled("other_names", OTHER_NAMES)
        _, info = self.recorded(program)
        found = {kind: info["by_kind"].get(kind, 0) // 1000 for kind in GIVING + ("free",)}
        self.assertEqual(found, {"malloc": 1, "calloc": 1, "aligned_alloc": 1, "realloc": 1, "free": 3})

    def test_blocks_that_pass_by_are_noticed(self):
        """By the pages that a process held: what asks past every door is not taken for little."""
        for name, library in self.libraries.items():
            for command in (("hidden", library or "libc.so.6"), ("break",)):
                with self.subTest(allocator=name, command=command):
                    trace = self.folder / "t.mst"
                    preloaded = {"LD_PRELOAD": library} if library else {}
                    recording = execute("record", "-o", trace, "--", PAGES, *command, env=environment(**preloaded), cwd=self.folder)
                    self.assertEqual(recording.code, 0, f"\n{recording}")
                    seen = self.expect(0, "info", trace, "--json")
                    for outcome in (recording, seen):
                        self.assertRegex(outcome.errors, r"does not see the allocations of process .*held \d+(\.\d+)? MiB in pages")
                    (process,) = json.loads(seen.out)["by_process"]
                    self.assertGreater(process["heap_pages_bytes"], 40 * MIB)
                    self.expect(0, "record", "-q", "-o", trace, "--sample", "2", "--", PAGES, *command)
                    self.assertNotIn("does not see", self.expect(0, "info", trace).errors, "a part is what was asked for")

    def test_what_is_seen_is_not_doubted(self):
        for name, library in self.libraries.items():
            for way in ("blocks", "tiny", "large", "new", "mapped", "copied", "data", "stacks", "nothing"):
                with self.subTest(allocator=name, way=way):
                    trace = self.folder / "t.mst"
                    preloaded = {"LD_PRELOAD": library} if library else {}
                    recording = execute("record", "-o", trace, "--", PAGES, way, env=environment(**preloaded), cwd=self.folder)
                    self.assertEqual(recording.code, 0, f"\n{recording}")
                    self.assertNotIn("does not see", recording.errors + self.expect(0, "info", trace).errors)


class Uncounted(CliTest):
    def test_a_count_of_what_is_not_seen_is_absent(self):
        def counted(*command):
            result = self.folder / "r.json"
            self.expect(0, "run", "--count", "-n", "1", "-o", result, "--", PAGES, *command)
            return result.read_text()
        self.assertRegex(counted("hidden", "libc.so.6"), r"cannot be counted: a process of it held \d+(\.\d+)? MiB in pages")
        self.assertNotIn("cannot be counted", counted("blocks"))


if __name__ == "__main__":
    unittest.main()
