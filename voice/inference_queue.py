"""A queue of jobs for one model, in which a withdrawn job gives way to the next, and spare jobs to all others.

Whisper's passes for all callers run in one, and a local language model's requests in another.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, TypeVar

from voice.priority import lower_thread_priority

Text = TypeVar("Text")
IsWanted = Callable[[], bool]
"""Whether the calling job is still wanted; called in the job's thread."""


class WithdrawnError(Exception):
    """Raised inside a job that has noticed its withdrawal."""


class InferenceJob(Future[Text]):
    """The future of one job; cancelling it withdraws the job, even while it runs.

    `asyncio.wrap_future` of a job does so when the asyncio future is cancelled.

    Args:
        decode: does the work.
        on_withdrawn: called when the job has been withdrawn.
        spare: whether every other job comes first.
    """

    def __init__(
        self, decode: Callable[[IsWanted], Text], on_withdrawn: Callable[[], None], *, spare: bool = False
    ) -> None:
        super().__init__()
        self.spare = spare
        self._decode = decode
        self._on_withdrawn = on_withdrawn
        self._withdrawn = threading.Event()

    @property
    def is_wanted(self) -> bool:
        """Whether the job has not been withdrawn."""
        return not self._withdrawn.is_set()

    def cancel(self) -> bool:
        """Withdraw the job; returns whether that ended it, because it had not begun."""
        self._withdrawn.set()
        dropped = super().cancel()
        self._on_withdrawn()
        return dropped

    def decode(self) -> Callable[[], None]:
        """Do the work in this thread; returns a function that delivers the result."""
        if not self.set_running_or_notify_cancel():
            return lambda: None
        try:
            text = self._decode(lambda: self.is_wanted)
        except WithdrawnError:
            return lambda: self.set_exception(CancelledError())
        except BaseException as error:
            # An engine raises errors of any type; each is passed to the waiting task.
            failure = error
            return lambda: self.set_exception(failure)
        return lambda: self.set_result(text)


class InferenceQueue:
    """Runs one wanted job at a time, in order of arrival, in threads of its own.

    A withdrawn job is dropped, or stops at its next step if it runs; the next job does not wait for that, but begins at
    once in another thread. At most `threads` jobs run, so that a series of withdrawn ones cannot take every core.

    A spare job runs only while no other job is wanted: one that comes while others run or wait is withdrawn, and so is
    one that runs or waits when another comes.

    Args:
        name: The beginning of the threads' names.
        threads: The most running jobs, including withdrawn ones.
    """

    def __init__(self, name: str, *, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name, initializer=lower_thread_priority)
        self._threads = threads
        self._lock = threading.RLock()
        self._waiting: deque[InferenceJob[Any]] = deque()
        self._running: set[InferenceJob[Any]] = set()
        self._closed = False

    @property
    def is_idle(self) -> bool:
        """Whether no job runs or waits, apart from wanted spare ones, which would give way."""
        with self._lock:
            return not any(not (job.spare and job.is_wanted) for job in self._running) and not self._are_wanted()

    def submit(self, decode: Callable[[IsWanted], Text], *, spare: bool = False) -> InferenceJob[Text]:
        """Queue a job.

        Args:
            decode: Does the work in a thread of the queue; raises `WithdrawnError` when its argument returns False.
            spare: Whether every other job comes first; it is then withdrawn unless the queue has nothing else to do.

        Raises:
            RuntimeError: The queue is closed.
        """
        job = InferenceJob(decode, self._begin, spare=spare)
        with self._lock:
            if self._closed:
                raise RuntimeError("the model has been closed")
            late = [job] if spare and self._are_wanted() else []
            if not spare:
                late = [one for one in (*self._waiting, *self._running) if one.spare]
            self._waiting.append(job)
        for one in late:
            one.cancel()
        self._begin()
        return job

    def close(self, *, wait: bool = False) -> None:
        """Withdraw every job and let the threads end; `wait` blocks until they have."""
        with self._lock:
            self._closed = True
            jobs = [*self._waiting, *self._running]
        for job in jobs:
            job.cancel()
        self._executor.shutdown(wait=wait)

    def _begin(self) -> None:
        """Begin the next job in a thread that is free, if it need not wait."""
        with self._lock:
            if job := self._next():
                self._executor.submit(self._work, job)

    def _work(self, job: InferenceJob[Any] | None) -> None:
        """Run a job in this thread, and then the following ones."""
        while job:
            deliver = job.decode()
            with self._lock:
                self._running.discard(job)
                job = self._next()
            deliver()

    def _are_wanted(self) -> bool:
        """Whether other than spare jobs are wanted. The lock must be held."""
        return any(job.is_wanted and not job.spare for job in (*self._waiting, *self._running))

    def _next(self) -> InferenceJob[Any] | None:
        """The job that may begin now, if there is one; it counts as running. The lock must be held."""
        while self._waiting and not self._waiting[0].is_wanted:
            self._waiting.popleft()
        is_busy = any(job.is_wanted for job in self._running)
        if not self._waiting or is_busy or len(self._running) >= self._threads:
            return None
        job = self._waiting.popleft()
        self._running.add(job)
        return job
