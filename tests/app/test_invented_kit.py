"""The kit for a lent GPU, all of it, where there is no GPU: its programs are those of this build on the invented CUDA library.

What is measured says nothing about a device. Each step runs, ends as it should, and leaves its result; what needs a program that
drives a real device is left out by name, and runs once more with a stand-in for that program.
"""

import json
import re
import shutil
import unittest

import test_gpu_kit
from memsweep_cli import SOURCE

BUILD = test_gpu_kit.BUILD
SCENARIOS = {path.stem for path in (SOURCE / "scenarios/catalog").glob("*.json") if re.search(r'"gpu[0-9*]', path.read_text())}
NOT_IN_KIT = "is not in this kit"
LEFT_OUT = {"beside_nvbandwidth": NOT_IN_KIT, "beside_copy_engine": NOT_IN_KIT, "queues_nvbandwidth": NOT_IN_KIT, "defaults_nvbandwidth": NOT_IN_KIT,
            "staging_limit": NOT_IN_KIT, "pool_loop": NOT_IN_KIT, "sanitizer": "compute-sanitizer is not installed",
            "replay_training": "no PyTorch that sees the device here", "pytorch_settings": "no PyTorch that sees the device here"}
PASSED = {"facts", "contract", "broken_context", "probe", "small_copies", "write_combined", "driver_memory", "import_sample", "replay_sample",
          "launch_blocking", "one_connection", "staging_equal", "pool_100", "pool_1000", "pool_10000", "oversubscription",
          *(f"scenario_{name}" for name in SCENARIOS - {"driver_memory"})}
COMPARED = {"staging host_to_device", "staging device_to_host", "limits", "pool_above_driver pinned", "pool_above_driver device"}
ASSERTED = {"contract", "broken_context"}
NO_RESULT = ASSERTED | {"facts", "import_sample"}
# Stand-ins for programs that drive a real device. compute-sanitizer's runs the contract, on the invented library.
STAND_INS = {"nvbandwidth": 'shift; for name; do case $name in -*) break ;; esac; echo "SUM $name 12.5"; done',
             "copy_engine": "echo host_to_device_memcpy_ce,12.5", "staging_limit": "echo to_device,ring,1,12.5", "pool_loop": "echo device,65536,1",
             "compute-sanitizer": 'shift 6; "$@"; echo "========= ERROR SUMMARY: 0 errors"',
             "python": 'case $1 in -c) ;; training.py) cp "$here/samples/pytorch.pickle" training.pickle ;; *) echo planted ;; esac'}
SANITIZED = {f"sanitizer_{tool}" for tool in ("memcheck", "initcheck", "racecheck", "synccheck")}


