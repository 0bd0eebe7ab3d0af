from __future__ import annotations

import html
import html.parser
import json

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from nanokata.instrument import Machine
from nanokata.render import machine_renderable, numbers, plain
from nanokata.results import RunResult

DOCUMENTS = [synthetic.selection, synthetic.levels]


@pytest.mark.parametrize("make", DOCUMENTS)
def test_a_summary_fits_80_columns_and_cuts_nothing(make):
    summary = RunResult(make()).summary()
    assert max(len(line) for line in summary.splitlines()) <= 80
    assert "…" not in summary.replace("… ", "")


def test_a_summary_holds_no_colour_codes():
    assert "\x1b" not in RunResult(synthetic.selection()).summary()


def test_html_is_well_formed_and_escaped():
    document = synthetic.selection()
    document["report"]["title"] = "<script>alert(1)</script>"
    page = RunResult(document)._repr_html_()
    assert "<script>" not in page
    html.parser.HTMLParser().feed(page)


costs = st.floats(min_value=1e-3, max_value=1e7)


@given(costs)
def test_a_written_cost_is_within_a_percent(value):
    assert float(numbers.cost(value).replace(",", "")) == pytest.approx(value, rel=0.51, abs=5e-4)
    if value >= 1:
        assert float(numbers.cost(value).replace(",", "")) == pytest.approx(value, rel=0.01)


@given(costs, st.floats(min_value=1e-3, max_value=1e3))
def test_a_half_width_never_reads_zero(value, half):
    shown = numbers.with_half_width(value, half).split("±")[1].replace(",", "")
    assert float(shown) > 0


@pytest.mark.parametrize(("value", "text"), [(0, "0 B"), (4096, "4 KiB"), (3 << 20, "3 MiB"), (1 << 40, "1024 GiB")])
def test_bytes_are_written_in_binary_units(value, text):
    assert numbers.byte_count(value) == text


@pytest.mark.parametrize("name", ["we[/b]ird.pcap", "[red]x[/red]", ":smile:", "[link=x]", "\\[bold]"])
def test_words_are_shown_as_they_are(name):
    import io

    from rich.console import Console

    text = json.dumps(synthetic.selection()).replace("scan_keys", json.dumps(name)[1:-1])
    text = text.replace("Title of", json.dumps(name)[1:-1])
    result = RunResult(json.loads(text))
    assert result.summary(width=200).count(name) >= 2
    # Also by a console that reads markup, as a terminal's does.
    seen = Console(file=io.StringIO(), width=200)
    seen.print(result)
    assert seen.file.getvalue().count(name) >= 2
    assert html.escape(name, quote=False) in html.unescape(result._repr_html_()).replace("&amp;", "&")


@pytest.mark.parametrize("name", ["we[/b]ird", "[red]x[/red]", ":smile:"])
def test_progress_shows_words_as_they_are(name, monkeypatch, capsys):
    from nanokata.cli import progress

    monkeypatch.setattr(progress, "_LINE_EVERY_SECONDS", 0.0)
    with progress.shown(name, 1.0) as update:
        update(name, 0.5)
    assert name in capsys.readouterr().err
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress.shown(name, 1.0) as update:
        update(name, 0.5)
    assert name in capsys.readouterr().err


@pytest.mark.parametrize("name", ["we[/b]ird", "[red]x[/red]"])
def test_machines_show_words_as_they_are(name):
    assert name in Machine({"cpu": {"model": name}}).summary()


def test_a_series_of_long_names_keeps_its_heads_and_its_rows_to_a_line():
    names = ("random_cycle", "sequential_cycle", "random_cycle_opposite")
    cells = [
        synthetic.cell(
            [
                synthetic.arm(names[0], 10.0),
                synthetic.arm(
                    names[1], 10.0, baseline=10.0, against=names[0], words="same as random_cycle (within 0.5 %)"
                ),
                synthetic.arm(names[2], 10.0, baseline=10.0, against=names[0], role="control"),
            ],
            {"working_set": 4096 << power},
            unit="ns/load",
        )
        for power in range(8)
    ]
    summary = RunResult(synthetic.document(synthetic.report("cache.levels", cells))).summary()
    assert "…" not in summary
    assert max(len(line) for line in summary.splitlines()) <= 80
    rule = next(index for index, line in enumerate(summary.splitlines()) if line.startswith("───"))
    assert all(line.strip() and " ±" in line for line in summary.splitlines()[rule + 1 : rule + 9])


def test_caches_stand_one_a_line_and_a_compiler_is_named_once():
    l1 = {"level": 1, "kind": "data", "bytes": 32768, "line_bytes": 64, "ways": 8}
    machine = Machine(
        {"id": "m", "caches": [{**l1, "cpus": [0]}, {**l1, "cpus": [1]}], "build": {"rustc": "rustc 1.95.0"}}
    )
    text = plain(machine_renderable(machine))
    assert "L1d 32 KiB ×2, 8-way, 64 B lines" in text
    assert text.count("rustc") == 1
