"""What becomes of an answer that is spoken over, by reports at given times."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from voice.turns.barge_in.decision import DETECTION, HOLDS, LISTENS, Action, BargeInDecision, Rules
from voice.turns.barge_in.meaning import Meaning, meaning_of

Report = tuple[float, str] | tuple[float, str, str]


RULES = Rules(decide=0.65, short=0.5, hold=2.0)


@dataclass
class Told:
    """An overlap that is told of reports, and ticks every 20 ms between them; seconds count from the onset."""

    far: bool = False
    meaning: Callable[[str, bool], Meaning] = lambda text, final: meaning_of(text, final=final)
    rules: Rules = RULES
    actions: list[tuple[float, Action]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.overlap = BargeInDecision(self.rules, self.meaning, is_far=lambda: self.far)
        self.at = 0.0

    def hear(self, *reports: Report, until: float = 3.0) -> list[Action]:
        """Give the reports at their times and let time pass until `until`."""
        for at, what, *text in [*reports, (until, "")]:
            while self.at + 0.02 < at:
                self.at += 0.02
                self.note(self.at, self.overlap.tick(self.at))
            self.at = at
            self.note(at, self.report(at, what, *text))
        return [action for _, action in self.actions]

    def report(self, at: float, what: str, text: str = "") -> Action | None:
        match what:
            case "likely":
                return self.overlap.likely(at)
            case "unlikely":
                return self.overlap.unlikely(at)
            case "speech":
                return self.overlap.started(at)
            case "hint":
                return self.overlap.paused(at, 0.064)
            case "silence":
                return self.overlap.paused(at, 0.2)
            case "on":
                self.overlap.went_on()
            case "partial":
                return self.overlap.words(text, at, final=False)
            case "final":
                return self.overlap.words(text, at, final=True)
            case "leans":
                self.overlap.leans(float(text))
            case "lost":
                return self.overlap.lost(at)
        return None

    def note(self, at: float, action: Action | None) -> None:
        if action:
            self.actions.append((at, action))

    @property
    def decided(self) -> float:
        """When the last action was taken."""
        return self.actions[-1][0]

    @property
    def because(self) -> str | None:
        assert self.overlap.record is not None
        return self.overlap.record.because


DUCKED: tuple[Report, ...] = ((0.13, "likely"), (0.23, "speech"))


def test_a_stop_stops_once_the_recogniser_has_stayed_with_it() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.26, "partial", "to"), (0.36, "partial", "stop"), (0.58, "silence"))
    assert said == [Action.DUCK, Action.STOP]
    assert told.decided == pytest.approx(0.52, abs=0.03)
    assert told.because == "stop_word"


def test_a_word_that_the_recogniser_takes_back_stops_nothing() -> None:
    told = Told()
    said = told.hear(
        *DUCKED, (0.26, "partial", "and"), (0.36, "partial", "no"), (0.46, "partial", "none"), (0.6, "silence"),
        (0.62, "final", "none"),
    )  # fmt: skip
    assert said == [Action.DUCK, Action.RESUME]
    assert told.because == "short"


@pytest.mark.parametrize("said", ["yeah", "right", "okay", "mm hmm", "Mm-hm.", "i see"])
def test_backchannels_let_the_answer_go_on(said: str) -> None:
    told = Told()
    assert told.hear(*DUCKED, (0.3, "partial", said), (0.6, "silence"), (0.65, "final", said)) == [
        Action.DUCK,
        Action.RESUME,
    ]
    assert told.because == "backchannel"
    assert told.decided <= 0.8
    assert told.overlap.idle


def test_a_long_backchannel_keeps_the_answer_ducked_and_never_stops_it() -> None:
    told = Told()
    words = [(0.3 + 0.3 * n, "partial", "yeah " * (n + 1)) for n in range(6)]
    said = told.hear(*DUCKED, *words, (2.2, "silence"), (2.25, "final", "yeah " * 6))
    assert said == [Action.DUCK, Action.RESUME]


def test_a_request_stops_the_answer_within_its_time() -> None:
    told = Told()
    said = told.hear(
        *DUCKED, (0.26, "partial", "who"), (0.46, "partial", "what about"), (0.7, "partial", "what about the"), until=1
    )
    assert said == [Action.DUCK, Action.STOP]
    assert told.decided == pytest.approx(0.65, abs=0.03)
    assert told.because == "words"


def test_words_heard_in_a_cough_stop_nothing() -> None:
    told = Told()
    assert told.hear(*DUCKED, (0.26, "partial", "but"), (0.5, "silence"), (0.52, "final", "but the")) == [
        Action.DUCK,
        Action.RESUME,
    ]
    assert told.because == "short"


def test_a_sound_that_was_no_speech_ducks_for_a_moment_only() -> None:
    told = Told()
    assert told.hear((0.13, "likely"), (0.2, "unlikely")) == [Action.DUCK, Action.RESUME]
    assert told.because == "no_speech"
    assert told.decided == 0.2


def test_speech_without_words_silences_and_goes_on_when_none_come() -> None:
    told = Told()
    said = told.hear(*DUCKED, (1.2, "silence"), (1.4, "final", ""))
    assert said == [Action.DUCK, Action.SILENCE, Action.RESUME]
    assert told.actions[1][0] == pytest.approx(0.65, abs=0.03)
    assert told.because == "nothing_heard"


def test_speech_without_words_silences_and_stops_when_words_come() -> None:
    told = Told()
    said = told.hear(*DUCKED, (1.0, "partial", "the other one"), until=1.5)
    assert said == [Action.DUCK, Action.SILENCE, Action.STOP]


def test_a_silenced_answer_does_not_wait_for_ever() -> None:
    told = Told(rules=replace(RULES, hold=1.0))
    assert told.hear(*DUCKED, until=4) == [Action.DUCK, Action.SILENCE, Action.RESUME]
    assert told.decided == pytest.approx(0.65 + HOLDS * 1.0, abs=0.05)
    assert told.because == "no_words"


def test_a_long_request_whose_words_come_after_it_stops_the_answer_and_is_not_spoken_over() -> None:
    told = Told()
    said = told.hear(*DUCKED, (3.6, "silence"), (4.2, "final", "how many feet are there in a mile"), until=5)
    assert said == [Action.DUCK, Action.SILENCE, Action.STOP]
    assert told.decided == pytest.approx(4.2, abs=0.05)


@pytest.mark.parametrize("late", [4.9, 9.0])
def test_words_that_come_after_the_answer_has_gone_on_still_stop_it(late: float) -> None:
    told = Told()
    said = told.hear(*DUCKED, (3.6, "silence"), (late, "final", "how many feet are there in a mile"), until=late + 1)
    assert said == [Action.DUCK, Action.SILENCE, Action.RESUME, Action.STOP]


def test_words_are_not_awaited_for_ever() -> None:
    told = Told()
    told.hear(*DUCKED, (3.6, "silence"), until=3.6 + 2 * LISTENS + 0.1)
    assert told.overlap.idle


def test_a_short_sound_whose_words_are_late_resumes_and_still_obeys_a_stop() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.55, "silence"), (1.0, "final", "stop"))
    assert said == [Action.DUCK, Action.RESUME, Action.STOP]
    assert told.actions[1][0] == pytest.approx(0.65, abs=0.03)


def test_what_is_said_after_a_short_sound_counts_by_itself() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.55, "silence"), (0.9, "speech"), (1.0, "partial", "stop"), until=1.3)
    assert said == [Action.DUCK, Action.RESUME, Action.DUCK, Action.STOP]
    assert told.overlap.record is not None
    assert told.overlap.record.onset == pytest.approx(0.9 - DETECTION)


def test_a_hint_that_was_wrong_does_not_end_the_sound() -> None:
    told = Told()
    heard: tuple[Report, ...] = ((0.3, "partial", "what"), (0.4, "hint"), (0.45, "on"), (0.5, "partial", "what if"))
    said = told.hear(*DUCKED, *heard, until=1)
    assert said == [Action.DUCK, Action.STOP]
    assert told.because == "words"


def test_a_voice_far_off_stops_nothing() -> None:
    told = Told(far=True)
    said = told.hear(*DUCKED, (0.4, "partial", "stop it now"), (1.2, "silence"), (1.3, "final", "stop it now please"))
    assert said == [Action.DUCK, Action.RESUME]
    assert told.because == "far"


def test_the_agents_own_words_stop_nothing() -> None:
    told = Told(meaning=lambda text, final: meaning_of(text, final=final, is_own=lambda own: "half" in own))
    said = told.hear(*DUCKED, (0.3, "partial", "half past"), (1.0, "silence"), (1.1, "final", "half past four"))
    assert said == [Action.DUCK, Action.RESUME]
    assert told.because == "own_words"


def test_long_speech_whose_words_are_lost_is_a_turn() -> None:
    assert Told().hear(*DUCKED, (0.9, "silence"), (0.95, "lost"))[-1] is Action.STOP
    assert Told().hear(*DUCKED, (0.5, "silence"), (0.55, "lost")) == [Action.DUCK, Action.RESUME]


def test_nothing_is_decided_after_the_end() -> None:
    told = Told()
    told.hear(*DUCKED, (0.3, "partial", "yeah"), (0.6, "silence"), (0.65, "final", "yeah"))
    assert told.overlap.tick(9.0) is None
    assert told.overlap.lost(9.0) is None
    assert told.overlap.unlikely(9.0) is None


def test_a_stop_that_is_said_again_and_again_needs_no_pause() -> None:
    told = Told()
    words: tuple[Report, ...] = ((0.3, "partial", "no"), (0.4, "partial", "no no"), (0.5, "partial", "no no way"))
    assert told.hear(*DUCKED, *words, until=1)[-1] is Action.STOP
    assert told.decided == pytest.approx(0.45, abs=0.04)


def test_the_last_word_of_partial_words_may_become_another() -> None:
    told = Told()
    words: tuple[Report, ...] = ((0.4, "partial", "okay"), (0.6, "partial", "okay by"), (0.8, "partial", "okay right"))
    assert told.hear(*DUCKED, *words, (1.1, "silence"), (1.2, "final", "okay right")) == [Action.DUCK, Action.RESUME]


def test_one_word_in_the_making_silences_but_does_not_stop() -> None:
    told = Told()
    words: tuple[Report, ...] = ((0.4, "partial", "how"), (0.8, "partial", "huh huh"), (1.1, "final", "huh huh huh"))
    assert told.hear(*DUCKED, *words) == [Action.DUCK, Action.SILENCE, Action.RESUME]


def test_words_misheard_in_what_sounds_like_a_backchannel_let_the_answer_go_on() -> None:
    told = Told()
    said = told.hear(
        *DUCKED, (0.4, "leans", "-30"), (0.41, "partial", "you have"), (0.8, "silence"), (0.84, "leans", "-10"),
        (0.85, "final", "you have you have"),
    )  # fmt: skip
    assert said == [Action.DUCK, Action.RESUME]
    assert told.because == "backchannel"


@pytest.mark.parametrize("text", ["stop", "no wait"])
def test_words_that_ask_for_the_floor_stop_the_answer_whatever_they_sound_like(text: str) -> None:
    told = Told()
    assert told.hear(*DUCKED, (0.3, "leans", "-30"), (0.31, "partial", text), until=0.6)[-1] is Action.STOP


def test_speech_of_more_than_a_moment_is_judged_by_its_words_again() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.4, "leans", "-30"), (0.41, "partial", "the first thing"), until=2)
    assert said == [Action.DUCK, Action.STOP]
    assert told.decided == pytest.approx(1.3, abs=0.03)


def test_a_sentence_is_judged_by_its_words_however_it_begins() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.4, "leans", "-30"), (0.71, "partial", "the first thing that"), until=2)
    assert said == [Action.DUCK, Action.STOP]
    assert told.decided == pytest.approx(0.71, abs=0.03)


def test_a_backchannel_without_words_yet_does_not_silence_the_answer() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.4, "leans", "-30"), (0.8, "silence"), (0.85, "final", ""), until=1)
    assert said == [Action.DUCK, Action.RESUME]


def test_a_short_sound_like_an_interruption_stops_the_answer_as_soon_as_it_seems_over() -> None:
    told = Told()
    said = told.hear(
        *DUCKED, (0.3, "leans", "90"), (0.31, "partial", "yelp"), (0.45, "hint"), (0.47, "leans", "110"),
        (0.48, "partial", "yelp"),
    )  # fmt: skip
    assert said == [Action.DUCK, Action.STOP]
    assert told.decided == pytest.approx(0.48)
    assert told.because == "stop_word"


def test_a_long_sound_like_an_interruption_stops_the_answer_in_time_without_words() -> None:
    told = Told()
    assert told.hear(*DUCKED, (0.5, "leans", "90"), until=0.8) == [Action.DUCK, Action.STOP]
    assert told.decided == pytest.approx(0.65, abs=0.03)


def test_what_a_sound_was_like_before_its_pause_stops_nothing() -> None:
    told = Told()
    said = told.hear(*DUCKED, (0.3, "leans", "90"), (0.31, "partial", "yelp"), (0.45, "hint"), until=0.6)
    assert said == [Action.DUCK]
    assert told.hear((0.61, "leans", "30"), (0.62, "final", "yelp")) == [Action.DUCK, Action.RESUME]
    assert told.because == "short"


def test_words_of_a_backchannel_and_no_words_stop_nothing_whatever_they_sound_like() -> None:
    for text in ("yeah", ""):
        told = Told()
        said = told.hear(*DUCKED, (0.45, "hint"), (0.47, "leans", "90"), (0.6, "final", text))
        assert said == [Action.DUCK, Action.RESUME]


def test_a_voice_far_off_stops_nothing_whatever_it_sounds_like() -> None:
    told = Told(far=True)
    said = told.hear(*DUCKED, (0.45, "hint"), (0.47, "leans", "90"), (0.48, "partial", "yelp"), (0.6, "final", "yelp"))
    assert said == [Action.DUCK, Action.RESUME]
    assert told.because == "far"
