"""Turns of a policy on a manual clock: tiers are scripted, and a plan is asked whenever it wants to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from latency.budget import FLOOR_GUARD, Budget, Commit
from voice.llm.policy.plan import Plan
from voice.llm.policy.situation import RequestState, Situation

COMMIT = 100.0
CLAUSE_LASTS = 1.0
"""Seconds that a clause takes to be spoken."""


@dataclass(frozen=True)
class Script:
    """What a request does, in seconds after it was made."""

    clauses: Sequence[float] = ()
    end: float | None = None
    fail: float | None = None
    call: float | None = None
    overreach: float | None = None
    """When it calls a tool that is left to another tier."""


@dataclass
class Played:
    """A turn after it was played; instants in seconds after the commit."""

    starts: list[tuple[str, float]] = field(default_factory=list)
    spoken: list[tuple[str, float]] = field(default_factory=list)
    cancelled: list[tuple[str, float]] = field(default_factory=list)
    said: list[tuple[str, float]] = field(default_factory=list)
    gave_up: float | None = None
    deadline: float = 0.0
    asked: int = 0
    continued: list[tuple[str, float]] = field(default_factory=list)
    left: dict[tuple[str, float], float] = field(default_factory=dict)
    """When each cancelled request was, by its tier and start."""
    hedges: int = 0
    followed: list[int] = field(default_factory=list)
    """Numbers of the requests that contained an opening as already said."""

    def tiers(self) -> list[str]:
        return [tier for tier, _ in self.starts]


def play(
    plan: Plan,
    scripts: Mapping[str, Script | Sequence[Script]],
    *,
    speech_end: float | None = None,
    speculated: float = 0.0,
) -> Played:
    """Play a turn whose requests begin `speculated` seconds before the commit."""
    played, now = Played(), COMMIT - speculated
    fast_p95 = None if plan.fast is None or plan.floor_tier != plan.fast else plan.leads[plan.fast] - FLOOR_GUARD
    commit = Commit(at=COMMIT, speech_end=speech_end, fast_p95=fast_p95).deadline(Budget())
    played.deadline = commit.at - COMMIT
    attempts: list[RequestState] = []
    running: list[Script] = []
    speaking: int | None = None
    dry_at: float | None = None
    heard_of: set[tuple[int, int]] = set()
    while played.asked < 100:
        for number, script in enumerate(running):
            attempt = attempts[number]
            if attempt.running:
                attempts[number] = attempt = advanced(attempt, script, now)
            for clause in range(attempt.clauses):
                if speaking == number and (number, clause) not in heard_of:
                    heard_of.add((number, clause))
                    dry_at = max(dry_at or 0.0, now, COMMIT) + CLAUSE_LASTS
        committed = now >= COMMIT
        situation = Situation(
            now=now, commit=COMMIT if committed else None, deadline=commit if committed else None,
            requests=attempts, speaking=speaking, dry_at=dry_at, held=len(played.said),
        )  # fmt: skip
        decision = plan.decide(situation)
        played.asked += 1
        at = round(now - COMMIT, 4)
        if decision.speak is not None:
            speaking = decision.speak
            played.spoken.append((attempts[speaking].tier, at))
        for number in decision.cancel:
            assert attempts[number].running
            attempts[number] = replace(attempts[number], outcome="cancelled")
            played.cancelled.append((attempts[number].tier, at))
            played.left[attempts[number].tier, round(attempts[number].request - COMMIT, 4)] = at
        for start in decision.start:
            played.hedges += start.hedge
            own = scripts[start.tier]
            before = sum(a.tier == start.tier for a in attempts)
            running.append(own if isinstance(own, Script) else own[min(before, len(own) - 1)])
            heard = 0 if start.continues is None else attempts[start.continues].clauses
            if start.follows is not None:
                assert attempts[start.follows].ready is not None
                played.followed.append(len(attempts))
            attempts.append(
                RequestState(
                    number=len(attempts), tier=start.tier, request=now, continues=start.continues, heard=heard,
                    opens=start.opens, follows=start.follows, candidate=start.candidate,
                )
            )  # fmt: skip
            (played.starts if start.continues is None else played.continued).append((start.tier, at))
        if decision.say:
            played.said.append((decision.say, at))
        if decision.give_up:
            played.gave_up = at
            break
        if speaking is not None and not any(a.running for a in attempts) and attempts[speaking].outcome == "complete":
            break
        if decision.speak is not None or decision.start or decision.say == "opening":
            continue
        instants = [at for a, script in zip(attempts, running, strict=True) if a.running for at in due(a, script)]
        instants += [decision.wake_at] if decision.wake_at is not None else []
        instants += [COMMIT] if not committed else []
        following = min((instant for instant in instants if instant > now), default=None)
        assert following is not None, "the turn hangs: nothing will happen any more"
        now = following
    assert played.asked < 100
    return played


def due(attempt: RequestState, script: Script) -> list[float]:
    offsets = [*script.clauses, script.end, script.fail, script.call, script.overreach]
    return [attempt.request + offset for offset in offsets if offset is not None]


def advanced(attempt: RequestState, script: Script, now: float) -> RequestState:
    passed = now - attempt.request + 1e-9
    clauses = sum(offset <= passed for offset in script.clauses)
    first = attempt.request + script.clauses[0] if clauses else None
    called = attempt.request + script.call if script.call is not None and script.call <= passed else None
    overreached = script.overreach is not None and script.overreach <= passed
    failed = overreached or (script.fail is not None and script.fail <= passed)
    complete = (script.end is not None and script.end <= passed) or called is not None
    return replace(
        attempt, clauses=clauses, first_token=first, first_clause=first, called=called,
        outcome="failed" if failed else "complete" if complete else None, overreached=overreached,
        # Candidates are taken to say different things.
        support=int(complete and not failed and attempt.candidate is not None),
    )  # fmt: skip
