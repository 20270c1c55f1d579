"""The kit for a lent GPU: packed of this build, moved, and run where there is no GPU and on OpenCL's devices in its place.

The checkout is hidden from it where that can be done. Figures are planted: what is judged is what becomes of them.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from memsweep_cli import BINARY, CATALOG, MIB, SOURCE, CliTest, environment, own_mounts, sanitized

BUILD = BINARY.parent
KIT = SOURCE / "scripts/gpu_kit.sh"
FIGURES = SOURCE / "scripts/gpu_figures.awk"
# Hides a folder from a command; mounts of a namespace of its own end with it.
WITHOUT = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && cd / && exec "$@"', str(SOURCE)]
QUICK = "contract|probe|staging_equal|pool_100$|copies|write_combined|driver_memory|sample|scenario_(probe_staging|probe_healthcheck|transfer_chain)$"
GLIBC = re.compile(r"(linux-vdso|ld-linux\S*|lib(c|m|dl|rt|pthread|resolv)|libcuda)\.so")


def call(*argv, **options):
    return subprocess.run([os.fspath(part) for part in argv], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          timeout=240, **options)


def pack(cls, invented=False):
    """A kit of this build in a folder of its own, moved from where it was packed; its class is left out where it cannot be had. Of an
    invented one the programs are those on the invented CUDA library."""
    ours = BUILD / "invented" if invented else BUILD
    needed = [ours / "memsweep", ours / "test_gpu", BUILD / "test_device"]
    missing = [str(path) for path in needed if not path.exists()] + [tool for tool in ("strip", "ldd") if not shutil.which(tool)]
    if missing or sanitized():
        why = f"there is no {', '.join(missing)}" if missing else "a sanitized build is for tests, not for packing"
        print(f"\nskipped: {cls.__name__}: {why}", flush=True)
        raise unittest.SkipTest(why)
    home = pathlib.Path(tempfile.mkdtemp(prefix="memsweep-kit-"))
    cls.addClassCleanup(shutil.rmtree, home, ignore_errors=True)
    packed_of = BUILD
    if invented:
        packed_of = home / "build"
        packed_of.mkdir()
        for program in needed:
            (packed_of / program.name).symlink_to(program)
    cls.packing = call(KIT, "--build-dir", packed_of, "--out", home / "packed", cwd=home)
    assert cls.packing.returncode == 0, cls.packing
    cls.kit = (home / "packed").rename(home / "moved")


class KitTest(CliTest):
    def check(self, *words, **variables):
        """What gpu_check.sh does, out of sight of the checkout; its summary, by step."""
        hidden = [] if own_mounts() else WITHOUT
        if not hidden:
            print(f"\nskipped: {self.id()}: the checkout is not hidden: {own_mounts()}", flush=True)
        done = call(*hidden, self.kit / "gpu_check.sh", *words, "--out", self.folder / "out", cwd="/", env=environment(**variables))
        (summary,) = (self.folder / "out").glob("gpu_summary_*.txt")
        self.assertEqual(summary.read_text(), done.stdout)
        steps = {}
        for line in done.stdout.splitlines():
            if match := re.match(r"(passed|failed|compared|not run) +(\S+(?: [a-z]\w+)?) +(.*)", line):
                steps[match[2]] = (match[1], match[3])
        return done, steps


class GpuKit(KitTest):
    @classmethod
    def setUpClass(cls):
        pack(cls)

    def test_it_is_small_and_whole(self):
        files = [path for path in self.kit.rglob("*") if path.is_file()]
        self.assertLessEqual(sum(path.stat().st_size for path in files), 40 * MIB)
        readme = (self.kit / "README").read_text()
        for said in ("./gpu_check.sh a", "./gpu_check.sh b", "nvbandwidth: no source was named", "glibc 2."):
            self.assertIn(said, readme)
            self.assertIn(said, self.packing.stdout)
        for path in files:
            if path.suffix in {".sh", ".awk", ".json"} or path.name == "README":
                self.assertNotIn(str(SOURCE), path.read_text(), path)
        for program in (self.kit / "bin").iterdir():
            if program.name in ("nvbandwidth", "copy_engine", "staging_limit", "pool_loop"):
                continue  # they need the driver
            linked = call("ldd", program, env=environment(LD_LIBRARY_PATH=f"{self.kit}/lib:{self.kit}/lib/fallback")).stdout
            for line in linked.splitlines():
                self.assertTrue(str(self.kit) in line or GLIBC.search(line), f"{program.name}: {line}")

    def test_a_moved_binary_finds_its_catalog(self):
        binary = self.kit / "bin/memsweep"
        listed = json.loads(call(binary, "list", "scenarios", "--json", cwd=self.folder, env=environment()).stdout)["rows"]
        self.assertEqual({row["name"] for row in listed}, {path.stem for path in CATALOG.glob("*.json")})
        self.assertTrue(all(row["path"].startswith(f"{self.kit}/share/memsweep/scenarios/catalog/") for row in listed), listed)
        lone = shutil.copy(binary, self.folder / "memsweep")
        refused = call(lone, "list", "scenarios", cwd=self.folder, env=environment())
        self.assertEqual(refused.returncode, 2)
        self.assertIn(f"{self.folder.parent}/share/memsweep/scenarios/catalog: cannot list", refused.stderr)

    def test_refusals(self):
        out = self.folder / "kit"
        pack = [KIT, "--build-dir", BUILD, "--out", out]
        large = call(*pack, "--limit", "1")
        self.assertEqual((large.returncode, list(self.folder.iterdir())), (1, []), large)
        self.assertRegex(large.stderr, r"(?s)bin/memsweep\n.*gpu_kit: the kit would have \d+ MiB, more than 1")
        out.mkdir()
        (out / "mine").touch()
        for code, said, words in ((2, "is there and no kit", pack), (2, "no nvbandwidth.cpp in", [*pack, "--nvbandwidth", self.folder]),
                                  (2, "unknown argument", [KIT, "--size"]), (1, "no memsweep in", [KIT, "--build-dir", self.folder]),
                                  (2, "unknown argument", [self.kit / "gpu_check.sh", "d"]),
                                  (2, "neither cuda nor opencl", [self.kit / "gpu_check.sh", "--backend", "metal"])):
            refused = call(*words, cwd=self.folder)
            self.assertEqual(refused.returncode, code, refused)
            self.assertIn(said, refused.stderr)
        self.assertTrue((out / "mine").exists())

    def test_without_a_gpu(self):
        done, steps = self.check("all", "--budget", "59", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("NO GPU for cuda: none: CUDA: ", done.stdout)
        self.assertEqual({name for name, (verdict, _) in steps.items() if verdict != "not run"}, {"facts"})
        for name in ("contract", "probe", "driver_memory", "replay_sample", "scenario_probe_staging", "scenario_probe_h2d", "broken_context",
                     "sanitizer_memcheck", "sanitizer_initcheck", "staging_equal", "pool_1000"):
            self.assertEqual(steps[name], ("not run", "no device"))
        self.assertIn("is not in this kit", steps["beside_nvbandwidth"][1])
        self.assertEqual({path.name for path in (self.folder / "out").iterdir()}, {"gpu_summary_all.txt", "gpu_all.tgz"})

    def test_on_devices_of_opencl(self):
        found = json.loads(self.expect(0, "probe", "topology", "-f", "json", env=environment(CUDA_VISIBLE_DEVICES="")).text)
        if not found["machine"]["devices"]:
            self.leave_out(self.id(), "no OpenCL device (pocl-opencl-icd)")
        done, steps = self.check("all", "--backend", "opencl", "--quick", "--only", QUICK)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual({name: step for name, step in steps.items() if step[0] in ("failed", "not run")},
                         {"write_combined": ("not run", steps["write_combined"][1])})
        self.assertRegex(steps["contract"][1], r"^\d+ assertions in \d test cases$")
        self.assertRegex(steps["import_sample"][1], r"^events: +\d+$")
        for name in ("probe", "small_copies", "driver_memory", "replay_sample", "scenario_probe_staging", "scenario_transfer_chain",
                     "staging_equal", "pool_100"):
            self.assertRegex(steps[name][1], r"^\d+ ok")
        self.assertEqual(steps["staging host_to_device"][0], "compared")
        self.assertEqual(steps["pool_above_driver device"][0], "compared")
        left = sorted(path.name for path in (self.folder / "out").iterdir())
        self.assertEqual(left, ["gpu_all.tgz", "gpu_driver_memory.json", "gpu_pool_100.json", "gpu_probe.json", "gpu_replay_sample.json",
                                "gpu_staging_equal.json", "gpu_summary_all.txt"])
        self.result(self.folder / "out/gpu_driver_memory.json")
        probed = json.loads((self.folder / "out/gpu_probe.json").read_text())
        self.assertGreaterEqual(len(probed["machine"]["devices"]), 1)

    def test_a_summary_is_left_whatever_ends_it(self):
        done, steps = self.check("b", "--backend", "opencl", "--budget", "7")
        self.assertEqual(done.returncode, 2, done)
        self.assertEqual(steps["driver_memory"], ("not run", "no time is left"))
        driver = subprocess.Popen([self.kit / "gpu_check.sh", "b", "--backend", "opencl", "--out", self.folder / "cut"], cwd=self.folder,
                                  env=environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for line in driver.stdout:
            if line.startswith(b"passed    facts"):
                break
        driver.send_signal(signal.SIGTERM)
        driver.communicate(timeout=60)
        summary = (self.folder / "cut/gpu_summary_b.txt").read_text()
        self.assertEqual(driver.returncode, 1, summary)
        self.assertRegex(summary, r"(?m)^not run +sanitizer .*\n\n\d passed, 0 failed, after \d+ s$")
        self.assertIn("it was interrupted", summary)

    # One row of a report for each case.
    def planted(self, name, rows):
        header = "run_id,started,host,scenario,case,params,metric,unit,better,n,min,median,mad,ci_lo,ci_hi,mdape,outliers,status,axis.a,axis.b"
        lines = [f'r,t,h,s,{case},a=1/b=2,{metric},u,higher,1,0,{median!r},0,,,0,0,ok,1,2' for case, metric, median in rows]
        return self.write(name, "\r\n".join([header, *lines, ""]))

    def judged(self, report, *files, judge=1):
        done = call("awk", "-v", f"report={report}", "-v", f"judge={judge}", "-v", "csv=all.csv", "-f", FIGURES, *files, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {name: (verdict, detail) for verdict, name, detail in (line.split("\t") for line in done.stdout.splitlines())}

    def test_ratios_within_rounds(self):
        files = []
        for number, (h2d, rival) in enumerate(((50e9, 50.0), (40e9, 40.2), (30e9, 60.0)), 1):
            files += [self.planted(f"ours_{number}.csv", [("probe_device/device=gpu0/transfer=host_to_device_memcpy_ce", "bandwidth", h2d),
                                                          ("probe_device/device=gpu0/transfer=device_local_copy", "bandwidth", 999e9),
                                                          ("probe_device/device=gpu0/transfer=host_device_latency_sm", "latency", 7e-7)]),
                      self.write(f"nvbandwidth_{number}.txt", f"Running it.\n 0  {rival}\n\nSUM host_to_device_memcpy_ce {rival}\n"
                                 "SUM host_device_latency_sm 1400.00\nSUM device_local_copy 1000.00\n"),
                      self.write(f"copy_engine_{number}.txt", f"host_to_device_memcpy_ce,{h2d / 1e9}\n")]
        found = self.judged("beside", *files)
        verdict, detail = found["beside_nvbandwidth host_to_device_memcpy_ce"]
        self.assertEqual((verdict, detail), ("passed", "0.9950 of it (0.5000 to 1.0000 in 3 rounds, 0.99 asked); medians 40.00 and 50.00 GB/s"))
        self.assertEqual(found["beside_nvbandwidth device_local_copy"][0], "failed", "all of it is asked within a device")
        self.assertEqual(found["beside_nvbandwidth host_device_latency_sm"][0], "compared")
        self.assertIn("medians 700.00 and 1400.00 ns", found["beside_nvbandwidth host_device_latency_sm"][1])
        self.assertEqual(found["beside_copy_engine host_to_device_memcpy_ce"][0], "passed")
        self.assertEqual({verdict for verdict, _ in self.judged("beside", *files, judge=0).values()}, {"compared"})
        rows = (self.folder / "all.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 3 * 7)
        self.assertIn("host_to_device_memcpy_ce,2,nvbandwidth,40.2,GB/s", rows)
        self.assertEqual(self.judged("beside", files[0]), {"beside": ("none", "no round has figures of two programs")})

    def test_rounds_beside_planted_programs(self):
        """The steps that CUDA alone has, with programs that only say what they would."""
        row = self.planted("row.csv", [("probe_device/device=gpu0/transfer=host_to_device_memcpy_ce", "bandwidth", 50e9)])
        programs = {"memsweep": f"""case $* in
