"""Takes out what a model thinks aloud: some servers send `<think>…</think>` as the beginning of the answer. Pure."""

OPENING, CLOSING = "<think>", "</think>"


class ThoughtFilter:
    """Passes an answer on as it streams in, without the thoughts in front of it."""

    def __init__(self) -> None:
        self._held = ""
        self._is_thinking = False
        self._is_answering = False
        self._has_thought = False

    def feed(self, text: str) -> str:
        """What of the answer `text` brings; nothing while it may still be a thought."""
        if self._is_answering:
            return self._answer(text)
        self._held += text
        lead = self._held.lstrip()
        if not self._is_thinking:
            if len(lead) < len(OPENING) and OPENING.startswith(lead):
                return ""
            self._is_thinking = lead.startswith(OPENING)
        if not self._is_thinking:
            return self._answer(self._held)
        _, found, rest = self._held.partition(CLOSING)
        if found:
            self._has_thought = True
            return self._answer(rest)
        # The closing mark may be torn; what lies before its first half is no longer needed.
        self._held = self._held[-len(CLOSING) :]
        return ""

    def flush(self) -> str:
        """The stream ended: what was held back and is no thought."""
        return "" if self._is_thinking else self._answer(self._held)

    def _answer(self, text: str) -> str:
        self._is_answering, self._is_thinking, self._held = True, False, ""
        if self._has_thought:
            # Blank lines set the answer off from the thought.
            text = text.lstrip()
            self._has_thought = not text
        return text
