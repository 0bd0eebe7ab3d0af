from __future__ import annotations

import matplotlib as mpl
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from nanokata import figures
from nanokata.errors import InvalidArgument
from nanokata.figures import style
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
    figure = RunResult(synthetic.document(mechanism)).plot()
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
