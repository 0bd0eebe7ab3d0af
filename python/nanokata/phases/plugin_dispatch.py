"""The plugin-dispatch kata's phases, as data.

A phase more is an entry more in `PHASES`: its number, its question, its experiments. Bounds are chosen so that all
phases together stay under 90 s, and under 30 s with ``quick``; a test adds them up.
"""

from __future__ import annotations

from . import code_size, crossing, instrument, invariants, verdict
from .plan import Job, Kata, Phase

LIMIT_SECONDS, QUICK_LIMIT_SECONDS = 90.0, 30.0
"""How long all phases together may take."""

PHASES = (
    Phase(
        number=0,
        title="The instrument",
        question="Can this machine, with this build, tell equal from unequal, and from which difference on?",
        examine=instrument.examine,
        seconds=(instrument.expected_seconds(quick=False), instrument.expected_seconds(quick=True)),
    ),
    Phase(
        number=1,
        title="Invariants",
        question="Does every way of dispatching do the same work, and would a wrong one be noticed?",
        examine=invariants.examine,
        seconds=(1.5, 1.0),
    ),
    Phase(
        number=2,
        title="The scan, costed",
        question="How much of the budget does finding the handler take as the list grows?",
        jobs=(
            Job(
                "dispatch.selection",
                {"handlers": [10, 25, 50, 100], "body": ["fat", "tiny"]},
                seconds=1.6,
                quick={"handlers": [10, 100], "body": ["fat"]},
                quick_seconds=0.8,
            ),
        ),
    ),
    Phase(
        number=3,
        title="Mechanisms",
        question="What does calling the handler cost, once it is found, and which proposal changes that?",
        jobs=(
            Job("dispatch.mechanism", seconds=2.0, quick={"body": ["tiny"]}, quick_seconds=0.7),
            Job(
                "dispatch.proposals",
                {"handlers": [10, 100]},
                seconds=1.5,
                quick={"handlers": [100]},
                quick_seconds=0.7,
            ),
        ),
    ),
    Phase(
        number=4,
        title="The instruction cache",
        question="Does spreading the calls cost code fetch, targets, or both?",
        jobs=(Job("dispatch.icache", seconds=0.7, quick_seconds=0.2, companions=True),),
    ),
    Phase(
        number=5,
        title="Distributions and tails",
        question="What does sorting the list capture, and what does only the table bound?",
        jobs=(
            Job(
                "dispatch.distribution",
                seconds=0.45,
                quick={"traffic": ["skewed"], "permutations": 6},
                quick_seconds=0.25,
            ),
            Job(
                "dispatch.residual",
                {"residual_share": [0.0, 0.1, 0.5, 1.0], "list_length": [4, 100]},
                seconds=0.6,
                quick={"residual_share": [0.1, 1.0], "list_length": [4]},
                quick_seconds=0.3,
            ),
            Job("dispatch.tail", seconds=2.0, quick_seconds=0.4),
        ),
    ),
    Phase(
        number=6,
        title="Code size",
        question="How much code is each mechanism, and how many handlers fit the instruction cache?",
        examine=code_size.examine,
        seconds=(0.5, 0.5),
    ),
    Phase(
        number=7,
        title="Crossing",
        question="What does a packet pay for crossing to a plugin, and what do batches win back?",
        jobs=(
            Job("plugin.crossing", {"traffic": ["hot"]}, seconds=2.5, quick_seconds=0.8),
            Job(
                "plugin.boundaries",
                {"boundary": ["plugin", "system_call", "pipe", "python_callback"]},
                seconds=1.4,
                quick={"boundary": ["plugin", "system_call", "pipe"]},
                quick_seconds=0.6,
            ),
        ),
    ),
)

PLUGIN_DISPATCH = Kata(
    name="plugin-dispatch",
    title="A hundred packet handlers: what finding one costs, what calling it costs, and what to do about it",
    phases=PHASES,
    verdict=(verdict.finding_and_calling, verdict.mechanisms, verdict.sorting_and_bound, crossing.crossing),
)
