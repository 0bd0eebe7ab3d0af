from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nanokata as nk
from nanokata.dispatch import SELECTIONS, HandlerSet, Residual


@pytest.mark.parametrize("make", SELECTIONS, ids=lambda make: make.__name__)
def test_arms_agree_on_everything_but_probes(make, handlers, packets):
    expected = nk.dispatch.scan(handlers)(packets)
    done = make(handlers)(packets)
    assert done.checksum == expected.checksum
    assert np.array_equal(done.handlers, expected.handlers)
    assert done.handlers.dtype == np.uint16
    assert done.probes.dtype == np.uint32
    assert len(done.probes) == len(packets)


@settings(max_examples=20)
@given(st.integers(1, 60), st.integers(0, 2**64 - 1), st.sampled_from(["fat", "tiny"]))
def test_arms_agree_for_any_set(count, seed, body):
    handlers = HandlerSet(count, body=body, seed=seed)
    packets = nk.traffic.uniform(300, handlers, seed=seed, unmatched=0.1)
    assert len({make(handlers)(packets).checksum for make in SELECTIONS}) == 1


def test_unmatched_packets_run_nobody(handlers):
    packets = nk.traffic.uniform(500, handlers, unmatched=1.0)
    assert np.all(nk.dispatch.scan(handlers)(packets).handlers == nk.dispatch.UNSUPPORTED)


def test_a_set_says_what_it_is():
    handlers = HandlerSet(100)
    assert len(handlers) == 100
    assert handlers.distinct_keys == 93
    assert handlers.residual_count == 10
    assert handlers.body == "fat"
    assert sorted(handlers.order) == list(range(100))
    assert len(handlers.keys) == len(handlers.residuals) == 100
    assert nk.dispatch.table_direct16(handlers).footprint_bytes >= 65536


def test_order_is_behaviour_where_predicates_overlap():
    handlers = HandlerSet.from_keys(
        np.array([5, 5], dtype=np.uint16), [Residual.mask(0, 1, 1), Residual.range(0, 0, 255)], body="tiny"
    )
    assert handlers.overlaps() == [(0, 1)]
    packets = nk.traffic.uniform(400, handlers, unmatched=0.0)
    odd = int((packets["payload"][:, 0] & 1).sum())
    assert nk.dispatch.changed_handlers(handlers, packets, [0, 1], [1, 0]) == odd > 0
    assert (
        nk.dispatch.scan(handlers)(packets).checksum != nk.dispatch.scan(handlers.reordered([1, 0]))(packets).checksum
    )


def test_a_frequency_order_names_every_handler_once(handlers, packets):
    order = nk.dispatch.frequency_order(handlers, packets)
    assert sorted(order) == list(range(20))
    counts = np.bincount(nk.dispatch.scan(handlers)(packets).handlers, minlength=65536)[order]
    assert np.all(np.diff(counts.astype(int)) <= 0)
    again = nk.dispatch.scan_ordered(handlers, order)(packets)
    assert again.probes.sum() == nk.dispatch.scan_ordered(handlers)(packets).probes.sum()


def test_handlers_can_be_taken_from_packets(packets):
    handlers = HandlerSet.from_packets(packets, 5, body="tiny")
    values, counts = np.unique(packets["protocol"], return_counts=True)
    busiest = values[np.lexsort((values, -counts))][:5]
    assert sorted(handlers.keys) == sorted(busiest)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: HandlerSet(0), "handlers"),
        (lambda: HandlerSet(1025), "handlers"),
        (lambda: HandlerSet(-1), "handlers"),
        (lambda: HandlerSet(2**70), "handlers"),
        (lambda: HandlerSet(5, body="huge"), "body"),
        (lambda: HandlerSet(5, residual_share=float("nan")), "residual_share"),
        (lambda: HandlerSet(5, residual_share=1.5), "residual_share"),
        (lambda: HandlerSet(5, seed=-1), "seed"),
        (lambda: HandlerSet(5).reordered([0, 0, 1, 2, 3]), "order"),
        (lambda: HandlerSet(5).reordered([0]), "order"),
        (lambda: HandlerSet.from_keys(np.array([1, 2], dtype=np.uint16), [Residual.none()]), "residuals"),
        (lambda: HandlerSet.from_keys(np.array([1], dtype=np.uint16), [Residual.mask(99, 1, 1)]), ""),
        (lambda: Residual.mask(300, 1, 1), "offset"),
        (lambda: Residual.flow(-1), "active"),
    ],
)
def test_unusable_sets_are_refused_by_name(call, name):
    with pytest.raises(nk.InvalidArgument) as caught:
        call()
    assert name in caught.value.name


