"""The plugin boundary's cost: figures and sentences on paper, and both experiments for real, briefly."""

from __future__ import annotations

import phased
import pytest
import synthetic

import nanokata as nk
from nanokata import figures
from nanokata.figures import boundaries, crossing
from nanokata.phases import KATAS
from nanokata.phases.crossing import crossing as sentence
from nanokata.results import RunResult

BATCHES = [2**power for power in range(9)]


def crossing_report(**changes):
    names = {"dyn_internal": 5.0, "inlined": 4.0, "plugin": 7.0, "v1": 7.0}
    arms = [synthetic.arm(name, cost, baseline=5.0, against="dyn_internal") for name, cost in names.items()]
    arms[0] = synthetic.arm("dyn_internal", 5.0)
    arms += [synthetic.arm(f"batch_{n}", 7 + 3 / n, baseline=5.0, against="dyn_internal") for n in BATCHES]
    arms += [synthetic.arm(f"internal_batch_{n}", 6.0, baseline=5.0, against="dyn_internal") for n in (1, 64)]
    arms.append(synthetic.arm("plugin_again", 7.0, baseline=7.0, against="plugin", role="control"))
    cells = [synthetic.cell(arms, {"traffic": law, "pool": 4096}, **changes) for law in ("hot", "uniform")]
    return synthetic.report("plugin.crossing", cells)


def boundaries_report(names=("plugin", "pipe"), **changes):
    cells = []
    for name in names:
        fixed = 3000.0 if name == "pipe" else 2.0
        arms = [synthetic.arm("batch_1", 7 + fixed)]
        costs = {n: 7 + fixed / n for n in BATCHES}
        arms += [synthetic.arm(f"batch_{n}", costs[n], baseline=costs[1], against="batch_1") for n in BATCHES[1:]]
        again = {"baseline": costs[64], "against": "batch_64", "role": "control"}
        arms.append(synthetic.arm("batch_64_again", costs[64], **again))
        cells.append(synthetic.cell(arms, {"boundary": name, "traffic": "hot", "pool": 4096}, **changes))
    return synthetic.report("plugin.boundaries", cells)


def drawn(report):
    return RunResult(synthetic.document(report))


@pytest.mark.parametrize("report", [crossing_report, boundaries_report])
@pytest.mark.parametrize("void", [{}, {"status": "no_verdict", "reason": "quiet: 3 rounds"}], ids=["held", "void"])
def test_costs_are_drawn_over_the_batch_on_two_logarithmic_axes_with_the_control(report, void):
    result = drawn(report(**void))
    figure = figures.draw(result)
    for ax in figure.axes:
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert ax.get_xlabel() == "packets a crossing"
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert "control, built apart" in texts
        assert any(text.startswith("void") for text in texts) == bool(void)


def test_each_boundary_and_each_way_is_named_at_its_line():
    (ax,) = figures.draw(drawn(boundaries_report())).axes
    assert {text.get_text() for text in ax.texts} == {"plugin", "pipe"}
    first, second = figures.draw(drawn(crossing_report())).axes
    for ax in (first, second):
        named = {text.get_text() for text in ax.texts}
        assert named == {"plugin, batched", "internal, batched", "plugin", "v1", "dyn_internal", "inlined"}


def test_figures_are_for_what_they_can_show():
    assert crossing.suits(drawn(crossing_report()))
    assert boundaries.suits(drawn(boundaries_report()))
    cells = boundaries_report()["cells"]
    cells[1]["parameters"]["traffic"] = "uniform"
    assert not boundaries.suits(drawn(synthetic.report("plugin.boundaries", cells)))
    without = crossing_report()
    for cell in without["cells"]:
        cell["arms"] = [arm for arm in cell["arms"] if not arm["arm"].startswith("batch_")]
    assert not crossing.suits(drawn(without))
    assert figures.draw(drawn(without)).axes


CROSSING = {"crossing:hot": (3.0, 2.9, 3.1), "crossing:uniform": (9.0, 8.0, 10.0)}


def said(recovered, others=None, **changes):
    contrasts = phased.contrasts({**CROSSING, "recovered:64:hot": recovered}, **changes)
    results = [drawn({**crossing_report(), "contrasts": contrasts})]
    if others is not None:
        results.append(drawn({**boundaries_report(), "contrasts": phased.contrasts(others)}))
    return sentence(phased.run(*results))


@pytest.mark.parametrize(
    ("recovered", "words"),
    [
        ((1.0, 0.9, 1.1), "recover some of it"),
        ((0.0, -0.1, 0.1), "is not resolved"),
        ((-1.0, -1.1, -0.9), "recover nothing"),
    ],
)
def test_the_sentence_follows_from_the_measurement(recovered, words):
    found = said(recovered)
    assert "3.00 ns [2.90, 3.10], 0.90 % of the budget" in found.text
    assert words in found.text
    assert "plugin.boundaries wasn't run" in found.reason


def test_boundaries_are_told_the_dearest_first_and_open_ones_are_not_findings():
    others = {
        "recovered:64:system_call": (100.0, 99.0, 101.0),
        "recovered:64:pipe": (4000.0, 3900.0, 4100.0),
        "recovered:64:plugin": (0.0, -0.1, 0.1),
    }
    found = said((0.0, -0.1, 0.1), others)
    assert found.text.index("64:pipe") < found.text.index("64:system_call")
    assert "recovered:64:plugin" not in found.text
    assert "not resolved: what recovered:64:plugin is" in found.reason


def test_a_void_race_says_nothing():
    found = said((1.0, 0.9, 1.1), void=True)
    assert found.text is None
    assert "void" in found.reason


def test_the_kata_ends_with_the_crossing():
    phase = KATAS["plugin-dispatch"].phases[7]
    assert [job.experiment for job in phase.jobs] == ["plugin.crossing", "plugin.boundaries"]
    assert sentence in KATAS["plugin-dispatch"].verdict


BRIEF = {"quick": True, "seconds": 0.3, "pool": 4096, "counters": False}


def measured(experiment, **settings):
    try:
        return nk.run(experiment, **BRIEF, **settings)
    except nk.NotMeasurable as error:
        pytest.skip(f"this machine is too busy: {error}")


def test_every_way_does_the_same_work():
    result = measured("plugin.crossing", traffic="uniform", library=nk.plugin.shipped()["v2"])
    (cell,) = result.cells
    assert len({row["checksum"] for row in result.rows()}) == 1
    assert cell["batch_256"].flags == cell["plugin"].flags == ("one code layout",)
    assert any(check.name == "indirect-call:dyn_internal" and check.outcome != "failed" for check in result.checks)
    assert figures.draw(result).axes


@pytest.mark.parametrize("boundary", ["pipe", "python_callback"])
def test_boundaries_out_of_the_process_and_into_the_interpreter_do_it_too(boundary):
    result = measured("plugin.boundaries", boundary=boundary)
    assert len({row["checksum"] for row in result.rows()}) == 1
    assert {contrast.name for contrast in result.contrasts} >= {f"fixed:{boundary}", f"recovered:64:{boundary}"}


def test_boundaries_that_there_are_and_a_library_that_isnt_one():
    known = next(item for item in nk.experiments() if item.id == "plugin.boundaries").parameter("boundary")
    assert known.choices == ("internal", "plugin", "system_call", "pipe", "python_callback")
    with pytest.raises(nk.PluginRejected) as caught:
        nk.run("plugin.crossing", library=__file__, **BRIEF)
    assert caught.value.field == "file"