--version) echo memsweep 0 ;;
*--json) echo '"devices": "gpu0: planted (CUDA 13.0)"' ;;
*512MiB*) echo ours >>{self.folder}/order; cp {self.folder}/{row} "$(printf '%s\\n' "$@" | tail -n 1)" ;;
esac""", "nvbandwidth": f"echo theirs >>{self.folder}/order; echo SUM host_to_device_memcpy_ce 50.2",
                    "copy_engine": f"echo reference >>{self.folder}/order; echo host_to_device_memcpy_ce,49.9; exit $(($(wc -l <{self.folder}/order) > 14))",
                    "compute-sanitizer": "echo '========= Error: Device not supported'; exit 1", "test_gpu": "echo assertions: - none -"}
        kit = self.folder / "kit"
        (kit / "bin").mkdir(parents=True)
        for name, text in programs.items():
            (kit / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (kit / "bin" / name).chmod(0o755)
        for script in (KIT.with_name("gpu_check.sh"), FIGURES):
            shutil.copy(script, kit)
        done = call(kit / "gpu_check.sh", "--only", "beside|contract|broken_context|sanitizer", cwd=self.folder,
                    env=environment(PATH=f"{kit}/bin:{os.environ['PATH']}"))
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual((self.folder / "order").read_text().split(), ["theirs", "ours", "reference", "reference", "ours", "theirs"] * 2 +
                         ["theirs", "ours", "reference"])
        self.assertRegex(done.stdout, r"(?m)^failed +contract +exit code 0: no assertion; ")
        self.assertRegex(done.stdout, r"(?m)^failed +beside +copy_engine in round 5: exit code 1")
        self.assertRegex(done.stdout, r"(?m)^passed +beside_nvbandwidth host_to_device_memcpy_ce +0\.9960 of it .* in 5 rounds")
        for tool in ("memcheck", "initcheck", "racecheck", "synccheck"):
            self.assertRegex(done.stdout, rf"(?m)^not run +sanitizer_{tool} +Error: Device not supported$")
        self.assertRegex(done.stdout, r"(?m)^failed +broken_context +exit code 0: no assertion; ")
        self.assertEqual(len((kit / "results/gpu_beside.csv").read_text().splitlines()), 1 + 5 * 3)
        # What a latch asserts does not count under initcheck; that nothing was asserted does, and so does an error.
        failed_assertions = "assertions: 38 | 36 passed | 2 failed"
        for said, errors, code, verdicts in (("", 0, 0, ("failed", "failed")), ("assertions: 0", 0, 0, ("failed", "failed")),
                                             (failed_assertions, 0, 2, ("failed", "passed")), (failed_assertions, 5, 9, ("failed", "failed")),
                                             ("(12 assertions in 1 test case)", 0, 0, ("passed", "passed"))):
            (kit / "bin/compute-sanitizer").write_text(f"#!/bin/sh\necho '{said}'; echo '========= ERROR SUMMARY: {errors} errors'; exit {code}\n")
            done = call(kit / "gpu_check.sh", "b", "--only", "sanitizer", cwd=self.folder, env=environment(PATH=f"{kit}/bin:{os.environ['PATH']}"))
            self.assertEqual(tuple(re.findall(r"(?m)^(\w+) +sanitizer_\w+", done.stdout)), (*verdicts, verdicts[0], verdicts[0]), done)

    def test_pools_and_staging(self):
        times = [(f"driver_memory/pool={pool}/resource={resource}/size={size}", "time_per_op", time)
                 for resource, size, none, classes in (("pinned", "64KiB", 9e-6, 1e-6), ("pinned", "1MiB", 3e-6, 2e-6), ("device", "64KiB", 8e-6, 2e-6))
                 for pool, time in (("none", none), ("classes", classes))]
        found = self.judged("pool", self.planted("pool.csv", times))
        self.assertEqual(found["pool_above_driver pinned"], ("failed", "the driver alone takes 1.5 times as long at least, at 1MiB, 2.00 asked"))
        self.assertEqual(found["pool_above_driver device"][0], "passed")
        rates = [(f"probe_device/device=gpu0/transfer=host_to_device_{way}", "bandwidth", rate) for way, rate in (("staged", 14e9), ("pageable", 10e9))]
        found = self.judged("staged", self.planted("staged.csv", rates))
        self.assertEqual(found["staging host_to_device"][0], "passed")
        self.assertEqual(found["staging device_to_host"][0], "none")
        self.assertEqual(self.judged("counts", "staged.csv")["counts"], ("compared", "2 ok"))


if __name__ == "__main__":
    unittest.main()
