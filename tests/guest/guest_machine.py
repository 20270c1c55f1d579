"""A throw-away machine with several NUMA nodes: QEMU boots Debian's cloud kernel with the programs under test in its memory.

    python3 tests/guest/guest_machine.py --fetch | --has-kernel     what scripts/install_deps.sh asks for

    machine = GuestMachine()
    outcome = machine.boot("two_nodes", {"/bin/memsweep": binary}, script, timeout=120)
    outcome.files["result.json"]          what the script left in /out

Nothing is installed and nothing needs root: the kernel's package is only unpacked, into the user's cache; processors are emulated (TCG). That /dev/kvm
can be opened does not mean that a stock kernel runs on it, so it is not tried. Times inside mean nothing; counts do.

The guest's console is the first serial port. Over the second, which the guest's console never touches, comes a tar archive of
/out, compressed and in base64, and after it a line with the script's exit status.
"""

import base64
import dataclasses
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

MIB = 1 << 20
KERNEL_PACKAGE = "linux-image-cloud-amd64"
# Swap in compressed memory, and what the guest's script may load; the order is found by trying.
MODULES = ("crypto/lzo-rle", "mm/zsmalloc", "drivers/block/zram/zram")
BEGIN_MARK = b"memsweep-guest-begins"
END_MARK = b"\nmemsweep-guest-status "


class Unavailable(Exception):
    """Why no guest can be had on this machine."""


@dataclasses.dataclass
class Node:
    mib: int
    cpus: tuple = ()
    initiator: int = None  # with access tables: the node whose processors are nearest


@dataclasses.dataclass
class Topology:
    nodes: list
    distances: dict  # (from, to) -> distance, both ways; the rest are 10 within and 20 between
    access: dict = dataclasses.field(default_factory=dict)  # (initiator, target) -> (ns, GiB/s): an HMAT table
    kernel: str = ""  # words for the kernel's command line


TOPOLOGIES = {
    "two_nodes": Topology([Node(512, (0,)), Node(512, (1,))], {(0, 1): 21}),
    "four_nodes": Topology([Node(256, (n,)) for n in range(4)],
                           {(0, 1): 16, (2, 3): 16, (0, 2): 22, (1, 3): 22, (0, 3): 28, (1, 2): 28}),
    # The third node has memory and no processor, as an expander has, and a page of 1 GiB: reserved at boot, while a GiB is still in one piece.
    "expander": Topology([Node(512, (0,), 0), Node(512, (1,), 1), Node(2560, (), 0)], {(0, 1): 21, (0, 2): 40, (1, 2): 50},
                         {(s, t): (250, 20) if t == 2 else (80, 100) if s == t else (140, 50) for s in range(2) for t in range(3)},
                         "hugepagesz=1G hugepages=2:1"),
}


def qemu_topology(topology):
    arguments = []
    for number, node in enumerate(topology.nodes):
        arguments += ["-object", f"memory-backend-ram,id=m{number},size={node.mib}M"]
        words = [f"node,nodeid={number},memdev=m{number}"] + [f"cpus={cpu}" for cpu in node.cpus]
        if topology.access:
            words.append(f"initiator={node.initiator}")
        arguments += ["-numa", ",".join(words)]
    for (source, target), distance in topology.distances.items():
        arguments += ["-numa", f"dist,src={source},dst={target},val={distance}"]
    for (source, target), (latency, bandwidth) in topology.access.items():
        table = f"hmat-lb,initiator={source},target={target},hierarchy=memory"
        arguments += ["-numa", f"{table},data-type=access-latency,latency={latency}"]
        arguments += ["-numa", f"{table},data-type=access-bandwidth,bandwidth={bandwidth}G"]
    return arguments


