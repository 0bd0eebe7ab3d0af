from __future__ import annotations

import matplotlib as mpl
import pytest
import synthetic
from matplotlib.figure import Figure

import nanokata as nk
from nanokata import figures
from nanokata.figures import fetch, icache, targets
from nanokata.results import RunResult

CACHES = [
    {"level": 1, "kind": "data", "bytes": 49152, "cpus": [0, 1]},
    {"level": 1, "kind": "instruction", "bytes": 65536, "cpus": [0]},
    {"level": 1, "kind": "instruction", "bytes": 32768, "cpus": [1]},
]
MACHINE = {"id": "zen4-2c-0badcafe", "cpu": "AMD EPYC", "caches": CACHES}
GAPS = {"targets": 8.8, "both": 14.5, "interaction": 5.7, "control": 0.02}


def fetch_report(counted=True):
    cells = []
    for bodies in (1, 8, 15, 30, 120):
        for body, one, size, rise in (("fat", 30.0, 1804, 0.02), ("tiny", 1.8, 86, 0.002)):
            many = one * (1 + rise * max(0, bodies - 10) / 110)
            arms = [
                synthetic.arm("one_body", one),
                synthetic.arm("many_bodies", many, baseline=one, against="one_body"),
                synthetic.arm("one_body_again", one, baseline=one, against="one_body", role="control"),
            ]
            for arm in arms:
                arm["footprint_bytes"] = 6000 + bodies * size if counted else None
            cells.append(synthetic.cell(arms, {"bodies": bodies, "body": body, "pool": 8192}))
    return synthetic.report("dispatch.fetch", cells)


def targets_report():
    cells = []
    for count in (1, 5, 20, 100):
        dear = 3.2 if count == 1 else 8.0 + count / 20
        arms = [
            synthetic.arm("one", 3.2),
            synthetic.arm("periodic", dear + 1, baseline=3.2, against="one"),
            synthetic.arm("random", dear, baseline=3.2, against="one"),
            synthetic.arm("one_again", 3.2, baseline=3.2, against="one", role="control"),
        ]
        cells.append(synthetic.cell(arms, {"targets": count, "body": "tiny"}))
    return synthetic.report("dispatch.targets", cells)


def icache_document(*, laws=("periodic", "uniform", "zipf"), handlers=100, companions=True, **changes):
    cells = [
        synthetic.cell(
            [synthetic.arm("direct", 40.0), synthetic.arm("dyn_trait", 41.0, baseline=40.0, against="direct")],
            {"traffic": law, "body": body, "handlers": handlers},
        )
        for law in ("hot", *laws)
        for body in ("fat", "tiny")
    ]
    contrasts = [
        synthetic.contrast(f"{name}:{law}", name, value, **changes) for law in laws for name, value in GAPS.items()
    ]
    contrasts.append(synthetic.contrast("one-handler", "the one-handler benchmark", -0.06, 0.02))
    beside = [fetch_report(), targets_report()] if companions else []
    inner = synthetic.report("dispatch.icache", cells, contrasts=contrasts, companions=beside)
    return synthetic.document(inner, machine=MACHINE)


def test_the_three_panels_are_drawn_without_touching_global_settings(tmp_path):
    before = dict(mpl.rcParams)
    figure = RunResult(icache_document()).plot()
    figure.savefig(tmp_path / "figure.png")
    assert dict(mpl.rcParams) == before
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["In the real dispatch", "Code fetch alone: direct calls", "Targets alone: tiny bodies"]


def test_without_its_companions_one_panel_is_left():
    figure = RunResult(icache_document(companions=False)).plot()
    assert len(figure.axes) == 1
    ax = Figure().add_subplot()
    assert icache.icache(RunResult(icache_document()), ax=ax) is ax.figure


