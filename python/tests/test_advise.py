"""Advice: what is counted, what is advised, how it is shown, and what is refused."""

from __future__ import annotations

import json
import struct
import sys

import numpy as np
import pandas as pd
import pytest

import nanokata as nk
from nanokata.advice import _advice
from nanokata.cli import endings
from nanokata.cli.commands import nanokata

# Two hot keys of a hundred: sorting is enough. All alike: it isn't.
HOT = {key: 4750.0 if key in {40, 80} else 5.1 for key in range(100)}
FLAT = dict.fromkeys(range(100), 1)


def ask(weights=None, **options):
    return nk.advise(weights, **{"measure": False, **options})


@pytest.fixture
def run(capfd):
    def call(*arguments):
        code = endings.run_command(nanokata, ["advise", *map(str, arguments)])
        out, err = capfd.readouterr()
        return code, out, err

    return call


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("key,count\n" + "".join(f"{key},{count}\n" for key, count in HOT.items()))
    return path


def test_the_choice_follows_the_traffic_and_the_rate():
    assert (ask(HOT).choice, ask(HOT).recommendation.rule) == ("sort", 3)
    assert (ask(FLAT).choice, ask(FLAT).recommendation.rule) == ("table", 4)
    assert (ask(HOT, adversarial=True).choice, ask(HOT, adversarial=True).recommendation.rule) == ("table", 1)
    assert (ask(FLAT, rate=1e5).choice, ask(FLAT, rate=1e5).recommendation.rule) == ("neither", 2)


def test_thresholds_move_it():
    assert ask(HOT, captured_share=0.999).choice == "table"
    assert ask(FLAT, captured_share=0.0).choice == "table"  # sorted, it is still over the budget
    assert ask(FLAT, captured_share=0.0, probe_ns=1).choice == "sort"
    assert ask(HOT, worth_share=1.0, probe_ns=1).choice == "neither"


def test_probes_are_exact():
    found = ask([3, 2, 1], order="given")
    assert (found.list.mean, found.list.worst) == (pytest.approx(10 / 6), 3)
    assert (found.table.mean, found.table.worst) == (1.0, 1)
    assert found.captured == pytest.approx(0)
    backwards = ask([1, 2, 3], order="given")
    assert (backwards.list.mean, backwards.sorted.mean) == (pytest.approx(14 / 6), pytest.approx(10 / 6))
    assert backwards.captured == pytest.approx(0.5)
    assert ask([1, 1]).budget_ns == pytest.approx(1e9 / 3e6)


@pytest.mark.parametrize(
    "weights",
    [
        {5: 3, 9: 2, 70: 1},
        {"five": 3, "nine": 2, "seventy": 1},
        [3, 2, 1],
        np.array([3.0, 2.0, 1.0]),
        pd.Series([3, 2, 1], index=[5, 9, 70]),
        pd.DataFrame({"count": [3, 2, 1]})["count"],
        pd.Series([5, 5, 5, 9, 9, 70]).value_counts(),
    ],
)
def test_weights_come_in_many_forms(weights):
    found = ask(weights, order="given")
    assert (found.handlers, found.traffic, found.packets) == (3, 6.0, None)
    assert found.list.mean == pytest.approx(10 / 6)


def test_a_set_of_handlers_brings_its_order_and_predicates():
    handlers = nk.dispatch.HandlerSet(100, residual_share=0.10)
    by_number = ask(np.ones(100), handlers=handlers)
    by_key = ask({int(key): int((handlers.keys == key).sum()) for key in handlers.keys}, handlers=handlers)
    assert by_number.list == by_key.list
    assert by_number.order == "given"
    assert by_number.residual_handlers == 10
    assert by_number.table.worst == 5
    # The published figure: with 2 % of packets that nobody claims.
    rest = {int(key): 0.98 * int((handlers.keys == key).sum()) for key in handlers.keys} | {5000: 2.0}
    assert ask(rest, handlers=handlers).list.mean == pytest.approx(52.18, abs=0.01)


def test_packets_are_counted_as_the_arms_count_them(handlers, packets):
    found = nk.advise(packets=packets, handlers=handlers, measure=False)
    scan, table = nk.dispatch.scan(handlers), nk.dispatch.table_compact(handlers)
    assert found.list.mean == pytest.approx(scan(packets).probes.mean())
    assert found.table.mean == pytest.approx(table(packets).probes.mean())
    assert found.packets == found.traffic == len(packets)
    assert found.unmatched == pytest.approx((table(packets).handlers == nk.dispatch.UNSUPPORTED).mean())


def test_overlaps_are_behaviour():
    found = ask(FLAT, overlap=0.25)
    assert (found.reordering.overlapping_pairs, found.handlers) == (25, 125)
    assert 0 < found.reordering.changed < found.reordering.packets
    assert "another handler" in found.summary(width=300)
    plain = ask(FLAT)
    assert (plain.reordering.packets, plain.reordering.changed) == (0, 0)
    assert "no predicates overlap" in plain.summary()
    residual = ask(FLAT, residual_share=0.25)
    assert residual.residual_handlers / residual.handlers == pytest.approx(0.25, abs=0.02)


