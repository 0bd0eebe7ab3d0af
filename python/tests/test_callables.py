"""Every arm, generator and probe: on a thread of its own, GIL released, pinned if asked, and it says where."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from watching import beside

import nanokata as nk

ARMS = [*nk.dispatch.SELECTIONS, *nk.dispatch.MECHANISMS, *nk.dispatch.PROPOSALS, nk.dispatch.null]
KNOWN = nk.dispatch.HandlerSet(25, body="tiny")
"""As many handlers as every arm takes: some were compiled for certain numbers only."""
GENERATORS = {
    "uniform": {},
    "zipf": {"exponent": 1.1},
    "skewed": {"share": 0.95, "top": 2},
    "hot": {"handler": 3},
    "worst": {},
    "periodic": {"period": 4},
    "from_weights": {"weights": np.arange(1.0, 21.0)},
}
MANY = 2_000_000


@pytest.fixture(scope="module")
def many():
    return nk.traffic.uniform(MANY, KNOWN, seed=3)


@pytest.mark.parametrize("make", ARMS, ids=lambda make: make.__name__)
def test_an_arm_leaves_python_running(make, many, allowed):
    arm = make(KNOWN)
    done, meanwhile = beside(lambda: arm(many, cpu=allowed[-1]))
    assert meanwhile.ticks_inside > 0
    assert done.ran.requested == allowed[-1]
    assert done.ran.pinned
    assert done.ran.start_cpu == done.ran.end_cpu == allowed[-1]


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_leaves_python_running(name, handlers, allowed):
    generator = getattr(nk.traffic, name)
    drawn, meanwhile = beside(lambda: generator(MANY, handlers, **GENERATORS[name], cpu=allowed[-1]))
    assert drawn.shape == (MANY,)
    assert meanwhile.ticks_inside > 0
    ran = nk.traffic.last_ran()
    assert (ran.requested, ran.start_cpu, ran.end_cpu, ran.pinned) == (allowed[-1],) * 3 + (True,)


@pytest.mark.parametrize("mode", ["writer_reader", "both_add"])
def test_a_probe_leaves_python_running(mode, allowed):
    if len(allowed) < 2:
        pytest.skip("two threads want two CPUs")
    cpus = (allowed[-1], allowed[0])
    done, meanwhile = beside(lambda: nk.sharing.line(4, 5_000_000, mode=mode, cpus=cpus))
    assert meanwhile.ticks_inside > 0
    assert (done.ran.start_cpu, done.ran.end_cpu, done.other_cpu) == (cpus[0], cpus[0], cpus[1])
    assert done.other_steps > 0


def test_the_watcher_notices_a_held_gil():
    """The check itself, broken on purpose: pure Python that never lets go long enough."""
    import ctypes

    # PyDLL calls keep the GIL: nobody else runs while this sleeps.
    sleep = ctypes.PyDLL(None).usleep
    _, meanwhile = beside(lambda: sleep(200_000))
    assert meanwhile.ticks_inside == 0
    _, meanwhile = beside(lambda: time.sleep(0.2))
    assert meanwhile.ticks_inside > 0


def test_without_a_cpu_it_says_where_it_ran_all_the_same(handlers, packets, allowed):
    ran = nk.dispatch.scan(handlers)(packets).ran
    assert ran.requested is None
    assert not ran.pinned
    assert ran.start_cpu in allowed


@pytest.mark.parametrize("cpu", [4096, 2**31 - 1])
def test_a_cpu_that_isnt_there_is_refused(cpu, handlers, packets):
    for call in (
        lambda: nk.dispatch.scan(handlers)(packets, cpu=cpu),
        lambda: nk.traffic.uniform(10, handlers, cpu=cpu),
        lambda: nk.sharing.line(4, 100, cpus=(cpu, 0)),
        lambda: nk.race([nk.dispatch.scan(handlers), nk.dispatch.hash_map(handlers)], packets, cpu=cpu),
    ):
        with pytest.raises(nk.PinningError, match=str(cpu)) as caught:
            call()
        assert isinstance(caught.value, OSError)


def test_progress_is_called_and_its_exception_ends_the_job(handlers, packets):
    arms = [nk.dispatch.scan(handlers), nk.dispatch.table_compact(handlers)]
    seen = []
    nk.race(arms, packets, quick=True, progress=lambda doing, fraction: seen.append((doing, fraction)))
    assert seen
    assert all(0 <= fraction <= 1 for _, fraction in seen)

    def stop(doing, fraction):
        raise RuntimeError("enough")

    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        nk.race(arms, packets, seconds=60, precision=1e-9, progress=stop)
    assert time.monotonic() - begun < 30


def copied_and_refused(handlers, packets):
    """Copies the packets, and refuses before anything else is done with them."""
    arms = [nk.dispatch.scan(handlers), nk.dispatch.hash_map(handlers)]
    with pytest.raises(nk.InvalidArgument, match="nonsense"):
        nk.race(arms, packets, order="nonsense")


def test_a_copy_of_packets_leaves_python_running(handlers):
    packets = np.zeros(8_000_000, dtype=nk.traffic.PACKET)
    _, meanwhile = beside(lambda: copied_and_refused(handlers, packets))
    assert meanwhile.ticks_inside > 0


def test_a_copy_of_packets_hears_a_signal(handlers):
    packets = np.zeros(8_000_000, dtype=nk.traffic.PACKET)

    class Heard(Exception):
        pass

    def raise_heard(*_):
        raise Heard

    before = signal.signal(signal.SIGALRM, raise_heard)
    try:
        with pytest.raises(Heard):
            # Well within the copy of 256 MB; again for a machine that copies faster than it sleeps.
            for _ in range(1000):
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                try:
                    copied_and_refused(handlers, packets)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_taking_handlers_from_packets_leaves_python_running(handlers, many):
    repeated = np.tile(many, 4)
    made, meanwhile = beside(lambda: nk.dispatch.HandlerSet.from_packets(repeated, 10))
    assert len(made) == 10
    assert meanwhile.ticks_inside > 0


@pytest.mark.parametrize("cpus", [(0, 4095), (4095, 0)])
def test_a_probes_cpu_that_isnt_there_is_refused(cpus):
    with pytest.raises(nk.PinningError, match="4095"):
        nk.sharing.line(64, cpus=cpus)