def test_a_bound_on_residual_lists_is_kept():
    handlers = HandlerSet(100)
    for make in (nk.dispatch.table_compact, nk.dispatch.table_direct16, nk.dispatch.hash_map):
        make(handlers, residual_bound=4)
        with pytest.raises(nk.ResidualBoundExceeded) as caught:
            make(handlers, residual_bound=3)
        assert (caught.value.key, caught.value.length, caught.value.bound) == (901, 4, 3)


def misaligned(packets):
    raw = np.zeros(packets.nbytes + 1, dtype=np.uint8)
    raw[1:] = packets.view(np.uint8)
    return raw[1:].view(packets.dtype)


@pytest.mark.parametrize(
    ("spoil", "given_"),
    [
        (lambda p: p.tolist(), "list"),
        (lambda p: None, "NoneType"),
        (lambda p: p["protocol"].copy(), "uint16"),
        (lambda p: p.view(np.uint8), "uint8"),
        (lambda p: p.reshape(-1, 2), "2 dimensions"),
        (lambda p: p[::2], "stride of 64"),
        (lambda p: p[::-1], "stride of -32"),
        (misaligned, "aligned"),
        (lambda p: p.astype([("protocol", ">u2"), ("length", "<u2"), ("flow", "<u4"), ("payload", "u1", 24)]), ">u2"),
    ],
)
def test_wrong_arrays_say_what_was_wanted_and_given(spoil, given_, handlers, packets):
    for call in (nk.dispatch.scan(handlers), lambda spoilt: HandlerSet.from_packets(spoilt, 3)):
        with pytest.raises(nk.WrongArray) as caught:
            call(spoil(packets))
        assert "nanokata.traffic.PACKET" in caught.value.wanted
        assert given_ in caught.value.given
        assert isinstance(caught.value, TypeError)
        assert isinstance(caught.value, ValueError)


def test_read_only_arrays_are_fine(handlers, packets):
    locked = packets.copy()
    locked.flags.writeable = False
    assert nk.dispatch.scan(handlers)(locked).checksum == nk.dispatch.scan(handlers)(packets).checksum


def test_an_array_of_the_same_fields_without_the_align_flag_is_fine(handlers, packets):
    plain = np.dtype([("protocol", "<u2"), ("length", "<u2"), ("flow", "<u4"), ("payload", "u1", 24)])
    assert nk.dispatch.scan(handlers)(packets.view(plain)).checksum == nk.dispatch.scan(handlers)(packets).checksum


def test_no_packets_are_refused(handlers, packets):
    with pytest.raises(nk.InvalidArgument, match="packets"):
        nk.dispatch.scan(handlers)(packets[:0])


