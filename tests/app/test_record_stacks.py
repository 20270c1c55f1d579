"""Every allocation has the stack that it was called from, whatever becomes of the program.

MEMSWEEP_TEST_KILLS    how many kills; 10 unless told
MEMSWEEP_TEST_STORMS   how many runs whose threads open and close a library; 2 unless told
"""

import collections
import json
import math
import os
import pathlib
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from memsweep_cli import SOURCE, environment, execute
from test_record import LONGEST_S, Recording, program
from trace_stacks import CUT, Functions, Stacks

PROGRAM = program("recorded_stacks")
PLUGIN = program("librecorded_stacks_plugin.so")
KILLS = int(os.environ.get("MEMSWEEP_TEST_KILLS") or 10)
STORMS = int(os.environ.get("MEMSWEEP_TEST_STORMS") or 2)
TOTALS = ("events", "allocations", "frees", "reallocations", "peak_live_bytes", "end_live_bytes", "bytes_allocated", "by_kind")


def seeded():
    seed = int(os.environ.get("MEMSWEEP_TEST_SEED") or random.randrange(1 << 32))
    print(f"MEMSWEEP_TEST_SEED={seed}", file=sys.stderr)
    return random.Random(seed)


@unittest.skipUnless(platform.machine() == "x86_64", "frames are followed by their information on x86-64 alone")
class Trees(Recording):
    def stacks(self, *words, binary=PROGRAM, options=("--stacks",), code=0, env=None):
        self.outcome = self.record(binary, *words, options=options, code=code, env=env)
        return Stacks(self.trace)

    @staticmethod
    def functions():
        return {pathlib.Path(path).name: Functions(path) for path in (PROGRAM, PLUGIN)}

    def callers_named(self, stacks):
        """Events without a stack, and those of the stacks whose innermost place it is, by the function that called."""
        functions = self.functions()
        counts = collections.Counter()
        innermost = collections.Counter()
        for (process, image, addresses), count in stacks.chains().items():
            innermost[process, image, addresses[0] if addresses else 0] += count
        for (process, image, address), count in (stacks.callers + innermost).items():
            module = stacks.module(process, image, address) if address else None
            known = functions.get(pathlib.Path(module.path).name) if module else None
            counts[known and known.name(address - 1 - module.bias)] += count
        return counts

    def named(self, stacks, ours=PROGRAM):
        """Events by the functions of the program in their stacks, innermost first, up to run(); cut ones end in "cut"."""
        functions = {pathlib.Path(PROGRAM).name: Functions(PROGRAM), pathlib.Path(PLUGIN).name: Functions(PLUGIN)}
        functions[pathlib.Path(ours).name] = functions[pathlib.Path(PROGRAM).name]
        counts = collections.Counter()
        for (process, image, addresses), count in stacks.chains().items():
            names = []
            for address in addresses:
                module = stacks.module(process, image, address)
                known = functions.get(pathlib.Path(module.path).name) if module else None
                name = known and known.name(address - 1 - module.bias)
                names += [name] if name and name not in ("main", "_start") else []
            names += ["cut"] if addresses and addresses[-1] == CUT else []
            counts[tuple(names)] += count
        return counts

    def of_run(self, named):
        """What run() called."""
        return {names[:names.index("run")]: count for names, count in named.items() if "run" in names}

    TREE = {("leaf_a", "middle"): 335, ("leaf_b", "middle"): 115, ("grower",): 400, ("leaf_a",) + ("descend",) * 21: 1}

    def test_a_known_tree(self):
        self.assertEqual(self.of_run(self.named(self.stacks("tree"))), self.TREE)

    def test_a_stripped_program(self):
        bare = self.folder / "bare"
        subprocess.run(["strip", "-o", bare, PROGRAM], check=True)
        self.assertEqual(self.of_run(self.named(self.stacks("tree", binary=bare), bare)), self.TREE)

    def test_every_event_that_asks_for_memory_has_a_stack(self):
        for words in (["tree"], ["threads", "6"], ["fork"]):
            with self.subTest(words[0]):
                stacks = self.stacks(*words)
                kinds = self.info()["by_kind"]
                asking = sum(kinds.get(kind, 0) for kind in ("malloc", "calloc", "realloc", "aligned_alloc", "failed_alloc", "map"))
                counts = stacks.counts()
                self.assertEqual(sum(counts.values()), asking)
                self.assertEqual(sum(count for key, count in counts.items() if key[2] == 0), 0)

    def test_totals_and_output_are_the_same_without(self):
        for words in (["tree"], ["handler"], ["deep"]):
            with self.subTest(words[0]):
                self.stacks(*words)
                with_stacks = self.info()
                said = self.outcome.out
                outcome = self.record(PROGRAM, *words)
                without = self.info()
                self.assertEqual(said, outcome.out)
                self.assertEqual({key: with_stacks[key] for key in TOTALS}, {key: without[key] for key in TOTALS})
                self.assertNotIn("stacks", without["facts"])
                self.assertEqual(with_stacks["facts"]["stacks"], "full")
                self.assertFalse(Stacks(self.trace).runs)

    def test_what_is_deeper_than_frames_are_followed_is_cut(self):
        named = self.named(self.stacks("deep"))
        deep = [names for names in named if names[:2] == ("leaf_a", "descend")]
        self.assertEqual(len(deep), 1)
        self.assertEqual(deep[0], ("leaf_a",) + ("descend",) * 255 + ("cut",))

    def test_an_aligned_frame(self):
        self.assertEqual(self.of_run(self.named(self.stacks("aligned"))), {("leaf_a", "aligned_frame"): 1})

    def test_through_a_signal(self):
        named = self.of_run(self.named(self.stacks("handler")))
        self.assertEqual(named, {("leaf_b", "on_signal", "raiser"): 17}, "on the thread's stack, and on one of its own")

    def test_a_signal_anywhere(self):
        named = self.named(self.stacks("timer", "300"))
        strikes = int(self.outcome.errors.splitlines()[0])
        handlers = collections.Counter({names: count for names, count in named.items() if names[:2] == ("leaf_b", "on_timer")})
        others = {names for names, count in named.items() if names[:1] in (("leaf_a",), ("leaf_b",)) and names not in handlers}
        self.assertEqual(sum(handlers.values()), strikes)
        self.assertLessEqual(others, {("leaf_a", "middle", "under_a_timer", "run"), ("leaf_b", "middle", "under_a_timer", "run")})

    def test_another_stack(self):
        named = self.named(self.stacks("coroutine"))
        self.assertEqual(named["leaf_b", "resume", "run"], 1)
        self.assertEqual(sum(count for names, count in named.items() if names[:2] in (("leaf_b", "coroutine"), ("leaf_a", "coroutine"))), 2)

    def test_fork(self):
        stacks = self.stacks("fork")
        by_process = collections.defaultdict(collections.Counter)
        for (process, image, addresses), count in stacks.chains().items():
            by_process[process] += collections.Counter({(image, addresses): count})
        self.assertEqual(len(by_process), 2)
        named = self.of_run(self.named(stacks))
        self.assertEqual(named, {("leaf_a", "middle", "forking"): 50 + 20 + 10, ("leaf_b", "middle", "forking"): 17 + 7 + 4,
                                 ("leaf_b", "in_child", "forking"): 30})

    def test_handlers_that_fork(self):
        for _ in range(3):
            stacks = self.stacks("handler_forks", binary=program("recorded_program"))
            info = self.info()
            self.assertEqual(info["by_kind"]["process_exit"], 301, "no child ends with a signal of its own")
            for (process, image, node), (parent, _) in ((key, stacks.nodes[key]) for key in stacks.nodes):
                self.assertTrue(parent == 0 or (process, image, parent) in stacks.nodes, (process, image, node))

    def test_exec_begins_a_new_image(self):
        stacks = self.stacks("exec")
        self.assertEqual({image for _, image, _ in stacks.counts()}, {0, 1})
        named = self.of_run(self.named(stacks))
        self.assertEqual(named[("leaf_a", "middle")], 335 + 3)
        self.assertEqual(named[("grower",)], 400)

    def test_threads(self):
        named = self.named(self.stacks("threads", "8"))
        self.assertEqual(sum(count for names, count in named.items() if names[:2] == ("leaf_a", "thread_body")), 8000)

    def test_libraries_come_and_go(self):
        for storm in range(STORMS):
            threads, rounds = (8, 100) if storm == 0 else (64, 3)
            with self.subTest(storm=storm):
                named = self.named(self.stacks("storm", str(threads), str(rounds), PLUGIN))
                plugin = sum(count for names, count in named.items() if names[:3] == ("plugin_leaf", "plugin_allocate", "with_library"))
                own = sum(count for names, count in named.items() if names[:2] == ("leaf_a", "with_library"))
                self.assertEqual((plugin, own), (5 * threads * rounds, threads * rounds))

    def test_killed_at_any_moment(self):
        draw = seeded()
        finished = self.folder / "finished"
        for _ in range(KILLS):
            moment = 0.06 * draw.random()
            with self.subTest(moment=moment):
                script = '"$0" loop "$2" & sleep "$1"; kill -KILL $!; wait'
                finished.write_bytes(bytes(8))
                outcome = self.record("bash", "-c", script, PROGRAM, f"{moment:.3f}", finished, options=["--stacks"], code=(0, 2))
                if outcome.code == 2:
                    self.assertIn("ran without the recorder", outcome.errors, "killed before it had loaded anything")
                    self.assertEqual(finished.read_bytes(), bytes(8))
                    continue
                stacks = Stacks(self.trace)
                counts = stacks.counts()
                chains = stacks.chains()  # every node is there
                self.assertEqual(sum(count for key, count in counts.items() if key[2] == 0), 0)
                named = self.of_run(self.named(stacks))
                self.assertLessEqual(set(named), {("leaf_a", "middle"), ("leaf_b", "middle")}, chains)
                rounds = int.from_bytes(finished.read_bytes(), sys.byteorder)
                for leaf in ("leaf_a", "leaf_b"):
                    self.assertIn(named.get((leaf, "middle"), 0), (rounds, rounds + 1), "no event that was complete is lost")

    def test_what_is_cut_off_is_recovered_with_its_stacks(self):
        stop = execute("record", "-o", self.trace, "--stacks", "--", "sh", "-c", '"$0" tree; kill -KILL $PPID', PROGRAM,
                       cwd=self.folder, timeout=LONGEST_S)
        self.assertNotEqual(stop.code, 0)
        folder = pathlib.Path(f"{self.trace}.recording")
        self.assertTrue(list(folder.glob("*.stacks")))
        time.sleep(0.2)
        self.expect(0, "record", "--recover", folder, "-o", self.trace)
        self.assertFalse(folder.exists())
        self.assertEqual(self.of_run(self.named(Stacks(self.trace))), self.TREE)
        self.assertEqual(self.info()["facts"]["stacks"], "full")

    def test_no_room_for_stacks(self):
        outcome = execute("record", "-o", self.trace, "--stacks", "--", "bash", "-c", f"ulimit -f {300 << 10}; \"$0\" tree", PROGRAM,
                          cwd=self.folder, timeout=LONGEST_S)
        self.assertEqual(outcome.code, 0, f"\n{outcome}")
        self.assertGreater(self.info()["events"], 1000)


    def test_libraries_that_have_one_place_in_turn_are_told_apart(self):
        if shutil.which("cc") is None:
            self.leave_out(self.id(), "there is no C compiler")
        (self.folder / "plugin.c").write_text("#include <stdlib.h>\nvoid NAME(void) { for (int i = 0; i < 50; i++) { void* volatile p = malloc(SIZE); (void)p; } }\n")
        (self.folder / "host.c").write_text(
            "#include <dlfcn.h>\nint main(int count, char** names) {\n  for (int i = 1; i + 1 < count; i += 2) {\n"
            "    void* library = dlopen(names[i], RTLD_NOW);\n    ((void (*)(void))dlsym(library, names[i + 1]))();\n"
            "    dlclose(library);\n  }\n  return 0;\n}\n")
        for name, size in (("one", 1000), ("two", 3000)):
            subprocess.run(["cc", "-g", "-shared", "-fPIC", f"-DNAME=plug_{name}", f"-DSIZE={size}", "-o", self.folder / f"{name}.so",
                            self.folder / "plugin.c"], check=True)
        subprocess.run(["cc", "-o", self.folder / "host", self.folder / "host.c", "-ldl"], check=True)
        one, two = ("./one.so", "plug_one"), ("./two.so", "plug_two")
        self.record("./host", *one, *two, *one, *two, *two, options=("--stacks",))
        sites = json.loads(self.expect(0, "info", self.trace, "--by", "function", "--json").out)
        found = {site["name"]: site["allocations"] for site in sites["sites"] if site["name"].startswith("plug_")}
        self.assertEqual(found, {"plug_one": 100, "plug_two": 150})

    def test_a_sample_stands_for_all(self):
        every = 4096
        named = self.of_run(self.named(self.stacks("tree", options=[f"--stacks={every}"])))
        self.assertEqual(self.info()["facts"]["stacks"], str(every))
        self.assertLessEqual(set(named), set(self.TREE))
        estimates = []  # of the bytes that grower() asks for: 200 blocks of 24 bytes, and of 5000
        for _ in range(20):
            stacks = self.stacks("tree", options=[f"--stacks={every}"])
            sampled = self.of_run(self.named(stacks)).get(("grower",), 0)
            estimates.append(sampled * 5000 / -math.expm1(-5000 / every))
        # Of 24 bytes one in 171 is in the sample, of 5000 seven in ten: 20 times 200 of these are known to 1.1 %.
        self.assertAlmostEqual(sum(estimates) / len(estimates) / (200 * 5000), 1, delta=0.06)


    def test_a_block_outside_the_sample_has_its_caller(self):
        for words in (["tree"], ["threads", "6"], ["fork"], ["exec"], ["handler"], ["storm", "4", "20", PLUGIN]):
            exact = self.callers_named(self.stacks(*words))
            for every in ("1TiB", "4KiB"):
                with self.subTest(words[0], every=every):
                    sampled = self.stacks(*words, options=[f"--stacks={every}"])
                    kinds = self.info()["by_kind"]
                    asking = sum(kinds.get(kind, 0) for kind in ("malloc", "calloc", "realloc", "aligned_alloc"))
                    others = sum(kinds.get(kind, 0) for kind in ("failed_alloc", "map"))
                    known = sum(sampled.callers.values()) + sum(count for key, count in sampled.counts().items() if key[2])
                    self.assertLessEqual(asking, known)
                    self.assertLessEqual(known, asking + others)
                    named = self.callers_named(sampled)
                    for function in ("leaf_a", "leaf_b", "grower", "plugin_leaf"):
                        self.assertEqual(named[function], exact[function], function)

    def test_killed_at_any_moment_no_caller_is_lost(self):
        draw = seeded()
        finished = self.folder / "finished"
        for _ in range(KILLS):
            moment = 0.06 * draw.random()
            with self.subTest(moment=moment):
                script = '"$0" loop "$2" & sleep "$1"; kill -KILL $!; wait'
                finished.write_bytes(bytes(8))
                outcome = self.record("bash", "-c", script, PROGRAM, f"{moment:.3f}", finished, options=["--stacks=4KiB"], code=(0, 2))
                if outcome.code == 2:
                    self.assertEqual(finished.read_bytes(), bytes(8))
                    continue
                named = self.callers_named(Stacks(self.trace))
                rounds = int.from_bytes(finished.read_bytes(), sys.byteorder)
                for leaf in ("leaf_a", "leaf_b"):
                    self.assertIn(named[leaf], (rounds, rounds + 1), "no event that was complete is lost")

    def test_sums_by_caller_are_exact(self):
        for words in (["tree"], ["threads", "6"]):
            full, sampled = ({site["function"]: site for site in self.sites(*words, every=every)} for every in ("full", "4KiB"))
            for function in full.keys() & {"leaf_a", "leaf_b", "grower"}:
                with self.subTest(words[0], function=function):
                    for figure in ("allocations", "bytes_allocated", "end_live_bytes", "end_live_blocks"):
                        self.assertEqual(sampled[function][figure], full[function][figure], figure)

    def sites(self, *words, every):
        self.stacks(*words, options=[f"--stacks={every}"])
        report = json.loads(self.expect(0, "info", self.trace, "--by", "function", "--top", "0", "--json").out)
        info = self.info()
        self.assertEqual(report["exact"], "all" if every == "full" else "callers")
        for figure, total in (("allocations", "allocations"), ("peak_live_bytes", "peak_live_bytes"), ("end_live_blocks", "end_live_blocks")):
            self.assertEqual(report["total"][figure], info[total], figure)
            self.assertEqual(sum(site[figure] for site in report["sites"]), report["total"][figure], figure)
        for site in report["sites"]:
            site["function"] = (site["function"] or "").replace("(anonymous namespace)::", "").split("(")[0]
        return report["sites"]


class Words(Recording):
    def test_values(self):
        for word, code in (("--stacks", 0), ("--stacks=full", 0), ("--stacks=64KiB", 0), ("--stacks=0", 2), ("--stacks=2TiB", 2), ("--stacks=some", 2)):
            with self.subTest(word):
                outcome = execute("record", "-o", self.trace, word, "--", "true", cwd=self.folder, timeout=LONGEST_S)
                self.assertEqual(outcome.code, code, f"\n{outcome}")


if __name__ == "__main__":
    unittest.main()
