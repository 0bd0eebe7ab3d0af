from __future__ import annotations

import copy

import matplotlib as mpl
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from nanokata import figures
from nanokata.errors import InvalidArgument, NotMeasurable
from nanokata.figures import style
from nanokata.figures.series import apart
from nanokata.results import RaceResult, RunResult

RACE = RaceResult(synthetic.document(synthetic.report("race", [synthetic.selection_cell(100)])))
SELECTION = RunResult(synthetic.selection())
LEVELS = RunResult(synthetic.levels())


@pytest.mark.parametrize("result", [RACE, SELECTION, LEVELS], ids=["race", "selection", "levels"])
def test_every_result_draws_without_touching_global_settings(result, tmp_path):
    before = dict(mpl.rcParams)
    figure = result.plot()
    figure.savefig(tmp_path / "figure.png")
    assert dict(mpl.rcParams) == before
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize("draw", [figures.scaling, figures.series])
def test_a_given_axes_is_drawn_into(draw):
    figure = Figure()
    ax = figure.add_subplot()
    result = SELECTION if draw is figures.scaling else LEVELS
    assert draw(result, ax=ax) is figure
    assert ax.lines or ax.containers
    assert ax.get_xlabel()


def test_a_forest_shows_each_compared_arm_and_its_words():
    (ax,) = figures.forest(RACE).axes
    assert [label.get_text() for label in ax.get_yticklabels()][-1] == "table_compact_again (control)"
    words = {text.get_text() for text in ax.texts}
    assert words == {arm.words for arm in RACE.arms if arm.ratio is not None}


def test_races_that_differ_in_words_get_a_panel_each():
    mechanism = synthetic.selection()["report"]["companions"][0]
    figure = RunResult(synthetic.document({**mechanism, "experiment": "without.figure"})).plot()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["traffic hot", "traffic uniform"]


def test_intervals_are_drawn_where_they_are():
    (ax,) = figures.forest(RACE).axes
    lows = sorted(arm.ratio_low for arm in RACE.arms if arm.ratio is not None)
    drawn = sorted(
        segment[0][0] for container in ax.containers for bar in container[2] for segment in bar.get_segments()
    )
    assert drawn == pytest.approx(lows)


def test_published_figures_stand_in_the_fat_panel_only():
    fat, tiny = figures.scaling(SELECTION).axes[:2]
    assert [text.get_text() for text in fat.get_legend().get_texts()] == ["published kata, i9-13980HX"]
    assert tiny.get_legend() is None


def test_a_series_wants_a_number_that_varies():
    with pytest.raises(InvalidArgument, match="bytes"):
        figures.series(LEVELS, parameter="stride_bytes")
    with pytest.raises(InvalidArgument, match="varies"):
        figures.series(RACE)


def test_a_spoilt_ratio_doesnt_break_the_drawing():
    cell = synthetic.selection_cell(100)
    cell["arms"][1].update(ratio_low=0.9, ratio=0.2, ratio_high=0.1)
    figures.forest(RaceResult(synthetic.document(synthetic.report("race", [cell]))))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.2))
def test_labels_keep_their_distance_and_order(positions, gap):
    placed = style.spread(positions, gap)
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    for lower, upper in zip(order, order[1:], strict=False):
        assert placed[upper] - placed[lower] >= gap - 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6, unique=True))
def test_labels_with_room_stay_where_they_are(positions):
    gap = min((abs(a - b) for a in positions for b in positions if a != b), default=1.0) * 0.5
    assert style.spread(positions, gap) == pytest.approx(positions)


def scaled(scale, **parameters):
    document = synthetic.selection()
    for cell in document["report"]["cells"]:
        cell["parameters"].update(parameters)
        for arm in cell["arms"]:
            arm.update({name: scale * arm[name] for name in ("median", "low", "high")})
    return document


def test_the_budget_is_drawn_only_where_the_axis_reaches_it():
    def drawn(scale):
        return [text.get_text() for text in figures.scaling(RunResult(scaled(scale))).axes[1].texts]

    assert "budget, 333 ns" in drawn(1.0)
    assert "budget, 333 ns" not in drawn(0.1)


@pytest.mark.parametrize("traffic", ["skewed", "some.pcap"])
def test_published_figures_are_left_out_of_other_races(traffic):
    axes = figures.scaling(RunResult(scaled(1.0, traffic=traffic))).axes
    assert not any(ax.get_legend() for ax in axes)


def voided(document):
    for cell in document["report"]["cells"]:
        cell.update(status="no_verdict", reason="control:b: 3 % off")
    return document


@pytest.mark.parametrize("make", [lambda: scaled(1.0, traffic="zipf"), synthetic.levels, lambda: RACE._document])
def test_void_points_are_named_in_the_legend(make):
    document = copy.deepcopy(make())
    figure = RunResult(voided(document)).plot()
    legends = [ax.get_legend() for ax in figure.axes if ax.get_legend()]
    assert legends
    assert all([text.get_text() for text in legend.get_texts()] == ["void: control:b"] for legend in legends)