def shared_libraries(program):
    """The files that the dynamic linker loads for a program, itself included."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return sorted(set(re.findall(r"(?:=> |^\s*)(/\S+)", text, re.MULTILINE)))


class Archive:
    """An initramfs: a cpio archive of format newc, in memory."""

    def __init__(self):
        self.parts, self.number, self.folders = [], 0, set()

    def add(self, path, mode, data=b""):
        name = path.strip("/").encode() + b"\0"
        self.number += 1
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        for part in (header + name, data):
            self.parts.append(part + b"\0" * (-len(part) % 4))

    def folder(self, path):
        path = path.strip("/")
        if path and path not in self.folders:
            self.folder(os.path.dirname(path))
            self.folders.add(path)
            self.add(path, stat.S_IFDIR | 0o755)

    def file(self, path, data, mode=0o644):
        self.folder(os.path.dirname(path))
        self.add(path, stat.S_IFREG | mode, data)

    def link(self, path, target):
        self.folder(os.path.dirname(path))
        self.add(path, stat.S_IFLNK | 0o777, target.encode())

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ TMPDIR=/tmp
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev; mount -t tmpfs none /tmp
mount -t cgroup2 none /cgroup
for again in 1 2 3; do for module in /modules/*.ko; do insmod $module 2>/dev/null; done; done
echo memsweep-guest-begins > /dev/ttyS1
sh -x /guest.sh
status=$?
stty -F /dev/ttyS1 raw 2>/dev/null
{ tar -cz -C /out . | base64; printf '\\nmemsweep-guest-status %d\\n' $status; } > /dev/ttyS1
poweroff -f
"""


@dataclasses.dataclass
class Outcome:
    status: int
    console: str
    files: dict


def cache_folder():
    """Where the guest's kernel is kept: MEMSWEEP_GUEST_CACHE, or the user's cache."""
    named = os.environ.get("MEMSWEEP_GUEST_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(named or os.path.join(base, "memsweep", "guest"))


class Kernel:
    """A kernel and its modules, as their package has them."""

    def __init__(self, cache):
        self.folder = pathlib.Path(cache) / "kernel"

    def is_there(self):
        return any(self.folder.glob("boot/vmlinuz-*")) and any(self.folder.glob("lib/modules/*/kernel"))

    def image(self):
        return next(self.folder.glob("boot/vmlinuz-*"))

    def modules(self):
        return next(self.folder.glob("lib/modules/*/kernel"))

    def fetch(self):
        for tool in ("apt-get", "apt-cache", "dpkg"):
            if shutil.which(tool) is None:
                raise Unavailable(f"a guest kernel is fetched with {tool}, which is not here")
        shown = subprocess.run(["apt-cache", "depends", KERNEL_PACKAGE], capture_output=True, text=True, check=False).stdout
        found = re.search(r"Depends: (linux-image-\S+)", shown)
        if not found:
            raise Unavailable(f"the package lists know no {KERNEL_PACKAGE}")
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder.parent) as folder:
            subprocess.run(["apt-get", "-q", "download", found.group(1)], cwd=folder, capture_output=True, check=False, timeout=300)
            packages = list(pathlib.Path(folder).glob("*.deb"))
            if not packages:
                raise Unavailable(f"{found.group(1)} could not be downloaded")
            fresh = pathlib.Path(folder) / "kernel"
            subprocess.run(["dpkg", "-x", packages[0], fresh], check=True)
            shutil.rmtree(self.folder, ignore_errors=True)
            fresh.rename(self.folder)


