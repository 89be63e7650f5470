"""What spending caps need of a pipeline, and which tier answers when one is reached."""

from pathlib import Path

import pytest

from latency.record.requests import Price
from pipelines import settings
from pipelines.tiers.capped import capped_tiers, cheapest
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError

PRICES = ("llm.large.price={input=5,output=25}", "llm.fast.price={input=0.1,output=0.3}")

UNPRICED = "llm.fast.model=cerebras"


def tiers(*overrides: str) -> Tiers:
    llm = settings.load("sim-fallback", overrides).llm
    assert isinstance(llm, Tiers)
    return llm


def test_the_fast_tier_takes_over_if_it_is_cheaper_else_the_cheapest_of_all() -> None:
    dear, cheap, free = Price(input=5, output=25), Price(input=1, output=5), Price(input=0, output=0)
    assert cheapest({"large": dear, "fast": cheap, "own": free}, large="large", fast="fast") == ("fast", True)
    assert cheapest({"large": cheap, "fast": dear, "own": free}, large="large", fast="fast") == ("own", True)
    assert cheapest({"large": cheap, "fast": dear}, large="large", fast="fast") == ("large", True)
    assert cheapest({"large": dear}, large="large", fast=None) == ("large", False)
    assert cheapest({"large": dear, "fast": dear}, large="large", fast="fast") == ("large", False)


def test_a_pipeline_without_caps_needs_no_prices() -> None:
    assert capped_tiers(tiers()) is None


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (["llm.cap_usd_per_call=0.5", UNPRICED, PRICES[0]], r"that of llm.fast is not known: add price = \{ input = 5"),
        (
            ["llm.cap_usd_per_call=0.5", *PRICES, "llm.large.speed=ultrafast"],
            r"the price of llm.large at the speed ultrafast: add speeds = \{ ultrafast = 2 \}",
        ),
        (["llm.cap_usd_per_day=20", UNPRICED], r"that of llm.fast is not known"),
        (["llm.cap_usd_per_call=0"], r"llm.cap_usd_per_call = 0 is not allowed: input should be greater than 0"),
        (["llm.cap_usd_per_day=-1"], r"llm.cap_usd_per_day = -1 is not allowed"),
    ],
)
def test_a_cap_that_could_not_hold_is_refused(overrides: list[str], sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        capped_tiers(tiers(*overrides))


async def test_simulated_and_real_money_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    capped = capped_tiers(tiers("llm.cap_usd_per_day=20", *PRICES))
    assert capped
    await capped.start()
    await capped.close()
    assert (tmp_path / "turnaround" / "spending-simulated.json").exists()
    assert not (tmp_path / "turnaround" / "spending.json").exists()