@pytest.mark.parametrize("make", [synthetic.selection, synthetic.levels, lambda: RACE._document])
def test_missing_intervals_dont_break_the_drawing(make, tmp_path):
    document = copy.deepcopy(make())
    for cell in document["report"]["cells"]:
        cell.update(half_width=None, resolvable_margin=None)
        for arm in cell["arms"]:
            arm.update(low=None, high=None, ratio_low=None, ratio_high=None)
    RunResult(document).plot().savefig(tmp_path / "figure.png")


def test_tick_labels_that_would_overprint_are_dropped():
    kept = apart([8, 16, 60, 64, 68, 512], ["8 B", "16 B", "60 B", "64 B", "68 B", "512 B"])
    assert kept == [8, 16, 60, 512]


def test_a_series_names_controls_its_machine_and_no_second_unit():
    figure = figures.series(LEVELS)
    (ax,) = figure.axes
    assert "again (control)" in {text.get_text() for text in ax.texts}
    assert "intervals" in figure.get_supxlabel()
    assert ax.get_xlabel() == "size"


@given(st.lists(st.floats(-1, 2), min_size=2, max_size=30))
def test_labels_stay_within_bounds(positions):
    placed = style.spread(positions, 0.055, within=(0.0, 1.0))
    assert min(placed) >= -1e-9
    assert max(placed) <= 1 + 1e-9


def test_dollar_signs_in_names_are_no_mathematics():
    from matplotlib.text import Text

    price = r"costs $5 or $6, $\frac$"
    cells = [
        synthetic.cell(
            [synthetic.arm(price, 9.0), synthetic.arm("b", 9.5, baseline=9.0, against=price)],
            {"handlers": n, "kind": price},
        )
        for n in (10, 20)
    ]
    for made in (cells, cells[:1]):
        figure = RunResult(synthetic.document(synthetic.report("race", made))).plot()
        figure.canvas.draw()  # A broken formula fails here.
        shown = [text.get_text().replace(r"\$", "$") for text in figure.findobj(Text)]
        assert any(price in text for text in shown)


def test_a_figure_of_the_instrument_has_a_mark_a_body():
    from nanokata.figures.instrument import instrument
    from nanokata.instrument import Doctor

    document = synthetic.doctor()
    for body, ratio in zip(document["bodies"], (1.001, 0.98), strict=True):
        body.update(synthetic.again(ratio))
    figure = instrument(Doctor(document))
    itself, rates = figure.axes
    figure.canvas.draw()
    assert itself.get_xlim()[0] < -2.0  # The body that is off is in sight.
    assert {text.get_text() for text in rates.get_legend().get_texts()} == {"fat bodies", "tiny bodies"}
    instrument(Doctor(synthetic.doctor())).canvas.draw()  # Older findings lack the ratio.


def test_failed_invariants_look_unlike_those_that_held():
    from matplotlib.patches import Rectangle

    from nanokata.figures.invariants import invariants
    from nanokata.results.records import Check

    checks = [Check(f"agrees:arm{n}", "held", "") for n in range(7)] + [Check("order:$x$", "failed", "")]
    figure = invariants(checks, title="Invariants")
    figure.canvas.draw()
    (ax,) = figure.axes
    tiles = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert len(tiles) == 8
    assert [bool(tile.get_hatch()) for tile in tiles] == [False] * 7 + [True]
    assert len({tile.get_facecolor() for tile in tiles}) == 2
    assert "7 of 8 held" in ax.get_title(loc="left")


def test_code_sizes_stand_beside_the_instruction_cache():
    from nanokata.figures.code_size import code_size, sized
    from nanokata.instrument import Machine
    from nanokata.results.records import Fact

    sizes = {"code:dyn_trait:tiny:100": 478.0, "code:enum": 9714.0, "size:handlers:fat:100": 180_400.0}
    facts = [Fact(name, "", size, "bytes", "counted") for name, size in sizes.items()]
    card = Machine({"caches": [{"level": 1, "kind": "instruction", "bytes": 32768}]})
    others = [Fact("code:probes", "", 3.0, "probes", "counted"), Fact("line:fat", "", 3.0, "bytes", "counted")]
    others.append(Fact("size", "", 3.0, "bytes", "counted"))
    assert sized([*facts, *others[:2]]) == [
        ("dyn_trait (tiny, 100)", 478.0),
        ("enum", 9714.0),
        ("handlers (fat, 100)", 180_400.0),
    ]
    assert len(sized(others)) == 1
    for shown, machine in ((facts, card), (facts[:2], card), (facts, Machine({}))):
        figure = code_size(shown, machine)
        figure.canvas.draw()
        (ax,) = figure.axes
        assert len(ax.patches) == len(shown)
        assert any(text.get_text() == "9.49 KiB" for text in ax.texts)
        assert any("L1i, 32 KiB" in text.get_text() for text in ax.texts) == bool(machine.get("caches"))


def test_a_ratio_that_reaches_down_to_nothing_is_drawn():
    cell = synthetic.selection_cell(10)
    cell["arms"][1].update(ratio_low=0.0)
    assert figures.forest(RunResult(synthetic.document(synthetic.report("dispatch.selection", [cell]))))


def test_what_was_not_timed_has_no_figure_and_says_why():
    result = RunResult(synthetic.document(synthetic.report("dispatch.tail", [], sabotage="skip-residual")))
    with pytest.raises(NotMeasurable, match=r"nothing was timed .*skip-residual"):
        result.plot()