class GuestMachine:
    def __init__(self):
        for tool, package in (("qemu-system-x86_64", "qemu-system-x86"), ("busybox", "busybox-static")):
            if shutil.which(tool) is None:
                raise Unavailable(f"{tool} is not installed (package {package})")
        self.busybox = shutil.which("busybox")
        if shared_libraries(self.busybox):
            raise Unavailable("busybox is not linked statically (package busybox-static)")
        kernel = Kernel(cache_folder())
        if not kernel.is_there():
            raise Unavailable("no kernel for guests is here: scripts/install_deps.sh --all, or "
                              "python3 tests/guest/guest_machine.py --fetch, downloads Debian's")
        self.kernel, self.modules = kernel.image(), kernel.modules()

    def initramfs(self, programs, files, script):
        archive = Archive()
        for folder in ("proc", "sys", "dev", "tmp", "cgroup", "out", "modules"):
            archive.folder(folder)
        archive.file("bin/busybox", pathlib.Path(self.busybox).read_bytes(), 0o755)
        archive.file("init", INIT.encode(), 0o755)
        archive.file("guest.sh", script.encode())
        for module in MODULES:
            path = self.modules / f"{module}.ko"
            if path.exists():
                archive.file(f"modules/{path.name}", path.read_bytes())
        libraries = set()
        for inside, program in programs.items():
            archive.file(inside, pathlib.Path(program).read_bytes(), 0o755)
            libraries.update(shared_libraries(program))
        for library in sorted(libraries):
            archive.file(library, pathlib.Path(library).read_bytes(), 0o755)
        for inside, data in files.items():
            archive.file(inside, data)
        return archive.bytes()

    def boot(self, topology, programs, script, files=None, timeout=180):
        """Runs `script` in a fresh guest. A guest that does not end in time, or dies, is an AssertionError with its console, on which the
        script's commands stand. An emulated machine that has not begun the script after a third of the time is started once more."""
        shape = TOPOLOGIES[topology]
        processors = sum(len(node.cpus) for node in shape.nodes)
        machine = "q35,usb=off,sata=off" + (",hmat=on" if shape.access else "")
        with tempfile.TemporaryDirectory() as folder:
            image, port = os.path.join(folder, "initramfs"), os.path.join(folder, "port")
            pathlib.Path(image).write_bytes(self.initramfs(programs, files or {}, script))
            command = ["qemu-system-x86_64", "-M", machine, "-accel", "tcg", "-cpu", "max", "-smp", str(processors),
                       "-m", f"{sum(node.mib for node in shape.nodes)}M", *qemu_topology(shape), "-display", "none", "-nodefaults",
                       "-no-user-config", "-no-reboot", "-serial", "stdio", "-serial", f"file:{port}", "-kernel", str(self.kernel),
                       "-initrd", image, "-append", "console=ttyS0 panic=-1 mitigations=off nokaslr tsc=reliable no_timer_check " + shape.kernel]
            try:
                process, console, said = run(command, port, timeout, topology)
            except NotBegun as stuck:
                print(f"started again: {stuck}", file=sys.stderr)
                process, console, said = run(command, port, timeout, topology)
        text = console.decode("utf-8", "replace")
        if END_MARK not in said:
            raise AssertionError(f"the guest {topology} died (qemu exit {process.returncode}):\n{text}")
        packed, _, status = said.partition(BEGIN_MARK)[2].rpartition(END_MARK)
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as archive:
            files = {os.path.normpath(member.name): archive.extractfile(member).read() for member in archive if member.isfile()}
        return Outcome(int(status), text, files)


class NotBegun(AssertionError):
    """The guest's kernel, or the emulator, stood still before the script."""


def run(command, port, timeout, topology):
    """(the process, what its console and what its second port said)"""
    def said():
        return pathlib.Path(port).read_bytes() if os.path.exists(port) else b""

    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for share in (timeout / 3, timeout * 2 / 3):
        try:
            console, _ = process.communicate(timeout=share)
            return process, console, said()
        except subprocess.TimeoutExpired:
            if BEGIN_MARK not in said():
                break
    process.kill()
    console, _ = process.communicate()
    text = console.decode("utf-8", "replace")
    if BEGIN_MARK not in said():
        raise NotBegun(f"the guest {topology} began no script within {timeout / 3:.0f} s:\n{text}")
    raise AssertionError(f"the guest {topology} did not end within {timeout} s:\n{text}")


def main(arguments):
    kernel = Kernel(cache_folder())
    if arguments == ["--has-kernel"]:
        return 0 if kernel.is_there() else 1
    if arguments != ["--fetch"]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if not kernel.is_there():
            kernel.fetch()
    except (Unavailable, OSError, subprocess.SubprocessError) as why:
        print(why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
