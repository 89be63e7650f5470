"""`voice pipelines` and `voice devices`: lists pipelines with their missing parts, and sound devices."""

from latency.command_line import folded
from pipelines import settings
from voice.errors import ConfigurationError


def list_pipelines() -> list[str]:
    """Lines that list the pipelines, each "ready" or with its missing parts. Nothing is loaded or downloaded."""
    width = max(map(len, settings.names()))
    rows = [("auto", "ready", "the best that is already here and costs nothing", list[str]())]
    for name in settings.names():
        pipeline = settings.load(name)
        try:
            missing = pipeline.needs()
        except ConfigurationError as error:
            missing = [str(error).rstrip(".")]
        rows.append((name, "needs" if missing else "ready", pipeline.description, missing))
    lines = []
    for name, state, description, missing in rows:
        lines.append(folded(description, first=f"{name:{width}}  {state}  ", indent=width + 9))
        lines += [folded(need, first=f"{'':{width + 9}}- ", indent=width + 11) for need in missing]
    return lines


def list_sound() -> list[str]:
    """One line for each microphone or loudspeaker: number, name, direction; the defaults are marked.

    Raises:
        ComponentError: PortAudio is missing.
    """
    from voice.client.sound.sound_card import list_devices

    lines = []
    for device in list_devices():
        kinds = [("microphone", device.inputs, device.is_default_input)]
        kinds.append(("loudspeaker", device.outputs, device.is_default_output))
        what = ", ".join(kind + (" (default)" if default else "") for kind, channels, default in kinds if channels)
        lines.append(f"{device.index:3}  {device.name}: {what}")
    return lines or ["This machine has no sound device."]
