"""Errors, sorted by what the user can do about them. Each message is one sentence that names the remedy."""

from voice.redaction import redacted


class VoiceError(Exception):
    """Base of all errors that a command reports as one sentence; `exit_code` is the command's exit status."""

    exit_code = 4

    def __str__(self) -> str:
        """The sentence, without keys: it may quote a setting, a request or what a server said."""
        return redacted(super().__str__())


class ConfigurationError(VoiceError):
    """A setting, argument or pipeline file is wrong; the sentence names the key and the allowed values."""

    exit_code = 2


class AlreadyReported(VoiceError):
    """A child process has failed and has already reported why; its exit code becomes ours."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


class FixtureError(VoiceError):
    """A recording, scenario or label file cannot be used; the sentence names the file and what it should be."""

    exit_code = 2


class ComponentError(VoiceError):
    """An engine, device, model or server is missing or has failed; the sentence says how to get it."""

    exit_code = 4


class CallRefused(ComponentError):
    """A server takes no more calls now, or refuses this one."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} refused the call: {reason.rstrip('.')}.")
        self.reason = reason


class CallUnknown(ComponentError):
    """A server has no such call to resume."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} cannot go on with the call: {reason.rstrip('.')}.")
        self.reason = reason


class WireError(ComponentError):
    """The other end of a call violated the protocol; the sentence says how."""
