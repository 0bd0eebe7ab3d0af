from __future__ import annotations

import html.parser

import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st

from nanokata.render import numbers
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
