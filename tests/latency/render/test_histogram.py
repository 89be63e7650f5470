from latency.render.histogram import histogram


def test_bars_are_split_at_800_ms_and_the_edge_belongs_to_the_left() -> None:
    bars, scale = histogram([0.8, 0.8, 0.801, 5.0])
    left, right = bars[2:].split("│")
    assert len(left) == 16
    assert left == " " * 15 + "█"
    assert right[0] == "▄"
    assert right[-1] == "▄"
    assert scale.index("800") == bars.index("│") + 1


def test_latencies_at_and_around_zero_fall_into_the_first_bar() -> None:
    assert histogram([0.0, 0.001, 0.05])[0][2] == "█"


def test_ascii_is_drawn_where_unicode_cannot_be() -> None:
    assert all(line.isascii() for line in histogram([0.3, 0.31, 0.9], ascii_only=True))


def test_nothing_is_drawn_without_samples() -> None:
    assert histogram([]) == []
