import pytest

from latency.record.contributions import CONTRIBUTIONS, STAGE_ENDS, UNNAMED, contributions, known_instants, steps
from latency.record.marks import Mark

INSTANTS = (2.0, 2.2, 2.23, 2.29, 2.6, 2.65, 2.66, 2.7, 2.71, 2.78)
FULL = dict(zip(STAGE_ENDS, INSTANTS, strict=True))


def test_an_instant_that_was_overtaken_takes_no_time_and_keeps_no_name() -> None:
    way = steps({**FULL, Mark.VAD_STOP: 2.25})
    (overtaken,) = [one for one in way if one.key == "transcription"]
    assert (overtaken.start, overtaken.end) == (2.25, 2.25)
    (after,) = [one for one in way if one.key == "turn_detection"]
    assert (after.after, after.before) == ("vad_stop", "turn_commit")


def test_only_a_label_replaces_the_servers_end_of_speech() -> None:
    marks = {Mark.SPEECH_END: 1.8}
    assert known_instants(marks, speech_end=2.0) == {Mark.SPEECH_END: 2.0}
    assert known_instants(marks, speech_end=None) == marks


@pytest.mark.parametrize(
    ("transcript", "commit", "endpointing", "transcription", "detection"),
    [
        # In the order of a call: the words are there long before the silence is long enough.
        (2.272, 3.478, 1.465, 0.0, 0.013),
        # The recogniser is still at work when it is.
        (3.9, 3.905, 1.465, 0.435, 0.005),
    ],
)
def test_the_wait_for_silence_is_endpointing_whatever_goes_on_meanwhile(
    transcript: float, commit: float, endpointing: float, transcription: float, detection: float
) -> None:
    marks = {
        Mark.VAD_STOP: 2.262, Mark.SILENT_ENOUGH: 3.465, Mark.TRANSCRIPT_FINAL: transcript, Mark.TURN_COMMIT: commit,
        Mark.LLM_FIRST_TOKEN: 4.2,
    }  # fmt: skip
    parts = contributions(known_instants(marks, speech_end=2.0))
    found = [parts[key] for key in ("endpointing_wait", "transcription", "turn_detection")]
    assert found == [pytest.approx(one, abs=1e-9) for one in (endpointing, transcription, detection)]


def test_without_an_instant_there_is_no_contribution() -> None:
    assert contributions({}) == dict.fromkeys(CONTRIBUTIONS)


def test_steps_lead_from_the_end_of_speech_to_the_first_sound_without_a_gap() -> None:
    way = steps(FULL)
    assert (way[0].after, way[-1].before) == ("speech_end", "first_audible")
    assert all(one.end == other.start for one, other in zip(way, way[1:], strict=False))


def test_a_step_without_a_known_start_is_no_stage() -> None:
    marks = {mark: at for mark, at in FULL.items() if mark != "transcript_final"}
    (unnamed,) = [one for one in steps(marks) if one.key is None]
    assert (unnamed.after, unnamed.before) == ("vad_stop", "turn_commit")
    assert (unnamed.start, unnamed.end) == (2.2, 2.29)


def test_a_turn_of_which_only_both_ends_are_known_is_one_unnamed_contribution() -> None:
    parts = contributions({Mark.SPEECH_END: 2.0, Mark.FIRST_AUDIBLE: 2.75})
    assert {key: part for key, part in parts.items() if part is not None} == {UNNAMED: 0.75}


def test_a_tool_is_a_stage_between_two_parts_of_the_models_work() -> None:
    marks = {**FULL, Mark.TOOL_CALLED: 2.35, Mark.TOOL_RETURNED: 2.5}
    parts = contributions(known_instants(marks, speech_end=2.0))
    assert parts["tool"] == pytest.approx(0.15)
    assert parts["llm_inference"] == pytest.approx(0.06 + 0.1)
    assert sum(part or 0.0 for part in parts.values()) == pytest.approx(0.78)


def test_a_phrase_said_while_a_tool_ran_ends_the_wait_for_it() -> None:
    marks = {**FULL, Mark.TOOL_CALLED: 2.35, Mark.TOOL_RETURNED: 5.0, Mark.LLM_FIRST_TOKEN: 5.3, Mark.CLAUSE_READY: 5.4}
    parts = contributions(known_instants(marks, speech_end=2.0))
    assert (parts["tool"], parts["llm_inference"]) == (pytest.approx(0.31), pytest.approx(0.06))
    assert sum(part or 0.0 for part in parts.values()) == pytest.approx(0.78)
