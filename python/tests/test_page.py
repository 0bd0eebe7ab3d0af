"""The page: nothing from elsewhere, nothing unescaped, and no sentence that its numbers don't bear."""

from __future__ import annotations

import itertools
import re
import shlex
from html.parser import HTMLParser

import phased
import pytest
import synthetic
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nanokata.page import convert, provenance, reproduce
from nanokata.page.blocks import Code, Heading, Items, Paragraph, Picture, Table
from nanokata.page.compose import compose
from nanokata.page.html import html
from nanokata.page.markdown import markdown
from nanokata.page.unresolved import unresolved
from nanokata.phases.verdict import finding_and_calling, mechanisms, sorting_and_bound
from nanokata.results.records import Check

VOID = {"br", "img", "meta", "link", "hr"}
HOSTILE = "<script>alert(1)</script> $a$ & `b` | *c* \"d\" 'e' [f](http://x) \\"


class Seen(HTMLParser):
    """What a page consists of; raises where its tags don't nest."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self._open = [], [], [], []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def page_of(run, pictures=None):
    return html("a page", compose(run, pictures or {}))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    directory = tmp_path_factory.mktemp("page")
    page = phased.run().page(directory, markdown=True)
    return directory, page.read_text(encoding="utf-8"), (directory / "index.md").read_text(encoding="utf-8")


def test_a_page_stands_alone(written):
    _, text, _ = written
    seen = Seen(text)
    assert not {"script", "link", "iframe", "object", "form"} & set(seen.tags)
    loaded = [value for _, name, value in seen.attributes if name in {"src", "href", "srcset", "data"}]
    assert loaded
    assert all(value.startswith(("data:image/png;base64,", "#")) for value in loaded)
    assert not re.search(r"url\(|@import|https?:", text)
    assert "default-src 'none'" in text


def test_every_figure_says_in_words_what_it_shows(written):
    directory, text, as_markdown = written
    seen = Seen(text)
    alts = [value for tag, name, value in seen.attributes if (tag, name) == ("img", "alt")]
    assert len(alts) == seen.tags.count("img") == len(list(directory.glob("*.png")))
    assert any("dispatch.selection" in alt and "scan" in alt for alt in alts)
    names = re.findall(r"!\[.*?\]\(([^)]*)\)", as_markdown)
    assert sorted(names) == sorted(path.name for path in directory.glob("*.png"))


def test_tables_and_links_can_be_followed_without_eyes(written):
    _, text, _ = written
    seen = Seen(text)
    heads = [attribute for attribute in seen.attributes if attribute[:2] == ("th", "scope")]
    assert len(heads) == seen.tags.count("th")
    anchors = {value for _, name, value in seen.attributes if name == "id"}
    links = {value[1:] for tag, name, value in seen.attributes if (tag, name) == ("a", "href")}
    assert links == anchors
    assert {"phase-0", "phase-1", "phase-2", "unresolved", "provenance"} <= anchors
    levels = [int(tag[1]) for tag in seen.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert ("html", "lang", "en") in seen.attributes


def test_the_page_begins_with_the_verdict_and_ends_with_where_it_comes_from(written):
    _, text, as_markdown = written
    for whole in (Seen(text).text, as_markdown):
        words = whole[whole.index("A kata on paper") :]
        places = [
            words.index(part)
            for part in (
                "Finding one of 100 handlers",
                "differences between mechanisms",
                "Sorting the list captures",
                "What was not resolved",
                "The machine",
                "To run it again",
                "Measured",
                "Not measured",
            )
        ]
        assert places == sorted(places)


def hostile_run():
    costs = (10.0, 20.0)
    arms = [
        synthetic.arm(
            f"{HOSTILE}{at}", cost, baseline=None if at == 0 else costs[0], against=f"{HOSTILE}0" if at else ""
        )
        for at, cost in enumerate(costs)
    ]
    checks = [synthetic.check(f"x:{HOSTILE}", "failed", HOSTILE)]
    made = [synthetic.cell(arms, {"handlers": n, "body": HOSTILE}, checks=checks) for n in (10, 100)]
    facts = [phased.fact(HOSTILE, HOSTILE)]
    named = phased.contrasts({f"finding:{HOSTILE}:100": (500.0, 490.0, 510.0)})
    return phased.run(
        phased.result("dispatch.selection", made, facts=facts, contrasts=named),
        problems=(phased.problem(HOSTILE, HOSTILE),),
    )


def test_names_are_shown_as_they_are(tmp_path):
    text = hostile_run().page(tmp_path, markdown=True).read_text(encoding="utf-8")
    seen = Seen(text)
    assert "script" not in seen.tags
    assert HOSTILE in seen.text
    assert len(list(tmp_path.glob("*.png"))) == 2
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render((tmp_path / "index.md").read_text())
    assert "<script" not in shown
    assert 'href="http' not in shown
    assert HOSTILE in Seen(shown).text


def shown_by_markdown(*blocks):
    return Seen(MarkdownIt("commonmark").enable("table").render(markdown(blocks)))


LINE = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), blacklist_characters="\x7f"),
    min_size=1,
    max_size=20,
)
LINES = st.lists(LINE, min_size=1, max_size=4).map(" ".join)


@given(LINES)
def test_markdown_shows_any_text_as_it_is(text):
    expected = " ".join(text.split())
    assert shown_by_markdown(Paragraph(text)).text == expected
    assert shown_by_markdown(Items((text,))).text == expected
    seen = shown_by_markdown(Table("", ("", ""), (("a", text),)))
    assert seen.text == f"a {expected}"
    assert seen.tags.count("td") == 2


@given(LINES)
def test_html_shows_any_text_as_it_is(text):
    blocks = [Heading(2, text, "a"), Paragraph(text), Items((text,)), Table(text, (text,), ((text,),)), Code(text)]
    words = [word for word in Seen(html("t", blocks)).words if word.strip()]
    assert words.count(text) == 8  # The contents name the heading too.


def test_pictures_are_embedded_whole():
    text = html("t", [Picture("x.png", b"\x89PNG", 'a "quoted" <alt>')])
    assert ("img", "alt", 'a "quoted" <alt>') in Seen(text).attributes
    assert "data:image/png;base64,iVBORw==" in text


# The verdict.


def said(run):
    return {sentence.topic: (sentence.text, sentence.reason) for sentence in run.verdict}


def test_the_verdict_is_made_of_its_numbers():
    text, reason = said(phased.run())["finding against calling"]
    assert "costs 500.0 ns, 150 % of the budget" in text
    assert "The search costs 54× to 73× what the call does." in text
    assert reason is None
    swapped = phased.run(
        phased.selection(contrasts=phased.contrasts({"finding:fat:100": (8.0, 7.0, 9.0)})),
        phased.mechanism(contrasts=phased.contrasts({"calling:uniform": (500.0, 490.0, 510.0)})),
    )
    assert "the call costs more than the search" in said(swapped)["finding against calling"][0]


def test_only_resolved_differences_between_mechanisms_are_called_so():
    values = {
        **phased.CALLING, "load:thin:uniform": (0.5, 0.2, 0.8), "load:dyn:uniform": (0.1, -0.1, 0.3),
        "load:thin:uniform:fat": (9.0, 8.0, 10.0), "load:thin:hot": (9.0, 8.0, 10.0),
        "gap:thin:uniform": (9.0, 8.0, 10.0),
    }  # fmt: skip
    run = phased.run(phased.selection(), phased.mechanism(contrasts=phased.contrasts(values)))
    text, reason = said(run)["mechanisms"]
    assert text.startswith(
        "Of 3 differences between mechanisms 2 are resolved, the largest first: what calling:uniform is"
    )
    assert "8.00 ns [7.00, 9.00], 2.4 % of the budget; what load:thin:uniform is 0.500 ns" in text
    assert reason == "can't be told from zero: what load:dyn:uniform is"
    none = {"calling:hot": (0.1, -0.1, 0.3)}
    run = phased.run(phased.selection(), phased.mechanism(contrasts=phased.contrasts(none)))
    assert said(run)["mechanisms"][0] == "Of 1 differences between mechanisms none is resolved here."


def test_what_sorting_captures_and_the_bound():
    text, reason = said(phased.run())["sorting and the bound"]
    assert "Sorting the list captures 87 % (47 %…93 %) of what the table saves" in text
    assert "the worst costs 100 probes in the sorted list (of the packets here) and 100 in the table" in text
    assert reason is None
    facts = [
        phased.fact("most-probes:scan_ordered+scan", "", 100.0, "probes"),
        phased.fact("most-probes:table_compact", "", 5.0, "probes"),
    ]
    run = phased.run(phased.selection(facts=facts), phased.mechanism())
    text, reason = said(run)["sorting and the bound"]
    assert text == "The worst costs 100 probes in the sorted list (whatever the packet) and 5 in the table."
    assert reason == "dispatch.distribution wasn't run"


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda: phased.selection(contrasts=phased.contrasts(phased.FINDING, void=True)), "is void"),
        (lambda: phased.selection(contrasts=[]), "wasn't measured"),
        (
            lambda: phased.selection(
                contrasts=[{**item, "low": None, "high": None} for item in phased.contrasts(phased.FINDING)]
            ),
            "has no interval",
        ),
        (
            lambda: phased.selection(checks=[synthetic.check("bodies-distinct", "failed")]),
            "a check failed (bodies-distinct)",
        ),
        (lambda: phased.result("dispatch.other"), "dispatch.selection wasn't run"),
    ],
)
def test_without_its_numbers_a_sentence_isnt_printed_but_its_reason_is(spoil, reason):
    run = phased.run(spoil(), phased.mechanism(), phased.distribution())
    sentence = finding_and_calling(run)
    assert sentence.text is None
    assert reason in sentence.reason
    words = Seen(page_of(run)).text
    assert "Finding one of" not in words
    assert f"finding against calling: {sentence.reason}" in words
    assert sentence.reason in " ".join(run.summary(width=400).split())


def test_mechanisms_and_sorting_say_why_they_say_nothing():
    void = {"status": "no_verdict", "reason": "a control read 3 %"}
    cells = [synthetic.selection_cell(100, **void)]
    hushed = phased.mechanism(contrasts=phased.contrasts(phased.CALLING, void=True))
    assert mechanisms(phased.run(phased.selection(), hushed)).text is None
    run = phased.run(
        phased.selection(cells=cells), phased.mechanism(),
        phased.distribution(cells=cells, contrasts=phased.contrasts(phased.SHARE, void=True)),
    )  # fmt: skip
    sentence = sorting_and_bound(run)
    assert "captures" not in (sentence.text or "")
    assert "void: a control read 3 %" in sentence.reason
    bare = [synthetic.cell([synthetic.arm("x", 1.0)], {})]
    assert sorting_and_bound(phased.run(phased.selection(cells=bare))).text is None


# What was not resolved, what it comes from, how to do it again.


def test_what_was_not_resolved_is_listed_with_reasons():
    cell = synthetic.selection_cell(
        100, checks=[synthetic.check("control:table_compact_again", "not_applicable", "wide")]
    )
    cell["arms"][1].update(verdict="not resolved")
    void = synthetic.selection_cell(10, status="no_verdict", reason="8 blocks")
    run = phased.run(
        phased.selection(cells=[void, cell]),
        phased.mechanism(),
        problems=(phased.problem("dispatch.tail", "no counter"),),
    )
    lines = unresolved(run)
    assert "dispatch.selection, void: 8 blocks (handlers 10)" in lines
    assert "dispatch.selection: scan_keys against scan (handlers 100)" in lines
    assert any("control table_compact_again: too wide" in line for line in lines)
    assert "dispatch.tail: no counter" in lines
    assert any(line.startswith("dispatch.mechanism: what calling:hot is: [-0.100, 0.300]") for line in lines)
    assert not any("scan_ordered" in line for line in lines)
    assert "Every comparison" not in Seen(page_of(run)).text


@pytest.mark.parametrize(
    ("open_", "places"),
    [(1, "(handlers 10)"), (3, "(handlers 10; handlers 11; handlers 12)"), (4, "(4 of 5 races)"), (5, "(all 5 races)")],
)
def test_many_races_are_counted_not_named(open_, places):
    cells = [synthetic.selection_cell(10 + number) for number in range(5)]
    for cell in cells[:open_]:
        cell["arms"][1].update(verdict="not resolved")
    lines = unresolved(phased.run(phased.selection(cells=cells)))
    assert [line for line in lines if "scan_keys" in line] == [f"dispatch.selection: scan_keys against scan {places}"]


def test_a_control_that_reads_zero_is_not_left_open():
    named = phased.contrasts({"p50:control:sorted": (0.0, 0.0, 0.0), "p50:table:shift": (0.0, -1.0, 1.0)})
    run = phased.run(phased.selection(), phased.mechanism(contrasts=named))
    left = [line for line in unresolved(run) if "p50:" in line]
    assert len(left) == 1
    assert "p50:table:shift" in left[0]


def test_a_run_that_resolved_everything_says_so():
    calling = {"calling:uniform": (8.0, 7.0, 9.0), "control:uniform": (0.0, -1.0, 1.0)}
    run = phased.run(phased.selection(), phased.mechanism(contrasts=phased.contrasts(calling)), phased.distribution())
    for result in run.results():
        assert not [arm for cell in result.cells for arm in cell.arms if arm.verdict == "not resolved"]
    assert unresolved(run) == []
    assert "Every comparison that was made came to a verdict." in Seen(page_of(run)).text


def test_an_interrupted_run_says_what_it_lacks():
    whole = phased.run()
    cut = phased.run(phases=whole.phases[:2], interrupted=True)
    words = Seen(page_of(cut)).text
    assert "Interrupted in phase 1: 2 of 3 phases" in words
    assert "not reached: phase 2 (Calling)" in words
    assert "phase 2, Calling" in " ".join(provenance.not_measured(cut))
    assert "Interrupted" not in Seen(page_of(whole)).text


def test_each_figure_stands_under_where_it_comes_from():
    facts = [phased.fact(origin, f"a {origin} fact", origin=origin) for origin in ("counted", "computed", "simulated")]
    facts += [phased.fact(origin, f"a {origin} fact", origin=origin) for origin in ("published", "required")]
    run = phased.run(phased.selection(facts=facts), phased.mechanism())
    for where, origin in (
        (provenance.counted, "counted"), (provenance.computed, "computed"), (provenance.published, "published"),
        (provenance.required, "required"),
    ):  # fmt: skip
        lines = where(run)
        assert f"a {origin} fact" in lines
        assert sum(fact["text"] in lines for fact in facts) == 1
    assert "Nothing was simulated in this run." not in Seen(page_of(run)).text
    assert "Nothing was simulated in this run." in Seen(page_of(phased.run())).text


def test_published_marks_are_named_only_where_they_are_drawn():
    drawn = provenance.published(phased.run())
    assert any(line.startswith("scan at 100 handlers, 142.8 ns/packet") for line in drawn)
    other = synthetic.selection_cell(100)
    other["parameters"]["traffic"] = "zipf"
    assert provenance.published(phased.run(phased.selection(cells=[other, synthetic.selection_cell(10, "tiny")]))) == []


def test_what_wasnt_measured_has_its_reason():
    absent = Check("pool-in-cache", "not_applicable", "no L2 known")
    run = phased.run(
        examined=phased.examined(checks=(absent,)), problems=(phased.problem("dispatch.tail", "no clock"),)
    )
    lines = provenance.not_measured(run)
    assert "check pool-in-cache: no L2 known" in lines
    assert "dispatch.tail: no clock" in lines
    assert "counter cycles: ENOENT: no hardware PMU" in lines
    assert not any(line.startswith("counter page_faults") for line in lines)


def words_of(command):
    return shlex.split(command.replace("\\\n", " "))


def test_the_command_repeats_the_run():
    options = {
        "quick": True,
        "seed": 7,
        "cpu": 1,
        "preset": "original",
        "set": {"handlers": [10, 100], "traffic": "a b$"},
    }
    assert words_of(reproduce.command(phased.run(options=options))) == [
        "nanokata", "run", "paper", "--set", "handlers=10,100", "--set", "traffic=a b$", "--quick", "--seed", "7",
        "--cpu", "1", "--preset", "original",
    ]  # fmt: skip
    first, *_ = reproduce.commands(phased.run(bounds={"dispatch.selection": 1.5}))
    assert words_of(first) == [
        "nanokata", "run", "dispatch.selection", "--set", "handlers=10,100", "--set", "body=fat", "--set",
        "traffic=uniform", "--set", "pool=16384", "--seconds", "1.5", "--seed", "7",
    ]  # fmt: skip


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=12))
def test_a_broken_command_is_the_same_command(words):
    words = [word.replace("\\\n", "") or "x" for word in words]
    text = reproduce.broken(words)
    assert shlex.split(re.sub(r" \\\n    ", " ", text)) == words


ONLY_THERE = ("paper: A kata", "Not said", "time by phase")


def test_what_the_terminal_shows_is_on_the_page():
    run = phased.run()
    words = Seen(page_of(run)).text.replace(" ", "")
    summary = run.summary(width=400)
    shown = [
        line for line in summary.splitlines() if line.strip() and "─" not in line and not line.startswith(ONLY_THERE)
    ]
    missing = [
        line for line in shown if any(part.replace(" ", "") not in words for part in re.split(r"\s{2,}", line.strip()))
    ]
    assert missing == []


def test_nothing_unknown_is_dropped_silently():
    with pytest.raises(TypeError, match="int"):
        list(convert.blocks_of([3]))


def test_a_page_replaces_an_earlier_one_whole(tmp_path, monkeypatch):
    page = phased.run().page(tmp_path, figures=False)
    before = page.read_bytes()
    assert not list(tmp_path.glob("*.png"))
    from nanokata.page import writing

    monkeypatch.setattr(writing.os, "fdopen", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        phased.run().page(tmp_path, figures=False)
    assert page.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize(
    ("low", "high", "told"), [(0.2, 1.0, True), (0.05, 1.0, False), (-1.0, -0.2, True), (-0.05, 0.05, False)]
)
def test_a_difference_counts_beyond_what_controls_bear_out(low, high, told):
    named = phased.contrasts({"calling:uniform": ((low + high) / 2, low, high)}, margin=0.1)
    run = phased.run(phased.mechanism(contrasts=named))
    (contrast,) = run.result("dispatch.mechanism").contrasts
    assert contrast.resolved is told
    assert any("can't be told from zero to ±0.1" in line for line in unresolved(run)) is not told
