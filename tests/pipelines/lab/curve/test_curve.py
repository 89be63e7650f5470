"""The curve's figures, intervals and advice on turns made by hand, and its tables."""

import json
from dataclasses import replace

import pytest

from pipelines.lab.curve import render
from pipelines.lab.curve.curve import Curve, advice, groups, make_curve
from pipelines.lab.curve.figures import BUDGET, BUDGETS, Estimate, InForce, Point
from pipelines.lab.curve.recorded import STEP, Clip
from tests.pipelines.lab.curve.rig import recorded
from tests.pipelines.lab.curve.silences import turn
from voice.turns.endpointing import Endpointing

RULE = Endpointing(stop=0.2, fallback=0.7)


def callers(count: int, *, turns: int = 6) -> list[Clip]:
    """Speakers whose pauses last from 0.3 s on and whose words sound finished at the end, and otherwise not."""
    return [
        turn(f"{speaker}-{n}", pause=0.3 + 0.05 * n + 0.01 * speaker, sound=0.02, end_sound=0.98, speaker=f"S{speaker}")
        for speaker in range(count)
        for n in range(turns)
    ]


@pytest.fixture(scope="module")
def curve() -> Curve:
    return make_curve("People", callers(10), RULE, seed=1)


def test_the_best_settings_cut_off_no_more_than_they_may(curve: Curve) -> None:
    for rule in curve.rules:
        for budget, point in zip(BUDGETS, rule.points, strict=True):
            assert point is None or point.share is not None
            assert point is None or (point.share or 0) <= budget + 1e-9
        means = [point.mean for point in rule.points if point]
        assert means == sorted(means, reverse=True)


def test_silence_alone_must_outlast_the_pauses_and_smart_turn_need_not(curve: Curve) -> None:
    _, smart_turn, silence = curve.rules
    lengths = sorted(pause for clip in callers(10) for pause in clip.pauses)
    spared = lengths[int(len(lengths) * (1 - BUDGET)) - 1]
    assert silence.delay_at_budget.value == pytest.approx(spared, abs=0.03)
    assert smart_turn.delay_at_budget.value == pytest.approx(0.2, abs=STEP)
    assert smart_turn.share_at_delay.value == 0


def test_the_protocol_chooses_the_longest_wait_as_well() -> None:
    hesitant = [turn(f"{n}", pause=2.4, sound=0.02, end_sound=0.98, speaker=f"S{n % 10}") for n in range(20)]
    ours = make_curve("People", hesitant, replace(RULE, longest=2.0), seed=1).rules[0]
    assert ours.points == (None,) * len(BUDGETS), "the risk alone cannot wait for such a pause"
    assert ours.delay_at_budget.value is not None


def test_intervals_are_over_speakers_and_need_eight() -> None:
    few = make_curve("People", callers(7), RULE, seed=1)
    assert few.in_force.share.interval is None
    # One speaker of ten is always cut off: drawn 0 to 4 times, mostly.
    clips = callers(9) + [turn(f"slow-{n}", pause=3.0, sound=0.99, end_sound=0.99, speaker="slow") for n in range(6)]
    share = make_curve("People", clips, RULE, seed=1).in_force.share
    assert share.value == pytest.approx(0.1)
    assert share.interval == (0.0, pytest.approx(0.3, abs=0.1))


def test_no_cut_off_among_few_pauses_may_be_luck() -> None:
    patient = replace(RULE, risk=1e-4)
    clips = [turn(f"{n}", pause=0.3, sound=0.01, end_sound=0.98, speaker=f"S{n % 10}") for n in range(30)]
    share = make_curve("People", clips, patient, seed=1).in_force.share
    assert share.value == 0
    assert share.interval == (0, pytest.approx(0.116, abs=0.001))


def test_the_point_in_force_is_the_rule_s_own_risk(curve: Curve) -> None:
    force = curve.in_force
    assert force.point.settings == {"risk": RULE.risk, "longest": RULE.longest}
    assert force.point in curve.sweep
    assert sum(line.cut for line in curve.speakers) == round((force.share.value or 0) * curve.pauses)


def test_a_group_without_pauses_has_delays_only() -> None:
    clips = [turn(str(n), pause=None, sound=0, end_sound=0.98) for n in range(3)]
    curve = make_curve("People", clips, RULE, seed=1)
    assert (curve.pauses, curve.pause_lengths, curve.in_force.share.value) == (0, None, None)
    assert (curve.in_force.mean.value or 0) >= 0.2
    assert "0 pauses are too few for advice" in curve.advice
    assert "pauses cut off" not in render.text([curve], all_speakers=False)


def test_a_turn_that_the_detector_did_not_notice_is_counted_apart() -> None:
    deaf = replace(turn("deaf", pause=None, sound=0, end_sound=1), silences=())
    curve = make_curve("People", [*callers(1), deaf], RULE, seed=1)
    assert (curve.turns, curve.missed) == (6, 1)
    assert "noticed no end of speech in 1 more turn." in render.text([curve], all_speakers=False)


