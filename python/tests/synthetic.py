"""Documents like the core's, with whatever figures a test wants. Serialised as src/race/report.rs declares them."""

from __future__ import annotations

from typing import Any

SELECTION_ARMS = (
    "scan",
    "scan_keys",
    "scan_ordered",
    "scan_transpose",
    "scan_move_to_front",
    "table_direct16",
    "table_compact",
    "hash_map",
)
# Slopes and offsets in ns a packet that resemble what such a machine shows.
SHAPES = {
    "scan": (5.5, 15.0),
    "scan_keys": (0.8, 45.0),
    "scan_ordered": (5.4, 14.0),
    "scan_transpose": (5.6, 16.0),
    "scan_move_to_front": (6.0, 20.0),
    "table_direct16": (0.12, 66.0),
    "table_compact": (0.1, 61.0),
    "hash_map": (0.14, 70.0),
}
EXPECTED_PROBES = {10: 5.74, 25: 13.95, 50: 27.18, 100: 52.18}


def verdict_of(low: float, high: float, margin: float) -> str:
    if high < 1 - margin:
        return "faster"
    if low > 1 + margin:
        return "slower"
    return "same" if low >= 1 - margin and high <= 1 + margin else "not resolved"


def words_of(verdict: str, ratio: float, against: str) -> str:
    match verdict:
        case "faster":
            return f"{1 / ratio:.2f}× faster than {against}"
        case "slower":
            return f"{ratio:.2f}× slower than {against}"
        case "same":
            return f"same as {against}"
        case _:
            return f"not resolved against {against}"


def arm(
    name: str,
    cost: float,
    *,
    baseline: float | None = None,
    against: str = "",
    role: str = "arm",
    half: float = 0.002,
    margin: float = 0.005,
    probes: float | None = None,
    **changes: Any,
) -> dict[str, Any]:
    ratio = None if baseline is None else cost / baseline
    low, high = (None, None) if ratio is None else (ratio * (1 - half), ratio * (1 + half))
    verdict = None if ratio is None else verdict_of(low, high, margin)
    return {
        "arm": name,
        "role": "baseline" if ratio is None else role,
        "against": against or name,
        "median": cost,
        "low": cost * 0.99,
        "high": cost * 1.01,
        "min": cost * 0.97,
        "cycles": cost * 3.7,
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "verdict": verdict,
        "words": "baseline" if ratio is None else words_of(verdict, ratio, against),
        "probes": None
        if probes is None
        else {
            "mean": probes,
            "expected": probes + 0.02,
            "p50": int(probes),
            "p99": int(2 * probes),
            "max": 100,
        },
        "footprint_bytes": 24576,
        "cold_ratio": 1.3,
        "reps": 320,
        "checksum": "0x00c0ffee00c0ffee",
        "code_layouts": 8,
        "ceiling": None,
        "flags": [],
        "blocks": [cost] * 40,
        "log_ratios": [0.0] * 40,
        "counters": [],
        **changes,
    }