def test_every_row_is_named_and_every_interval_drawn():
    main = RunResult(icache_document()).plot().axes[0]
    labels = [label.get_text() for label in main.get_yticklabels()]
    assert labels[:2] == ["one handler, the usual benchmark", "dyn − direct, fat"]
    assert labels[2::5] == [
        "all handlers in turn − one",
        "all at random (uniform) − one",
        "all at random (Zipf) − one",
    ]
    bars = [line.get_xdata() for line in main.lines if line.get_linewidth() == 2.2]
    assert len(bars) == 3 * len(GAPS) + 1
    assert sum(list(bar) == pytest.approx([14.0, 15.0]) for bar in bars) == 3


def test_published_gaps_are_shown_for_as_many_handlers_alone():
    def published(**options):
        result = RunResult(icache_document(**options))
        legend = result.plot().axes[0].get_legend()
        drawn = legend is not None and icache.PUBLISHED_MACHINE in {text.get_text() for text in legend.get_texts()}
        said = figures.published(result)
        assert len(said) == (len(icache.PUBLISHED) if drawn else 0)
        assert not said or any("33 to 37 ns/packet" in line for line in said)
        return drawn

    assert published()
    assert not published(handlers=50)
    assert not published(laws=("uniform",))


def test_void_and_missing_intervals_dont_break_the_drawing(tmp_path):
    document = icache_document(void=True)
    for contrast in document["report"]["contrasts"]:
        contrast.update(low=None, high=None)
    for report in document["report"]["companions"]:
        for cell in report["cells"]:
            cell.update(status="no_verdict", reason="quiet: 9 rounds")
            for arm in cell["arms"]:
                arm.update(low=None, high=None, ratio_low=None, ratio_high=None)
    figure = RunResult(document).plot()
    figure.savefig(tmp_path / "void.png")
    assert "void: a race that it rests on has no verdict" in {
        text.get_text() for text in figure.axes[0].get_legend().get_texts()
    }


def test_a_run_without_a_gap_gets_the_general_figure():
    document = icache_document(laws=())
    assert not icache.suits(RunResult(document))
    assert RunResult(document).plot().axes


def test_the_cache_is_that_of_the_measuring_cpu():
    assert [fetch.l1i_bytes(MACHINE, cpu) for cpu in (0, 1, None)] == [65536, 32768, 65536]
    assert fetch.l1i_bytes({}, 0) is None
    assert fetch.l1i_bytes({"caches": CACHES[:1]}, 0) is None


def test_fetch_draws_rises_over_counted_code():
    result = RunResult(synthetic.document(fetch_report(), machine=MACHINE))
    (ax,) = result.plot().axes
    assert any("L1i, 32 KiB" in text.get_text() for text in ax.texts)
    fat = max(ax.containers, key=lambda drawn: drawn[0].get_ydata()[-1])[0]
    assert list(fat.get_xdata()) == [6000 + bodies * 1804 for bodies in (1, 8, 15, 30, 120)]
    assert fat.get_ydata()[0] == pytest.approx(0)
    assert fat.get_ydata()[-1] == pytest.approx(30 * 0.02)


def test_uncounted_code_gets_the_general_figure():
    result = RunResult(synthetic.document(fetch_report(counted=False), machine=MACHINE))
    assert not fetch.suits(result)
    assert result.plot().axes


def test_targets_draws_each_order():
    result = RunResult(synthetic.document(targets_report(), machine=MACHINE))
    assert targets.suits(result)
    (ax,) = result.plot().axes
    assert {text.get_text() for text in ax.texts} == {"one", "periodic", "random"}


def test_the_three_are_in_the_catalogue_and_refuse_what_they_cant_measure():
    known = {experiment.id: experiment for experiment in nk.experiments()}
    assert {"dispatch.icache", "dispatch.fetch", "dispatch.targets"} <= set(known)
    with pytest.raises(nk.NanokataError, match="bodies = 7"):
        nk.run("dispatch.fetch", bodies=7)
    with pytest.raises(nk.NanokataError, match="targets = 0"):
        nk.lab.dispatch.targets(targets=[0])
