import pytest

from latency.record.marks import CHAINS, Mark, disorder


def test_names_are_exactly_those_of_the_wire() -> None:
    assert " ".join(Mark) == (
        "speech_end vad_stop eager_hint turn_commit transcript_final llm_request "
        "tool_called tool_returned llm_first_token clause_ready "
        "llm_first_clause clause_to_tts tts_first_sample first_sent first_received first_audible first_answer_audible "
        "answer_end user_onset bot_silent silent_enough"
    )


def test_every_mark_is_read_on_one_clock_and_chains_stay_within_it() -> None:
    assert {mark.clock for mark in Mark} == {"server", "client"}
    assert Mark.FIRST_SENT.clock == "server"
    assert Mark.FIRST_RECEIVED.clock == "client"
    assert all(len({mark.clock for mark in chain}) == 1 for chain in CHAINS)


def test_effect_before_cause_is_disorder_even_across_an_unknown_mark() -> None:
    marks = {Mark.CLAUSE_TO_TTS: 2.0, Mark.FIRST_SENT: 1.9}
    assert disorder(marks) == "first_sent (1.900 s) lies before clause_to_tts (2.000 s)"


@pytest.mark.parametrize(
    "marks",
    [
        {},
        {Mark.LLM_REQUEST: 1.0, Mark.TURN_COMMIT: 1.2},
        {Mark.CLAUSE_TO_TTS: 1.0, Mark.LLM_FIRST_TOKEN: 2.0},
        {Mark.FIRST_RECEIVED: 1.0, Mark.FIRST_SENT: 1.001},
        {Mark.VAD_STOP: 1.0004, Mark.TURN_COMMIT: 1.0},
    ],
    ids=["unknown", "speculation", "bridge", "two clocks", "rounding"],
)
def test_overlap_of_stages_and_rounding_are_no_disorder(marks: dict[Mark, float]) -> None:
    assert disorder(marks) is None
