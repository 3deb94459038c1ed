"""Forks a process with limits of memory and CPU time for each file that users upload.

It has one thread and has imported what files need, so that a fork is safe and takes milliseconds. The service
starts it with the first file, and talks to it through `console/shell/file_processes.py`.
"""

import contextlib
import gc
import importlib
import os
import pickle
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn

from pabal.console.sheets.sheet_limits import OUT_OF_MEMORY, OUT_OF_TIME, refuse_file
from pabal.domain.base.codes import Problem, Refused
from pabal.service.errors import describe_error

NICENESS = 5
"""The processes leave the processor to others."""
LENGTH_BYTES = 4
DESCRIPTORS = 3
"""Those of a job: its channel, what hangs up when the job is to end, and the file."""
_PRELOADED = (
    "pabal.console.campaigns.campaign_file",
    "pabal.console.contacts.contact_import",
    "pabal.console.contacts.opt_out_file",
)
"""Where jobs are defined."""


class FileJob(NamedTuple):
    """What is to be found in a file, and at what cost."""

    read: Callable[[BinaryIO], Iterator[Any]]
    """Yields what is found, part by part; raises Refused."""
    cpu_s: int
    memory_bytes: int
    """Of addresses: the process itself takes 50 MB of them."""


class Part(NamedTuple):
    """A part of what was found."""

    found: Any


class Refusal(NamedTuple):
    """Why the file cannot be used."""

    problems: Sequence[Problem]


class ReadFailure(NamedTuple):
    """An error of ours, for the log."""

    error: dict[str, Any]


class End(NamedTuple):
    """The file was read to its end."""


Answer = Part | Refusal | ReadFailure | End


class _Child(NamedTuple):
    pid: int
    hang_up: socket.socket


def main() -> NoReturn:
    """Serve the socket of the descriptor that the command line names, until the service closes it."""
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as control:
        _serve(control)
    os._exit(0)


def _serve(control: socket.socket) -> None:
    children: dict[int, _Child] = {}
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    while True:
        for descriptor, _ in waiting.poll():
            if descriptor in children:
                waiting.unregister(descriptor)
                _end(children.pop(descriptor))
                continue
            _, descriptors, _, _ = socket.recv_fds(control, 1, DESCRIPTORS)
            if len(descriptors) < DESCRIPTORS:  # the service has gone, or has had no file for long
                for child in children.values():
                    _end(child)
                return
            child = _fork(control, *descriptors)
            children[child.hang_up.fileno()] = child
            waiting.register(child.hang_up, 0)  # 0: hang-ups are always told


def _end(child: _Child) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)
    os.waitpid(child.pid, 0)
    child.hang_up.close()


def _fork(control: socket.socket, channel: int, hang_up: int, content: int) -> _Child:
    pid = os.fork()
    if not pid:
        control.close()
        os.close(hang_up)
        _run(channel, content)
    os.close(channel)
    os.close(content)
    return _Child(pid, socket.socket(fileno=hang_up))


def _run(channel: int, content: int) -> NoReturn:
    """Do one job in this process, and end it whatever happens."""
    try:
        with socket.socket(fileno=channel) as answers, open(content, "rb") as file:
            job: FileJob = pickle.load(answers.makefile("rb"))  # noqa: S301  of our own parent
            _set_limits(job)
            _send(answers, _read(job, file, answers))
    except ConnectionError:  # the service has gone, and nobody waits any more
        pass
    finally:
        os._exit(0)


def _set_limits(job: FileJob) -> None:
    os.nice(NICENESS)
    signal.signal(signal.SIGXCPU, _stop_reading)
    resource.setrlimit(resource.RLIMIT_CPU, (job.cpu_s, job.cpu_s + 1))  # beyond the second one it is killed
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = job.memory_bytes if most == resource.RLIM_INFINITY else min(job.memory_bytes, most)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _read(job: FileJob, file: BinaryIO, answers: socket.socket) -> Answer:
    """Send what is found, and return the last answer."""
    try:
        for found in job.read(file):
            _send(answers, Part(found))
    except Refused as refused:
        return Refusal(refused.problems)
    except _OutOfTime:
        return Refusal(refuse_file(OUT_OF_TIME).problems)
    except MemoryError:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))  # for the answer
        return Refusal(refuse_file(OUT_OF_MEMORY).problems)
    except ConnectionError:
        raise
    except Exception as error:
        return ReadFailure(describe_error(error))
    return End()


def _send(answers: socket.socket, answer: Answer) -> None:
    encoded = pickle.dumps(answer)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXCPU])  # an answer is sent whole
    answers.sendall(len(encoded).to_bytes(LENGTH_BYTES, "big") + encoded)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGXCPU])


class _OutOfTime(Exception):
    """The CPU time of the job is spent."""


def _stop_reading(number: int, frame: object) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    raise _OutOfTime
