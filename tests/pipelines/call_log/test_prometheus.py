"""`/metrics`: what a server counts, who may read it, and the line for each call."""

import logging
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pipelines.call_log.prometheus import CALL_LOG, PrometheusMetrics
from tests.pipelines.call_log.test_call_statistics import asked, turn
from tests.pipelines.server_process import ServerProcess, running_server
from voice.queue_waits import QueueWaits
from voice.server.admission import Headroom
from voice.server.event_loop import LoopLoad


def figures(text: str) -> dict[str, float]:
    """The samples by name and labels, as "name{label=value}"."""
    return {
        sample.name + "".join(f"{{{key}={value}}}" for key, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read(metrics: PrometheusMetrics) -> dict[str, float]:
    return figures(metrics.exposition()[0].decode())


def fetch(url: str, **headers: str) -> tuple[int, str]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_turns_are_counted_while_the_call_goes_on() -> None:
    metrics = PrometheusMetrics(stop=0.2, budget=0.45)
    call = metrics.began()
    call.note(asked(0, clause=0.4, usd=0.5, spoken="fast"))
    assert read(metrics)["voice_calls_in_progress"] == 1
    assert "voice_turns_total{outcome=answered}" not in read(metrics)
    call.note(turn(1, latency=0.9))
    found = read(metrics)
    assert found["voice_turns_total{outcome=answered}"] == 1
    assert found["voice_turn_latency_seconds_bucket{le=0.8}"] == 1
    assert found["voice_llm_verdicts_total{verdict=rescued}"] == found["voice_llm_rescues_total"] == 1
    assert found["voice_llm_tokens_total{kind=prompt}{tier=fast}"] == 10
    assert found["voice_llm_cost_usd_total"] == 1.0
    metrics.ended(call, "the caller hung up")
    found = read(metrics)
    assert found["voice_calls_in_progress"] == 0
    assert found["voice_calls_total"] == 1
    assert found["voice_turns_total{outcome=answered}"] == 2
    assert found["voice_turn_latency_seconds_bucket{le=0.8}"] == 1


def test_a_call_is_one_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    metrics = PrometheusMetrics(stop=0.2, budget=0.45, clock=iter([100.0, 160.0]).__next__)
    with caplog.at_level(logging.INFO, CALL_LOG):
        call = metrics.began()
        call.note(turn(0))
        metrics.ended(call, "the caller hung up")
    assert caplog.messages == ["call 1 ended after 60 s (the caller hung up): 1 turn, turn latency p50 700 p95 700 ms"]


def test_refusals_waits_and_the_loop_are_shown() -> None:
    metrics = PrometheusMetrics(stop=0.2, budget=0.45, clock=lambda: 1.0)
    waits, load = QueueWaits("synthesis"), LoopLoad()
    metrics.watch(Headroom(load, [waits]))
    metrics.refused("full")
    waits.note(0.03, now=1.0)
    load.worked(0.5, 0.75)
    found = read(metrics)
    assert found["voice_calls_refused_total{reason=full}"] == 1
    assert found["voice_queue_wait_seconds_bucket{le=0.025}{stage=synthesis}"] == 0
    assert found["voice_queue_wait_seconds_bucket{le=0.05}{stage=synthesis}"] == 1
    assert found["voice_headroom_scarce"] == 0
    assert found["voice_event_loop_lag_seconds"] == 0.25
    assert 0 < found["voice_event_loop_busy_ratio"] <= 1


def test_a_call_to_a_real_server_is_counted(
    server: ServerProcess, conversation: Callable[..., Path], tmp_path: Path
) -> None:
    address = server.health.replace("healthz", "metrics")
    before = figures(fetch(address)[1])
    fixture = conversation("question", ("commands/01", "it is"))
    command = [sys.executable, "-m", "pipelines.cli", "replay", str(fixture), "--url", server.url]
    done = subprocess.run([*command, "--out", str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    status, text = fetch(address)
    assert status == 200
    after = figures(text)

    def more(name: str) -> float:
        return after[name] - before.get(name, 0.0)

    assert more("voice_calls_total") == 1
    assert more("voice_turns_total{outcome=answered}") == 1
    assert more("voice_turn_latency_seconds_count") == 1
    assert more("voice_turn_latency_seconds_bucket{le=5.0}") == 1
    # Prepared while the caller still spoke, a first clause need not wait at all.
    assert "voice_queue_wait_seconds_count{stage=synthesis}" in after
    assert after["process_resident_memory_bytes"] > 0


def test_strangers_do_not_read_them() -> None:
    token = "a-token-of-this-test"
    options = ("--pipeline", "embedded", "--host", "0.0.0.0", "--behind-proxy")
    with mock.patch.dict(os.environ, VOICE_TOKEN=token), running_server(*options) as running:
        address = running.health.replace("0.0.0.0", "127.0.0.1").replace("healthz", "metrics")
        status, told = fetch(address)
        assert status == 401
        assert "A token is needed" in told
        assert "voice_calls" not in told
        status, told = fetch(address, Authorization=f"Bearer {token}")
    assert status == 200
    assert figures(told)["voice_calls_in_progress"] == 0
