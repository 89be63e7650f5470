"""Recognisers stand behind what sends audio."""

import os
import sys
import threading

import pytest

from voice.inference_queue import InferenceQueue
from voice.priority import BEHIND


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives threads priorities of their own")
def test_a_pass_stands_behind_the_thread_that_asked_for_it() -> None:
    before = niceness()
    queue = InferenceQueue("test", threads=1)
    try:
        seen = queue.submit(lambda _: str(niceness())).result(5)
    finally:
        queue.close(wait=True)
    assert int(seen) == max(BEHIND, before)
    assert niceness() == before
    others = list[int]()
    thread = threading.Thread(target=lambda: others.append(niceness()))
    thread.start()
    thread.join()
    assert others == [before]
