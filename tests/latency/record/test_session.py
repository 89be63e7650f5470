import pytest

from latency.record.json_form import from_json, to_json
from latency.record.session import ClockAlignment, Pacing, PlayoutSummary, ServerLoad, Session


def test_a_session_survives_run_json_and_later_keys_are_passed_over() -> None:
    session = Session(
        name="commands", scenario="commands/short", wav="commands.wav", seconds=61.2, cold=True, never_sent=1,
        closed="gone", fixtures={"01.wav": "abc"}, underruns=((1.0, 1.1),), flushes=(4.2,),
        clock=ClockAlignment(offset=-3.5, rtt=0.001, pings=8),
        pacing=Pacing(frames=3000, late_over_20ms=2, late_max_ms=25.0, clock_ratio=1.00002),
        playout=PlayoutSummary(jitter_ms=60.0, underruns=1, rate=16000),
        server=ServerLoad(cpu_cores=0.2, rss_mb=410.0, rss_peak_mb=420.5),
    )  # fmt: skip
    entry = to_json(session)
    entry["colour"] = "blue"
    entry["pacing"]["jitter"] = 1
    assert from_json(Session, entry) == session


@pytest.mark.parametrize(
    ("late", "ratio", "complaint"),
    [
        (20, 1.0, None),
        (21, 1.0, "2.1 % of the audio frames left more than 20 ms late"),
        (0, 1.001, None),
        (0, 0.9985, "audio was sent 0.15 % too fast"),
        (0, 1.0015, "audio was sent 0.15 % too slow"),
        (0, None, None),
    ],
)
def test_pacing_complains_beyond_2_percent_late_frames_or_a_thousandth_of_drift(
    late: int, ratio: float | None, complaint: str | None
) -> None:
    found = Pacing(frames=1000, late_over_20ms=late, clock_ratio=ratio).complaint
    assert found is None if complaint is None else found is not None and found.startswith(complaint)


def test_the_drift_of_a_sound_card_is_followed_unless_it_is_far_from_real_time() -> None:
    assert Pacing(frames=1000, late_over_20ms=0, clock_ratio=1.03, on_card=True).complaint is None
    found = Pacing(frames=1000, late_over_20ms=0, clock_ratio=1.4, on_card=True).complaint
    assert found == "audio was sent 40.00 % too slow (5 % is allowed)"


def test_a_frame_a_little_late_is_no_drift_in_a_short_call() -> None:
    assert Pacing(frames=250, late_over_20ms=0, late_max_ms=12.0, clock_ratio=0.9983).complaint is None


def test_a_share_just_above_the_limit_does_not_read_like_the_limit() -> None:
    found = Pacing(frames=10_000, late_over_20ms=203).complaint
    assert found == "2.03 % of the audio frames left more than 20 ms late (2 % is allowed)"
