"""Hosts on one machine: a network and UTS namespace each, joined by a bridge, with MPI started in them as ssh would.

A host's link may be shaped, and its processes confined to a share of a processor. Needs root with the right to make
namespaces; `Unavailable` says what is lacking. Everything made is removed again, by name and by process id.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile


class Unavailable(Exception):
    pass


def command(*args, check=True):
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise Unavailable(f"{' '.join(args[:4])}: {done.stderr.strip()}")
    return done.stdout


AGENT = """#!/bin/bash
# Stands where ssh stands: AGENT [options] HOST COMMAND...
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
# `ip netns exec` hides the cgroups of the machine: they are reached through the process that made the hosts.
if [ "$host" = "{slow}" ]; then nsenter --target {maker} --mount sh -c "echo $$ > {group}"; fi
exec ip netns exec "$host" unshare --uts sh -c 'hostname '"$host"'; exec sh -c "$0"' "$*"
"""


class NetHosts:
    def __init__(self, count):
        for program in ("ip", "tc", "mpirun", "unshare", "nsenter"):
            if shutil.which(program) is None:
                raise Unavailable(f"{program} is not installed")
        if os.geteuid() != 0:
            raise Unavailable("network namespaces need root")
        self.mark = f"m{os.getpid() % 100000}"
        self.names = [f"{self.mark}h{number}" for number in range(1, count + 1)]
        self.subnet = f"10.{64 + os.getpid() % 64}.{os.getpid() // 64 % 256}"
        self.bridge = f"{self.mark}br"
        self.group = None
        self.slow = ""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memsweep-hosts-"))
        try:
            self.build()
        except Unavailable:
            self.close()
            raise

    def build(self):
        command("ip", "link", "add", self.bridge, "type", "bridge")
        command("ip", "link", "set", self.bridge, "up")
        for number, name in enumerate(self.names, 1):
            command("ip", "netns", "add", name)
            command("ip", "link", "add", f"{self.mark}v{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
            command("ip", "link", "set", f"{self.mark}v{number}", "master", self.bridge, "up")
            command("ip", "-n", name, "addr", "add", f"{self.subnet}.{number}/24", "dev", "eth0")
            command("ip", "-n", name, "link", "set", "lo", "up")
            command("ip", "-n", name, "link", "set", "eth0", "up")
            hosts = pathlib.Path("/etc/netns") / name
            hosts.mkdir(parents=True, exist_ok=True)
            (hosts / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{self.subnet}.{i} {other}\n" for i, other in enumerate(self.names, 1)))

    def shape(self, name, rate):
        """Both directions of the host's link."""
        number = self.names.index(name) + 1
        for where in (("ip", "netns", "exec", name, "tc", "qdisc", "replace", "dev", "eth0"), ("tc", "qdisc", "replace", "dev", f"{self.mark}v{number}")):
            command(*where, "root", "tbf", "rate", rate, "burst", "128kb", "latency", "50ms")

    def unshape(self, name):
        number = self.names.index(name) + 1
        command("ip", "netns", "exec", name, "tc", "qdisc", "del", "dev", "eth0", "root", check=False)
        command("tc", "qdisc", "del", "dev", f"{self.mark}v{number}", "root", check=False)

    def confine(self, name, share):
        """The host's processes to a share of one processor, from the next start on. "" frees them."""
        self.slow = name
        if not name or self.group is not None:
            return
        first, second = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
        try:
            if (first / "cpu.cfs_quota_us").exists():
                group = first / f"memsweep-{self.mark}"
                group.mkdir()
                (group / "cpu.cfs_quota_us").write_text(f"{int(share * 100_000)}")
            elif "cpu" in (second / "cgroup.controllers").read_text().split():
                group = second / f"memsweep-{self.mark}"
                group.mkdir()
                (group / "cpu.max").write_text(f"{int(share * 100_000)} 100000")
            else:
                raise Unavailable("no cgroup of processors")
        except OSError as error:
            raise Unavailable(f"no cgroup of processors: {error}") from None
        self.group = group

    def mpirun(self, *args):
        agent = self.folder / "agent"
        agent.write_text(AGENT.format(slow=self.slow, maker=os.getpid(), group=(self.group / "cgroup.procs") if self.group else "/dev/null"))
        agent.chmod(0o755)
        network = f"{self.subnet}.0/24"
        return ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", f"hostname {self.names[0]}; exec \"$@\"", "sh",
                "mpirun", "--allow-run-as-root", "--enable-recovery", "--mca", "plm_rsh_agent", str(agent), "--mca", "plm_rsh_no_tree_spawn", "1",
                "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network,
                "--mca", "mpi_yield_when_idle", "1", "--host", ",".join(f"{name}:1" for name in self.names), "--map-by", "node",
                "--bind-to", "none", "-n", str(len(self.names)), *args]

    def pids(self, name):
        return [int(pid) for pid in command("ip", "netns", "pids", name, check=False).split()]

    def kill(self, name):
        """As if the host had lost its power: every process in it, at once."""
        for pid in self.pids(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self):
        for number, name in enumerate(self.names, 1):
            self.kill(name)
            command("ip", "netns", "del", name, check=False)
            command("ip", "link", "del", f"{self.mark}v{number}", check=False)
            shutil.rmtree(pathlib.Path("/etc/netns") / name, ignore_errors=True)
        command("ip", "link", "del", self.bridge, check=False)
        if self.group is not None and self.group.exists():
            self.group.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)
