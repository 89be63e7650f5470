"""The faults that were put into a run, and what became of each of its turns."""

from collections import Counter
from collections.abc import Iterator

from latency.judge.account import Account
from latency.render.layout import LABEL, labelled
from latency.render.numbers import counted, things

_ENDS = {
    "rescued": "rescued by another tier",
    "apologised": "the caller was told that there is no answer",
    "not played": "not played",
}


def fault_lines(accounts: tuple[Account, ...]) -> Iterator[str]:
    """How many turns ended in which way, then a line for every turn with a fault and for every one unanswered."""
    if not accounts:
        return
    faults = sum(len(account.faults) for account in accounts)
    yield labelled("faults", f"{faults} injected in {things(len(accounts), 'turn')}: {counted(_ends(accounts))}")
    many = len({account.session for account in accounts}) > 1
    for account in accounts:
        if account.faults or account.reason:
            where = f"{account.session} {account.turn}" if many else f"turn {account.turn}"
            broken = "; ".join(fault.what for fault in account.faults) or "no fault"
            why = f": {account.reason}" if account.reason else ""
            yield f"{'':<{LABEL}}{where}: {broken} → {_ENDS.get(account.end, account.end)}{why}"


def _ends(accounts: tuple[Account, ...]) -> Counter[str]:
    return Counter(account.end for account in accounts)
