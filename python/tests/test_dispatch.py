from __future__ import annotations

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


@settings(max_examples=20, deadline=None)
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
