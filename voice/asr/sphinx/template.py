"""The template process: it has loaded the models, and forks a worker for each request.

The pages of the models are then shared: a worker has 25 MB of its own after three minutes of speech instead of 100, and
exists after 4 ms instead of half a second. A fork is safe here because the process has one thread and no event loop.
"""

import gc
import os
import select
import signal
import socket
from collections.abc import Callable

from voice.asr.sphinx.worker_protocol import Ended, Forked, NotForked, Ready, TemplateReply, encode

REQUEST = b"f"
"""A request: this byte, with the descriptors from which the worker reads commands and to which it replies."""
_DESCRIPTORS = 2


def fork_on_request(control: socket.socket, ready: Ready, work: Callable[[int, int], int]) -> int:
    """Answer requests, and report workers that end, until the other end closes `control`; returns 0.

    Workers go on when this process ends; they end with their own input.

    Args:
        control: a connected stream socket that can pass descriptors.
        ready: sent first.
        work: called in each worker with its two descriptors; returns its exit status.
    """
    # A collection in a worker would write to, and so copy, the pages of all objects.
    gc.collect()
    gc.freeze()
    children = _Children()
    try:
        _send(control, ready)
        while True:
            readable, _, _ = select.select([control.fileno(), children.fileno()], [], [])
            if children.fileno() in readable:
                for ended in children.reap():
                    _send(control, ended)
            if control.fileno() in readable:
                data, descriptors, _, _ = socket.recv_fds(control, len(REQUEST), _DESCRIPTORS)
                if not data:
                    return 0
                _send(control, _fork(control, children, descriptors, work))
    except (BrokenPipeError, ConnectionResetError):
        return 0


class _Children:
    """The workers' ends; readable when one has ended."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)

    def fileno(self) -> int:
        return self._reading

    def reap(self) -> list[Ended]:
        os.read(self._reading, 1 << 16)
        ended: list[Ended] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return ended
            if not pid:
                return ended
            ended.append(Ended(pid, os.waitstatus_to_exitcode(status)))

    def forget(self) -> None:
        """In a worker, which has none."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._reading)
        os.close(self._writing)


def _fork(
    control: socket.socket, children: _Children, descriptors: list[int], work: Callable[[int, int], int]
) -> TemplateReply:
    try:
        if len(descriptors) != _DESCRIPTORS:
            return NotForked(f"{len(descriptors)} descriptors came with the request, not {_DESCRIPTORS}")
        pid = os.fork()
        if not pid:
            children.forget()
            control.close()
            os._exit(work(*descriptors))
    except OSError as error:
        return NotForked(str(error))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    return Forked(pid)


def _send(control: socket.socket, message: TemplateReply) -> None:
    control.sendall(encode(message))
