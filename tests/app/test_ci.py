"""docs/ci.md: every line of its recipes runs as it stands, and leaves behind what later lines and the CI system take up.

What stands for the CI system: folders that jobs share, its variables, and a cmake that has built already."""

import json
import os
import re
import shutil
import subprocess
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, environment, sanitized

DOCUMENT = SOURCE / "docs/ci.md"
PATIENCE_S = 300
SCENARIO = {
    "format": "memsweep-scenario", "version": 1, "name": "gate", "description": "what stays resident of 8 blocks of 1 MiB",
    "release": {"mode": "refcount"},
    "steps": [{"op": "alloc", "as": "a", "count": 8, "dtype": "uint8", "shape": [MIB]} for MIB in [1 << 20]]
             + [{"op": "write", "target": "a", "touch": "page"}, {"op": "drop", "target": "a"}, {"op": "sample", "name": "after_drop"}],
    "assert": [{"expr": "after_drop.live_bytes.max == 0B"}],
}
# Configuring and building are done; installing is real.
CMAKE = """#!/bin/bash
case "$1" in
    --preset) grep -q '"name": "release"' CMakePresets.json && [[ $2 == release ]] ;;
    --build) [[ $2 == --preset && $3 == release ]] ;;
    --install) [[ $2 == build/release ]] && exec {cmake} --install {build} "${{@:3}}" ;;
    *) exit 9 ;;
esac
"""


