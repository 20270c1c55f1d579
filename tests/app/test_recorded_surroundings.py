"""What a recording says beside blocks: who mapped, whose malloc served, where threads' stacks lie."""

import json
import os
import pathlib
import signal
import struct
import subprocess

from memsweep_cli import BINARY, MIB, environment, execute
from test_record import CALLS, LONGEST_S, Recording, program
from trace_stacks import Stacks

PROGRAM = program("recorded_surroundings")
PLUGIN = program("librecorded_stacks_plugin.so")
OWN, OF_PLUGIN = (3, 3 * MIB, 3 * MIB, 2 * MIB), (2, 4 * MIB, 4 * MIB, 3 * MIB)  # mappings, bytes, at most, at the end


class Surroundings(Recording):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rows = json.loads(execute("list", "allocators", "--json").out)["rows"]
        cls.libraries = {"glibc": ""}
        cls.libraries.update({row["allocator"]: row["library"] for row in rows if row["installed"] and row["allocator"] != "glibc"})

    def recorded(self, *words, library="", options=(), code=0):
        self.outcome = self.record(*words, options=options, code=code, env=environment(LD_PRELOAD=library) if library else None)
        return self.info()


class Mappers(Surroundings):
    def figures(self, info):
        return {pathlib.Path(one["module"] or "").name: tuple(one[key] for key in
                ("mappings", "bytes_mapped", "peak_mapped_bytes", "end_mapped_bytes")) for one in info["mapped_by"]}

    def assert_maps(self, info):
        figures = self.figures(info)
        self.assertEqual(figures[PROGRAM.name], OWN)
        self.assertEqual(figures[PLUGIN.name], OF_PLUGIN)
        self.assertEqual(sum(one["mappings"] for one in info["mapped_by"]), info["by_kind"]["map"])

    def test_each_mapping_has_its_module(self):
        for options in ((), ("--stacks",), ("--stacks=4KiB",)):
            with self.subTest(options=options):
                info = self.recorded(PROGRAM, "maps", PLUGIN, options=options)
                self.assert_maps(info)
                self.assertFalse(any(one["is_allocator"] for one in info["mapped_by"]), "glibc does not call mmap by name")
                self.assertEqual("stacks" in info["facts"], "--stacks" in " ".join(options))

    def test_without_stacks_there_are_none(self):
        self.recorded(PROGRAM, "maps", PLUGIN)
        self.assertIn("was recorded without stacks", self.expect(2, "info", self.trace, "--by", "site").errors)

    def test_what_the_allocator_maps_is_told_from_what_the_program_does(self):
        for name, library in self.libraries.items():
            with self.subTest(allocator=name):
                info = self.recorded(PROGRAM, "maps", PLUGIN, library=library)
                self.assert_maps(info)
                served_by = info["by_process"][0]["malloc_from"]
                self.assertTrue(served_by.endswith(os.path.basename(library) or "libc.so.6"), served_by)
                allocators = [one for one in info["mapped_by"] if one["is_allocator"]]
                maps_by_name = name not in ("glibc", "tcmalloc")  # which asks sbrk
                self.assertEqual(len(allocators), 1 if maps_by_name else 0)
                for one in allocators:
                    self.assertEqual(os.path.basename(one["module"]), os.path.basename(served_by))
                    self.assertGreater(one["mappings"], 0)

    def test_killed(self):
        self.assert_maps(self.recorded(PROGRAM, "killed", PLUGIN, code=128 + signal.SIGKILL))

    def test_a_forked_child(self):
        for options in ((), ("--stacks",)):
            self.assert_maps(self.recorded(PROGRAM, "fork", PLUGIN, options=options))

    def test_handlers_that_map(self):
        info = self.recorded(program("recorded_program"), "signals")
        self.assertEqual(set(self.figures(info)), {"recorded_program"})
        self.assertGreaterEqual(self.figures(info)["recorded_program"][0], 300)

    def test_plugins_that_come_and_go(self):
        threads, rounds = 64, 20
        for options in ((), ("--stacks",)):
            info = self.recorded(PROGRAM, "storm", str(threads), str(rounds), PLUGIN, options=options)
            mappings, size, _, at_end = self.figures(info)[PLUGIN.name]
            self.assertEqual((mappings, size, at_end), (threads * rounds, threads * rounds * MIB // 16, 0))

    def test_a_mapping_of_a_file_stays_one(self):
        info = self.recorded(PROGRAM, "remap", self.folder / "file")
        self.assertEqual(info["by_kind"]["map"], 4, "two anonymous ones, each made and resized")
        self.assertEqual(info["by_kind"]["unmap"], 6)
        self.assertEqual(self.figures(info)[PROGRAM.name], (4, 6 * MIB, 3 * MIB, 2 * MIB))

    def test_text_says_who_maps(self):
        self.recorded(PROGRAM, "maps", PLUGIN)
        text = self.expect(0, "info", self.trace).text
        self.assertIn("Mapped by whom", text)
        self.assertIn(PLUGIN.name, text)


class Threads(Surroundings):
    def test_each_thread_has_its_stack(self):
        count = 16
        for name, library in self.libraries.items():
            for options in ((), ("--stacks",)):
                with self.subTest(allocator=name, options=options):
                    info = self.recorded(PROGRAM, "threads", str(count), library=library, options=options)
                    said = {}
                    for line in self.outcome.text.splitlines():
                        if line[:1].isdigit():
                            thread, low, size = map(int, line.split())
                            said[thread] = (low, size)
                    found = {thread: stack for (_, thread), stack in Stacks(self.trace).thread_stacks.items()}
                    self.assertEqual({thread: found.get(thread) for thread in said}, said)
                    self.assertEqual(info["by_kind"]["thread_start"], info["by_kind"]["thread_exit"])
                    self.assertGreaterEqual(info["by_kind"]["thread_start"], 2 * count)
                    self.assertGreaterEqual(info["thread_stacks"]["threads"], 2 * count)
                    self.assertLess(info["thread_stacks"]["peak_bytes"], info["thread_stacks"]["bytes"])

    def test_the_recorder_allocates_nothing_for_it(self):
        counts = self.folder / "alone"
        counts.write_bytes(bytes(4096))
        subprocess.run([PROGRAM, "threads", "8"], stdout=subprocess.DEVNULL, check=True, env=environment(
            LD_PRELOAD=os.fspath(program("libmemsweep_count_calls.so")), COUNT_CALLS=os.fspath(counts)))
        alone = struct.unpack(f"{len(CALLS)}Q", counts.read_bytes()[:8 * len(CALLS)])
        _, counted = self.counted(PROGRAM, "threads", "8")
        self.assertEqual(counted, dict(zip(CALLS, alone)))

    def test_a_forked_child_has_the_stack_of_the_thread_that_forked(self):
        info = self.recorded(program("recorded_program"), "fork")
        self.assertEqual(info["thread_stacks"]["threads"], 0, "that of a first thread is the kernel's to name")


class UsableSizes(Surroundings):
    WAYS = (("sizes",), ("sizes_in_threads", "4"))

    def said(self):
        lines = (line.split() for line in self.outcome.text.splitlines())
        return {(int(words[0]), int(words[1])): int(words[2]) for words in lines if len(words) == 3 and words[0].isdigit()}

    def test_each_size_once_as_the_allocator_has_it(self):
        for name, library in self.libraries.items():
            for way in self.WAYS:
                for options in ((), ("--stacks",)):
                    with self.subTest(allocator=name, way=way, options=options):
                        info = self.recorded(PROGRAM, *way, library=library, options=options)
                        found = Stacks(self.trace).usable_sizes
                        self.assertEqual(info["usable_sizes"], len(found))
                        if name == "glibc":
                            self.assertEqual(found, {}, "it is a rule")
                            continue
                        self.assertEqual({pair: found[pair] for pair in found if len(found[pair]) != 1}, {}, "said once")
                        told = {pair: usable for pair, usable in self.said().items() if pair in found}
                        self.assertEqual({pair: min(found[pair]) for pair in told}, told)
                        self.assertEqual(set(self.said()) - set(found), set())

    def test_what_was_said_before_a_kill_stays(self):
        for name, library in self.libraries.items():
            self.recorded(PROGRAM, "sizes", library=library)
            wanted = self.said()
            self.recorded(PROGRAM, "sizes", "killed", library=library, code=128 + signal.SIGKILL)
            found = Stacks(self.trace).usable_sizes
            with self.subTest(allocator=name):
                self.assertLessEqual(len(set(wanted) - set(found)), len(wanted) if name == "glibc" else 64, "a window of events")

    def test_the_heap_is_as_without(self):
        for name, library in self.libraries.items():
            with self.subTest(allocator=name):
                self.recorded(PROGRAM, "sizes", library=library)
                recorded = self.said()
                alone = subprocess.run([PROGRAM, "sizes"], capture_output=True, text=True, check=True,
                                       env=environment(LD_PRELOAD=library) if library else environment()).stdout
                self.assertEqual(recorded, {(size, alignment): usable for size, alignment, usable in
                                            (map(int, line.split()) for line in alone.splitlines())})


class Cuts(Surroundings):
    def assert_exact(self, threads, cuts, *options, library="", kill=False):
        command = [program("check_cuts"), self.trace, self.folder / "counts", str(threads), str(cuts), *(["kill"] if kill else []), "--",
                   BINARY, "record", "-q", "-o", self.trace, *options, "--", program("recorded_cuts"), self.folder / "counts", str(threads)]
        variables = environment(LD_PRELOAD=library) if library else environment()
        done = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=self.folder, timeout=LONGEST_S)
        self.assertEqual(done.returncode, 0, f"\n{done.stdout}{done.stderr}")
        words = done.stdout.split()
        self.assertEqual(words[:4], ["moments", str(cuts), "threads", str(cuts * max(threads, 1))])
        self.assertGreater(int(words[5]), 1000, "something was compared")

    def test_a_cut_has_what_each_thread_had_recorded(self):
        for threads in (0, 1, 4, 24):
            with self.subTest(threads=threads):
                self.assert_exact(threads, 25 if threads < 24 else 10)

    def test_with_stacks(self):
        self.assert_exact(4, 15, "--stacks")

    def test_of_every_allocator(self):
        for name, library in self.libraries.items():
            for threads in (0, 4):
                with self.subTest(allocator=name, threads=threads):
                    self.assert_exact(threads, 8, library=library)

    def test_of_a_program_that_is_killed_where_it_stands(self):
        for threads in (0, 6):
            with self.subTest(threads=threads):
                self.assert_exact(threads, 5, kill=True)