def cell(
    arms: list[dict[str, Any]],
    parameters: dict[str, Any],
    *,
    unit: str = "ns/packet",
    checks: list[dict[str, Any]] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    return {
        "parameters": parameters,
        "unit": unit,
        "arms": arms,
        "checks": checks or [],
        "status": "held",
        "reason": None,
        "helper_cpus": [],
        "level": 0.9929,
        "margin": 0.005,
        "median_level": 0.95,
        "resolvable_margin": 0.005,
        "half_width": 0.002,
        "blocks": 40,
        "operations_per_rep": 4096,
        "pool_bytes": 524288,
        "ended": "precision",
        "seconds": 2.1,
        "cpu": 1,
        "disturbances": {
            "rounds_redone": 3,
            "rounds_dropped": 0,
            "involuntary_switches": 2,
            "migrations": 0,
            "page_faults": 1,
            "waited_ns": 12000,
            "stolen_ns": 0,
            "ghz": [3.61, 3.70, 3.72],
        },
        "seed": 7,
        **changes,
    }


def check(name: str, outcome: str = "held", detail: str = "as it should be") -> dict[str, Any]:
    return {"name": name, "outcome": outcome, "detail": detail}


def contrast(name: str, what: str, value: float, half: float = 0.5, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "what": what,
        "value": value,
        "low": value - half,
        "high": value + half,
        "unit": "ns/packet",
        "level": 0.95,
        **changes,
    }


def report(experiment: str, cells: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    return {
        "experiment": experiment,
        "title": f"Title of {experiment}",
        "cells": cells,
        "checks": [],
        "contrasts": [],
        "companions": [],
        "started": 1_760_000_000.25,
        "seconds": 31.0,
        "seed": 7,
        **changes,
    }


def rate(hits: int, trials: int = 10) -> dict[str, Any]:
    share = hits / trials
    return {"hits": hits, "trials": trials, "rate": share, "low": 0.9 * share, "high": min(1.0, share + 0.1)}


def again(ratio: float, half: float = 0.0004) -> dict[str, float]:
    return {"again_ratio": ratio, "again_low": ratio - half, "again_high": ratio + half}


def doctor(*, false_verdicts: int = 0, found: int = 10, **changes: Any) -> dict[str, Any]:
    bodies = [
        {
            "body": body, "raw_exclusion_rate": rate(1), "false_verdict_rate": rate(false_verdicts),
            "detection_rate_1": rate(found), "detection_rate_2": rate(found), "half_width": 0.0009,
            "cost_of_1": 1.0098, "cost_of_2": 1.0201, "blocks": 120.0, "ns_per_packet": 51.0,
        }
        for body in ("fat", "tiny")
    ]  # fmt: skip
    return {
        "trials": 10, "method": "trials", "trial_seconds": 2.0, "margin": 0.005, "bodies": bodies,
        "false_verdict_rate": false_verdicts / 10, "detection_rate": found / 10, "half_width": 0.0009,
        "tick_ns": 10.0, "clock_read_ns": 22.0, "floor_ns": 2.8, "floor_low_ns": 2.7, "floor_high_ns": 2.9,
        "ghz": [3.6, 3.7, 3.7], "cpu": 1, "priority": "not raised: EACCES",
        "counters": [
            {"name": "cycles", "kind": "hardware", "available": False, "reason": "ENOENT: no hardware PMU"},
            {"name": "page_faults", "kind": "software", "available": True, "reason": None},
        ],
        "checks": [check("tick"), check("quiet", "failed", "3 rounds")], "status": "held",
        "machine": {"id": "zen4-2c-0badcafe"}, **changes,
    }  # fmt: skip


def document(inner: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "report": inner,
        "machine": {"id": "zen4-2c-0badcafe", "cpu": "AMD EPYC", "l2_bytes": 1048576},
        "instrument": {"tick_ns": 10.0, "floor_ns": 2.8},
        "doctor": doctor(),
        "version": "0.1.0",
        "units": {"bytes": "bytes", "stride_bytes": "bytes", "pool": "packets"},
        **changes,
    }


def selection_cell(handlers: int, body: str = "fat", scale: float = 1.0, **changes: Any) -> dict[str, Any]:
    baseline = SHAPES["scan"][0] * handlers * scale + SHAPES["scan"][1]
    arms = []
    for name in SELECTION_ARMS:
        slope, offset = SHAPES[name]
        cost = slope * handlers * scale + offset * (1.0 if body == "fat" else 0.3)
        probes = EXPECTED_PROBES.get(handlers, 1.0) if name.startswith("scan") else 1.1
        arms.append(
            arm(
                name,
                cost,
                baseline=None if name == "scan" else baseline,
                probes=probes,
                against="" if name == "scan" else "scan",
            )
        )
    control = arm(
        "table_compact_again",
        arms[6]["median"],
        baseline=arms[6]["median"],
        role="control",
        against="table_compact",
        probes=1.1,
    )
    parameters = {"handlers": handlers, "body": body, "traffic": "uniform", "pool": 16384}
    changes.setdefault("checks", [check("bodies-distinct"), check("pool-fits-l2")])
    return cell([*arms, control], parameters, **changes)


def selection(**changes: Any) -> dict[str, Any]:
    sizes = (10, 25, 50, 100)
    cells = [*(selection_cell(n) for n in sizes), *(selection_cell(n, "tiny", 0.8) for n in sizes)]
    calling = report(
        "dispatch.mechanism",
        [
            cell(
                [arm("direct", 12.0), arm("dyn_trait", cost, baseline=12.0, against="direct")],
                {"handlers": 100, "body": "tiny", "traffic": law},
            )
            for law, cost in (("hot", 12.9), ("uniform", 19.4))
        ],
    )
    follows = [
        contrast("slope-fat", "climb of table_compact from 10 to 100 handlers, fat bodies", 9.0),
        contrast("finding", "finding the handler: scan less table_compact, at 100", 500.1),
        contrast("calling", "calling it: dyn less direct, at 100", 2.5),
    ]
    main = report(
        "dispatch.selection",
        cells,
        companions=[calling],
        contrasts=follows,
        checks=[check("monotonic:handlers:table_compact")],
    )
    main["title"] = "What does finding the handler cost?"
    return document({**main, **changes})


def levels() -> dict[str, Any]:
    cells = []
    for power in range(12, 27):
        size = 2**power
        cost = 1.1 if size <= 32768 else 3.4 if size <= 2**20 else 12.0 if size <= 2**25 else 80.0
        cells.append(
            cell(
                [
                    arm(
                        "chase",
                        cost,
                    ),
                    arm("again", cost, baseline=cost, against="chase", role="control"),
                ],
                {"bytes": size, "stride_bytes": 64},
                unit="ns/load",
            )
        )
    return document(report("cache.levels", cells))


def answer(text: str, value: float, half: float = 0.5, **changes: Any) -> dict[str, Any]:
    return {
        "text": text, "value": value, "low": value - half, "high": value + half, "unit": "ns/packet", "level": 0.95,
        **changes,
    }  # fmt: skip


def trap(*, name: str = "coarse_clock", **changes: Any) -> dict[str, Any]:
    """A trap that was caught and bites, unless the changes say otherwise."""
    shown = {
        "check": "tick",
        "wrong": answer("the table costs 0.00 ns a packet", 0.0, 0.0),
        "wrong_detail": "shortest rep 0.0 µs, 0 ticks of 1000000 ns",
        "fires": "held",
        "right": answer("the table costs 13.50 ns a packet", 13.5, 0.2),
        "right_detail": "shortest rep 63.3 µs, 3167 ticks of 20 ns",
        "holds": "held",
        "bite": "yes",
        "cause": "a rep is shorter than a tick",
        **changes,
    }
    checks = [
        check("trap-fires", shown["fires"], f"{shown['check']}: {shown['wrong_detail']}"),
        check("trap-right-holds", shown["holds"], f"{shown['check']}: {shown['right_detail']}"),
    ]
    arms = [("wrong", 0.01), ("injected", 3.0), ("right", 13.5)]
    cells = []
    for configuration, cost in arms if shown["bite"] == "injected" else [arms[0], arms[2]]:
        again = arm("table_again", cost, baseline=cost, against="table", role="control")
        raced = cell([arm("table", cost), again], {"configuration": configuration, "handlers": 100, "pool": 16384})
        if configuration != "right":
            fired = [check("tick", "fired", shown["wrong_detail"])]
            raced.update(faulty=True, status="no_verdict", reason=f"tick: {shown['wrong_detail']}", checks=fired)
        cells.append(raced)
    return document(report(f"traps.{name}", cells, checks=checks, trap=shown))
