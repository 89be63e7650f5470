"""The progress of a replay on standard error: a line for each turn, and the words being spoken."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from latency.budget import TURN_LIMIT, Budget
from latency.command_line import columns
from latency.judge.llm_budget import judge
from latency.record.turn import ServerTurn
from voice.client.call.call_result import CallResult
from voice.client.call.listener import CallListener
from voice.client.caller.scripted_caller import PlacedTurn


class Progress:
    """The lines of a whole replay, with a moving status line below them in a terminal."""

    def __init__(self, *, calls: int) -> None:
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._calls = calls
        self._call = 0

    @contextmanager
    def starting(self) -> Iterator[Callable[[], None]]:
        """A context while the server loads its models; call the function that it yields once they are loaded."""
        loading = "Starting the agent: loading models…"
        if not self._console.is_terminal:
            self._console.print(loading)
        with self._console.status(loading) as status:
            yield status.stop

    def serving(self, status: Mapping[str, Any], *, side: str = "") -> None:
        """Print the component in each stage of the ready server, and the reason.

        Args:
            status: the server's report.
            side: A or B, if two servers are compared.
        """
        if side:
            _print(self._console, Text(f"{side}  ", "bold"), Text(str(status.get("pipeline", {}).get("name", ""))))
        for stage, name in status.get("components", {}).items():
            _print(self._console, Text(f"{stage:>6}  ", "dim"), Text(str(name)))
        for reason in status.get("chosen", []):
            _print(self._console, Text("  auto  ", "dim"), Text(reason, "dim"))

    def note(self, text: str) -> None:
        """Print a note that the user should read before the replay starts."""
        _print(self._console, Text("note  ", "yellow"), Text(text))

    def saved(self, folder: object) -> None:
        """Print the run folder."""
        self._console.print(f"[dim]run folder: {escape(str(folder))}[/]")

    def call(self, name: str) -> "CallProgress":
        """The display of the next call."""
        self._call += 1
        return CallProgress(self._console, f"{name} ({self._call}/{self._calls})")


class CallProgress(CallListener):
    """The lines of one call; use it as a context around the call.

    `result` returns the call so far. A turn's line is printed when the next turn starts or the call ends.
    """

    def __init__(self, console: Console, title: str) -> None:
        self.result: Callable[[], CallResult] | None = None
        self.placed: list[Callable[[PlacedTurn], None]] = []
        """Also called when a turn starts."""
        self.is_by_ear = False
        """Whether the agent reports no words, so that the turn's own are printed."""
        self._console = console
        self._status: Status = console.status("")
        self._title = title
        self._turn: PlacedTurn | None = None
        self._heard: list[str] = []
        self._said: list[str] = []
        self._reports: dict[int, ServerTurn] = {}
        self._reported_before = -1

    def __enter__(self) -> "CallProgress":
        self._console.print(f"[bold]{escape(self._title)}[/]")
        self._status.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_error: object) -> None:
        self._status.stop()
        if error is None or self._heard:
            self._print_turn()

    def on_placed(self, turn: PlacedTurn) -> None:
        """A new turn starts, so the previous one has ended."""
        self._print_turn()
        self._turn, self._heard, self._said = turn, [], []
        # Later reports about a known turn belong to the previous one.
        self._reported_before = max(self._reports, default=self._reported_before)
        self._reports = {}
        self._status.update(f"[dim]caller:[/] {escape(turn.turn.text or turn.turn.name)}")
        for placed in self.placed:
            placed(turn)

    def on_partial(self, text: str) -> None:
        """The recogniser's words so far."""
        self._status.update(f"[dim]heard so far:[/] {escape(text)}")

    def on_heard(self, text: str) -> None:
        """A final transcript."""
        self._heard.append(text)

    def on_said(self, text: str) -> None:
        """A clause of the bot."""
        self._said.append(text)
        self._status.update(f"[dim]bot:[/] {escape(text)}")

    def on_turn(self, turn: ServerTurn) -> None:
        """Keep the server's report of a turn."""
        if turn.turn > self._reported_before:
            self._reports[turn.turn] = turn

    def on_lost(self) -> None:
        """Print that the connection broke."""
        _print(
            self._console, Text("line    ", "yellow"), Text("the connection broke; connecting again, the call waits")
        )

    def on_resumed(self, seconds: float) -> None:
        """Print that the call goes on."""
        _print(
            self._console, Text("line    ", "yellow"), Text(f"connected again after {seconds:.1f} s; the call goes on")
        )

    def fault(self, what: str) -> None:
        """Print a fault that was put into the call on purpose."""
        _print(self._console, Text("chaos   ", "magenta"), Text(what))

    def on_error(self, text: str) -> None:
        """Print a failure that the server reports."""
        _print(self._console, Text("server  ", "red"), Text(text))

    def _print_turn(self) -> None:
        if self._turn is None or self.result is None:
            return
        end, result = self._turn.end, self.result()
        if self._turn.index >= len(result.reached):
            # The connection was lost before.
            return
        answer = next((u.start - end for u in result.utterances if u.start >= end), None)
        if answer is None:
            took = Text("     –     ")
        else:
            took = Text(f"{answer * 1000:6.0f} ms  ", "green" if answer < TURN_LIMIT else "yellow")
        words = Text(" ".join(self._heard) or "(nothing)")
        words.append(" → ", "dim").append(" ".join(self._said) or "(nothing)")
        if self.is_by_ear:
            words = Text(self._turn.turn.text or self._turn.turn.name)
        spoken = next(filter(None, (spoken_by(self._reports[n]) for n in sorted(self._reports, reverse=True))), "")
        if spoken:
            words.append(f"  ({spoken})", "dim")
        _print(self._console, took, words)
        self._turn = None


def _print(console: Console, label: Text, text: Text) -> None:
    """Print a text after its label, within 80 columns; further lines begin below the text."""
    for line in text.wrap(console, columns() - label.cell_len):
        line.rstrip()
        console.print(label + line)
        label = Text(" " * label.cell_len)


def spoken_by(turn: ServerTurn) -> str | None:
    """The tier that answered, with a remark if it was not the first one asked or was late.

    Args:
        turn: as the server reports it.

    Returns:
        Such as "large", "fast, rescued", "large, 320 ms late" or "One moment. … large"; None when no language model
        with a budget took part in the turn.
    """
    judged = judge(turn, budget=Budget().llm)
    if not turn.responses or judged is None:
        return None
    match judged.verdict:
        case "rescued":
            return f"{judged.tier}, rescued"
        case "bridged":
            return f"{' '.join(judged.phrases)} … {judged.tier or ''}".rstrip()
        case "missed":
            return f"{judged.tier}, {judged.lateness} late" if judged.tier else "no answer"
        case _:
            return judged.tier
