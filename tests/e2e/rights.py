#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What each process of each command may do when it reads its input, as root, as a member of the group, and as anyone.

rights.py CONFIG.json: runs every command, reads /proc/PID/task/*/status of each of its processes while it waits for
its input, and prints the table of docs/security.md. Every command that gotrace --help names must have a run here.
A run whose threads differ from what always holds (no_new_privs; a filter on what reads) is reported.

CONFIG.json: {"gotrace": {"root": [ARGV...], "member": [...], "anyone": [...]}, "dir": {KIND: a directory of the user},
"target": PID, "trace": FILE, "raw": FILE, "program": FILE, "doc": FILE}. ARGV begins the command line as that user.
"""
import fcntl
import json
import os
import platform
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time

KINDS = ("root", "member", "anyone")
READ = {"x86_64": 0, "aarch64": 63}[platform.machine()]  # asm/unistd.h
NAMES = (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
    "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN "
    "SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE "
    "MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"
).split()
WORKERS = "the workers"
SETS = ("CapInh", "CapPrm", "CapEff", "CapAmb")


class Failure(Exception):
    pass


# --- processes ---


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


class Process:
    """A process, and what its threads may do now."""

    def __init__(self, pid, parent):
        self.pid = pid
        self.parent = parent  # a Process, or None
        self.children = []
        self.comm = read(f"/proc/{pid}/comm").strip()
        self.threads = []
        for task in list_dir(f"/proc/{pid}/task"):
            text = read(f"/proc/{pid}/task/{task}/status")
            fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
            if "Seccomp" in fields:
                self.threads.append(fields)

    def capabilities(self):
        mask = 0
        for thread in self.threads:
            for name in SETS:
                mask |= int(thread[name], 16)
        return mask

    def bounding(self):
        mask = 0
        for thread in self.threads:
            mask |= int(thread["CapBnd"], 16)
        return mask

    def all(self, name, value):
        return bool(self.threads) and all(thread[name] == value for thread in self.threads)

    def has_broker(self):
        return any(child.comm == "gotrace-broker" for child in self.children)


def list_dir(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def tree(root, target):
    """The processes of gotrace: root and its descendants, without the process that is traced."""
    parents = {}
    for name in list_dir("/proc"):
        stat = read(f"/proc/{name}/stat") if name.isdigit() else ""
        if stat:
            parents[int(name)] = int(stat[stat.rindex(")") + 2:].split()[1])
    found = [Process(root, None)]
    for process in found:
        for pid, parent in parents.items():
            if parent == process.pid and pid != target:
                child = Process(pid, process)
                process.children.append(child)
                found.append(child)
    return [process for process in found if process.threads]


def wait_for(what, seconds, state=None):
    """Calls what() until it is true. Returns its last value."""
    end = time.monotonic() + seconds
    value = what()
    while not value and time.monotonic() < end:
        if state is not None and state.poll() is not None:
            break
        time.sleep(0.002)
        value = what()
    return value


def reads_from(pid, path):
    """Whether the process waits in read(2) for this file."""
    words = read(f"/proc/{pid}/syscall").split()
    if len(words) < 2 or words[0] != str(READ):
        return False
    try:
        return os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}") == path
    except OSError:
        return False


# --- what was found ---


class Found:
    """By command and process: what it has as each kind of user."""

    def __init__(self):
        self.rows = {}
        self.faults = []

    def add(self, command, role, kind, process, filtered):
        what = f"{command}, {role}, as {kind}"
        if not process.all("NoNewPrivs", "1"):
            self.faults.append(f"{what}: a thread has no no_new_privs")
        filters = process.all("Seccomp", "2")
        if filtered and not filters:
            self.faults.append(f"{what}: a thread has no filter")
        if filtered and process.capabilities():
            self.faults.append(f"{what}: it reads with {names_of(process.capabilities())}")
        if filtered and kind == "root" and process.bounding():
            self.faults.append(f"{what}: its bounding set has {names_of(process.bounding())}")
        row = self.rows.setdefault((command, role), {"filter": filters})
        mask = row.get(kind, 0) | process.capabilities()
        row[kind] = mask
        row["filter"] = row["filter"] and filters


def names_of(mask):
    names = [f"CAP_{name}" for bit, name in enumerate(NAMES) if mask >> bit & 1]
    if len(names) > 20:
        return f"{len(names)} capabilities"
    return ", ".join(f"`{name}`" for name in names) if names else "none"


def mask_of(text):
    return sum(1 << NAMES.index(name) for name in re.findall(r"CAP_(\w+)", text))


# --- runs ---


class Run:
    """A command that runs."""

    def __init__(self, config, kind, arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pty_of=None):
        self.argv = config["gotrace"][kind] + arguments
        self.log = os.path.join(config["dir"]["root"], "rights.err")
        self.target = config["target"]
        with open(self.log, "wb") as errors:
            if pty_of is None:
                self.process = subprocess.Popen(
                    self.argv, stdin=stdin, stdout=stdout, stderr=errors, cwd=config["dir"][kind], start_new_session=True)
            else:
                self.process = subprocess.Popen(
                    self.argv, stdin=pty_of, stdout=pty_of, stderr=errors, cwd=config["dir"][kind], start_new_session=True,
                    env=dict(os.environ, TERM="xterm"))
        self.pid = self.process.pid

    def tree(self):
        return tree(self.pid, self.target)

    def why(self):
        return f"{' '.join(self.argv[-6:])}: {read(self.log).strip()[-300:]}"

    def end(self, *good):
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"does not end: {self.why()}") from None
        if status not in good:
            raise Failure(f"status {status}: {self.why()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)


def settled(run):
    """True once all is attached: a Go program's broker then needs no capability."""
    found = [process for process in run.tree() if process.has_broker()]
    return len(found) == 1 and len(found[0].children) == 3 and found[0].all("NoNewPrivs", "1") and not any(
        process.capabilities() for process in found[0].children)


def role_of(process, reader, names):
    """The place of a process among those of its command."""
    if process.comm == "gotrace-broker":
        return "the broker"
    if process.has_broker():
        return names.get("recorder", "records")
    if process.parent and process.parent.has_broker():
        return WORKERS
    if reader(process):
        return names.get("reader", "reads")
    return names.get("main", "names the output")


def observe(found, command, kind, processes, reader, names):
    for process in processes:
        role = role_of(process, reader, names)
        found.add(command, role, kind, process, role in (names.get("reader", "reads"), WORKERS))


def file_run(found, config, kind, command, arguments, content, more):
    """Reads from a pipe that is empty while the processes are looked at."""
    path = os.path.join(config["dir"][kind], "input")
    if os.path.exists(path):
        os.unlink(path)
    os.mkfifo(path, 0o644)
    os.chmod(path, 0o644)
    writer = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    run = Run(config, kind, [word.replace("INPUT", path) for word in arguments])
    waiting = wait_for(lambda: [process.pid for process in run.tree() if reads_from(process.pid, path)], 10, run.process)
    if not waiting:
        os.close(writer)
        run.process.kill()
        raise Failure(f"nothing reads the file: {run.why()}")
    observe(found, command, kind, run.tree(), lambda process: process.pid in waiting, dict(more.get("names", {}), reader="reads the file"))
    with open(content, "rb") as file:
        for piece in iter(lambda: file.read(1 << 16), b""):
            os.write(writer, piece)
    os.close(writer)
    if more.get("stop"):
        run.stop()
    run.end(*more.get("status", (0,)))


def record_run(found, config, kind, command, arguments, names, until=None):
    """Records the target, and is looked at once all is attached."""
    run = Run(config, kind, arguments)
    wait_for(lambda: (until or settled)(run), 20, run.process)
    time.sleep(0.3)
    processes = run.tree()
    if not processes or run.process.poll() is not None:
        raise Failure(f"did not record: {run.why()}")
    observe(found, command, kind, processes, names.get("reads", lambda process: False), names)
    run.stop()
    run.end(*names.get("status", (0, 3)))


def top_run(found, config, kind):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, 0x5414, b"\x18\0\x50\0\0\0\0\0")  # TIOCSWINSZ: 24 lines of 80 columns
    run = Run(config, kind, ["top", "-d", "20s", "-p", str(config["target"])], pty_of=slave)
    os.close(slave)

    def drain():
        while select.select([master], [], [], 0)[0]:
            if not os.read(master, 65536):
                break

    def ready():
        drain()
        return settled(run)

    wait_for(ready, 20, run.process)
    processes = run.tree()
    for process in processes:
        process.draws = process.parent is None
        process.reads = process.parent is not None and process.parent.parent is None
    names = {"reader": "reads the trace"}
    for process in processes:
        role = "draws" if process.draws else role_of(process, lambda one: one.reads, names)
        found.add("top", role, kind, process, role in ("draws", "reads the trace", WORKERS))
    os.killpg(run.pid, signal.SIGINT)
    end = time.monotonic() + 20
    while run.process.poll() is None and time.monotonic() < end:
        try:
            drain()
        except OSError:
            break
        time.sleep(0.05)
    run.end(0)
    os.close(master)


def inspector_run(found, config, kind, command, arguments):
    """The inspector is stopped as soon as it is confined; then all others wait for its answer."""
    for _ in range(5):
        run = Run(config, kind, arguments)

        def inspector():
            for process in tree(run.pid, config["target"]):
                if process.parent and process.comm != "gotrace-broker" and process.all("Seccomp", "2"):
                    return process.pid
            return 0

        pid = wait_for(inspector, 5, run.process)
        if not pid:
            run.process.wait(20)
            continue
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.7)
        processes = run.tree()
        stopped = [process for process in processes if process.pid == pid]
        if len(processes) != 3 or not stopped:
            run.process.wait(20)
            continue
        for process in processes:
            if process.pid == pid:
                role = WORKERS
            elif process.comm == "gotrace-broker":
                role = "the broker"
            else:
                role = "shows what the inspector found"
            found.add(command, role, kind, process, role != "the broker")
        os.kill(pid, signal.SIGCONT)
        run.end(0)
        return
    raise Failure(f"the inspector was not seen: {run.why()}")


def blocked_output_run(found, config, kind, command, arguments, role):
    """Prints into a pipe that is full."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writing, b"x" * 4096)
    run = Run(config, kind, arguments, stdout=writing)
    os.close(writing)
    write = {"x86_64": "1", "aarch64": "64"}[platform.machine()]
    wait_for(lambda: read(f"/proc/{run.pid}/syscall").split()[:2] == [write, "0x1"], 20, run.process)
    for process in run.tree():
        found.add(command, role, kind, process, True)
    while os.read(reading, 65536):
        pass
    os.close(reading)
    run.end(0, 1, 3)


def snapshot_run(found, config, kind):
    """This process is the recorder, which does not answer at once."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(f"\0gotrace-flight-{os.getpid()}")
    server.listen(1)
    run = Run(config, kind, ["snapshot", str(os.getpid())])
    server.settimeout(10)
    client, _ = server.accept()
    client.recv(64)
    wait_for(lambda: read(f"/proc/{run.pid}/wchan").startswith("unix"), 2, run.process)
    time.sleep(0.3)
    for process in run.tree():
        found.add("snapshot", "reads the answer", kind, process, True)
    client.sendall(b"written /tmp/trace\n")
    client.close()
    server.close()
    run.end(0)


# --- all commands ---


def file_commands(config):
    """command, arguments, content of the input, more"""
    trace, raw = config["trace"], config["raw"]
    return [
        ("check", ["check", "INPUT"], trace, {}),
        ("dump", ["dump", "INPUT"], trace, {}),
        ("diff", ["diff", "INPUT", trace], trace, {}),
        ("layout", ["layout", "--go", "INPUT"], config["program"], {}),
        ("sql", ["sql", "INPUT", "SELECT count(*) FROM state ORDER BY 1"], trace, {}),
        ("report FILE", ["report", "INPUT"], trace, {}),
        ("why FILE", ["why", "--goroutine", "1", "INPUT"], trace, {}),
        ("report --html", ["report", "--html", "page.html", "INPUT"], trace, {}),
        ("replay", ["replay", "-q", "INPUT", "-o", "replayed"], raw, {}),
        ("convert", ["convert", "-q", "--format", "1.22", "INPUT", "-o", "converted"], trace, {}),
        ("convert", ["convert", "-q", "INPUT", "-o", "converted.perfetto-trace"], trace, {}),
        ("convert --format parquet", ["convert", "-q", "--format", "parquet", "INPUT", "-o", "lake"], trace, {}),
        ("flame", ["flame", "INPUT", "-o", "flame.html"], trace, {}),
        ("view", ["view", "--in=perfetto", "INPUT"], trace,
         {"names": {"main": "listens"}, "stop": True, "status": (0, 1, -15)}),
        ("cut", ["cut", "-q", "INPUT", "-o", "piece"], trace, {}),
        ("cut --split", ["cut", "-q", "--split", "20k", "INPUT", "-o", "pieces"], trace, {}),
    ]


def recordings(config):
    """command, arguments, names of the roles"""
    pid = ["-p", str(config["target"])]
    reads = {"reads": lambda process: process.parent is None, "reader": "reads the trace"}
    child = {"reads": lambda process: process.parent is not None, "reader": "reads the trace"}
    return [
        ("-p PID", ["-q", "-d", "30s", "-o", "trace"] + pid, {"status": (0,)}),
        ("-p PID -o FILE.perfetto-trace", ["-q", "-d", "30s", "-o", "live.perfetto-trace"] + pid, child),
        ("report -p", ["report", "-q", "-d", "30s"] + pid, dict(reads, status=(0, 1, -15))),
        ("report -p --html", ["report", "-q", "-d", "30s", "--html", "live.html"] + pid, dict(child, status=(0, 1, -15))),
        ("why -p", ["why", "-q", "-d", "30s", "--goroutine", "1"] + pid, dict(reads, status=(0, 1, -15))),
        ("flight -p", ["flight", "-q", "-o", "flight"] + pid, {}),
        ("flight --comm", ["flight", "-q", "-o", "flight", "--comm", config["comm"]], {"recorder": "attaches"}),
        ("flight --node", ["flight", "-q", "-o", "flight", "--node", "--comm", config["comm"]], {"main": "starts recorders"}),
    ]


def waits(run):
    """True for a recorder without a process."""
    processes = run.tree()
    return len(processes) == 1 and processes[0].all("NoNewPrivs", "1")


def commands_of_help(config):
    """The names of all commands: those in the usage lines of --help, and record, which needs no name."""
    text = subprocess.run(config["gotrace"]["root"] + ["--help"], capture_output=True, text=True, check=True).stdout
    names = {"-p PID"}
    for line in text.split("\n\n")[0].splitlines():
        found = re.match(r"(?:Usage:|\s+) gotrace (.*)", line)
        for part in found.group(1).split("|") if found else []:
            word = part.split()[0]
            if re.fullmatch("[a-z]+", word):
                names.add(word)
    return names


def run_all(config, found, kind, step):
    for command, arguments, content, more in file_commands(config):
        step(command, lambda: file_run(found, config, kind, command, arguments, content, more))
    step("snapshot", lambda: snapshot_run(found, config, kind))
    step("doctor", lambda: blocked_output_run(found, config, kind, "doctor", ["doctor"], "prints"))
    if kind == "anyone":
        return
    for command, arguments, names in recordings(config):
        step(command, lambda: record_run(found, config, kind, command, arguments, names))
    idle = ["flight", "-q", "-o", "flight", "--comm", "no-such-name"]
    step("flight --comm", lambda: record_run(
        found, config, kind, "flight --comm", idle, {"main": "attaches"}, waits))
    step("top", lambda: top_run(found, config, kind))
    pid = str(config["target"])
    for command, arguments in (("ps", ["ps", "-p", pid, "-i", "0"]), ("sites", ["sites", "-p", pid]),
                               ("doctor -p", ["doctor", "-p", pid])):
        step(command, lambda: inspector_run(found, config, kind, command, arguments))


def cell(row, kind, documented, available):
    if kind not in row:
        return "-"
    # This machine's root may not have all capabilities.
    return names_of(row[kind] | (documented & ~available if kind == "root" else 0))


def documented_rows(config):
    """By command and process: the cell of root in the document."""
    rows = {}
    for line in read(config["doc"]).splitlines():
        cells = [text.strip() for text in line.strip("| ").split(" | ")]
        if len(cells) == 6:
            for command in cells[0].split("; "):
                rows[command.strip("`"), cells[1]] = cells[2]
    return rows


def print_table(config, found):
    available = Process(os.getpid(), None).bounding()
    known = documented_rows(config)
    grouped = {}
    for (command, role), row in found.rows.items():
        documented = mask_of(known.get((command, role), ""))
        cells = [cell(row, kind, documented, available) for kind in KINDS]
        key = (role, *cells, "yes" if row["filter"] else "no")
        grouped.setdefault(key, []).append(f"`{command}`")
    print("| command | process | root has | a member of the group has | anyone has | filter |")
    print("|---|---|---|---|---|---|")
    for key, commands in grouped.items():
        print("| " + " | ".join(["; ".join(commands), *key]) + " |")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    found = Found()
    seen = set()

    def step(command, run):
        try:
            run()
            seen.add(command)
            seen.add(command.split()[0])
        except Failure as failure:
            found.faults.append(f"{command}, as {kind}: {failure}")

    for kind in KINDS:
        run_all(config, found, kind, step)
    for name in sorted(commands_of_help(config) - seen):
        found.faults.append(f"{name}: no run looks at this command")
    print_table(config, found)
    for fault in found.faults:
        print(fault, file=sys.stderr)
    return 1 if found.faults else 0


sys.exit(main())
