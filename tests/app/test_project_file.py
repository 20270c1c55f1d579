"""A project's memsweep.json fills in what a command line leaves open, and nothing else; programs leave no result that nobody asked for."""

import json
import unittest

from memsweep_cli import CliTest, alloc, drop, environment, scenario

PROJECT = {"format": "memsweep-project", "version": 1}


class ProjectFile(CliTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder / "project"
        self.below = self.project / "a" / "b"
        self.below.mkdir(parents=True)

    def configure(self, **keys):
        (self.project / "memsweep.json").write_text(json.dumps(PROJECT | keys))

    def small(self):
        (self.below / "small.json").write_text(json.dumps(scenario("small", steps=[alloc(), drop()], repetitions=5)))

    def files(self):
        return {str(path.relative_to(self.project)) for path in self.project.rglob("*") if path.is_file()} - {"memsweep.json"}

    def test_results_go_where_the_project_says(self):
        self.configure(results="bench/results")
        self.small()
        self.expect(0, "run", "small.json", cwd=self.below)
        self.expect(0, "run", "-n", "1", "--", "true", cwd=self.below)
        kept = {path for path in self.files() if path.startswith("bench/results/")}
        self.assertEqual(len(kept), 2, self.files())
        self.expect(0, "run", "small.json", "-o", "mine.json", cwd=self.below)
        self.assertIn("a/b/mine.json", self.files())

    def test_programs_leave_nothing_behind_unasked(self):
        scratch = self.folder / "tmp"
        scratch.mkdir()
        for arguments in (("--", "true"), ("true 1", "true 2")):
            outcome = self.expect(0, "run", "-n", "1", *arguments, cwd=self.below, env=environment(TMPDIR=str(scratch)))
            self.assertIn("measured", outcome.text)
            self.assertNotIn("result: ", outcome.errors)
        self.assertEqual(self.files(), set())
        self.assertEqual(list(scratch.iterdir()), [])
        self.expect(0, "run", "-n", "1", "-q", "--", "true", cwd=self.below)
        self.assertEqual(len(self.files()), 1, "a quiet run has nothing but its file")

    def test_a_baseline_that_is_there_is_taken(self):
        self.configure(baselines="bench", gate="memory")
        self.small()
        self.assertNotIn("baseline", self.expect(0, "run", "small.json", "-o", "../../bench/small.json", cwd=self.below).text)
        self.assertIn("Against the baseline", self.expect((0, 1, 5), "run", "small.json", "-o", "r.json", cwd=self.below).text)

    def test_thresholds_and_gate_of_a_comparison(self):
        self.configure(thresholds={"wall_time": "4321%"})
        self.expect((0, 1, 3, 5), "run", "-n", "5", "-o", "r.json", "--against", "true", "--", "true", cwd=self.below)
        overrides = json.loads((self.below / "r.json").read_text())["run"]["overrides"]
        self.assertTrue(overrides["judged.threshold.wall_time"].startswith("43.21"), overrides)
        self.expect((0, 1, 3, 5), "run", "-n", "5", "-o", "r.json", "--threshold", "wall_time=7%", "--against", "true", "--", "true", cwd=self.below)
        overrides = json.loads((self.below / "r.json").read_text())["run"]["overrides"]
        self.assertTrue(overrides["judged.threshold.wall_time"].startswith("0.07"), overrides)

    def test_doctor_says_which_file_holds(self):
        self.configure(results="out", thresholds={"cpu_time": "3%"})
        said = " ".join(self.expect((0, 1), "doctor", cwd=self.below).errors.split())
        for word in ("memsweep.json", "out", "cpu_time 3%"):
            self.assertIn(word, said)

    def test_mistakes_are_named_and_other_files_are_none(self):
        for keys, word in (({"result": "x"}, "results"), ({"results": 1}, "folder"), ({"thresholds": {"wall_time": 5}}, "5%"),
                           ({"version": 2}, "version")):
            self.configure(**keys)
            with self.subTest(keys):
                self.assertIn(word, self.expect(2, "run", "-n", "1", "--", "true", cwd=self.below).errors)
        (self.project / "memsweep.json").write_text("{")
        self.assertIn("memsweep.json", self.expect(2, "run", "-n", "1", "--", "true", cwd=self.below).errors)
        (self.project / "memsweep.json").write_text(json.dumps(scenario("small")))
        self.expect(0, "run", "-n", "1", "--", "true", cwd=self.below)


if __name__ == "__main__":
    unittest.main()
