"""The package on a Debian that has nothing else: it brings what it needs, and an ordinary user can measure with it.

The bare system is of the release that this machine runs, since the package is built against its libraries. debootstrap makes it once
and leaves it in the build folder; each run installs into a copy, which sees no more of this machine than /proc and the network.
"""

import json
import os
import platform
import shutil
import subprocess
import unittest

from memsweep_cli import BINARY, CliTest, environment, sanitized, tool

BUILD = BINARY.parent
MIRROR = os.environ.get("MEMSWEEP_DEBIAN_MIRROR", "http://deb.debian.org/debian")
NEEDED = (("debootstrap", "debootstrap"), ("unshare", "util-linux"), ("cpack", "cmake"), ("dpkg-shlibdeps", "dpkg-dev"), ("file", "file"))


class BareDebian(CliTest):
    def setUp(self):
        super().setUp()
        self.need_commands(NEEDED)
        if os.geteuid() != 0:
            self.leave_out(self.id(), "only root may make and enter another system")
        if sanitized() or not (BUILD / "CPackConfig.cmake").exists():
            self.leave_out(self.id(), f"{BUILD} holds no build that is for installing")
        release = platform.freedesktop_os_release()
        if release["ID"] != "debian":
            self.leave_out(self.id(), f"this is no Debian, but {release['ID']}")
        self.root = self.folder / "root"
        self.call("cp", "--archive", self.bare_system(release["VERSION_CODENAME"]), self.root)
        self.call("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "packages")
        self.package = next((self.folder / "packages").glob("*.deb"))

    def bare_system(self, release):
        kept = BUILD / f"bare_{release}"
        if not kept.exists():
            fresh = BUILD / f"bare_{release}.new"
            shutil.rmtree(fresh, ignore_errors=True)
            done = subprocess.run(["debootstrap", "--variant=minbase", release, fresh, MIRROR], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.leave_out(self.id(), f"debootstrap could not fetch {release} from {MIRROR}: {done.stdout.strip().splitlines()[-1]}")
            fresh.rename(kept)
        return kept

    def call(self, *argv):
        done = subprocess.run([os.fspath(part) for part in argv], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env=environment(DEBIAN_FRONTEND="noninteractive"))
        self.assertEqual(done.returncode, 0, f"{argv}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def inside(self, command, user="root", code=0):
        """What a shell in the bare system gives, with a /proc of its own that goes with it."""
        enter = 'mount -t proc proc "$0/proc" && exec chroot "$0" su --shell /bin/bash --command "$1" - "$2"'
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-c", enter, self.root, command, user], capture_output=True,
                              text=True, check=False, stdin=subprocess.DEVNULL, env=environment())
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done

    def install(self):
        shutil.copy(self.package, self.root / "tmp")
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        self.inside("! command -v memsweep && ! ls /usr/lib/*/libfmt.so.*")
        self.inside(f"DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends /tmp/{self.package.name}")
        self.inside("useradd --create-home tester")

    def result_in(self, folder):
        paths = list((self.root / folder).glob("*.json"))
        self.assertEqual(len(paths), 1, "one result")
        return json.loads(paths[0].read_text())

    def test_it_installs_and_an_ordinary_user_measures(self):
        self.install()
        self.assertIn(f"memsweep {tool()['version']}", self.inside("memsweep --version", "tester").stdout)
        self.assertNotIn("not found", self.inside("ldd /usr/bin/memsweep", "tester").stdout)
        shown = self.inside("memsweep run finalizer_repro -n 2 --warmup 0 -r html=r.html", "tester").stdout
        self.assertIn("All 3 cases were measured. All ", shown)
        result = self.result_in("home/tester/results")
        self.assertEqual((result["run"]["scenario"]["name"], result["summary"]["ok"]), ("finalizer_repro", 3))
        self.assertIn("<!doctype html>", (self.root / "home/tester/r.html").read_text().lower())
        self.assertEqual((self.root / "home/tester/r.html").stat().st_uid, 1000)
        with self.subTest("where nothing can be written"):
            refused = self.inside("cd / && memsweep run finalizer_repro", "tester", code=2)
            self.assertRegex(refused.stderr, r"results/.*Permission denied; -o FILE writes the result elsewhere")
            self.inside("cd / && memsweep run pool_bounds --quick -q -o ~/r.json && memsweep compare ~/r.json ~/r.json --gate memory", "tester", code=5)
        with self.subTest("what came along"):
            self.inside("for profile in /usr/share/memsweep/configs/runtimes/*.json; do test -s $profile || exit 1; done", "tester")
            self.assertIn("--isolation", self.inside(". /usr/share/bash-completion/completions/memsweep; COMP_WORDS=(memsweep run --iso); "
                                                     'COMP_CWORD=2; _memsweep; echo "${COMPREPLY[@]}"', "tester").stdout)
            self.assertIn(self.inside("memsweep doctor --json", "tester", code=None).returncode, (0, 1))
        with self.subTest("removal"):
            files = self.inside("dpkg -L memsweep").stdout.splitlines()
            self.inside("dpkg --remove memsweep")
            left = [name for name in files if (self.root / name.lstrip("/")).is_file()]
            self.assertEqual(left, [])


if __name__ == "__main__":
    unittest.main()
