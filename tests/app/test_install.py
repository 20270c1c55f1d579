"""What installing puts where, that it works from there, and that a program can be built against the package."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from memsweep_cli import BINARY, CATALOG, SOURCE, CliTest, environment, sanitized, tool

BUILD = BINARY.parent
EXPECTED = ("bin/memsweep", "lib/memsweep/libmemsweep_record.so", "share/man/man1/memsweep.1", "share/man/man5/memsweep-scenario.5", "share/man/man5/memsweep-result.5",
            "share/bash-completion/completions/memsweep", "share/zsh/vendor-completions/_memsweep",
            "share/fish/vendor_completions.d/memsweep.fish", "share/memsweep/scenarios/schema/memsweep-scenario-1.schema.json",
            "share/memsweep/scenarios/schema/memsweep-result-1.schema.json", "share/memsweep/configs/gates/memory.json",
            "share/doc/memsweep/README.md", "share/doc/memsweep/ci.md", "share/doc/memsweep/report.png", "share/doc/memsweep/copyright",
            "lib/cmake/memsweep/memsweepConfig.cmake", "lib/cmake/memsweep/MemsweepGate.cmake", "include/memsweep/core/base/quantity.hpp")
NOBODY = 65534

CONSUMER_CMAKE = """cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(memsweep 0.1 REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE memsweep::core)
"""
CONSUMER = """#include <cstdio>
#include "core/base/quantity.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/measure/summary.hpp"
#include "core/sys/machine_facts.hpp"
int main()
{
    const auto machine = memsweep::sys::machine_facts();
    std::printf("%s %s %.1f\\n", machine.host.c_str(), memsweep::base::format_size(4096).c_str(), memsweep::measure::median({1, 2, 9}));
}
"""


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Installed(CliTest):
    def setUp(self):
        super().setUp()
        if shutil.which("cmake") is None or not (BUILD / "cmake_install.cmake").exists():
            self.leave_out(self.id(), f"{BUILD} is no build folder of CMake")
        if sanitized():
            self.leave_out(self.id(), "a sanitized build is for tests, not for installing")

    def call(self, *argv, **options):
        options.setdefault("cwd", self.folder)
        done = subprocess.run([os.fspath(part) for part in argv], capture_output=True, text=True, check=False,
                              env=options.pop("env", environment()), stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, 0, f"{argv}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def install(self, prefix):
        self.call("cmake", "--install", BUILD, "--prefix", prefix)
        return prefix

    def check_use(self, binary, **options):
        """The installed binary finds what came with it, wherever it is called."""
        listed = json.loads(self.call(binary, "list", "scenarios", "--json", **options).stdout)["rows"]
        self.assertEqual({row["name"] for row in listed}, {path.stem for path in CATALOG.glob("*.json")})
        self.assertTrue(all("share/memsweep/scenarios/catalog/" in row["path"] for row in listed), listed)
        self.assertNotIn("invalid", self.call(binary, "list", "scenarios", **options).stdout)
        folder = pathlib.Path(options.get("cwd", self.folder))
        self.call(binary, "run", "pool_bounds", "--quick", "-q", "-o", folder / "r.json", **options)
        self.assertEqual(self.result(folder / "r.json")["run"]["scenario"]["name"], "pool_bounds")
        self.call(binary, "validate", "churn", **options)
        self.call(binary, "record", "-q", "-o", folder / "t.mst", "--", "true", **options)
        self.assertIn("processes", self.call(binary, "info", folder / "t.mst", **options).stdout)

    def test_prefix(self):
        prefix = self.install(self.folder / "prefix")
        for name in EXPECTED:
            with self.subTest(name):
                self.assertTrue(any(prefix.glob(name.replace("lib/cmake", "lib*/**/cmake"))), f"{name} is not installed")
        self.assertEqual({path.name for path in (prefix / "share/memsweep/scenarios/catalog").iterdir()},
                         {path.name for path in CATALOG.glob("*.json")})
        self.assertEqual([path.name for path in (prefix / "bin").iterdir()], ["memsweep"])
        self.check_use(prefix / "bin/memsweep")
        moved = prefix.rename(self.folder / "moved")
        self.check_use(moved / "bin/memsweep")

    def test_memsweep_mpi_is_a_component_of_its_own(self):
        if not BINARY.with_name("memsweep-mpi").exists():
            self.leave_out(self.id(), "memsweep-mpi was not built: MPI was not found")
        prefix = self.folder / "prefix"
        self.call("cmake", "--install", BUILD, "--prefix", prefix, "--component", "mpi")
        self.assertEqual({str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()},
                         {"bin/memsweep-mpi", "share/man/man1/memsweep-mpi.1", "share/bash-completion/completions/memsweep-mpi",
                          "share/zsh/vendor-completions/_memsweep_mpi", "share/fish/vendor_completions.d/memsweep-mpi.fish"})
        self.assertIn("memsweep-mpi", self.call(prefix / "bin/memsweep-mpi", "--version").stdout)
        others = self.install(self.folder / "others")
        self.assertEqual([path for path in others.rglob("*mpi*") if re.search(r"(^|[-_])mpi\b", path.name)], [])

    def test_destdir(self):
        self.call("cmake", "--install", BUILD, "--prefix", "/usr", env=environment(DESTDIR=str(self.folder / "stage")))
        self.assertEqual([path.name for path in (self.folder / "stage").iterdir()], ["usr"])
        self.call(self.folder / "stage/usr/bin/memsweep", "--version")

    def test_no_file_names_the_build(self):
        """A package that names the machine it was built on cannot be moved."""
        prefix = self.install(self.folder / "prefix")
        for path in prefix.rglob("*"):
            if path.suffix in {".cmake", ".1", ".5", ".fish"} or "completion" in str(path):
                if path.is_file():
                    self.assertNotIn(str(BUILD), path.read_text(), path)
                    self.assertNotIn(str(SOURCE), path.read_text(), path)

    def test_an_ordinary_user_runs_it(self):
        if os.geteuid() != 0:
            self.skipTest("this is one: the other tests are enough")
        prefix = self.install(self.folder / "prefix")
        os.chmod(self.folder, 0o755)
        home = self.folder / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        self.check_use(prefix / "bin/memsweep", cwd=home, preexec_fn=as_nobody)

    def test_a_program_is_built_against_the_package(self):
        prefix = self.install(self.folder / "prefix")
        self.write("consumer/CMakeLists.txt", CONSUMER_CMAKE)
        self.write("consumer/consumer.cpp", CONSUMER)
        self.call("cmake", "-S", "consumer", "-B", "built", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
        self.call("cmake", "--build", "built")
        targets = "".join(path.read_text() for path in prefix.rglob("memsweepTargets*.cmake"))
        self.assertNotIn("-W", targets, "our warnings are not the consumer's")
        self.assertRegex(self.call(self.folder / "built/consumer").stdout, r"^\S+ 4\.00 KiB 2\.0\n$")

    def test_debian_package(self):
        self.need_commands((("dpkg-deb", "dpkg"), ("dpkg-shlibdeps", "dpkg-dev"), ("file", "file"), ("cpack", "cmake")))
        self.call("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "packages")
        packages = list((self.folder / "packages").glob("*.deb"))
        self.assertEqual(len(packages), 1)
        control = self.call("dpkg-deb", "--info", packages[0]).stdout
        self.assertRegex(control, r"(?m)^ Package: memsweep$")
        self.assertIn(f" Version: {tool()['version']}", control)
        depends = re.search(r"(?m)^ Depends: (.*)$", control).group(1)
        self.assertIn("libc6 (>=", depends)
        self.assertIn("libhwloc15", depends)
        linked_in = "MEMSWEEP_LINKED_IN:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()
        for name in ("libfmt9", "libstdc++6"):
            (self.assertNotIn if linked_in else self.assertIn)(name, depends)
        root = self.folder / "root"
        self.call("dpkg-deb", "--extract", packages[0], root)
        for name in EXPECTED:
            with self.subTest(name):
                packed = name.replace("lib/cmake", "lib*/**/cmake") + (".gz" if name.startswith("share/man/") else "")
                self.assertTrue(any((root / "usr").glob(packed)), f"{packed} is not in the package")
        self.assertEqual([path.name for path in root.iterdir()], ["usr"])
        self.check_links(root / "usr/share/doc/memsweep")
        self.check_use(root / "usr/bin/memsweep")
        self.check_lint(packages[0])

    def check_links(self, folder):
        """No installed document links to what is not there."""
        links = 0
        for document in folder.glob("*.md"):
            for target in re.findall(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)", document.read_text()):
                if "://" not in target:
                    links += 1
                    self.assertTrue((folder / target).is_file(), f"{document.name} links to {target}")
        self.assertGreater(links, 100)

    def check_lint(self, package):
        if shutil.which("lintian") is None:
            print(f"\nskipped: {self.id()}, its rules: lintian is not installed (package lintian)", flush=True)
            return
        done = subprocess.run(["lintian", "--fail-on", "error,warning", os.fspath(package)], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_copyright_names_what_is_linked_in(self):
        named = (self.install(self.folder / "prefix") / "share/doc/memsweep/copyright").read_text()
        for name in ("fmt", "re2", "libstdc++", "nlohmann", "CLI11", "tl::expected", "xxHash", "libmd", "CUDA Runtime", "musl", "Vega"):
            self.assertRegex(named, rf"(?m)^Files: linked into .*: .*{re.escape(name)}", "code of others has no paragraph")
        for license_ in set(re.findall(r"(?m)^License: (.*)$", named)):
            self.assertRegex(named, rf"(?m)^License: {re.escape(license_)}\n ", f"no text of {license_}")

    def test_installed_documents_have_no_dead_links(self):
        self.check_links(self.install(self.folder / "prefix") / "share/doc/memsweep")


if __name__ == "__main__":
    unittest.main()