def test_an_array_may_be_written_to_meanwhile(handlers, packets):
    written = packets.copy()
    before = nk.dispatch.scan(handlers)(written).checksum
    written["protocol"] = 0xFFFF
    assert nk.dispatch.scan(handlers)(written).checksum != before


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda h, p: nk.dispatch.scan(h)(p, cpu=-1), "cpu"),
        (lambda h, p: nk.dispatch.scan(h)(p, cpu=2**70), "cpu"),
        (lambda h, p: nk.dispatch.null(h)(p, cpu=-1), "cpu"),
        (lambda h, p: h.reordered([-1] * 20), "order"),
        (lambda h, p: h.reordered([2**70] * 20), "order"),
        (lambda h, p: nk.dispatch.scan_ordered(h, [-1] * 20), "order"),
        (lambda h, p: HandlerSet.from_keys([70_000]), "keys"),
        (lambda h, p: HandlerSet.from_keys(np.array([1, 65_536])), "keys"),
        (lambda h, p: HandlerSet.from_keys([-1]), "keys"),
        (lambda h, p: HandlerSet.from_keys([]), "handlers"),
    ],
)
def test_numbers_out_of_bounds_are_refused_by_name_and_value(call, name, handlers, packets):
    with pytest.raises(nk.InvalidArgument) as caught:
        call(handlers, packets)
    assert caught.value.name == name
    assert caught.value.value
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda h, p: HandlerSet(True), "handlers"),
        (lambda h, p: HandlerSet(2.0), "handlers"),
        (lambda h, p: HandlerSet("2"), "handlers"),
        (lambda h, p: HandlerSet(5, seed=True), "seed"),
        (lambda h, p: HandlerSet.from_packets(p, True), "handlers"),
        (lambda h, p: nk.dispatch.scan(h)(p, cpu=True), "cpu"),
        (lambda h, p: nk.dispatch.scan(h)(p, cpu="0"), "cpu"),
        (lambda h, p: nk.traffic.uniform(10, h, seed=True), "seed"),
        (lambda h, p: nk.traffic.uniform(10, h, cpu=False), "cpu"),
        (lambda h, p: nk.traffic.uniform("10", h), "packets"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, seed=True), "seed"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, cpu=True), "cpu"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, seconds="1"), "seconds"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, order=1), "order"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, baseline=1), "baseline"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, control=["b"]), "control"),
        (lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, p, control={1: "scan"}), "control"),
        (lambda h, p: nk.race([1, 2], p), "arms"),
        (lambda h, p: nk.race(None, p), "arms"),
        (lambda h, p: nk.race("ab", p), "arms"),
        (lambda h, p: nk.race({1: nk.dispatch.scan(h), 2: nk.dispatch.scan_keys(h)}, p), "arms"),
        (lambda h, p: nk.run(None), "experiment"),
        (lambda h, p: nk.run(b"cache.levels"), "experiment"),
        (lambda h, p: nk.run("dispatch.selection", handlers=None), "handlers"),
        (lambda h, p: nk.doctor(trial_seconds="2"), "trial_seconds"),
        (lambda h, p: nk.doctor(seed=True), "seed"),
        (lambda h, p: nk.sharing.line(64, cpus=3), "cpus"),
        (lambda h, p: nk.sharing.line(True), "distance"),
        (lambda h, p: h.reordered(None), "order"),
        (lambda h, p: h.reordered("abc"), "order"),
        (lambda h, p: nk.dispatch.scan_ordered(h, 3), "order"),
        (lambda h, p: HandlerSet.from_keys(["a"]), "keys"),
        (lambda h, p: HandlerSet.from_keys([1.5]), "keys"),
        (lambda h, p: HandlerSet.from_keys([True]), "keys"),
        (lambda h, p: HandlerSet.from_keys(None), "keys"),
        (lambda h, p: HandlerSet.from_keys([1], [3]), "residuals"),
        (lambda h, p: HandlerSet.from_keys([1], 3), "residuals"),
        (lambda h, p: Residual.mask("a", 1, 1), "offset"),
        (lambda h, p: Residual.flow(True), "active"),
        (lambda h, p: nk.traffic.from_capture(3), "path"),
        (lambda h, p: nk.traffic.from_capture("x", key=3), "key"),
    ],
)
def test_arguments_of_another_type_are_refused_by_name(call, name, handlers, packets):
    with pytest.raises(nk.WrongType) as caught:
        call(handlers, packets)
    assert caught.value.name == name
    assert caught.value.wanted
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, nk.InvalidArgument)


