"""The adapter that pipecat requires between a context and a provider's format, for a service without a provider."""

from typing import Any

from pipecat.adapters.llm.base_llm_adapter import BaseLLMAdapter
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.processors.aggregators.llm_context import LLMContext


class PassThroughAdapter(BaseLLMAdapter[dict[str, Any]]):
    """Passes the context on unchanged. pipecat's default adapter imports OpenAI's SDK: 550 modules, 0.3 s at start."""

    @property
    def id_for_llm_specific_messages(self) -> str:
        """The name that reserves messages in a context for this service."""
        return "responder"

    async def get_llm_invocation_params(self, context: LLMContext, **_kwargs: Any) -> dict[str, Any]:
        """The context's messages."""
        return {"messages": context.get_messages()}

    def to_provider_tools_format(self, tools_schema: ToolsSchema) -> list[Any]:
        """The tools, unchanged."""
        return list(tools_schema.standard_tools)

    def get_messages_for_logging(self, context: LLMContext) -> list[Any]:
        """The context's messages."""
        return context.get_messages()
