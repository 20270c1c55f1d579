"""What a program holds when it ends, seen without memsweep: it is traced, and stopped once its first thread is about to be gone.

Linux on x86-64 or AArch64. A program that starts others is seen alone.
"""

import ctypes
import os
import signal

PTRACE_CONT, PTRACE_SEIZE = 7, 0x4206
PTRACE_O_TRACEEXIT, PTRACE_O_TRACEEXEC = 1 << 6, 1 << 4
PTRACE_EVENT_EXEC, PTRACE_EVENT_EXIT, PTRACE_EVENT_STOP = 4, 6, 128
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, pid, data=0):
    if libc.ptrace(request, pid, None, data) != 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def mappings(text):
    """Of smaps: a list of (begin, end, permissions, name, figures in KiB)."""
    found = []
    for line in text.splitlines():
        words = line.split(None, 5)
        if words and not words[0].endswith(":"):
            begin, end = (int(word, 16) for word in words[0].split("-"))
            found.append((begin, end, words[1], words[5] if len(words) > 5 else "", {}))
        elif len(words) >= 3 and words[2] == "kB":
            found[-1][4][words[0][:-1]] = int(words[1])
        elif words and words[0] == "VmFlags:":
            found[-1][4]["flags"] = line.split()[1:]
    return found


def total(areas, key):
    return sum(figures.get(key, 0) for *_, figures in areas)


def present_kib(pid, begin, end):
    """How much of this range is resident, by pagemap."""
    page = os.sysconf("SC_PAGESIZE")
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as file:
        file.seek(begin // page * 8)
        entries = file.read((end - begin) // page * 8)
    return sum(entries[i + 7] >> 7 for i in range(0, len(entries), 8)) * page // 1024


def at_exit(words, env=None, stdout=None, stdin=None, cwd=None, look=None):
    """Runs it. {"pid", "smaps", "status", "code"}: its mappings and /proc/PID/status when it ends, and its exit code or -signal;
    "look": what `look(pid, mappings)` says while it is stopped there."""
    ready, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        for number, file in ((0, stdin), (1, stdout)):
            if file is not None:
                os.dup2(file.fileno(), number)
        if cwd:
            os.chdir(cwd)
        os.read(ready, 1)
        os.close(ready)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvpe(words[0], [str(word) for word in words], env or dict(os.environ))
    os.close(ready)
    ptrace(PTRACE_SEIZE, pid, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)
    os.write(go, b"g")
    os.close(go)
    seen = {"pid": pid, "smaps": [], "status": ""}
    while True:
        found, status = os.waitpid(pid, WALL)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            seen["code"] = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            return seen
        event, number = status >> 16, os.WSTOPSIG(status)
        if event == PTRACE_EVENT_EXIT:
            seen["smaps"] = mappings(read(f"/proc/{found}/smaps"))
            seen["status"] = read(f"/proc/{found}/status")
            if look is not None:
                seen["look"] = look(found, seen["smaps"])
        ptrace(PTRACE_CONT, found, number if event == 0 else 0)
