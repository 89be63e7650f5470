"""The curve for people, as tables of at most 80 columns or as a page, and for programs, as JSON."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from latency.command_line import folded
from latency.page.results import Plot, Results, Section, Series, Table
from latency.render.numbers import UNKNOWN, percent, plural
from latency.report.stats import INTERVAL_METHOD
from pipelines.lab.curve.curve import Curve
from pipelines.lab.curve.figures import BUDGET, BUDGETS, MOST_DELAY, Estimate, Point, SpeakerLine
from pipelines.lab.curve.recorded import Detectors

MOST_SPEAKERS = 12
"""More speakers are listed only when they are asked for; otherwise those with the longest mean delays."""
METHOD = (
    "Delays run from the labelled end of speech to the end of the turn, in audio time: no computing time is counted. "
    "Cut-offs are those of pauses of 0.2 to 5 s, each judged as if the turn had not been cut off before; delays are "
    "those of all turns. The best settings are chosen on these recordings."
)


def text(curves: Sequence[Curve], *, all_speakers: bool) -> str:
    """All curves; `all_speakers` lists each speaker."""
    blocks = ["\n".join(_block(curve, all_speakers=all_speakers)) for curve in curves]
    return "\n\n".join([*blocks, folded(f"{_method(curves)} See docs/benchmarks/README.md.")]) + "\n"


def _method(curves: Sequence[Curve]) -> str:
    """The method, and the intervals' if there are any."""
    estimates = [
        estimate
        for curve in curves
        for estimate in (
            *(one for rule in curve.rules for one in (rule.delay_at_budget, rule.share_at_delay)),
            *(curve.in_force.share, curve.in_force.mean, curve.in_force.p95),
        )
    ]
    if all(estimate.interval is None for estimate in estimates):
        return METHOD
    return f"{METHOD} In brackets: over speakers, {INTERVAL_METHOD}."


def json(curves: Sequence[Curve], detectors: Detectors, *, seed: int) -> str:
    """All curves as one JSON object: delays in seconds, shares between 0 and 1."""
    method = {"protocol": "livekit/eot-bench", "intervals": f"over speakers, {INTERVAL_METHOD}", "seed": seed}
    content = {"curves": curves, "detectors": detectors, "method": method}
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode()


def page(curves: Sequence[Curve]) -> Results:
    """All curves as a page: for each group a plot of the rules, and tables of the rules and of the speakers."""
    sections = [
        Section(
            title=f"{curve.group}: {_who(curve)}",
            lines=[*_notes(curve), f"Advice: {curve.advice}"],
            plot=_plot(curve),
            tables=[*_rule_tables(curve), _speaker_table(curve)],
        )
        for curve in curves
    ]
    return Results(
        title="The delay at the end of a turn, against the pauses cut off",
        head=[],
        sections=sections,
        notes=[_method(curves)],
    )


def _plot(curve: Curve) -> Plot:
    force = curve.in_force.point
    series = [
        Series(
            name=rule.rule,
            points=[
                (point.share * 100, point.mean * 1000) for point in rule.points if point and point.share is not None
            ],
        )
        for rule in curve.rules
    ]
    in_force = [] if force.share is None else [(force.share * 100, force.mean * 1000)]
    return Plot(
        title="Mean delay by the share of pauses cut off",
        x="pauses cut off, %",
        y="mean delay, ms",
        kind="line",
        series=[*series, Series(name=f"in force (turns.risk = {force.settings['risk']:.3g})", points=in_force)],
    )


def _rule_tables(curve: Curve) -> Iterator[Table]:
    if not curve.pauses:
        return
    rows = [
        (percent(budget), *(_delays(rule.points[number]) for rule in curve.rules))
        for number, budget in enumerate(BUDGETS)
    ]
    force = curve.in_force
    rows.append((f"in force: {_share(force.share)}", f"{_ms(force.mean)} / {_ms(force.p95)}", "", ""))
    rules = [rule.rule for rule in curve.rules]
    yield Table(
        title="Mean / p95 delay in ms, with at most this share of the pauses cut off",
        headings=("cut off", *rules),
        rows=rows,
    )
    points = [(rule.rule, _ms(rule.delay_at_budget), _share(rule.share_at_delay)) for rule in curve.rules]
    headings = ("rule", f"delay at {percent(BUDGET)} cut off", f"cut off at {_whole(MOST_DELAY)} ms")
    yield Table(title="As livekit/eot-bench measures", headings=headings, rows=points)


def _speaker_table(curve: Curve) -> Table:
    lines = sorted(curve.speakers, key=lambda line: -(line.mean or 0.0))
    rows = [
        (one.speaker, str(one.turns), f"{one.cut} of {one.pauses}", str(one.inside), _whole(one.mean), _whole(one.p95))
        for one in lines
    ]
    headings = ("speaker", "turns", "pauses cut off", "cut off inside speech", "mean", "p95")
    return Table(title="By speaker, in force, in ms", headings=headings, rows=rows)


def _block(curve: Curve, *, all_speakers: bool) -> Iterator[str]:
    yield folded(f"{curve.group}: {_who(curve)}")
    for note in _notes(curve):
        yield folded(note)
    yield ""
    if curve.pauses:
        yield "Mean / p95 delay in ms, with at most this share of the pauses cut off:"
        yield f"  {'cut off':>8}  {'our rule':>15} {'risk':>9}  {'Smart Turn alone':>17}  {'silence alone':>15}"
        yield from _rows(curve)
        yield ""
    yield from _in_force(curve)
    if curve.pauses:
        yield ""
        yield "As livekit/eot-bench measures:"
        delay, share = f"delay at {percent(BUDGET)} cut off", f"cut off at {_whole(MOST_DELAY)} ms"
        yield f"  {'':<18}{delay:>28}  {share:>26}"
        for rule in curve.rules:
            yield f"  {rule.rule:<18}{_ms(rule.delay_at_budget):>28}  {_share(rule.share_at_delay):>26}"
    yield ""
    yield from _speakers(curve, all_speakers=all_speakers)
    yield ""
    yield folded(f"Advice: {curve.advice}")


