"""pipecat's seam between a context and a provider's wire format, for a service that has no provider."""

from typing import Any

from pipecat.adapters.llm.base_llm_adapter import BaseLLMAdapter
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.processors.aggregators.llm_context import LLMContext


class ContextAsItIs(BaseLLMAdapter[dict[str, Any]]):
    """Changes nothing. pipecat's default imports OpenAI's SDK for it: 550 modules, 0.3 s of a start."""

    @property
    def id_for_llm_specific_messages(self) -> str:
        """Whose messages in a context are for this service alone."""
        return "responder"

    async def get_llm_invocation_params(self, context: LLMContext, **_kwargs: Any) -> dict[str, Any]:
        """The messages."""
        return {"messages": context.get_messages()}

    def to_provider_tools_format(self, tools_schema: ToolsSchema) -> list[Any]:
        """The tools."""
        return list(tools_schema.standard_tools)

    def get_messages_for_logging(self, context: LLMContext) -> list[Any]:
        """The messages."""
        return context.get_messages()
