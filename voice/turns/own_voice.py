"""The agent's own voice in the microphone: detected by its words, and kept from interrupting or becoming a turn.

An echo arrives while the agent speaks, a fraction of a second after its words were played. A caller who repeats the
agent's words starts after hearing them, so the two do not overlap in time. Recognisers garble an echo, most of all its
first words: of ten answers of the embedded voice in a simulated room at -12 dB, PocketSphinx got all words of two and
most words of seven ("today's sunday november ninety seven"). So words are compared letter by letter. Once the agent has
probably heard itself, words during its answers count as the caller's only if they are clearly not the agent's.
"""

import math
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from loguru import logger
from num2words import num2words
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EagerTranscriptionFrame,
    Frame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    TTSTextFrame,
    VADUserStartedSpeakingFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from voice.frames import NothingHeardFrame, OwnVoiceFrame
from voice.language import Language
from voice.language.english.turns import ENGLISH
from voice.language.turn_words import TurnWords
from voice.turns.barge_in.meaning import Meaning, meaning_of
from voice.turns.words.laughter import without_laughter

OWN = 0.6
"""The least share of the heard letters that must match words of the agent."""
FEW, OWN_FEW = 2, 0.9
"""Up to so many words must match the agent's almost to the letter: a short answer often repeats one of its words."""
EARLIEST = 0.2
"""Seconds before the start of the heard speech from which the end of a word may belong to it."""
IN_PRE_ROLL = 0.5
"""The same for words at the beginning of a transcript: recognisers also hear half a second before the speech."""
CLEARLY_NOT = 0.5
"""The largest share of matching letters at which unfinished words are clearly not the agent's."""
ENOUGH_WORDS = 3
"""Words needed to identify the speaker before the speech is over: the first words of an echo are mostly wrong."""
LEAST_OWN = 7
"""More matching letters than others are needed for the beginning of a text to be the agent's: two short words."""
GARBLED = 2
"""Words after the agent's up to the end of a sentence that also count as its own, garbled."""
ALIKE = 0.7
"""The least likeness of two words, 0 to 1, for one to be the other misheard."""
REMEMBERED = 60.0
"""Seconds for which spoken words are kept."""
SECONDS_PER_CHARACTER = 0.06
"""Seconds per letter of English speech: how far from its instant the words of a longer text may have been played."""
_ENDS = re.compile(r"[.?!]$")
_WORD = re.compile(r"[a-zäöüß]+(?:'[a-zäöüß]+)*|\d+(?:\.\d+)?")
AT_ONCE = 0.8
"""Seconds after the agent begins to speak within which an echo starts; callers rarely start so soon."""
SUSPICIOUS = 2
"""Consecutive answers with speech at their start after which the agent probably hears itself."""
UNDISTURBED = 1.5
"""Seconds of an answer without any speech after which the agent evidently does not hear itself."""
ECHO_FADES = 1.0
"""Seconds for which the agent's voice may still be heard after it has stopped: the client's buffers, and the room."""


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word, and the span of time in which its end was played."""

    word: str
    first: float
    last: float


class SpokenWords:
    """The agent's latest words, and their times.

    Args:
        language: the words of the spoken language.
    """

    def __init__(self, language: TurnWords = ENGLISH) -> None:
        self.language = language
        self._spoken: deque[SpokenWord] = deque()

    def add(self, text: str, at: float) -> None:
        """Add a word that was played at `at`; for a longer text, each word's time is known only roughly."""
        words = list(plain_words(text, self.language))
        around = SECONDS_PER_CHARACTER * len(text) if len(text.split()) > 1 else 0.0
        self._spoken.extend(SpokenWord(word, at - around, at + around) for word in words)
        while self._spoken and self._spoken[0].last < at - REMEMBERED:
            self._spoken.popleft()

    def share_own(self, heard: str, since: float, until: float) -> float:
        """The share of the letters of `heard`, 0 to 1, that match words played in this order at that time.

        Args:
            heard: the transcript of a stretch of speech.
            since: when that speech began.
            until: when it ended, or now.
        """
        words = list(plain_words(heard, self.language))
        played = [one.word for one in self._spoken if one.last >= since - EARLIEST and one.first <= until]
        letters = sum(map(len, words))
        return _aligned(words, played) / letters if letters else 0.0

    def are_own(self, heard: str, since: float, until: float) -> bool:
        """Whether `heard` is the agent's own voice. Arguments: see `share_own`."""
        words = list(plain_words(heard, self.language))
        if len(words) > FEW:
            # The last word may be one that the agent has not finished, and so is not noted.
            finished = heard.rpartition(" ")[0]
            is_cut = len(words) > ENOUGH_WORDS and self.share_own(finished, since, until) >= OWN_FEW
            return is_cut or self.share_own(heard, since, until) >= OWN
        return not self.language.never_own.intersection(words) and self.share_own(heard, since, until) >= OWN_FEW

    def without_own(self, heard: str, since: float, until: float) -> str:
        """`heard` without the agent's words at its beginning, which the caller spoke over. Arguments: see `share_own`.

        The agent's part is the beginning whose matching letters exceed the others by most. A garbled rest of its
        sentence goes with it.
        """
        tokens = heard.split()
        played = [one.word for one in self._spoken if one.last >= since - IN_PRE_ROLL and one.first <= until]
        words: list[str] = []
        best, end = float(LEAST_OWN), 0
        for number, token in enumerate(tokens, start=1):
            words += plain_words(token, self.language)
            score = 2 * _aligned(words, played) - sum(map(len, words))
            if score > best and number >= FEW:
                best, end = score, number
        if not end:
            return heard
        if not _ENDS.search(tokens[end - 1]):
            rest = [_ENDS.search(token) is not None for token in tokens[end : end + GARBLED]]
            end += rest.index(True) + 1 if True in rest else 0
        return " ".join(tokens[end:])

    def are_surely_not_own(self, heard: str, since: float, until: float) -> bool:
        """Whether `heard`, which may be unfinished, is another's voice. Arguments: see `share_own`."""
        words = list(plain_words(heard, self.language))
        played = {one.word for one in self._spoken if one.last >= since - EARLIEST and one.first <= until}
        if any(word in self.language.never_own and word not in played for word in words):
            return True
        return len(words) >= ENOUGH_WORDS and self.share_own(heard, since, until) <= CLEARLY_NOT


