"""Draws have the published percentiles, stalls come in company, and a seed says everything."""

import random
import statistics

import pytest

from pipelines.lab.simulator.latency_model import LatencyModel, StallState
from pipelines.lab.simulator.profiles import PRESETS, load_profiles

DRAWS = 20_000
SPACING = 3.0  # seconds: every draw in its own stall window
NAMES = sorted({profile.name for profile in load_profiles("field").values()})
DISTINCT = [
    (preset, name)
    for preset in PRESETS
    for name in NAMES
    if preset == "field" or load_profiles(preset)[name] != load_profiles("field")[name]
]


def model(name: str = "sonnet", *, preset: str = "field", seed: int = 1) -> LatencyModel:
    profile = load_profiles(preset)[name]
    return LatencyModel(profile, StallState(profile.provider, seed), seed)


def draws(of: LatencyModel, count: int = DRAWS) -> list[float]:
    return [of.first_token(index * SPACING).after for index in range(count)]


@pytest.mark.parametrize(("preset", "name"), DISTINCT)
def test_median_and_95th_percentile_are_those_of_the_preset(preset: str, name: str) -> None:
    profile = load_profiles(preset)[name]
    cuts = statistics.quantiles(draws(model(name, preset=preset)), n=100)
    assert cuts[49] == pytest.approx(profile.p50, rel=0.05)
    assert cuts[94] == pytest.approx(profile.p95, rel=0.05)


@pytest.mark.parametrize(
    ("name", "percent"),
    [
        ("gpt-4.1", 30),
        ("haiku", 20),
        ("sonnet", 18),
        ("gpt-5.6-sol", 2),
        ("gpt-5.4-mini", 32),
        ("cerebras", 92),
        ("groq-fast", 99.9),
    ],
)
def test_the_share_of_eight_token_clauses_within_450_ms_agrees_with_the_published_figures(
    name: str, percent: float
) -> None:
    of = model(name)
    clauses = [first + sum(of.gap() for _ in range(7)) for first in draws(of, 10_000)]
    assert 100 * sum(clause <= 0.45 for clause in clauses) / len(clauses) == pytest.approx(percent, abs=2)


@pytest.mark.parametrize("name", NAMES)
def test_every_draw_lies_between_the_round_trip_and_the_longest_time(name: str) -> None:
    profile = load_profiles("field")[name]
    times = draws(model(name), 5000)
    assert max(times) <= profile.longest
    assert min(times) >= profile.rtt


def test_a_seed_gives_the_same_draws_and_another_seed_others() -> None:
    assert draws(model(seed=7), 500) == draws(model(seed=7), 500)
    assert draws(model(seed=7), 500) != draws(model(seed=8), 500)


def test_one_percent_of_calls_stall_and_take_longer_than_others() -> None:
    sonnet = model("cerebras")
    calls = [sonnet.first_token(index * SPACING) for index in range(DRAWS)]
    stalled = [call.after for call in calls if call.stalled]
    assert len(stalled) / DRAWS == pytest.approx(0.01, abs=0.003)
    assert statistics.median(stalled) > 1.25 * statistics.median(call.after for call in calls)


def test_two_calls_to_one_provider_stall_together_and_two_providers_do_not() -> None:
    same, other, rng = StallState("openai", 1), StallState("groq", 1), random.Random(1)
    pairs = [(same.stalls(t, 0.1, rng), same.stalls(t + 0.5, 0.1, rng)) for t in range(0, 40_000, 2)]
    apart = [(same.stalls(t, 0.1, rng), other.stalls(t, 0.1, rng)) for t in range(0, 40_000, 2)]
    assert statistics.correlation(*zip(*pairs, strict=True)) == pytest.approx(0.5, abs=0.05)
    assert statistics.correlation(*zip(*apart, strict=True)) == pytest.approx(0.0, abs=0.05)


def test_errors_occur_at_the_rate_of_the_profile() -> None:
    sonnet = model()
    failed = [call for index in range(DRAWS) if (call := sonnet.first_token(index * SPACING)).error is not None]
    assert len(failed) / DRAWS == pytest.approx(sonnet.profile.error_rate, abs=0.001)
    assert {call.error for call in failed} == {500}


def test_token_gaps_average_to_the_rate_and_vary_as_gamma_of_shape_four() -> None:
    haiku = model("haiku")
    gaps = [haiku.gap() for _ in range(DRAWS)]
    assert statistics.mean(gaps) == pytest.approx(1 / haiku.profile.tokens_per_s, rel=0.02)
    assert statistics.stdev(gaps) / statistics.mean(gaps) == pytest.approx(0.5, rel=0.03)


def test_a_chunk_holds_one_to_four_tokens_and_never_more_than_are_left() -> None:
    groq = model("groq-fast")
    assert {groq.chunk(100) for _ in range(200)} == {1, 2, 3, 4}
    assert {groq.chunk(2) for _ in range(50)} == {1, 2}


def test_a_cached_prefix_saves_its_prefill() -> None:
    cached, lost = model(), model()
    saved = lost.first_token(0.0, uncached_tokens=4000).after - cached.first_token(0.0).after
    assert saved == pytest.approx(4000 / cached.profile.prefill_tokens_per_s)


def test_opening_a_connection_takes_three_round_trips_and_a_websocket_four() -> None:
    sonnet = model()
    assert sonnet.connecting(websocket=False) == pytest.approx(3 * sonnet.profile.rtt)
    assert sonnet.connecting(websocket=True) == pytest.approx(4 * sonnet.profile.rtt)
