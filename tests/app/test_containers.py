"""What a container takes away: the user root, ptrace, a / that can be written, /proc, most of the memory. Each command works there or says
what is missing."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from memsweep_cli import BINARY, SOURCE, CliTest, environment, own_mounts

# Answers EPERM to what Docker's filter forbids, as a user without root has it, and becomes the command.
CONFINE = """
import ctypes, os, struct, sys
refused = (101, 310, 311, 237, 238, 239, 279, 298, 323, 321, 272, 165)  # ptrace, process_vm_*, mbind, *_mempolicy, move_pages, perf_event_open, userfaultfd, bpf, unshare, mount
program = struct.pack('HBBI', 0x20, 0, 0, 0)
for number in refused:
    program += struct.pack('HBBI', 0x15, 0, 1, number) + struct.pack('HBBI', 0x06, 0, 0, 0x00050001)
program += struct.pack('HBBI', 0x06, 0, 0, 0x7fff0000)
held = ctypes.create_string_buffer(program)
libc = ctypes.CDLL(None, use_errno=True)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(program) // 8, ctypes.addressof(held)))) != 0:
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
"""
CONTAINER = """
mount --make-rprivate / && mount -t tmpfs -o mode=1777 none "$1" && mount -o remount,ro,bind / && mount -t tmpfs -o ro none /dev/shm || exit 99
[ "$2" != no-proc ] || mount -t tmpfs -o ro none /proc || exit 99
folder=$1; python=$3; confine=$4; shift 4
cd "$folder" && HOME=/nonexistent TMPDIR=$folder exec "$python" -c "$confine" /bin/sh -c 'for command; do eval "$command"; done' sh "$@"
"""
RESULT = SOURCE / "results/reference/finalizer_repro.json"
# A command, the exit codes with /proc and without, and what it says without.
COMMANDS = {
    "list scenarios": (0, 0, ""), "list metrics": (0, 0, ""), "validate churn": (0, 0, ""), "new x -o x.json": (0, 0, ""),
    f"report {RESULT}": (0, 0, ""), f"report {RESULT} -f html -o r.html": (0, 0, ""), f"compare {RESULT} {RESULT}": (0, 0, ""),
    "probe topology": (0, 0, ""), "run x.json --quick -q -o own.json": (0, 3, "/proc/self/exe"),
    "run -q -n 1 -o program.json -- true": (0, 3, "/proc: is not mounted"), "run -q -n 1 --count -o counted.json -- ls": (0, 3, "/proc: is not mounted"),
    "run -q -n 1 --warmup 0 -o big.json -- python3 -c 'bytearray(10 << 20)'": (0, 3, "/proc: is not mounted"),
    "record -q -o t.mst -- ls": (0, 2, "/proc: is not mounted"), "info t.mst": (0, 2, "t.mst"), "fit t.mst": (0, 2, "t.mst"),
    "export t.mst -f rmm -o t.csv": (0, 2, "t.mst"), "import t.csv -o again.mst": (0, 2, "t.csv"), "watch -- sleep 0.1": (0, 2, "/proc: is not mounted"),
    "replay t.mst --on glibc,null -n 1 --warmup 0 --settle 0s -q -o replay.json": (0, 2, "t.mst"),
    "record -o /t.mst -- ls": (2, 2, "Read-only file system"), "run -q -n 1 -o /r.json -- true": (2, 2, "Read-only file system")}


def remove(group):
    for _ in range(100):
        with contextlib.suppress(OSError):  # a process of it has not quite ended
            group.rmdir()
            return
        time.sleep(0.05)


class Containers(CliTest):
    def setUp(self):
        super().setUp()
        why = own_mounts() or ("unshare is not installed" if shutil.which("unshare") is None else "") or ("" if os.geteuid() == 0 else "only root can make one") or (
            "" if os.uname().machine == "x86_64" else "the numbers of the refused system calls are those of x86-64")
        if why:
            self.leave_out(self.id(), why)
        for folder in (*self.folder.parents, *BINARY.parents, *SOURCE.parents):
            if not folder.stat().st_mode & 0o001:
                self.leave_out(self.id(), f"{folder} is closed to others")

    def commands_in(self, proc, before=""):
        """The exit code of each command, and what it said."""
        lines = [f'{BINARY} {command} > said 2>&1 < /dev/null; echo "=$?"; cat said' for command in COMMANDS]
        words = ["unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c", CONTAINER, "sh", self.folder, proc, sys.executable, CONFINE, *lines]
        done = subprocess.run(["sh", "-c", before + ' exec "$@"', "sh", *map(os.fspath, words)], capture_output=True, timeout=300, env=environment(),
                              check=False)
        text = done.stdout.decode("utf-8", "replace")
        self.assertNotEqual(done.returncode, 99, done.stderr)
        pieces = text.split("\n=") if not text.startswith("=") else ("\n" + text).split("\n=")
        found = [(int(piece.partition("\n")[0]), piece.partition("\n")[2]) for piece in pieces[1:]]
        self.assertEqual(len(found), len(COMMANDS), f"{text}\n{done.stderr.decode()}")
        return dict(zip(COMMANDS, found, strict=True))

    def check(self, found, without_proc):
        for command, (code, said) in found.items():
            with self.subTest(command):
                wanted = COMMANDS[command][1 if without_proc else 0]
                self.assertEqual(code, wanted, said)
                if without_proc or wanted != 0:
                    self.assertIn(COMMANDS[command][2], said)

    def test_without_root(self):
        self.check(self.commands_in("proc"), False)

    def test_without_proc(self):
        self.check(self.commands_in("no-proc"), True)

    def test_little_memory(self):
        unified = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
        group = pathlib.Path("/sys/fs/cgroup", "" if unified else "memory", f"memsweep-test-{os.getpid()}")
        try:
            group.mkdir()
            self.addCleanup(remove, group)
            (group / ("memory.max" if unified else "memory.limit_in_bytes")).write_text(str(64 << 20))
        except OSError as problem:
            self.leave_out(self.id(), f"no control group of our own: {problem}")
        self.check(self.commands_in("proc", f"echo $$ > {group}/cgroup.procs;"), False)


if __name__ == "__main__":
    unittest.main()
