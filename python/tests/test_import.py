from __future__ import annotations

import json
import subprocess
import sys

import pytest

import nanokata

HEAVY = ["rich", "click", "matplotlib", "pandas", "sqlite3", "platformdirs", "scipy"]


def loaded_by(code):
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_loads_nothing_heavy():
    extra = loaded_by("import nanokata") - loaded_by("")
    assert not extra & {*HEAVY, "numpy", "nanokata._core"}
    assert {name.partition(".")[0] for name in extra} <= {"nanokata"} | sys.stdlib_module_names


def test_measuring_loads_no_plotting_or_tables():
    loaded = loaded_by(
        "import nanokata as nk\n"
        "h = nk.dispatch.HandlerSet(5, body='tiny'); nk.dispatch.scan(h)(nk.traffic.uniform(100, h))"
    )
    assert not loaded & set(HEAVY)
    assert "numpy" in loaded


def test_the_command_lines_help_loads_no_plotting_and_no_core():
    loaded = loaded_by(
        "from nanokata.cli.commands import nanokata\ntry: nanokata(['run', '--help'])\nexcept SystemExit: pass"
    )
    assert not loaded & {"matplotlib", "pandas", "nanokata._core"}


@pytest.mark.parametrize("name", sorted(nanokata.__all__))
def test_every_public_name_is_there_and_documented(name):
    value = getattr(nanokata, name)
    assert name in dir(nanokata)
    if name != "__version__":
        assert value.__doc__


def test_a_name_that_isnt_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'ledgr'"):
        nanokata.ledgr  # noqa: B018
