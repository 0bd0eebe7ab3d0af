"""What the Python face costs: importing it, and calling it. Prints medians; asserts nothing.

Run in an environment that has nanokata installed: ``python benches/face.py``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
CALLS = 300


def import_seconds(module: str) -> float:
    """Return the median time that a fresh interpreter takes to import `module`, start-up left out."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(RUNS)]
    return statistics.median(float(run.stdout) for run in runs)


def microseconds(call: object) -> float:
    """Return the median time of one call."""
    times = []
    for _ in range(CALLS):
        start = time.perf_counter_ns()
        call()  # type: ignore[operator]
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1e3


def main() -> None:
    """Print the table."""
    numpy_alone, with_face = import_seconds("numpy"), import_seconds("numpy, nanokata")
    print(f"import numpy            {1e3 * numpy_alone:8.1f} ms")
    print(f"import nanokata beyond  {1e3 * (with_face - numpy_alone):8.1f} ms")

    import nanokata as nk

    handlers = nk.dispatch.HandlerSet(10)
    one = nk.traffic.uniform(1, handlers)
    scan = nk.dispatch.scan(handlers)
    print(f"generator, 1 packet     {microseconds(lambda: nk.traffic.uniform(1, handlers)):8.1f} µs a call")
    print(f"arm, 1 packet           {microseconds(lambda: scan(one)):8.1f} µs a call")
    print(f"arm, 1 packet, pinned   {microseconds(lambda: scan(one, cpu=0)):8.1f} µs a call")


if __name__ == "__main__":
    main()
