"""The review of an answer's draft: which rules and verdicts decide about it, and how it ended. Pure.

A draft is whole, but not complete, until its review ends: only its first sentence may be spoken. Then the rest is
spoken as well, or the draft has failed, and the plan has another tier answer, or go on from what was heard.
"""

from collections.abc import Sequence

from latency.record.requests import Verification, VerificationOutcome
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.ensemble.checks import fault_in
from voice.llm.ensemble.facts import facts_of
from voice.llm.verification.request import verdict_of


class Review:
    """Reviews the draft of one answer, of which there is at most one at a time.

    Args:
        question: the caller's words; None when they are unknown.
    """

    def __init__(self, question: str | None) -> None:
        self._question = question or ""
        self.record: Verification | None = None
        """How it ended; None while it goes on, and for an answer without."""
        self.fault: str | None = None
        """What was found to be wrong with the draft."""

    def proceed(self, attempts: Sequence[LLMRequest], now: float) -> None:
        """Decide about a draft, if enough is known for that."""
        draft = next((one for one in attempts if one.reviewed), None)
        if draft is None:
            return
        verifier = next((one for one in attempts if one.verifies == draft.number), None)
        if draft.outcome is not None:
            draft.release(now)
            self._end("unverified", "the draft broke off" if draft.outcome == "failed" else "it was not spoken")
        elif draft.drafted is None:
            return
        elif verifier is None:
            if fault := fault_in(draft.text, whole=True, question=self._question):
                self._refuse(draft, fault, "the rules object", now)
        elif verifier.outcome in ("failed", "cancelled"):
            self.release(attempts, now, why="the verifier failed")
        elif verifier.outcome == "complete":
            verdict = verdict_of(verifier.text)
            if verdict is None:
                self.release(attempts, now, why="the verifier gave no verdict")
            elif verdict.fault is None:
                self.release(attempts, now, outcome="verified", why=f"{verifier.tier} agrees")
            else:
                self._refuse(draft, verdict.fault, f"{verifier.tier} objects", now)

    def release(
        self,
        attempts: Sequence[LLMRequest],
        now: float,
        *,
        outcome: VerificationOutcome = "unverified",
        why: str = "no verdict came before the first sentence was over",
    ) -> None:
        """Let the rest of the draft be spoken."""
        for draft in attempts:
            if draft.reviewed:
                draft.release(now)
                self._end(outcome, why)

    def _refuse(self, draft: LLMRequest, fault: str, why: str, now: float) -> None:
        self.fault = fault
        self._end("corrected" if draft.was_begun else "replaced", why)
        draft.refuse(f"its draft is wrong: {fault}", now)

    def _end(self, outcome: VerificationOutcome, why: str) -> None:
        self.record = Verification(outcome=outcome, why=why, fault=self.fault)


def denies(heard: str, correct: str) -> bool:
    """Whether an answer states other facts than what was heard: numbers, days, yes or no.

    Words that contradict without any such fact are not found.
    """
    said, stated = facts_of(heard), facts_of(correct)
    return bool(said - stated) and bool(stated)