def plain_words(text: str, language: TurnWords = ENGLISH) -> Iterator[str]:
    """The words of a text as spoken: lower case, numbers in words."""
    for word in _WORD.findall(language.plain_numbers(text.lower())):
        if word[0].isdigit():
            yield from _WORD.findall(_in_words(word, language.code))
        else:
            yield word


@lru_cache(maxsize=1024)
def _in_words(number: str, language: Language) -> str:
    spelled: str = num2words(float(number) if "." in number else int(number), lang=language)
    return spelled.lower()


def _aligned(heard: Sequence[str], played: Sequence[str]) -> float:
    """The most letters of `heard` that match `played` in order, each weighted by the likeness of the two words."""
    best = [0.0] * (len(played) + 1)
    for word in heard:
        row = [0.0]
        for other, (diagonal, above) in zip(played, pairwise(best), strict=True):
            row.append(max(row[-1], above, diagonal + len(word) * _alikeness(word, other)))
        best = row
    return best[-1]


@lru_cache(maxsize=4096)
def _alikeness(heard: str, played: str) -> float:
    if heard == played:
        return 1.0
    alike = SequenceMatcher(None, heard, played, autojunk=False).ratio()
    return alike if alike >= ALIKE else 0.0


class EchoDetector:
    """Follows the agent's voice and the words heard.

    Args:
        spoken: what the agent has spoken.
    """

    def __init__(self, spoken: SpokenWords) -> None:
        self._heard_itself = False
        self._spoken = spoken
        self._speaks = False
        self._started, self._stopped, self._began = -math.inf, -math.inf, -math.inf
        self._suspicion = 0
        """Consecutive answers with speech at their start."""

    @property
    def hears_itself(self) -> bool:
        """Whether the agent has heard itself in this call, or probably has."""
        return self._heard_itself or self._suspicion >= SUSPICIOUS

    def agent_started(self, now: float) -> None:
        """The agent begins to be heard."""
        self._speaks, self._started = True, now

    def agent_stopped(self, now: float) -> None:
        """The agent has finished, or was interrupted."""
        self._speaks, self._stopped = False, now
        if self._began < self._started and now - self._started > UNDISTURBED:
            self._suspicion = 0

    def speech_began(self, at: float) -> None:
        """The voice detector reports speech that began at `at`."""
        if self._speaks and self._began < self._started:
            self._suspicion += at - self._started < AT_ONCE
        self._began = at

    def is_own(self, words: str, now: float, *, final: bool) -> bool:
        """Whether words of the latest speech are the agent's own.

        Args:
            words: the transcript of the speech so far.
            now: when it did.
            final: whether no others follow.
        """
        if self._spoken.are_own(words, self._began, now):
            return True
        overlaps = self._speaks or self._began < self._stopped + (0 if final else ECHO_FADES)
        return self.hears_itself and overlaps and not self._is_surely_anothers(words, now)

    def without_own(self, words: str, now: float) -> str:
        """The words of the latest speech without the agent's at their beginning, if it began over the agent's voice."""
        if self._began >= (now if self._speaks else self._stopped) + ECHO_FADES:
            return words
        return self._spoken.without_own(words, self._began, now) or words

    def note_own(self, words: str, now: float) -> bool:
        """All words of the latest speech were the agent's; returns whether this is the first proof in the call."""
        if self._heard_itself or not self._spoken.are_own(words, self._began, now):
            return False
        self._heard_itself = True
        return True

    def _is_surely_anothers(self, words: str, now: float) -> bool:
        if self._spoken.are_surely_not_own(words, self._began, now):
            return True
        stops = meaning_of(words, language=self._spoken.language) is Meaning.STOP
        return stops and self._spoken.share_own(words, self._began, now) <= CLEARLY_NOT