def _who(curve: Curve) -> str:
    """The numbers of recordings, speakers and pauses."""
    of = f"{plural(curve.turns, 'turn')} by {plural(len(curve.speakers), 'speaker')}"
    if curve.pause_lengths is None:
        return f"{of}, without a pause."
    shortest, middle, longest = curve.pause_lengths
    return f"{of}, {plural(curve.pauses, 'pause')} of {shortest:.2f} to {longest:.2f} s (median {middle:.2f})."


def _notes(curve: Curve) -> Iterator[str]:
    if curve.inserted:
        yield f"In {plural(curve.inserted, 'turn')} a pause was inserted, for which the voice does not prepare."
    if curve.missed:
        yield f"The voice detector noticed no end of speech in {plural(curve.missed, 'more turn')}."
    if curve.estimated:
        yield f"The speech of {plural(curve.estimated, 'turn')} is not labelled but measured."
    if spread := curve.words.get("proportional", 0):
        yield f"The words of {plural(spread, 'transcript')} could not be aligned and are spread over the speech."
    if curve.unnamed:
        yield f"{plural(curve.unnamed, 'turn')} without a speaker's name: each conversation is taken for one person."
    if silent := curve.words.get("none", 0):
        yield f"{plural(silent, 'turn')} without a transcript: our rule goes by the sound alone there."


def _rows(curve: Curve) -> Iterator[str]:
    """A line for each share of pauses cut off, and the point in force at its place."""
    ours, smart_turn, silence = curve.rules
    force, in_force = curve.in_force.point, False
    for number, budget in enumerate(BUDGETS):
        if not in_force and force.share is not None and force.share < budget:
            in_force = True
            yield _forced(force)
        mine = ours.points[number]
        risk = f"{mine.settings['risk']:.3g}" if mine else UNKNOWN
        others = f"{_delays(smart_turn.points[number]):>17}  {_delays(silence.points[number]):>15}"
        yield f"  {percent(budget):>8}  {_delays(mine):>15} {risk:>9}  {others}"
    if not in_force:
        yield _forced(force)


def _forced(point: Point) -> str:
    return f"> {percent(point.share):>8}  {_delays(point):>15} {point.settings['risk']:>9.3g}  in force"


def _in_force(curve: Curve) -> Iterator[str]:
    force = curve.in_force
    yield f"In force (turns.risk = {force.point.settings['risk']:.3g}):"
    if curve.pauses:
        cut = sum(line.cut for line in curve.speakers)
        yield f"  pauses cut off   {_share(force.share)}: {cut} of {curve.pauses}"
        yield f"                   {_stated(curve)}"
    yield f"  mean delay       {_ms(force.mean)}"
    yield f"  p95              {_ms(force.p95)}"
    if force.without_pause:
        yield f"  cut off inside speech, of the turns without a pause: {force.inside} of {force.without_pause}"
    if force.never_ended:
        yield f"  never ended: {plural(force.never_ended, 'turn')}"


def _stated(curve: Curve) -> str:
    """Whether the share that `turns.risk` states is the measured one."""
    risk, interval = curve.in_force.point.settings["risk"], curve.in_force.share.interval
    stated = f"turns.risk says {risk * 100:g} %"
    if interval is None:
        return stated
    low, high = interval
    within = low <= risk <= (1.0 if high is None else high)
    return f"{stated}, {'within' if within else 'above' if risk > low else 'below'} the interval"


def _speakers(curve: Curve, *, all_speakers: bool) -> Iterator[str]:
    lines = sorted(curve.speakers, key=lambda line: -(line.mean or 0.0))
    shown = lines if all_speakers or len(lines) <= MOST_SPEAKERS else lines[:MOST_SPEAKERS]
    more = "" if len(shown) == len(lines) else f" (the slowest {len(shown)} of {len(lines)}; --speakers lists all)"
    yield f"By speaker, in force, in ms{more}:"
    yield f"  {'speaker':<32} {'turns':>5} {'cut/pauses':>11} {'cut inside':>10} {'mean':>6} {'p95':>6}"
    yield from map(_speaker, shown)


def _speaker(line: SpeakerLine) -> str:
    name = line.speaker if len(line.speaker) <= 32 else f"…{line.speaker[-31:]}"
    pauses = f"{line.cut}/{line.pauses}"
    return f"  {name:<32} {line.turns:>5} {pauses:>11} {line.inside:>10} {_whole(line.mean):>6} {_whole(line.p95):>6}"


def _delays(point: Point | None) -> str:
    return UNKNOWN if point is None else f"{_whole(point.mean)} / {_whole(point.p95)}"


def _whole(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else f"{seconds * 1000:,.0f}"


def _ms(estimate: Estimate) -> str:
    return _with_interval(estimate, lambda seconds: f"{_whole(seconds)} ms", _whole)


def _share(estimate: Estimate) -> str:
    return _with_interval(estimate, percent, lambda share: f"{share * 100:.1f}")


def _with_interval(estimate: Estimate, shown: Callable[[float], str], end: Callable[[float], str]) -> str:
    """A figure with its interval, whose ends are shown without the unit."""
    if estimate.value is None:
        return "not reached"
    if estimate.interval is None:
        return shown(estimate.value)
    low, high = estimate.interval
    return f"{shown(estimate.value)} ({end(low)} {'or more' if high is None else f'to {end(high)}'})"