def test_keys_may_be_any_whole_numbers():
    expected = HandlerSet.from_keys(np.array([5, 9], dtype=np.uint16)).keys
    wide = np.array([5, 0, 9], dtype=np.int64)[::2]
    for same in ([5, 9], (5, 9), wide, np.array([5, 9], dtype=">u4"), range(5, 10, 4)):
        assert np.array_equal(HandlerSet.from_keys(same).keys, expected)


@pytest.mark.parametrize(
    ("keys", "seen"),
    [
        (np.array([1.0]), "float64"),
        (np.array([[1]]), "2 dimensions"),
        (np.array(1), "0 dimensions"),
        (np.array(["a"]), "U1"),
    ],
)
def test_wrong_arrays_of_keys_say_what_was_given(keys, seen):
    with pytest.raises(nk.WrongArray) as caught:
        HandlerSet.from_keys(keys)
    assert seen in caught.value.given


@pytest.mark.parametrize(
    "call",
    [
        lambda h, p: nk.dispatch.scan(h)(np.ma.array(p, mask=[True] * len(p))),
        lambda h, p: HandlerSet.from_packets(np.ma.array(p), 3),
        lambda h, p: nk.race([nk.dispatch.scan(h)] * 2, np.ma.array(p)),
        lambda h, p: nk.dispatch.frequency_order(h, np.ma.array(p)),
        lambda h, p: HandlerSet.from_keys(np.ma.array([1, 2], mask=[0, 1])),
        lambda h, p: h.reordered(np.ma.arange(20)) and nk.dispatch.scan_ordered(h, np.ma.arange(20)),
        lambda h, p: nk.traffic.uniform(10, np.ma.array([1, 2])),
        lambda h, p: nk.traffic.from_weights(10, h, np.ma.ones(20)),
        lambda h, p: nk.run("dispatch.selection", handlers=np.ma.array([10, 25])),
    ],
)
def test_masks_arent_ignored(call, handlers, packets):
    with pytest.raises(nk.WrongArray, match="masked"):
        call(handlers, packets)


def test_other_subclasses_of_arrays_are_fine(handlers, packets, tmp_path):
    mapped = np.memmap(tmp_path / "packets", dtype=packets.dtype, mode="w+", shape=packets.shape)
    mapped[:] = packets
    assert nk.dispatch.scan(handlers)(mapped).checksum == nk.dispatch.scan(handlers)(packets).checksum


@pytest.mark.parametrize(
    "kept",
    [
        HandlerSet(100, body="tiny").reordered(list(range(99, -1, -1))),
        HandlerSet.from_keys(
            [5, 6, 7, 8], [Residual.none(), Residual.mask(0, 3, 1), Residual.range(1, 2, 9), Residual.flow(2**63)]
        ),
    ],
)
def test_sets_survive_pickle(kept):
    again = pickle.loads(pickle.dumps(kept))
    assert np.array_equal(again.keys, kept.keys)
    assert np.array_equal(again.order, kept.order)
    assert again.residuals == kept.residuals
    assert again.body == kept.body
    packets = nk.traffic.uniform(500, kept)
    assert nk.dispatch.scan(again)(packets).checksum == nk.dispatch.scan(kept)(packets).checksum


@pytest.mark.parametrize("count", [1, 524_287, 524_288, 524_289, 1_100_000])
def test_pieces_of_a_copy_keep_every_packet_in_order(count, handlers):
    packets = nk.traffic.uniform(count, handlers)
    ran = nk.dispatch.table_compact(handlers)(packets).handlers
    keys = np.append(handlers.keys, 0)[np.where(ran == nk.dispatch.UNSUPPORTED, len(handlers), ran)]
    matched = ran != nk.dispatch.UNSUPPORTED
    assert len(ran) == count
    assert np.array_equal(keys[matched], packets["protocol"][matched])
