from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nanokata as nk
from nanokata.traffic import PACKET

keys = st.lists(st.integers(0, 65535).filter(lambda key: not 4096 <= key <= 4351), min_size=1, max_size=50)


def test_the_dtype_is_the_packets_layout():
    assert PACKET.itemsize == 32
    assert PACKET.isalignedstruct
    assert {name: PACKET.fields[name][1] for name in PACKET.names} == {
        "protocol": 0, "length": 2, "flow": 4, "payload": 8,
    }  # fmt: skip


def test_arrays_are_handed_over_without_a_copy(handlers):
    drawn = nk.traffic.uniform(1000, handlers)
    assert drawn.dtype == PACKET
    assert drawn.flags.writeable
    assert drawn.flags.c_contiguous
    # The memory belongs to the vector that the generator filled, not to numpy.
    assert not drawn.flags.owndata
    assert drawn.base is not None


@settings(max_examples=30)
@given(keys, st.integers(1, 500), st.integers(0, 2**64 - 1), st.floats(0, 1))
def test_the_same_arguments_give_the_same_bytes(keys, packets, seed, unmatched):
    first, second = (nk.traffic.zipf(packets, keys, seed=seed, unmatched=unmatched) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    claimed = np.isin(first["protocol"], keys)
    assert np.all(claimed | ((first["protocol"] >= 4096) & (first["protocol"] <= 4351)))


def test_another_seed_gives_other_bytes(handlers):
    assert nk.traffic.uniform(100, handlers, seed=1).tobytes() != nk.traffic.uniform(100, handlers, seed=2).tobytes()


def test_a_seed_of_the_permutation_moves_who_is_busy(handlers):
    busiest = {
        int(np.bincount(nk.traffic.zipf(2000, handlers, exponent=3, permutation_seed=seed)["protocol"]).argmax())
        for seed in range(8)
    }
    assert len(busiest) > 1


def test_without_a_shuffle_the_first_handler_is_the_busiest(handlers):
    drawn = nk.traffic.zipf(2000, handlers, exponent=3, shuffle=False)
    assert np.bincount(drawn["protocol"]).argmax() == handlers.keys[handlers.order[0]]


def test_keys_may_be_any_whole_numbers(handlers):
    by_set = nk.traffic.uniform(100, handlers)
    for same in (handlers.keys, handlers.keys.tolist(), tuple(handlers.keys.astype(np.int64).tolist())):
        assert nk.traffic.uniform(100, same).tobytes() == by_set.tobytes()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda h: nk.traffic.uniform(0, h), "packets"),
        (lambda h: nk.traffic.uniform(-1, h), "packets"),
        (lambda h: nk.traffic.uniform(10, []), "keys"),
        (lambda h: nk.traffic.uniform(10, [70000]), "key"),
        (lambda h: nk.traffic.uniform(10, [-1]), "key"),
        (lambda h: nk.traffic.uniform(10, [1.5]), "handlers"),
        (lambda h: nk.traffic.uniform(10, [[1, 2]]), "handlers"),
        (lambda h: nk.traffic.uniform(10, h, unmatched=1.5), "unmatched"),
        (lambda h: nk.traffic.uniform(10, h, unmatched=float("nan")), "unmatched"),
        (lambda h: nk.traffic.uniform(10, h, seed=-1), "seed"),
        (lambda h: nk.traffic.uniform(10, h, seed=2**64), "seed"),
        (lambda h: nk.traffic.uniform(10, h, cpu=-1), "cpu"),
        (lambda h: nk.traffic.zipf(10, h, exponent=float("nan")), "exponent"),
        (lambda h: nk.traffic.zipf(10, h, exponent=-1.0), "exponent"),
        (lambda h: nk.traffic.zipf(10, h, exponent=float("inf")), "exponent"),
        (lambda h: nk.traffic.hot(10, h, handler=99), "handler"),
        (lambda h: nk.traffic.periodic(10, h, period=0), "period"),
        (lambda h: nk.traffic.skewed(10, h, share=2.0), "share"),
        (lambda h: nk.traffic.from_weights(10, h, []), "weights"),
        (lambda h: nk.traffic.from_weights(10, h, [0.0] * 20), "weights"),
        (lambda h: nk.traffic.from_weights(10, h, [-1.0] * 20), "weights"),
        (lambda h: nk.traffic.from_weights(10, h, [float("nan")] * 20), "weights"),
        (lambda h: nk.traffic.from_weights(10, h, ["a"] * 20), "weights"),
    ],
)
def test_what_cant_be_drawn_is_refused_by_name(call, name, handlers):
    with pytest.raises(nk.InvalidArgument) as caught:
        call(handlers)
    assert caught.value.name.startswith(name)
    assert caught.value.wanted
    assert isinstance(caught.value, ValueError)


def test_more_packets_than_memory_are_refused_before_they_are_drawn(handlers):
    with pytest.raises(nk.OutOfMemory) as caught:
        nk.traffic.uniform(2**40, handlers)
    assert caught.value.needed_bytes == 2**45
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize("content", [b"", b"no capture at all", b"\xd4\xc3\xb2\xa1\x02\x00"])
def test_a_file_that_is_no_capture_is_refused(content, tmp_path):
    (tmp_path / "file.pcap").write_bytes(content)
    with pytest.raises(nk.CaptureError, match=r"file\.pcap"):
        nk.traffic.from_capture(tmp_path / "file.pcap")


def test_a_capture_that_isnt_there_is_refused(tmp_path):
    with pytest.raises(nk.CaptureError, match="nowhere"):
        nk.traffic.from_capture(tmp_path / "nowhere.pcap")


@pytest.mark.parametrize(
    ("options", "name"),
    [({"key": "colour"}, "key"), ({"key": "bytes"}, "offset"), ({"offset": 3}, "offset"), ({"mask": 1 << 17}, "mask")],
)
def test_unusable_key_rules_are_refused(options, name, tmp_path):
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.traffic.from_capture(tmp_path / "x", **options)
    assert caught.value.name == name


@pytest.mark.parametrize("rule", ["ip_protocol", "destination_port"])
def test_a_mask_without_bytes_is_refused(rule, tmp_path):
    with pytest.raises(nk.InvalidArgument, match="leave it out") as caught:
        nk.traffic.from_capture(tmp_path / "x", key=rule, mask=0xFFFF)
    assert caught.value.name == "mask"


@pytest.mark.parametrize("path", ["\ud800.pcap", "nul\0.pcap"])
def test_paths_that_no_system_can_write_down_are_refused(path):
    with pytest.raises(nk.InvalidArgument) as caught:
        nk.traffic.from_capture(path)
    assert caught.value.name == "path"
    caught.value.value.encode()


@pytest.mark.parametrize("traffic", [f"{chr(half)}.pcap" for half in (0xD800, 0xDCFF)])
def test_a_file_name_that_isnt_utf8_is_refused_by_a_run(traffic):
    with pytest.raises(nk.InvalidArgument, match="UTF-8") as caught:
        nk.run("dispatch.selection", traffic=traffic)
    assert caught.value.name == "traffic"