def test_every_line_fits_and_states_its_values():
    for found in (ask(HOT), ask(FLAT, overlap=0.2), ask(HOT, adversarial=True), ask(FLAT, rate=1e4)):
        text = found.summary()
        assert max(map(len, text.splitlines())) <= 80
        whole = " ".join(found.summary(width=2000).split())
        assert f"{found.list.mean:.2f}" in whole
        assert "* assumed: 10 ns a probe" in whole
        for sentence in (*found.recommendation.because, *found.recommendation.conditions):
            assert sentence in whole
        assert "<pre" in found._repr_html_()
    assert repr(ask(HOT)) == "<Advice: sort (rule 3), 100 handlers>"


def test_json_holds_it_all():
    found = ask(HOT)
    data = json.loads(found.to_json())
    assert data["advice"]["recommendation"]["choice"] == "sort"
    assert data["advice"]["list"]["worst"] == 100
    assert data["machine"]["id"] == found.machine.id
    assert data["version"] == nk.__version__


def test_a_race_on_the_very_traffic():
    found = nk.advise(HOT, quick=True, seconds=0.3, pool=2048)
    assert found.replayed == 2048
    if not found.costs.measured:  # Too noisy a machine: said so, and nothing rests on it.
        assert found.costs.source.reason
        assert "no verdict" in found.summary(width=500)
        assert found.costs.probe_ns == 10
        return
    assert found.race is not None
    yours, unclaimed = found.race.cells
    assert unclaimed["scan"].probes.mean == 100
    assert yours["scan"].probes.mean == pytest.approx(found.list.mean, rel=0.2)
    # A hundred calls against one lookup: far from any margin.
    assert found.costs.worst[0].low > 2 * found.costs.worst[2].high
    assert found.costs.captured.low <= found.costs.captured.value <= found.costs.captured.high
    assert "measured on" in found.summary(width=500)


def figure(value, half):
    return {"value": value, "low": value - half, "high": value + half}


@pytest.fixture
def measured():
    """An answer whose costs read as a quiet machine's, whatever this one is like."""
    document = json.loads(ask(HOT).to_json())
    document["advice"]["costs"] = {
        "source": {"kind": "measured", "reason": None},
        "probe_ns": None,
        "usual": [figure(523.3, 4.0), figure(112.0, 2.5), figure(71.3, 1.1)],
        "worst": [figure(640.0, 6.0), figure(641.0, 6.0), figure(9.8, 0.4)],
        "saved": [figure(411.3, 4.0), figure(452.0, 4.1)],
        "saved_at_worst": figure(630.2, 6.0),
        "captured": figure(0.91, 0.01),
    }
    document["advice"]["replayed"] = 16_384
    return _advice(json.dumps(document))


def test_measured_costs_stand_with_their_intervals(measured):
    text = measured.summary()
    assert max(map(len, text.splitlines())) <= 80
    whole = " ".join(measured.summary(width=2000).split())
    assert "523.3 ±4.0" in whole
    assert "saves 94 % of the probes that a table saves, 91 % [90, 92] of the time" in whole
    assert f"measured on {measured.machine.name}: 16,384 packets replayed" in whole
    assert "assumed" not in whole
    axes = measured.plot().axes[0]
    # Intervals are drawn: a bar with two caps for each of the two traffics.
    assert len(axes.containers) == 2
    assert all(container.has_xerr for container in axes.containers)
    assert not any(container.has_xerr for container in ask(HOT).plot().axes[0].containers)


