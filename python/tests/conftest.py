from __future__ import annotations

import os

import pytest
from hostile_kinds import BENIGN, build_all
from hypothesis import settings

import nanokata as nk

# How long an example takes is the machine's business, no property of what it tests.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """No test reads or writes the user's own store, and colours come only where a test asks for them."""
    monkeypatch.setenv("NANOKATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture(scope="session")
def handlers():
    return nk.dispatch.HandlerSet(20, body="tiny")


@pytest.fixture(scope="session")
def packets(handlers):
    return nk.traffic.zipf(4096, handlers, seed=7)


@pytest.fixture(scope="session")
def allowed():
    return sorted(os.sched_getaffinity(0))


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """Plugins that don't keep their word, and some that do, by name; see hostile_kinds."""
    return build_all(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="session")
def honest(libraries):
    return libraries[BENIGN[0].name]
