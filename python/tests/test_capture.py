"""Captures: written here byte by byte, read by the core, replayed by the main job."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest

import nanokata as nk

PORTS = {53: 60, 443: 30, 9999: 10}


def frame(port: int, payload: bytes) -> bytes:
    udp = struct.pack(">HHHH", 40_000, port, 8 + len(payload), 0) + payload
    ip = struct.pack(
        ">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
    )
    return bytes(12) + b"\x08\x00" + ip + udp


@pytest.fixture
def capture(tmp_path):
    path = tmp_path / "udp.pcap"
    records = [frame(port, bytes(range(32))) for port, count in PORTS.items() for _ in range(count)]
    # Address resolution has neither protocol nor port.
    records.append(bytes(12) + b"\x08\x06" + bytes(28))
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
    path.write_bytes(header + b"".join(struct.pack("<IIII", 1, 0, len(r), len(r)) + r for r in records))
    return path


def test_keys_payloads_and_what_was_left_out(capture):
    found = nk.traffic.from_capture(capture, key="destination_port")
    assert (found.frames, found.skipped, found.cut_payloads, found.cut_frames) == (101, 1, 100, 0)
    ports, counts = np.unique(found.packets["protocol"], return_counts=True)
    assert dict(zip(ports.tolist(), counts.tolist(), strict=True)) == PORTS
    assert found.packets["payload"][0].tolist() == list(range(24))
    assert set(nk.traffic.from_capture(capture).packets["protocol"].tolist()) == {17}
    assert repr(found) == "<Capture: 101 frames, 100 packets, 1 without such a key, 100 payloads cut>"


def test_the_most_frequent_keys_are_claimed_and_the_rest_is_unmatched(capture):
    packets = nk.traffic.from_capture(capture, key="destination_port").packets
    two = nk.dispatch.HandlerSet.from_packets(packets, 2)
    assert sorted(two.keys) == [53, 443]
    ran = nk.dispatch.table_compact(two)(packets).handlers
    assert (ran == nk.dispatch.UNSUPPORTED).sum() == PORTS[9999]


def test_the_main_job_replays_it(capture):
    result = nk.run(
        "dispatch.selection",
        traffic=str(capture),
        key="destination_port",
        handlers=[10],
        body=["tiny"],
        pool=2000,
        quick=True,
        companions=False,
    )
    cell = result.cells[0]
    check = next(check for check in cell.checks if check.name == "capture")
    assert check.outcome == "held"
    assert "101 frames, 1 without a key, 100 with payload beyond 24 bytes; 3 keys seen, 10 handlers" in check.detail
    assert "repeated to fill the pool" in check.detail
    scan = next(arm for arm in cell.arms if arm.arm == "scan")
    assert scan.probes.expected is None
    assert 1 <= scan.probes.mean <= 10


def test_a_truncated_capture_is_refused_by_the_main_job(capture):
    capture.write_bytes(capture.read_bytes()[:-5])
    with pytest.raises(nk.CaptureError, match="truncated"):
        nk.run("dispatch.selection", traffic=str(capture), handlers=[10], body=["tiny"], quick=True)


def test_paths_may_be_bytes_and_any_the_system_has(capture, tmp_path):
    expected = nk.traffic.from_capture(capture).packets.tobytes()
    assert nk.traffic.from_capture(os.fsencode(capture)).packets.tobytes() == expected
    odd = os.fsencode(tmp_path) + b"/\xff\xfe.pcap"
    Path(os.fsdecode(odd)).write_bytes(capture.read_bytes())
    for path in (odd, os.fsdecode(odd)):
        assert nk.traffic.from_capture(path).packets.tobytes() == expected
