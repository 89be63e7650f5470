"""A draft of the fast tier, verified by another tier while its first sentence is heard. Pure.

Until its review ends, a draft counts as incomplete, and only its first sentence may be spoken. Then the rest is spoken
as well, or the draft has failed, and another tier answers or continues from the words heard.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from latency.record.requests import Verification, VerificationOutcome
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.draft_facts import facts_of, fault_in

_REPLY = re.compile(r"\W*(yes|no)\b\W*(.*)", re.I | re.S)
_LONGEST_FAULT = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verifier's finding.

    Parameters:
        fault: the draft's fault; None if it is right.
    """

    fault: str | None = None


def verdict_of(reply: str) -> Verdict | None:
    """The verdict in a complete reply; None without one, which does not count as a yes."""
    found = _REPLY.match(reply)
    if found is None:
        return None
    word, rest = found.group(1).casefold(), " ".join(found.group(2).split())
    if word == "yes":
        # "Yes, but …" is neither a plain yes nor a named fault.
        return None if rest else Verdict()
    return Verdict(rest[:_LONGEST_FAULT] or "the verifier says no more")


class Review:
    """Reviews the draft of one answer, of which there is at most one at a time.

    Args:
        question: the caller's words; None if unknown.
    """

    def __init__(self, question: str | None) -> None:
        self._question = question or ""
        self.record: Verification | None = None
        """The outcome of the review; None before its end, and without a review."""
        self.fault: str | None = None
        """The fault found in the draft."""

    def proceed(self, requests: Sequence[LLMRequest], now: float) -> None:
        """Decide about a draft if enough is known."""
        draft = next((one for one in requests if one.state.reviewed), None)
        if draft is None:
            return
        verifier = next((one for one in requests if one.state.verifies == draft.state.number), None)
        if not draft.state.running:
            draft.release(now)
            self._end("unverified", "the draft broke off" if draft.state.outcome == "failed" else "it was not spoken")
        elif draft.state.drafted is None:
            return
        elif verifier is None:
            if fault := fault_in(draft.text, whole=True, question=self._question):
                self._refuse(draft, fault, "the rules object", now)
        elif verifier.state.outcome in ("failed", "cancelled"):
            self.release(requests, now, why="the verifier failed")
        elif verifier.state.outcome == "complete":
            verdict = verdict_of(verifier.text)
            if verdict is None:
                self.release(requests, now, why="the verifier gave no verdict")
            elif verdict.fault is None:
                self.release(requests, now, outcome="verified", why=f"{verifier.state.tier} agrees")
            else:
                self._refuse(draft, verdict.fault, f"{verifier.state.tier} objects", now)

    def release(
        self,
        requests: Sequence[LLMRequest],
        now: float,
        *,
        outcome: VerificationOutcome = "unverified",
        why: str = "no verdict came before the first sentence was over",
    ) -> None:
        """Let the rest of the draft be spoken."""
        for draft in requests:
            if draft.state.reviewed:
                draft.release(now)
                self._end(outcome, why)

    def _refuse(self, draft: LLMRequest, fault: str, why: str, now: float) -> None:
        self.fault = fault
        self._end("corrected" if draft.streamed.speakable.begun else "replaced", why)
        draft.refuse(f"its draft is wrong: {fault}", now)

    def _end(self, outcome: VerificationOutcome, why: str) -> None:
        self.record = Verification(outcome=outcome, why=why, fault=self.fault)


def denies(heard: str, correct: str) -> bool:
    """Whether an answer contradicts the facts already heard: numbers, days, yes or no.

    Other contradictions are not detected.
    """
    said, stated = facts_of(heard), facts_of(correct)
    return bool(said - stated) and bool(stated)