def test_labels_dont_overlap_and_lie_within_the_figure(measured):
    for found in (measured, ask(FLAT), ask(HOT, rate=1e5), ask([1, 1], rate=1e7)):
        drawn = found.plot()
        drawn.canvas.draw()
        boxes = [text.get_window_extent() for text in drawn.axes[0].texts]
        for at, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[at + 1 :])
            assert box.x1 <= drawn.bbox.x1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, nk.InvalidArgument, "neither given"),
        ({"weights": {1: 1}, "packets": "x.pcap"}, nk.InvalidArgument, "both given"),
        ({"weights": {1: -1}}, nk.InvalidArgument, "weights = -1"),
        ({"weights": {1: float("nan")}}, nk.InvalidArgument, "weights = NaN"),
        ({"weights": {}}, nk.InvalidArgument, "no weights"),
        ({"weights": {1: 0}}, nk.InvalidArgument, "weights = 0"),
        ({"weights": {1: "many"}}, nk.WrongType, "weights = 'many'"),
        ({"weights": {1.5: 1}}, nk.WrongType, "key = 1.5"),
        ({"weights": {70_000: 1}}, nk.InvalidArgument, "key = 70000"),
        ({"weights": {1: 1, "a": 1}}, nk.WrongType, "not of both"),
        ({"weights": ["a"]}, nk.WrongType, "wanted a path"),
        ({"weights": [[1, 2], [3]]}, nk.WrongType, "wanted a path"),
        ({"weights": np.ma.array([1, 2])}, nk.WrongType, "a mask would be ignored"),
        ({"weights": [1, 2], "rate": 0}, nk.InvalidArgument, "rate = 0"),
        ({"weights": [1, 2], "rate": 5e-324}, nk.InvalidArgument, "rate = 5e-324"),
        ({"weights": [1, 2], "rate": 1e300}, nk.InvalidArgument, "rate = 1e300"),
        ({"weights": [1, 2], "probe_ns": 1e300}, nk.InvalidArgument, "probe_ns = 1e300"),
        ({"weights": [5e-324, 5e-324]}, nk.InvalidArgument, "weights = "),
        ({"weights": [1, 2], "rate": "fast"}, nk.WrongType, "rate = 'fast'"),
        ({"weights": [1, 2], "order": "sorted"}, nk.InvalidArgument, "order = 'sorted'"),
        ({"weights": [1, 2], "handlers": 0}, nk.InvalidArgument, "handlers = 0"),
        ({"weights": [1, 2], "handlers": 5000}, nk.InvalidArgument, "handlers = 5000"),
        ({"weights": [1, 2], "residual_share": 2}, nk.InvalidArgument, "residual_share = 2"),
        ({"weights": [1, 2], "overlap": -1}, nk.InvalidArgument, "overlap = -1"),
        ({"weights": [1, 2], "body": "huge"}, nk.InvalidArgument, "body = huge"),
        ({"weights": [1, 2], "probe_ns": 0}, nk.InvalidArgument, "probe_ns = 0"),
        ({"weights": [1, 2], "pool": 0}, nk.InvalidArgument, "pool = 0"),
        ({"weights": [1, 2], "worth_share": 7}, nk.InvalidArgument, "worth_share = 7"),
        ({"packets": np.zeros(3)}, nk.WrongArray, "packets"),
    ],
)
def test_what_cant_be_used_is_refused_by_name(arguments, error, message):
    with pytest.raises(error) as refused:
        nk.advise(**{"measure": False, **arguments})
    assert message in str(refused.value)


def test_weights_must_fit_the_given_set(handlers):
    with pytest.raises(nk.InvalidArgument, match="one for each of 20 handlers"):
        ask([1, 2, 3], handlers=handlers)
    with pytest.raises(nk.InvalidArgument, match="predicates of their own"):
        ask(np.ones(20), handlers=handlers, overlap=0.1)


def test_the_command_reads_counts(run, counts):
    code, out, _ = run(counts, "--no-measure")
    assert code == 0
    assert "sort the list and go home" in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = run(counts, "--no-measure", "--adversarial", "--rate", "1e6", "--json")
    assert code == 0
    assert json.loads(out)["advice"]["recommendation"]["choice"] == "table"


def test_the_command_reads_captures(run, tmp_path):
    def frame(port):
        udp = struct.pack(">HHHH", 40_000, port, 12, 0) + bytes(4)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes(4), bytes(4))
        return bytes(12) + b"\x08\x00" + ip + udp

    path = tmp_path / "udp.pcap"
    records = [frame(port) for port in [53] * 6 + [443] * 3 + [9999]]
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    path.write_bytes(header + b"".join(struct.pack("<IIII", 1, 0, len(r), len(r)) + r for r in records))
    code, out, _ = run(path, "--no-measure", "--key", "destination_port", "--handlers", "2", "--json")
    assert code == 0
    found = json.loads(out)["advice"]
    assert (found["packets"], found["handlers"], found["unclaimed_keys"]) == (10, 2, 1)
    assert (found["unmatched"], found["busiest"]) == (pytest.approx(0.1), pytest.approx(0.6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "FILE missing"),
        (["absent.csv"], "does not exist"),
        (["FILE", "--rate", "0", "--no-measure"], "rate = 0"),
        (["FILE", "--residual-share", "7", "--no-measure"], "residual_share = 7"),
        (["FILE", "--symbol", "main"], "belongs to --elf"),
        (["FILE", "--without", "x"], "belongs to --elf"),
        (["--elf", sys.executable], "wants --symbol"),
        (["FILE", "--elf", sys.executable, "--symbol", "main"], "is traffic"),
        (["--elf", "FILE", "--symbol", "main"], "isn't an ELF file"),
    ],
)
def test_unusable_input_ends_with_two(run, counts, arguments, message):
    code, _, err = run(*[counts if item == "FILE" else item for item in arguments])
    assert code == 2
    assert message in err


def test_a_bad_row_ends_with_two_and_its_line(run, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("key,count\n1,2\n2,minus one\n")
    code, _, err = run(path, "--no-measure")
    assert code == 2
    assert "bad.csv, line 3: count = 'minus one'" in err


def test_a_figure_is_drawn(run, counts, tmp_path):
    target = tmp_path / "advice.png"
    code, out, _ = run(counts, "--no-measure", "--figure", target)
    assert code == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert out.splitlines()[-1] == f"figure: {target}"
    figure = ask(HOT).plot()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert any(text.startswith("budget 333.3 ns") for text in texts)
