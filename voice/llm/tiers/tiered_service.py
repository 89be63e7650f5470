"""Several tiers behind one language model service; frames that concern the call reach all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipecat.frames.frames import CancelFrame, EndFrame, Frame, LLMUpdateSettingsFrame, StartFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessorSetup
from pipecat.services.llm_service import LLMService

from voice.llm.long_answers.service import PartsLLMService
from voice.llm.tiers.tier import Tier


class TieredLLMService(PartsLLMService):
    """Sets up, starts and ends its tiers with the call. Subclasses decide which tier to ask, and when.

    Args:
        tiers: the language models; see `Tier`.
        kwargs: for pipecat's `LLMService`.
    """

    def __init__(self, tiers: Sequence[Tier], **kwargs: Any) -> None:
        super().__init__(model="+".join(tier.name for tier in tiers), **kwargs)
        self._tiers = {tier.name: tier for tier in tiers}

    @property
    def unseen(self) -> list[LLMService[Any]]:
        """The services of the tiers, which are not part of the pipeline."""
        return [service for tier in self._tiers.values() for service in tier.services]

    def speed_of(self, tier: str) -> str | None:
        """The speed "fast" or "standard", which a tier's next request asks for; None for a tier that has only one."""
        return self._tiers[tier].speed

    def use_speed(self, tier: str, speed: str) -> None:
        """Ask a tier that has both for the other speed from its next request on."""
        self._tiers[tier].use_speed(speed)

    def append_system_instruction(self, instruction: str) -> None:
        """Append to every tier's system instruction."""
        for service in self.unseen:
            service.append_system_instruction(instruction)

    async def setup(self, setup: FrameProcessorSetup) -> None:  # type: ignore[override]  # as pipecat's own
        """Prepare the tiers too."""
        await super().setup(setup)
        for tier in self._tiers.values():
            await tier.setup(setup, self.push_frame)

    async def cleanup(self) -> None:
        """Cancel what still runs."""
        await super().cleanup()  # type: ignore[no-untyped-call]  # pipecat leaves it unannotated
        for tier in self._tiers.values():
            await tier.cleanup()

    async def start(self, frame: StartFrame) -> None:
        """The call begins."""
        await super().start(frame)
        await self._tell(frame)

    async def stop(self, frame: EndFrame) -> None:
        """The call ended."""
        await super().stop(frame)
        await self._tell(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        """The call was cut off."""
        await super().cancel(frame)
        await self._tell(frame)

    async def _tell(self, frame: Frame) -> None:
        """Pass a frame of the call to every tier."""
        for tier in self._tiers.values():
            await tier.tell(frame)

    async def _update_tiers(self, frame: LLMUpdateSettingsFrame) -> None:
        """Settings for one tier's service reach it, settings for the whole reach all."""
        for service in self.unseen:
            if frame.service in (None, self, service):
                await service.process_frame(replace(frame, service=service), FrameDirection.DOWNSTREAM)
