"""A Slurm of three nodes on this machine, in a folder of its own: munged, slurmctld and a slurmd per node.

Needs root and the programs of slurmd, slurmctld and munge, built with several slurmd per machine as Debian's are. Every
daemon is stopped by its process id.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time


class Unavailable(Exception):
    pass


CONF = """ClusterName=mini
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/sock/munge.socket
CryptoType=crypto/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.%n.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.%n.log
SlurmctldPort={port}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
ReturnToService=2
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
{nodes}
PartitionName=short Nodes=sn[1-{count}] Default=YES MaxTime=INFINITE State=UP
{more}
"""


class MiniSlurm:
    def __init__(self, count=3, more=""):
        for program in ("munged", "slurmctld", "slurmd", "srun", "sbatch", "sinfo", "setpriv"):
            if shutil.which(program) is None and not pathlib.Path("/usr/sbin", program).exists():
                raise Unavailable(f"{program} is not installed")
        if os.geteuid() != 0:
            raise Unavailable("the daemons need root")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memsweep-slurm-", dir="/tmp"))
        self.folder.chmod(0o755)
        self.daemons = []
        for name in ("state", "spool", "munge", "sock", *(f"spool/sn{i}" for i in range(1, count + 1))):
            (self.folder / name).mkdir()
        port = 20000 + os.getpid() % 20000
        host = socket.gethostname().split(".")[0]
        nodes = "\n".join(f"NodeName=sn{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + i} CPUs=2 RealMemory=1000 State=UNKNOWN"
                          for i in range(1, count + 1))
        (self.folder / "slurm.conf").write_text(CONF.format(host=host, folder=self.folder, port=port, nodes=nodes, count=count, more=more))
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"), PATH=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        try:
            self.begin(count)
        except Unavailable:
            self.close()
            raise

    def start(self, name, *command):
        log = open(self.folder / f"{name}.out", "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=subprocess.STDOUT))
        log.close()

    def begin(self, count):
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(128))
        for path in (munge, munge / "key", self.folder / "sock"):
            try:
                shutil.chown(path, "munge", "munge" if path != self.folder / "sock" else None)
            except LookupError:
                raise Unavailable("there is no user munge") from None
        munge.chmod(0o700)
        (munge / "key").chmod(0o600)
        self.start("munged", "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "-F", f"--key-file={munge}/key",
                   f"--socket={self.folder}/sock/munge.socket", f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed", "-f")
        self.wait("munged", lambda: (self.folder / "sock/munge.socket").exists())
        self.start("slurmctld", "slurmctld", "-D", "-f", str(self.folder / "slurm.conf"))
        for number in range(1, count + 1):
            self.start(f"slurmd{number}", "slurmd", "-D", "-N", f"sn{number}", "-f", str(self.folder / "slurm.conf"))
        self.wait("the nodes", lambda: set(self.run("sinfo", "-h", "-o", "%T").stdout.split()) == {"idle"})

    def wait(self, what, is_there, patience_s=30):
        end = time.monotonic() + patience_s
        while not is_there():
            if time.monotonic() > end:
                logs = "".join(path.read_text()[-300:] for path in sorted(self.folder.glob("*.out")))
                raise Unavailable(f"{what} did not come up: {' '.join(logs.split())[-400:]}")
            time.sleep(0.1)

    def run(self, *command, **options):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=120, **options)

    def close(self):
        if len(self.daemons) > 1:
            self.run("scancel", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
