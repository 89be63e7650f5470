"""The `[llm]` table of a pipeline that answers with language models: its tiers, their roles, a policy and a budget."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from latency.budget import LLM_ALLOWED, LLM_LIMIT
from pipelines.providers.answering import LanguageModels
from pipelines.providers.provider import TierTable
from pipelines.providers.resolving import UnknownTierError, resolved
from pipelines.providers.sim import SimulatorTable
from pipelines.registry import PROVIDERS
from pipelines.settings_table import SENTENCE, OneOf, Table
from voice.language import NAMES, Language
from voice.language.english.phrases import ENGLISH
from voice.llm import CONTEXT_TURNS, ENGLISH_ONLY, ROUTING, TOOL_ROUNDS
from voice.llm.draft_facts import MOST_CANDIDATES
from voice.responder import RESPONDER

ROLES = ("large", "fast")
RESERVED = ("language", "vad", "turns", "asr", "llm", "tts", RESPONDER)
"""Names of components in reports, which no tier may take."""
TIER_KEYS = ("provider", "tier")
"""Keys that make a table in `[llm]` a tier."""


class Roles(Table):
    """The tiers that play the two roles of a policy, by name: `roles = { large = "opus", fast = "groq" }`."""

    large: str | None = None
    fast: str | None = None


class Tiers(Table):
    """Language models under a policy and a budget: the time from the end of the user's turn to the first clause.

    Each sub-table with a provider, or a tier of the catalogue (`tier`), is a tier, and its key is the tier's name. A
    policy asks the tiers in the roles large and fast: those that `roles` names, else `[llm.large]` and `[llm.fast]`,
    else a lone tier as the large one. A call can switch to any other tier.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[TierTable, OneOf("provider", PROVIDERS)]] = Field(init=False)

    policy: Literal[
        "single", "hedged", "fallback", "race", "routed", "relay", "adaptive", "best_of", "draft_verify"
    ] = "adaptive"
    """The rule that decides which tier is asked, and when; see docs/concepts/llm-budget.md. The default for a lone tier
    is `single`."""
    best_of: Annotated[int, Field(ge=2, le=MOST_CANDIDATES)] | None = None
    """The number of candidates that the fast tier (or a lone one) is asked for when it answers; the best is spoken, by
    the deadline. One unless set; 3 with the policy best_of."""
    budget_ms: Annotated[float, Field(ge=LLM_ALLOWED[0] * 1000, le=LLM_ALLOWED[1] * 1000)] = round(LLM_LIMIT * 1000)
    """The time from the end of the user's turn to the first clause that can be spoken."""
    responder: bool = False
    """Whether the embedded responder answers the requests it understands (timers, sums, units, time and date, lists)
    before a language model is asked; English only."""
    bridge: bool = True
    """Whether a hold phrase is said if no answer is ready in time."""
    hold_phrases: list[str] = []
    """The hold phrases; the usual ones unless set."""
    prompt: str = ENGLISH.prompt
    """The system prompt; the default is in the pipeline's `language`."""
    context_turns: Annotated[int, Field(ge=2)] = CONTEXT_TURNS
    """The longest conversation that the models get, in turns; the older half of a longer one is forgotten."""
    tool_rounds: Annotated[int, Field(ge=1, le=50)] = TOOL_ROUNDS
    """How often a model may call tools in one turn; after that the caller hears that there is no answer."""
    swap_tool: bool = False
    """Whether the models are offered a tool that changes the answering tier from then on."""
    cap_usd_per_call: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """The cap on the cost of a call's requests, in US dollars; then only the cheapest tier answers."""
    cap_usd_per_day: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """The cap on the cost of a day's (UTC) requests, in all calls; the sum is kept in the user's cache folder."""
    roles: Roles = Roles()
    simulator: SimulatorTable = SimulatorTable()

    @classmethod
    def known(cls) -> str:
        """The keys of this table, and its other possible content."""
        return f"{super().known()}, {', '.join(ROLES)}, and tables with a provider or a tier: tiers of any other name"

    @classmethod
    def takes(cls, key: str, value: Any) -> bool:
        """Whether `key` is a setting or a tier."""
        is_tier = isinstance(value, TierTable) or (isinstance(value, dict) and not value.keys().isdisjoint(TIER_KEYS))
        return super().takes(key, value) or key in ROLES or is_tier

    @model_validator(mode="before")
    @classmethod
    def _resolve_tiers(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        tables = {name: table for name, table in values.items() if isinstance(table, dict) and table.get("tier")}
        try:
            values = {**values, **{name: resolved(table, where=f"llm.{name}") for name, table in tables.items()}}
        except UnknownTierError as error:
            raise PydanticCustomError(SENTENCE, "{words}", {"words": str(error)}) from None
        # Settings of this table that are tables themselves are not tiers.
        lone = sum(cls.takes(key, table) for key, table in values.items() if key not in cls.model_fields) == 1
        return {"policy": "single", **values} if lone else values

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for name in self.tiers:
            if name in RESERVED:
                raise PydanticCustomError(
                    SENTENCE, "llm.{name}: a tier needs another name; reports use this one otherwise", {"name": name}
                )
        for role, name in self.roles.model_dump(exclude_none=True).items():
            if name not in self.tiers:
                known = ", ".join(self.tiers) or "none"
                parts = {"role": role, "name": name, "known": known}
                raise PydanticCustomError(
                    SENTENCE, 'llm.roles.{role} = "{name}" names no tier; there is {known}', parts
                )
        return self

    @property
    def tiers(self) -> dict[str, TierTable]:
        """All tiers by name, those in a role first."""
        tiers = self.__pydantic_extra__
        first = [name for role in ROLES if (name := getattr(self.roles, role) or role) in tiers]
        return {name: tiers[name] for name in dict.fromkeys([*first, *tiers])}

    @property
    def large(self) -> str | None:
        """The name of the tier in the large role."""
        if name := self.roles.large:
            return name
        if "large" in self.tiers:
            return "large"
        return next(iter(self.tiers)) if len(self.tiers) == 1 and self.fast is None else None

    @property
    def fast(self) -> str | None:
        """The name of the tier in the fast role."""
        return self.roles.fast or ("fast" if "fast" in self.tiers else None)

    def needs(self) -> list[str]:
        """The missing parts, each with the way to get it. Nothing is loaded or downloaded; local servers are asked."""
        needs = [need for tier in self.tiers.values() for need in tier.needs()]
        servers = [server for tier in self.tiers.values() if (server := tier.missing_server())]
        return list(dict.fromkeys([*needs, *servers]))

    def objection(self, language: Language) -> str | None:
        """Why its policy cannot work in this language and what to do; None if it can."""
        if language == "en":
            return None
        if self.responder:
            return "llm.responder understands and speaks English only: leave it out"
        if self.policy in ENGLISH_ONLY:
            other = "fallback" if self.fast else "single"
            return f'llm.policy = "{self.policy}" judges drafts and openings by English words: use "{other}"'
        return "llm.best_of compares drafts by English words: leave it out" if self.best_of else None

    def notice(self, language: Language) -> str | None:
        """The limitations of its policy in this language."""
        if language == "en" or self.policy not in ROUTING:
            return None
        return (
            f'llm.policy = "{self.policy}" distinguishes turns in English only: it treats every {NAMES[language]} turn '
            "as an open question, which goes to the large model first"
        )

    def language_models(self, language: Language = "en") -> LanguageModels:
        """The models as set; not started yet.

        Args:
            language: that of the calls.

        Raises:
            ConfigurationError: settings that contradict each other.
            ComponentError: a key is not set.
        """
        from pipelines.tiers.models import TieredModels

        return TieredModels(self, language)