class InventedKit(test_gpu_kit.KitTest):
    @classmethod
    def setUpClass(cls):
        test_gpu_kit.pack(cls, invented=True)
        shutil.copy(BUILD / "tests/fake_nvml/libnvidia-ml.so.1", cls.kit / "lib")

    def cases(self, name="gpu_probe.json"):
        return json.loads((self.folder / "out" / name).read_text())["cases"]

    def test_every_step_runs(self):
        done, steps = self.check("all", "--quick", MEMSWEEP_INVENTED="h100", PYTHON="false")
        self.assertEqual(done.returncode, 0, done)
        opencl = steps.pop("opencl_contract")  # of real devices, where there are some
        self.assertTrue(opencl[0] == "passed" or "no OpenCL device" in opencl[1], opencl)
        verdicts = {"passed": PASSED, "compared": COMPARED, "not run": set(LEFT_OUT), "failed": set()}
        self.assertEqual({verdict: {name for name, step in steps.items() if step[0] == verdict} for verdict in verdicts}, verdicts, done.stdout)
        for name, why in LEFT_OUT.items():
            self.assertIn(why, steps[name][1])
        for name in ASSERTED:
            self.assertRegex(steps[name][1], r"^[1-9]\d* assertions in \d test cases?$")
        for name in PASSED - NO_RESULT:
            self.assertRegex(steps[name][1], r"^[1-9]\d* ok", name)
        # What is skipped says why; nothing else is.
        self.assertRegex(steps["probe"][1], r"^\d+ ok, \d+ skipped; [^;]*do not reach ordinary memory; [^;]*--ballast$")
        self.assertEqual(steps["oversubscription"][1], "9 ok")
        self.assertRegex(steps["launch_blocking"][1], r"CUDA_LAUNCH_BLOCKING=1 lets nothing be queued")
        self.assertRegex(steps["limits"][1], r"^h100: ")
        left = {f"gpu_{name}.json" for name in ("driver_memory", "oversubscription", "pool_100", "pool_1000", "pool_10000", "probe", "replay_sample",
                                                "staging_equal")}
        self.assertEqual({path.name for path in (self.folder / "out").iterdir()}, left | {"gpu_all.tgz", "gpu_summary_all.txt"})
        for name in left - {"gpu_probe.json"}:
            self.assertEqual({case["status"] for case in self.cases(name)}, {"ok"}, name)

    def test_steps_beside_other_programs(self):
        for name, text in STAND_INS.items():
            program = self.kit / "bin" / name
            program.write_text(f'#!/bin/bash\nhere={self.kit}\n{text}\n')
            program.chmod(0o755)
            self.addCleanup(program.unlink)
        done, steps = self.check("all", "--quick", "--only", "^(beside|queues|defaults|sanitizer_.*|staging_limit|pool_loop|.*_training|pytorch_settings)$",
                                 PYTHON=str(self.kit / "bin/python"), PATH=f"{self.kit}/bin:/usr/bin:/bin")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual({name for name, step in steps.items() if step[0] == "passed"},
                         {"facts", "staging_limit", "pool_loop", "import_training", "record_training", "replay_training", "pytorch_settings"} | SANITIZED)
        beside = {name for name, step in steps.items() if step[0] == "compared"}
        self.assertEqual({name for name in steps if steps[name][0] not in ("passed", "compared")}, set(), done.stdout)
        self.assertIn("beside_copy_engine host_to_device_memcpy_ce", beside)
        for name, transfers in (("beside", 8), ("queues", 12), ("defaults", 6)):
            self.assertEqual(sum(one.startswith(f"{name}_nvbandwidth ") for one in beside), transfers, (name, beside))
        for name in SANITIZED:
            self.assertRegex(steps[name][1], r"[1-9]\d* assertions")

    def test_a_bad_link_fails_the_probe_and_nothing_else(self):
        for word, wrong in (("misdirected", r"(\d+) of \1 words differ"), ("corrupting", "1 of [0-9]+ words differ")):
            with self.subTest(word):
                done, steps = self.check("a", "--quick", "--only", "^probe$", MEMSWEEP_INVENTED=f"devices=3 {word}")
                self.assertEqual(done.returncode, 1, done)
                self.assertEqual(steps["probe"][0], "failed")
                (failed,) = [case for case in self.cases() if case["status"] == "failed"]
                self.assertRegex(failed["reason"], f"wrong data in sample 1: {wrong}")
                self.assertEqual({failed["params"]["device"], failed["params"]["to"]}, {"gpu0", "gpu1"})
                # The rest is measured: every case between others, and of this pair what the host carries.
                for case in self.cases():
                    ends = {case["params"].get("device"), case["params"].get("to")}
                    if case["params"].get("to") and ends != {"gpu0", "gpu1"}:
                        self.assertEqual(case["status"], "ok", case["id"])
                    self.assertTrue(case["status"] in ("ok", "failed") or case["reason"], case["id"])
                (self.folder / "out/gpu_summary_a.txt").unlink()

    def test_without_peers_their_cases_are_skipped_and_all_others_measured(self):
        done, steps = self.check("a", "--quick", "--only", "^probe$", MEMSWEEP_INVENTED="no_peers")
        self.assertEqual((done.returncode, steps["probe"][0]), (0, "passed"), done)
        skipped = {case["params"]["transfer"]: case["reason"] for case in self.cases() if case["status"] == "skipped"}
        apart = {name for name, reason in skipped.items() if "cudaDeviceCanAccessPeer says no" in reason}
        self.assertTrue(all(re.search(r"_sm$|peer|ring|bisection|all_to_(all|one)|one_to_all", name) for name in apart), apart)
        self.assertGreaterEqual(len(apart), 5)
        for name in skipped.keys() - apart:
            self.assertRegex(skipped[name], "do not reach ordinary memory|--ballast")
        measured = {case["params"]["transfer"] for case in self.cases() if case["status"] == "ok" and "transfer" in case["params"]}
        self.assertIn("device_to_device_memcpy_read_ce", measured)

    def test_topology_tells_what_is_possible_enabled_and_the_links(self):
        for words, told in (("", r"possible, .*off now.*, 4 NVLinks through a switch"), ("no_peers", "no: cudaDeviceCanAccessPeer says no")):
            done = test_gpu_kit.call(self.kit / "bin/memsweep", "probe", "topology", "-f", "json", cwd=self.folder,
                                     env=test_gpu_kit.environment(MEMSWEEP_INVENTED=words, LD_LIBRARY_PATH=f"{self.kit}/lib", OCL_ICD_VENDORS="/nowhere"))
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, f'"peer_gpu1": "{told}')

    def test_a_library_without_devices_is_no_gpu(self):
        done, steps = self.check("all", "--budget", "59", MEMSWEEP_INVENTED="devices=0")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("NO GPU for cuda: none: CUDA: the driver sees no device", done.stdout)
        self.assertEqual({name for name, (verdict, _) in steps.items() if verdict != "not run"}, {"facts"})
        self.assertEqual({steps[name][1] for name in ("contract", "probe", "driver_memory", "oversubscription", "scenario_probe_p2p")}, {"no device"})


if __name__ == "__main__":
    unittest.main()
