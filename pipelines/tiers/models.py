"""Language models as tiers, shared by all calls: their connections and their measured speeds."""

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from latency.budget import Budget
from pipelines.providers.resources import Resources
from pipelines.providers.responder import ResponderModels
from pipelines.tiers.capped import capped_tiers
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError
from voice.language import Language
from voice.language.by_language import PHRASES
from voice.llm.answer.hold_phrases import HoldPhrases
from voice.llm.policy.make import make_policy
from voice.llm.policy.policies import BestOf
from voice.llm.policy.tier_statistics import TierStatistics, Wait, quantile
from voice.responder import RESPONDER

if TYPE_CHECKING:
    from voice.llm.answer.spoken_service import SpeechRules, SpokenLLMService
    from voice.llm.tiers.tier import Tier
    from voice.llm.tools import Tool

USUAL_P95, USUAL_FAST_P95 = 1.5, 0.3
"""Assumed seconds to a first clause, for a tier and for one in the fast role, that has no setting and no measurement
yet."""
POOR = 0.5
"""A fast tier with fewer right answers than this share of the large one's answers only if that one fails."""
ENOUGH = 10
"""The number of measured syntheses from which their 95th percentile counts."""
log = logging.getLogger(__name__)


class TieredModels:
    """Language models as tiers of a `BudgetedLLMService`.

    Raises:
        ConfigurationError: settings that contradict each other.
        ComponentError: a key is not set.
    """

    def __init__(self, llm: Tiers, language: Language = "en") -> None:
        self._language = language
        if llm.hold_phrases and not llm.bridge:
            raise ConfigurationError("llm.hold_phrases are never said with llm.bridge = false; leave one of them out.")
        self._llm = llm
        self._policy = make_policy(
            llm.policy, large=llm.large, fast=llm.fast, tiers=tuple(llm.tiers), bridge=llm.bridge, best_of=llm.best_of
        )
        self._drafts = {self._policy.tier: self._policy.candidates} if isinstance(self._policy, BestOf) else {}
        self._budget = Budget.with_llm(llm.budget_ms / 1000)
        self._book = TierStatistics({name: self._assumed_p95(name) for name in llm.tiers})
        self._calls = itertools.count()
        self._synthesis: deque[Wait] = deque(maxlen=100)
        self.phrases = self._bridging(0).phrases if llm.bridge else ()
        for name, tier in llm.tiers.items():
            tier.check(name, llm)
        self._responder = ResponderModels() if llm.responder else None
        self._mostly_wrong = mostly_wrong_tier(llm)
        self._resources = Resources()
        self._capped = capped_tiers(llm)
        self._models = {name: tier.model_of(llm, self._resources) for name, tier in llm.tiers.items()}

    @property
    def components(self) -> dict[str, str]:
        """The policy and each tier."""
        policy = f"{self._llm.policy}, {self._llm.budget_ms:g} ms to the first clause"
        first = {RESPONDER: self._responder.components["llm"]} if self._responder else {}
        return {"llm": policy, **first, **{name: tier.describe(self._llm) for name, tier in self._llm.tiers.items()}}

    @property
    def models(self) -> dict[str, str]:
        """The model of each tier; simulated ones are named so."""
        first = {RESPONDER: self._responder.components["llm"]} if self._responder else {}
        return {**first, **{name: tier.label for name, tier in self._llm.tiers.items()}}

    async def start(self) -> None:
        """Open each tier's connection.

        A server that does not answer now is logged and may come back; each turn that it fails reports it.
        """
        self._warn()
        if self._capped:
            await self._capped.start()
        if self._responder:
            await self._responder.start()
        await asyncio.gather(*(model.start() for model in self._models.values()), asyncio.to_thread(_import_service))
        # The first call would otherwise wait for more imports.
        self.services(prompt=None, tools=())

    def services(
        self, *, prompt: str | None, tools: "Sequence[Tool]", rules: "SpeechRules | None" = None
    ) -> "tuple[SpokenLLMService, ...]":
        """The responder if it is set, and a service over one service for each tier."""
        numbers = itertools.count()
        now = datetime.now().astimezone()
        answering = self._budgeted(
            PHRASES[self._language].prompt_at(prompt or self._llm.prompt, now), tools, numbers, rules
        )
        if not self._responder:
            return (answering,)
        return self._responder.service(tools=tools, numbers=numbers, rules=rules), answering

    def _budgeted(
        self, prompt: str, tools: "Sequence[Tool]", numbers: Iterator[int], rules: "SpeechRules | None"
    ) -> "SpokenLLMService":
        from voice.llm.answer.service import BudgetedLLMService
        from voice.llm.answer.turn_planner import TurnPlanner
        from voice.llm.tools import is_irreversible

        planner = TurnPlanner(
            self._models,
            self._policy,
            book=self._book,
            language=self._language,
            irreversible=[tool.__name__ for tool in tools if is_irreversible(tool)],
            large=self._llm.large,
            spending=self._capped.call() if self._capped else None,
            mostly_wrong=self._mostly_wrong,
            numbers=numbers,
        )
        return BudgetedLLMService(
            [self._tier(name, prompt, tools) for name in self._models],
            planner,
            budget=self._budget,
            bridging=self._bridging(next(self._calls)),
            synthesis_p95=self._synthesis_p95,
            tool_rounds=self._llm.tool_rounds,
            rules=rules,
        )

    def whole_request(self, text: str) -> bool | None:
        """The responder's verdict, if it is set; else None, because a language model takes anything."""
        return self._responder.whole_request(text) if self._responder else None

    def withhold_hedges(self, when: Callable[[], bool]) -> None:
        """Make no second requests while `when` holds."""
        self._book.hedges.withheld = when

    def synthesised(self, seconds: float) -> None:
        """Note the time of a synthesis, which deadlines include."""
        self._synthesis.append(Wait(seconds, reached=True))

    async def close(self) -> None:
        """Close the connections and stop their processes."""
        for model in self._models.values():
            await model.close()
        if self._capped:
            await self._capped.close()
        await self._resources.close()

    def _tier(self, name: str, prompt: str, tools: "Sequence[Tool]") -> "Tier":
        from voice.llm.tiers.tier import Tier

        # The fast tier may be asked twice in a turn.
        requests = max(self._drafts.get(name, 1), 2 if name == self._llm.fast else 1)
        service = self._models[name].service(prompt=prompt, tools=tools, requests=requests)
        return Tier(name, service, price=self._llm.tiers[name].billing)

    def _assumed_p95(self, name: str) -> float:
        if (own := self._llm.tiers[name].p95_ms) is not None:
            return own / 1000
        return USUAL_FAST_P95 if name == self._llm.fast else USUAL_P95

    def _synthesis_p95(self) -> float | None:
        return quantile(self._synthesis, 0.95) if len(self._synthesis) >= ENOUGH else None

    def _bridging(self, call: int) -> HoldPhrases:
        return HoldPhrases(self._llm.hold_phrases, start=call, language=self._language)

    def _warn(self) -> None:
        for name, tier in self._llm.tiers.items():
            if notice := tier.notice:
                log.warning("llm.%s: %s", name, notice)
        if warning := self._budget.warning:
            log.warning("%s.", warning)
        large, fast = self._llm.large, self._llm.fast
        if large and fast and (warning := self._book.warning(large=large, fast=fast)):
            log.warning("%s.", warning)


def mostly_wrong_tier(llm: Tiers) -> str | None:
    """The fast tier, if it is right less than half as often as the large one, by the same benchmark."""
    large, fast = (llm.tiers[name].quality if name else None for name in (llm.large, llm.fast))
    if large is None or fast is None or large.benchmark != fast.benchmark:
        return None
    return llm.fast if fast.share < POOR * large.share else None


def _import_service() -> None:
    import voice.llm.answer.service  # noqa: F401
    from voice.llm.routing.assess import assess

    # The first decision compiles the patterns: a tenth of a second that no call should wait for.
    assess("hello")
