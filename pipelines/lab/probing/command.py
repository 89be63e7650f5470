"""`latency probe`: shows the price, asks for consent, measures, and stores the figures."""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from datetime import date

from latency.command_line import FINE, MISSING, Parser, complain, count, folded
from latency.record.requests import is_same
from pipelines.lab.probing.figures import Measured, Sample, for_catalog, keep, measured, most
from pipelines.process import has_consent, run
from pipelines.providers.provider import TierTable
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError
from voice.llm.catalog.catalog import SIM_PREFIX

REQUESTS = 5
MAX_TOKENS = 150
"""The longest answer to a request."""


def main(argv: Sequence[str]) -> int:
    """Measure the tiers of a pipeline.

    Returns:
        0 success, 2 bad usage or configuration, 4 something is missing or a tier did not answer, 130 interrupted.

    Raises:
        SystemExit: For `--help` (0) and for invalid arguments (2).
    """
    args = _parser().parse_args(argv)
    return run(lambda: _probe(_tiers(args), requests=args.requests, agreed=args.yes))


def _tiers(args: argparse.Namespace) -> Tiers:
    """The language models of the named pipeline.

    Raises:
        ConfigurationError: two are named, or it has none.
    """
    from pipelines import auto
    from pipelines.process import prepare_process

    prepare_process(verbose=args.verbose)
    if args.pipeline and args.named:
        raise ConfigurationError("Two pipelines are given; name one, with or without --pipeline.")
    pipeline = args.named or args.pipeline or "auto"
    llm = auto.resolve(pipeline, args.overrides).settings.llm
    if not isinstance(llm, Tiers) or not llm.tiers:
        raise ConfigurationError(
            f"The pipeline {pipeline} has no language model; try another one, such as `latency probe sim-fallback` "
            "(see `voice pipelines`)."
        )
    return llm


def _parser() -> Parser:
    parser = Parser(
        prog="latency probe",
        description="Ask each language model of a pipeline a few short questions, and keep its measured time to the "
        "first token and tokens a second for `voice tiers`, the simulator and `latency whatif`. The price is shown "
        "first.",
        epilog="exit status: 0 fine, 2 bad usage or configuration, 4 something is missing or a model did not answer, "
        "130 interrupted",
    )
    parser.add_argument("pipeline", nargs="?", metavar="NAME|FILE", help="see `voice pipelines` (auto)")
    parser.add_argument("--pipeline", dest="named", metavar="NAME|FILE", help="another way to give the pipeline")
    parser.add_argument(
        "--set", action="append", default=[], dest="overrides", metavar="KEY=VALUE", help="change a setting"
    )
    parser.add_argument("--requests", type=count, default=REQUESTS, metavar="N", help=f"to each model ({REQUESTS})")
    parser.add_argument("--yes", action="store_true", help="do not ask for consent to the price")
    return parser


def _probe(llm: Tiers, *, requests: int, agreed: bool) -> int:
    tiers = {
        name: tier.model_copy(update={"max_tokens": min(MAX_TOKENS, getattr(tier, "max_tokens", MAX_TOKENS))})
        for name, tier in llm.tiers.items()
    }
    for name, tier in tiers.items():
        tier.check(name, llm)
    if not _consent(llm, tiers, requests=requests, agreed=agreed):
        print("Nothing was asked.")
        return FINE
    found: dict[str, Measured] = {}
    works = True
    for name, tier in tiers.items():
        samples = asyncio.run(_samples(name, tier, llm, requests=requests))
        figures = measured(samples)
        works = works and figures is not None
        print(folded(_result(tier, samples, figures), first=f"{name}: ", indent=2), flush=True)
        if figures and tier.tier and not tier.tier.startswith(SIM_PREFIX):
            if other := _served_otherwise(tier, samples):
                print(
                    folded(f"It served {other}, which is another tier: its figures are not kept.", first="  ", indent=2)
                )
            else:
                found[tier.tier] = figures
    _keep(found)
    return FINE if works else MISSING


def _consent(llm: Tiers, tiers: Mapping[str, TierTable], *, requests: int, agreed: bool) -> bool:
    """Show the price and ask whether the user agrees; free requests need no consent.

    Raises:
        ConfigurationError: nobody can be asked.
    """
    from pipelines.lab.probing.asking import QUESTION

    amounts = []
    for name, tier in tiers.items():
        price = most(
            tier.billing,
            speed=getattr(tier, "speed", None),
            requests=requests + 1,
            prompt=llm.prompt + QUESTION,
            max_tokens=MAX_TOKENS,
        )
        free = tier.label.startswith(("sim:", "scripted:")) or price == 0
        amounts.append(0.0 if free else price)
        cost = "free" if free else "at an unknown price" if price is None else f"for at most about ${price:.4f}"
        print(f"{name}: {tier.label}, {requests} and one more request, {cost}")
    is_billed = any(amount is None or amount > 0 for amount in amounts)
    return not is_billed or has_consent("Ask them?", agreed=agreed)


async def _samples(name: str, tier: TierTable, llm: Tiers, *, requests: int) -> list[Sample]:
    from pipelines.lab.probing.asking import ask_tier

    def report(sample: Sample) -> None:
        if sample.failed:
            complain("latency", f"{name}: {sample.failed}")

    return await ask_tier(name, tier, llm, times=requests, report=report)


def _result(tier: TierTable, samples: Sequence[Sample], figures: Measured | None) -> str:
    if figures is None:
        reason = next((sample.failed for sample in samples if sample.failed), None)
        return f"{tier.label} did not answer" + (f": {reason}" if reason else "")
    rate = "unknown" if figures.tokens_per_second is None else f"{figures.tokens_per_second:.0f}"
    usd = [sample.usd for sample in samples if sample.usd is not None]
    served = sorted({sample.served for sample in samples if sample.served})
    parts = [
        f"{tier.label}: first token p50 {figures.p50 * 1000:.0f} ms, longest {figures.longest * 1000:.0f} ms",
        f"{rate} tokens/s",
        f"n={figures.n}",
        f"served {' and '.join(served)}" if served else None,
        f"${sum(usd):.4f}" + (" (simulated)" if tier.label.startswith(SIM_PREFIX) else "") if usd else None,
    ]
    return ", ".join(filter(None, parts))


def _served_otherwise(tier: TierTable, samples: Sequence[Sample]) -> str | None:
    """The speed at which a request was served, if it is not the tier's; else None."""
    speed: str = getattr(tier, "speed", None) or "standard"
    return next((sample.served for sample in samples if sample.served and not is_same(speed, sample.served)), None)


def _keep(found: Mapping[str, Measured]) -> None:
    if not found:
        print('Nothing was kept: only tiers with a name (tier = "claude-haiku-4-5") that are not simulated are kept.')
        return
    path = keep({name: for_catalog(figures, on=date.today()) for name, figures in found.items()})
    print(f"Kept in {path}: {', '.join(found)}; `voice tiers` shows them.")
