"""The first thing that a parsing process runs: it gives up what it will not need, then runs the script that parses.

It is run as a script by itself and imports nothing of the product. Arguments: memory in bytes, seconds, bytes of the
answer, the script, and what that one takes. The seconds hold for the processor's time, and a second later for the time
on the wall, so that it ends where the server that would end it is dead.

On Linux (x86-64 and ARM64) the kernel then refuses the process, and whatever a strange file makes of it: to start
another program or process, to open a socket, to signal or trace another process, and to open a file for writing, take
one away, rename one or change its rights. It may still read what the server's user may. Elsewhere, and under a kernel without
such filters, only the limits hold.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import runpy
import signal
import struct
import sys

# Numbers of system calls: name, on x86-64, on ARM64; -1 where there is no such call.
_REFUSED = (
    ("fork", 57, -1), ("vfork", 58, -1), ("execve", 59, 221), ("execveat", 322, 281),
    ("socket", 41, 198), ("connect", 42, 203), ("bind", 49, 200), ("io_uring_setup", 425, 425),
    ("kill", 62, 129), ("tkill", 200, 130), ("tgkill", 234, 131), ("ptrace", 101, 117),
    ("pidfd_send_signal", 424, 424), ("pidfd_open", 434, 434), ("pidfd_getfd", 438, 438),
    ("process_vm_readv", 310, 270), ("process_vm_writev", 311, 271),
    ("creat", 85, -1), ("truncate", 76, 45), ("rename", 82, -1), ("renameat", 264, 38), ("renameat2", 316, 276),
    ("link", 86, -1), ("linkat", 265, 37), ("symlink", 88, -1), ("symlinkat", 266, 36), ("unlink", 87, -1),
    ("unlinkat", 263, 35), ("mkdir", 83, -1), ("mkdirat", 258, 34), ("rmdir", 84, -1), ("mknod", 133, -1),
    ("mknodat", 259, 33), ("chmod", 90, -1), ("fchmod", 91, 52), ("fchmodat", 268, 53), ("fchmodat2", 452, 452),
    ("chown", 92, -1), ("lchown", 94, -1), ("fchown", 93, 55), ("fchownat", 260, 54), ("setxattr", 188, 5),
    ("mount", 165, 40), ("umount2", 166, 39), ("unshare", 272, 97), ("setns", 308, 268), ("bpf", 321, 280),
)  # fmt: skip
# Newer calls whose arguments no filter can read: programs take the older ones where these are not there.
_UNKNOWN = (("clone3", 435, 435), ("openat2", 437, 437))
# Calls that are refused by their arguments: name, numbers, place of the flags, flags, whether it is refused with them.
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_THREAD = 0x10000
_BY_FLAGS = (
    ("open", 2, -1, 1, _WRITING, True),
    ("openat", 257, 56, 2, _WRITING, True),
    ("clone", 56, 220, 0, _THREAD, False),
)

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_OTHER_CALLS = 0x40000000  # those of x32, a second set of numbers on x86-64
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL, _ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER = 38, 22, 2


def limit(memory: int, seconds: int, answer: int) -> None:
    """Let this process take no more than this."""
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, answer),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(kind, (most, most))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.alarm(seconds + 1)


def refuse_calls() -> bool:
    """Let the kernel refuse what no parser needs; False where it does not, or where we do not know how."""
    machine = _MACHINES.get(os.uname().machine)
    if sys.platform != "linux" or machine is None:
        return False
    steps = _filter(*machine)
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    return not libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) and not libc.prctl(_SET_FILTER, _FILTER, program, 0, 0)


def _filter(column: int, machine: int) -> list[bytes]:
    """The filter as the kernel reads it: one instruction after the other, jumps are forward."""
    steps = [
        _step(_LOAD, _MACHINE), _step(_IF_EQUAL, machine, 1, 0), _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER), _step(_IF_AT_LEAST, _OTHER_CALLS, 0, 1), _step(_RETURN, _KILL),
    ]  # fmt: skip
    for calls, error in ((_REFUSED, errno.EPERM), (_UNKNOWN, errno.ENOSYS)):
        for _, *numbers in calls:
            steps += [_step(_IF_EQUAL, numbers[column] & 0xFFFFFFFF, 0, 1), _step(_RETURN, _ERROR | error)]
    for _, *numbers, place, flags, with_them in _BY_FLAGS:
        ends = [_step(_RETURN, _ERROR | errno.EPERM), _step(_RETURN, _ALLOW)]
        steps += [
            _step(_IF_EQUAL, numbers[column] & 0xFFFFFFFF, 0, 4),
            _step(_LOAD, _ARGUMENTS + 8 * place),
            _step(_IF_ANY, flags, 0, 1),
            *(ends if with_them else ends[::-1]),
        ]
    return [*steps, _step(_RETURN, _ALLOW)]


def _step(code: int, value: int, so: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, so, otherwise, value)


def main(memory: str, seconds: str, answer: str, script: str, *given: str) -> None:
    """Become harmless, then do the work."""
    limit(int(memory), int(seconds), int(answer))
    refuse_calls()
    sys.argv = [script, *given]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