def section(heading):
    return DOCUMENT.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def block(heading, language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", section(heading), re.M | re.S)
    return "\n".join(found)


def lines_of(text):
    return [line for line in text.splitlines() if line.strip()]


def yaml_steps(text):
    """What a GitHub job runs, step by step: (the folder, the script)."""
    steps = []
    for step in re.split(r"^      - ", text, flags=re.M)[1:]:
        folder = re.search(r"^        working-directory: (.+)$", step, re.M)
        if script := re.search(r"^(?:        )?run: \|\n((?:          .*\n)+)", step, re.M):
            steps.append((folder and folder[1], re.sub(r"^ {10}", "", script[1], flags=re.M)))
        elif script := re.search(r"^(?:        )?run: (.+)$", step, re.M):
            steps.append((folder and folder[1], script[1] + "\n"))
    return steps


def yaml_script(text, job):
    """The lines of a GitLab job's script."""
    found = re.search(rf"^{job}:\n(?:  .*\n)*?  script:\n((?:    - .*\n)+)", text, re.M)
    return [line.removeprefix("    - ") for line in found[1].splitlines()]


class Recipes(CliTest):
    def setUp(self):
        super().setUp()
        if shutil.which("cmake") is None or not (BINARY.parent / "cmake_install.cmake").exists() or sanitized():
            self.leave_out(self.id(), f"{BINARY.parent} has nothing to install")
        self.home, self.work, tools = (self.folder / name for name in ("home", "work", "tools"))
        for folder in (self.home, self.work / "scenarios", tools):
            folder.mkdir(parents=True)
        (self.work / "scenarios/gate.json").write_text(json.dumps(SCENARIO))
        shim = tools / "cmake"
        shim.write_text(CMAKE.format(cmake=shutil.which("cmake"), build=BINARY.parent))
        shim.chmod(0o755)
        self.env = environment(HOME=str(self.home), PATH=f"{tools}:{os.environ['PATH']}")

    def install(self):
        subprocess.run([shutil.which("cmake"), "--install", BINARY.parent, "--prefix", self.home / ".local"], check=True, capture_output=True)
        self.env["PATH"] = f"{self.home}/.local/bin:{self.env['PATH']}"

    def sh(self, script, cwd=None, **variables):
        """As CI systems run it: the first line that fails ends it."""
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=cwd or self.work, env={**self.env, **variables},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, f"$ {script}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def test_one_command(self):
        self.install()
        for line in lines_of(block("A baseline, and how to renew it", "sh")):
            self.sh(line)
        first = (self.work / "baselines/gate.json").read_text()
        self.sh(lines_of(block("A baseline, and how to renew it", "sh"))[0])
        self.assertNotEqual(json.loads(first)["run"]["id"], json.loads((self.work / "baselines/gate.json").read_text())["run"]["id"])
        [command] = lines_of(re.search(r"^```sh\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S)[1])
        self.assertIn("No regression", self.sh(command))
        self.assertTrue((self.work / "results/gate.json").exists())

    def test_installing(self):
        checkout = self.folder / "checkout"
        checkout.mkdir()
        for name in ("scripts", "CMakePresets.json", "cmake"):
            (checkout / name).symlink_to(SOURCE / name)
        script = "\n".join(line for line in lines_of(block("Installing it in a job", "sh")))
        self.assertIn("memsweep 0.", self.sh(script, cwd=checkout))

    def test_github(self):
        steps = yaml_steps(block("GitHub Actions", "yaml"))
        self.assertEqual(len(steps), 5)
        git = "git -c user.name=ci -c user.email=ci@localhost -c init.defaultBranch=main"
        self.sh(f"{git} init -q && git add scenarios && {git} commit -qm base")
        base = self.sh("git rev-parse HEAD").strip()
        self.sh(f"echo >> scenarios/gate.json && {git} commit -qam change")
        checkout = self.work / "memsweep"
        checkout.mkdir()
        for name in ("scripts", "CMakePresets.json", "cmake"):
            (checkout / name).symlink_to(SOURCE / name)
        paths, summary = self.folder / "path", self.folder / "summary"
        paths.touch()
        for folder, script in steps:
            found = "".join(f"{line}:" for line in paths.read_text().splitlines())
            self.sh(script.replace("${{ github.event.pull_request.base.sha }}", base), cwd=self.work / (folder or "."),
                    GITHUB_PATH=str(paths), GITHUB_STEP_SUMMARY=str(summary), PATH=found + self.env["PATH"])
        self.assertIn("gate", summary.read_text())
        for name in ("base.json", "candidate.json", "memsweep.xml"):
            self.assertTrue((self.work / name).exists(), name)

    def test_gitlab(self):
        self.install()
        text = block("GitLab CI", "yaml")
        for job in ("new-baseline", "memory"):
            for line in yaml_script(text, job):
                self.sh(line)
        for name in re.findall(r"(?:paths: \[|junit: )([\w./]+)", text):
            self.assertTrue((self.work / name).exists(), name)

    def test_jenkins(self):
        self.install()
        text = block("Jenkins", "groovy")
        commands = [one for pair in re.findall(r"\bsh '(.+?)'$|script: '(.+?)'\)", text, re.M) for one in pair if one]
        self.assertEqual(len(commands), 3)
        for command in commands:
            self.sh(command)
        for name in ("candidate.json", re.search(r"junit '(.+?)'", text)[1]):
            self.assertTrue((self.work / name).exists(), name)

    def test_jobs_in_parts(self):
        self.install()
        each, last = lines_of(block("Jobs in parts", "sh"))
        for number in "12":
            self.sh(each, CI_NODE_INDEX=number)
        self.sh(last)
        self.assertEqual(json.loads((self.work / "candidate.json").read_text())["cases"][0]["repetitions"], 10)

    def test_your_own_binary(self):
        for name in ("app-main", "app-pr"):
            (self.work / name).write_text("#!/bin/sh\ncat $2 > /dev/null\n")
            (self.work / name).chmod(0o755)
        (self.work / "big.csv").write_text("1,2,3\n")
        self.sh(block("Gate your own binary", "sh"), PATH=f"{BINARY.parent}:{os.environ['PATH']}")
        self.assertTrue((self.work / "summary.md").exists())
        self.assertEqual(len(json.loads((self.work / "gate.json").read_text())["cases"]), 2)

    def test_your_own_binary_as_a_test_of_its_project(self):
        project = block("Gate your own binary", "cmake").replace("find_package(memsweep REQUIRED)", "\n".join((
            "cmake_minimum_required(VERSION 3.25)", "project(app C)", "add_executable(app app.c)",
            f'set(MEMSWEEP_EXECUTABLE "{BINARY}" CACHE FILEPATH "")', f'include("{SOURCE}/cmake/MemsweepGate.cmake")')))
        self.assertIn("/opt/main/app", project)
        more = 'int main(void) { for (int i = 0; i < COUNT; ++i) { void* volatile p = malloc(64); free(p); } }\n'
        (self.work / "app.c").write_text("#include <stdlib.h>\n#ifndef COUNT\n#define COUNT 1020\n#endif\n" + more)
        subprocess.run(["cc", "-DCOUNT=1000", "app.c", "-o", "main-app"], cwd=self.work, check=True)
        (self.work / "CMakeLists.txt").write_text(project.replace("/opt/main/app", str(self.work / "main-app")))
        build = "cmake -S . -B built && cmake --build built"
        self.sh(build, PATH=os.environ["PATH"])
        done = subprocess.run(["ctest", "--test-dir", "built", "--output-on-failure"], cwd=self.work, capture_output=True, text=True,
                              check=False, timeout=PATIENCE_S)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("memsweep.gate.app", done.stdout)
        self.assertIn("allocations", done.stdout)

    def test_a_gate_of_a_project_names_the_call_site(self):
        (self.work / "CMakeLists.txt").write_text("\n".join((
            "cmake_minimum_required(VERSION 3.25)", "project(app C)", "add_executable(app app.c)", "add_executable(before app.c)",
            "target_compile_options(app PRIVATE -g -DHELD=4000000)", "target_compile_options(before PRIVATE -g -DHELD=1000)",
            f'set(MEMSWEEP_EXECUTABLE "{BINARY}" CACHE FILEPATH "")', f'include("{SOURCE}/cmake/MemsweepGate.cmake")',
            "enable_testing()", "memsweep_gate(TARGET app AGAINST before STACKS)",
            "memsweep_gate(TARGET app AGAINST before NAME without_stacks)")))
        (self.work / "app.c").write_text('''#include <stdlib.h>
#include <string.h>
static void *volatile kept;
__attribute__((noinline)) static void parse_row(size_t size) { kept = memset(malloc(size), 1, size); }
int main(void) { parse_row(HELD); free(kept); return 0; }
''')
        self.sh("cmake -S . -B built && cmake --build built", PATH=os.environ["PATH"])
        done = subprocess.run(["ctest", "--test-dir", "built", "--output-on-failure"], cwd=self.work, capture_output=True, text=True,
                              check=False, timeout=PATIENCE_S)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        named = "all of it from parse_row"
        for test, says in (("memsweep.gate.app", True), ("without_stacks", False)):
            sites = json.loads((self.work / f"built/{test}.json").read_text()).get("sites", [])
            named_sites = {site["site"].split()[0] for one in sites for metric in one["metrics"] for site in metric["sites"]}
            self.assertEqual(named_sites, {"parse_row"} if says else set())
        self.assertEqual(" ".join(done.stdout.split()).count(named) > 0, True, done.stdout)

    def test_every_recipe_is_run(self):
        used = set(re.findall(r'block\("(.+?)"', (SOURCE / "tests/app/test_ci.py").read_text()))
        with_blocks = {heading for heading in re.findall(r"^## (.+)$", DOCUMENT.read_text(), re.M) if "```" in section(heading)}
        self.assertEqual(with_blocks - used, set())


if __name__ == "__main__":
    unittest.main()