def test_people_in_and_outside_the_fit_and_synthesisers_are_apart() -> None:
    clip = turn("a", pause=None, sound=0, end_sound=1)
    known = replace(clip, speaker="pico_g04")
    robot, other = (replace(clip, speaker=name, synthetic=True) for name in ("sim:flite rms", "sim:another"))
    assert list(groups([robot, other, known, clip]).items()) == [
        ("People outside the fit", [clip]),
        ("People in the fit", [known]),
        ("Synthesisers outside the fit", [other]),
        ("Synthesisers in the fit", [robot]),
    ]
    assert groups([clip]) == {"People outside the fit": [clip]}


def point(risk: float, share: float | None, mean: float) -> Point:
    return Point(settings={"risk": risk}, share=share, mean=mean, p95=mean)


def in_force(at: Point, low: float, high: float) -> InForce:
    unknown = Estimate(value=None, interval=None)
    share = Estimate(value=at.share, interval=(low, high))
    return InForce(point=at, share=share, mean=unknown, p95=unknown, inside=0, without_pause=0, never_ended=0)


@pytest.mark.parametrize(
    ("now", "low", "high", "sentence"),
    [
        (0, 0.001, 0.02, "turns.risk = 0.05 would end turns 300 ms sooner on average, with 5 % of the pauses cut off."),
        (2, 0.1, 0.3, "turns.risk = 0.05 would cut off 5 % of the pauses, at 200 ms more delay on average."),
        (1, 0.02, 0.09, "Keep turns.risk at 0.05: its share of pauses cut off may well be 5 %."),
    ],
)
def test_the_advice_aims_at_five_percent(now: int, low: float, high: float, sentence: str) -> None:
    points = [point(0.01, 0.01, 0.8), point(0.05, 0.05, 0.5), point(0.2, 0.2, 0.3)]
    assert advice(points, in_force(points[now], low, high), pauses=100) == sentence


def test_there_is_advice_only_where_there_is_something_to_say() -> None:
    points = [point(0.01, 0.1, 0.8)]
    assert advice(points, in_force(points[0], 0.05, 0.2), pauses=39).startswith("39 pauses are too few")
    assert advice(points, in_force(points[0], 0.06, 0.2), pauses=40).startswith("No turns.risk cuts off as few as 5 %")


@pytest.mark.parametrize("all_speakers", [False, True])
def test_tables_fit_80_columns(all_speakers: bool) -> None:
    long = [replace(clip, speaker=f"a speaker with a very long name {clip.speaker}") for clip in callers(14)]
    made = [make_curve("People outside the fit", long, RULE, seed=1)]
    made.append(make_curve("Synthesisers", recorded("pauses", 1, 4, 7).clips, RULE, seed=1))
    printed = render.text(made, all_speakers=all_speakers)
    assert max(map(len, printed.splitlines())) <= 80
    assert "in force" in printed
    assert ("--speakers lists all" in printed) is not all_speakers
    assert [line for line in printed.splitlines() if line.startswith(">")]


def test_json_holds_every_figure_of_the_tables(curve: Curve) -> None:
    content = json.loads(render.json([curve], recorded("pauses", 1, 4, 7).detectors, seed=7))
    (one,) = content["curves"]
    assert one["in_force"]["point"]["settings"]["risk"] == RULE.risk
    assert [rule["rule"] for rule in one["rules"]] == ["our rule", "Smart Turn alone", "silence alone"]
    assert len(one["sweep"]) > 40
    assert content["method"]["seed"] == 7


def test_brackets_are_explained_only_where_there_are_some(curve: Curve) -> None:
    assert "In brackets" in render.page([curve]).notes[0]
    few = make_curve("People", callers(1), RULE, seed=1)
    assert "In brackets" not in render.page([few]).notes[0]
    assert "docs/" not in render.page([curve]).notes[0]
    assert "docs/" in render.text([curve], all_speakers=False)


def test_the_page_has_the_rules_as_a_plot_and_the_figures_as_tables(curve: Curve) -> None:
    (section,) = render.page([curve]).sections
    assert section.title.startswith("People: 60 turns by 10 speakers, 60 pauses of ")
    assert section.lines[-1] == f"Advice: {curve.advice}"
    assert section.plot
    names = [series.name for series in section.plot.series]
    assert names == ["our rule", "Smart Turn alone", "silence alone", "in force (turns.risk = 0.05)"]
    rules, protocol, speakers = section.tables
    assert [len(table.rows) for table in (rules, protocol, speakers)] == [len(BUDGETS) + 1, 3, 10]
    assert all(len(row) == len(table.headings) for table in section.tables for row in table.rows)
