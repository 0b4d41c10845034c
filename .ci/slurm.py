"""Slurm clusters on this machine, for the scripts in .ci/long. Needs root and Debian's slurm-wlm and munge, which it installs if it can."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

CONF = """ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
StateSaveLocation={d}/state
SlurmdSpoolDir={d}/spool.%n
SlurmctldPidFile={d}/ctld.pid
SlurmdPidFile={d}/d.%n.pid
SlurmctldLogFile={d}/ctld.log
SlurmdLogFile={d}/d.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
MaxJobCount=10000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=2,sched_interval=2,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
JobCompType=jobcomp/{jobcomp}
JobCompLoc={d}/jobcomp.txt
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={name}n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs={slots} RealMemory=4000
PartitionName=main Nodes=ALL Default=YES State=UP MaxTime=1:00:00
"""

# Jobs with a higher --nice wait for all others; equals are first come first served.
PRIORITIES = """PriorityType=priority/multifactor
PriorityWeightPartition=1000
"""


def wait(what, is_so, limit=60, pause=0.05):
    until = time.time() + limit
    while not is_so():
        if time.time() > until:
            raise RuntimeError(f"not in time: {what}")
        time.sleep(pause)


def missing():
    """Why there can be no cluster here, if so. Installs Slurm if it is not there."""
    if os.geteuid() != 0:
        return "only root starts Slurm"
    if not shutil.which("slurmctld"):
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "slurm-wlm", "munge"], capture_output=True)
    return None if shutil.which("slurmctld") else "Slurm cannot be installed"


def munge():
    """Starts munged if it does not run, and returns its process if it was started."""
    if pathlib.Path("/run/munge/munge.socket.2").exists() and subprocess.run(["munge", "-n"], capture_output=True).returncode == 0:
        return None
    os.makedirs("/run/munge", exist_ok=True)
    shutil.chown("/run/munge", "munge", "munge")
    identity = ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups"]
    started = subprocess.Popen([*identity, "munged", "--foreground", "--force"], stderr=subprocess.DEVNULL)
    wait("munged", lambda: subprocess.run(["munge", "-n"], capture_output=True).returncode == 0)
    return started


class Cluster:
    """A cluster of one computer."""

    def __init__(self, room, name, port, slots, more="", jobcomp="filetxt"):
        self.room, self.name, self.slots = pathlib.Path(room) / name, name, slots
        self.room.mkdir(parents=True)
        (self.room / "state").mkdir()
        self.conf = self.room / "slurm.conf"
        host = socket.gethostname().split(".")[0]
        text = CONF.format(name=name, host=host, port=port, node_port=port + 1, d=self.room, slots=slots, jobcomp=jobcomp)
        self.conf.write_text(text + more)
        self.environment = {**os.environ, "SLURM_CONF": str(self.conf), "SLURM_TIME_FORMAT": "%s"}
        self.controller = self.node = None

    def start(self):
        self.start_controller()
        self.start_node()
        wait(f"{self.name} is idle", self.is_idle, 90)

    def is_idle(self):
        return "idle" in self.call("sinfo", "-h", "-o", "%T", check=False)

    def spawn(self, *words):
        return subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_controller(self):
        self.controller = self.spawn("slurmctld", "-D")
        (self.room / "controller").write_text(str(self.controller.pid))

    def start_node(self):
        self.node = self.spawn("slurmd", "-D", "-N", f"{self.name}n1")
        (self.room / "node").write_text(str(self.node.pid))

    def call(self, *words, check=True, timeout=60):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(words[:3])}: {done.stderr.strip()}")
        return done.stdout

    def completed(self):
        """Name and job id of each job that ran to its end, a line of jobcomp.txt each."""
        file = self.room / "jobcomp.txt"
        lines = file.read_text().splitlines() if file.exists() else []
        fields = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
        return [(line["Name"], line["JobId"]) for line in fields if line.get("JobState") == "COMPLETED"]

    def stop(self):
        self.call("scancel", "--user=root", check=False)
        for process in (self.controller, self.node):
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in (self.controller, self.node):
            if process:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