class SpokenWordsTap(FrameProcessor):
    """Follows the output in the pipeline, and notes each word played."""

    def __init__(self, spoken: SpokenWords, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._spoken = spoken
        self._clock = clock

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note words."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSTextFrame):
            self._spoken.add(frame.text, self._clock())
        await self.push_frame(frame, direction)


class OwnVoiceGate(FrameProcessor):
    """Follows the recogniser in the pipeline, and replaces transcripts of the agent's own voice by an `OwnVoiceFrame`.

    The agent's words at the beginning of a transcript that goes on with the caller's are removed.

    The first one of a call is logged. Laughter at the end of a transcript is removed, as it is not part of a request; a
    transcript of nothing else becomes a `NothingHeardFrame`.

    Args:
        spoken: what the agent has spoken.
        language: the words of the spoken language.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        spoken: SpokenWords,
        *,
        language: TurnWords = ENGLISH,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.hearing = EchoDetector(spoken)
        self._language, self._clock = language, clock

    def is_own(self, words: str) -> bool:
        """Whether the words of the speech under way, as far as known, are the agent's own."""
        return self.hearing.is_own(words, self._clock(), final=False)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Pass on everything except the agent's own voice."""
        await super().process_frame(frame, direction)
        now = self._clock()
        if isinstance(frame, TranscriptionFrame | EagerTranscriptionFrame | InterimTranscriptionFrame):
            is_own = isinstance(frame, TranscriptionFrame) and self.hearing.is_own(frame.text, now, final=True)
            frame.text = frame.text if is_own else self.hearing.without_own(frame.text, now)
        match frame:
            case BotStartedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self.hearing.agent_started(now)
            case BotStoppedSpeakingFrame() if direction is FrameDirection.UPSTREAM:
                self.hearing.agent_stopped(now)
            case VADUserStartedSpeakingFrame() if direction is FrameDirection.DOWNSTREAM:
                self.hearing.speech_began(now - frame.start_secs)
            case TranscriptionFrame() if self.hearing.is_own(frame.text, now, final=True):
                frame = self._own(frame)
                # The recogniser must not hear it again together with the caller's next words.
                await self.push_frame(OwnVoiceFrame(text=frame.text, final=frame.final), FrameDirection.UPSTREAM)
            case EagerTranscriptionFrame():
                frame.text = without_laughter(frame.text, self._language)
                if not frame.text:
                    return
            case TranscriptionFrame():
                text = without_laughter(frame.text, self._language)
                if not text and frame.finalized:
                    frame = NothingHeardFrame()
                else:
                    frame.text = text
            case _:
                pass
        await self.push_frame(frame, direction)

    def _own(self, frame: TranscriptionFrame) -> OwnVoiceFrame:
        if self.hearing.note_own(frame.text, self._clock()):
            logger.warning(
                f'The agent hears itself: its words came back as "{frame.text}". From now on it stops only for words '
                "that are surely not its own. Cancel the echo at the client, or use headphones."
            )
        return OwnVoiceFrame(text=frame.text, final=frame.finalized)
