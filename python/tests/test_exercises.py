"""Exercises: every starter fails and every solution passes; what crashes or hangs is an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import nanokata as nk
from nanokata.cli import endings
from nanokata.cli.commands import nanokata as command

Run = Callable[..., tuple[int, str, str]]

EVERY = [(one.id, language) for one in nk.exercises.exercises() for language in one.languages]
FAILS_FIRST = {
    "order": "overlapping handlers, draw 1",
    "table": "overlapping handlers, draw 1",
    "select": "overlapping handlers, draw 1",
    "first-plugin": "plugin check: functions",
    "repair-abi": "crossing types",
}


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Return what the command line ends with, prints and says beside it."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = endings.run_command(command, arguments)
        printed = capfd.readouterr()
        return code, printed.out, printed.err

    return run


def checked(path: Path, **options: object) -> nk.exercises.Checked:
    try:
        return nk.exercises.check(path, race=False, **options)  # type: ignore[arg-type]
    except nk.CannotBuild as refusal:
        if "no compiler answers" in str(refusal):
            pytest.skip(str(refusal))
        raise


def changed(folder: Path, name: str, old: str, new: str, language: str = "c") -> Path:
    """Return a worked solution with a fault of its own."""
    path = nk.exercises.start(name, folder, language=language, solution=True).source
    text = path.read_text()
    assert text.count(old) == 1, "the fault has its place"
    path.write_text(text.replace(old, new))
    return path


def test_every_kind_is_there_in_c_and_rust() -> None:
    known = {one.id: one for one in nk.exercises.exercises()}
    assert set(known) == set(FAILS_FIRST)
    assert all({"c", "rust"} <= set(one.languages) for one in known.values())
    assert "cpp" in known["repair-abi"].languages
    for one in known.values():
        assert one.hints
        assert one.learnt
        assert 15 <= len(one.brief.read_text().splitlines()) <= 30
        assert nk.exercise(one.id).title == one.title


@pytest.mark.parametrize(("name", "language"), EVERY)
def test_a_starter_fails(name: str, language: str, tmp_path: Path) -> None:
    found = checked(nk.exercises.start(name, tmp_path, language=language).source)
    assert not found.passed
    assert found.exit_code == 1
    assert found.failed[0].name == FAILS_FIRST[name]
    assert found.checks[0].outcome == "held", "it compiles"
    shown = " ".join(found.summary().split())
    assert all(hint in shown for hint in found.exercise.hints)


@pytest.mark.parametrize(("name", "language"), EVERY)
def test_a_solution_passes(name: str, language: str, tmp_path: Path) -> None:
    found = checked(nk.exercises.start(name, tmp_path, language=language, solution=True).source)
    assert found.passed, found.summary()
    assert found.exit_code == 0
    assert found.broken == ()
    assert found.exercise.learnt.split()[0] in found.summary()


@pytest.mark.parametrize(
    ("name", "old", "new", "failed", "said"),
    [
        ("order", "return 1;\n    case NANOKATA", "return 0;\n    case NANOKATA", "overlapping", "nobody"),
        ("order", "at = first; at < first + count;", "at = 0; at < count;", "parts of the pool", "window"),
        ("order", "outcome.value, outcome.handler", "outcome.value, 0", "overlapping", "the signature"),
        ("table", "if (holds(this->list[at], packet))", "if (this->list[at] != NULL)", "overlapping", "doesn't hold"),
        ("select", "places[at] = place;", "if (place < 65535) places[at] = place;", "overlapping", "nothing"),
        ("first-plugin", "return 2;", "return capacity == 0 ? 1 : 2;", "plugin check: claimed_keys", "2"),
        ("first-plugin", "{RESIDUAL_KEY, NANOKATA_CLAIM_RESIDUAL}", "{RESIDUAL_KEY, 0}", "plugin check", "residual"),
        ("first-plugin", "result->value = sum(packet);", "result->value = sum(packet) + 1;", "one by one", "value"),
        ("first-plugin", "#define KEY 3000", "#define KEY 3002", "claims", "wanted 3000"),
    ],
)  # fmt: skip
def test_each_check_can_fail(name: str, old: str, new: str, failed: str, said: str, tmp_path: Path) -> None:
    found = checked(changed(tmp_path, name, old, new))
    assert found.exit_code == 1
    wrong = found.failed[0]
    assert failed in wrong.name
    assert said in wrong.detail


@pytest.mark.parametrize("name", ["order", "select"])
def test_a_crash_is_a_verdict(name: str, tmp_path: Path) -> None:
    place = "packet->protocol && holds" if name == "order" else "        places[at] = place;"
    crash = "*(volatile int *)0 || holds" if name == "order" else "        *(volatile int *)0 = place;"
    found = checked(changed(tmp_path, name, place, crash))
    assert found.failed[-1].name == "comes to an end"
    assert "SIGSEGV" in found.failed[-1].detail


def test_a_hang_is_a_verdict(tmp_path: Path) -> None:
    hanging = changed(tmp_path, "order", "++at) {\n        const NanokataPacket", ") {\n        const NanokataPacket")
    found = checked(hanging, timeout=2.0)
    assert "wasn't finished after 2 s" in found.failed[-1].detail


def test_a_library_that_ends_the_process_has_not_passed(tmp_path: Path) -> None:
    leaving = changed(tmp_path, "order", "    const Order *this = arm;\n    uint64_t checksum", "    exit(0);\n    const Order *this = arm;\n    uint64_t checksum")  # noqa: E501  # fmt: skip
    found = checked(leaving)
    assert found.failed[-1].name == "comes to an end"


def test_null_from_create_is_said(tmp_path: Path) -> None:
    refusing = changed(tmp_path, "order", "    this->input = *input;\n    this->keys", "    return NULL;\n    this->input = *input;\n    this->keys")  # noqa: E501  # fmt: skip
    [wrong] = checked(refusing).failed
    assert "create()" in wrong.detail


def test_what_is_right_is_raced_and_explained(tmp_path: Path, run: Run) -> None:
    source = nk.exercises.start("table", tmp_path, solution=True).source
    checked(source)  # Skips where nothing compiles.
    code, out, _ = run("exercise", "check", str(source), "--seconds", "0.2", "--json")
    found = json.loads(out)
    assert code in {0, 3}
    assert found["passed"]
    assert found["learnt"]
    assert not found["hints"]
    race = nk.RaceResult(found["race"])
    assert {arm.arm: arm.role for arm in race.arms} == {"scan": "baseline", "table_compact": "arm", "yours": "arm"}
    assert len({arm.checksum for arm in race.arms}) == 1


def test_a_cpu_that_is_not_there_is_no_fault_of_the_exercise(tmp_path: Path, run: Run) -> None:
    source = nk.exercises.start("order", tmp_path, solution=True).source
    checked(source)
    code, _, err = run("exercise", "check", str(source), "--cpu", "100000")
    assert code == 2
    assert "100000" in err


def test_what_is_wrong_is_not_raced(tmp_path: Path, run: Run) -> None:
    source = nk.exercises.start("table", tmp_path).source
    checked(source)
    code, out, _ = run("exercise", "check", str(source))
    assert code == 1
    assert "race:" not in out
    assert "Hints:" in out
    assert max(map(len, out.splitlines())) <= 80


def test_another_file_name_needs_the_exercises(tmp_path: Path, run: Run) -> None:
    source = nk.exercises.start("select", tmp_path, solution=True).source.rename(tmp_path / "mine.c")
    code, _, err = run("exercise", "check", str(source), "--no-race")
    assert code == 2
    assert "--exercise" in err
    checked(source, exercise="select")
    assert run("exercise", "check", str(source), "--no-race", "--exercise", "select")[0] == 0


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path, run: Run) -> None:
    with pytest.raises(nk.UnknownExercise, match="did you mean table") as refused:
        nk.exercises.start("tabel", tmp_path)
    assert refused.value.nearest[0] == "table"
    for arguments in (("start", "tabel", str(tmp_path)), ("check", "table.c", "--exercise", "tabel")):
        code, _, err = run("exercise", *arguments)
        assert code == 2
        assert "did you mean table" in err
    with pytest.raises(nk.UnknownExercise, match="exercise list"):
        nk.exercise("zzzzzz")
    with pytest.raises(nk.InvalidArgument, match="order can be done in c, rust"):
        nk.exercises.start("order", tmp_path, language="cpp")
    assert list(tmp_path.glob("*.c*")) == []


def test_start_never_overwrites(tmp_path: Path, run: Run) -> None:
    started = nk.exercises.start("order", tmp_path / "a" / "b", language="rust")
    assert [header.name for header in started.headers] == ["nanokata_arm.rs"]
    started.source.write_text("mine")
    assert run("exercise", "start", "order", str(tmp_path / "a" / "b"), "--language", "rust")[0] == 2
    with pytest.raises(nk.InvalidArgument, match="nothing is overwritten"):
        nk.exercises.start("order", tmp_path / "a" / "b", language="rust", solution=True)
    assert started.source.read_text() == "mine"
    # The same header serves another exercise; another header of that name is somebody's own.
    nk.exercises.start("table", tmp_path / "a" / "b", language="rust")
    started.headers[0].write_text("also mine")
    with pytest.raises(nk.InvalidArgument, match=r"nanokata_arm\.rs is there already"):
        nk.exercises.start("select", tmp_path / "a" / "b", language="rust")
    assert not (tmp_path / "a" / "b" / "select.rs").exists()
    assert started.headers[0].read_text() == "also mine"


def test_a_dangling_link_is_there_too(tmp_path: Path) -> None:
    (tmp_path / "order.c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(nk.InvalidArgument, match="nothing is overwritten"):
        nk.exercises.start("order", tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path, run: Run) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run("exercise", "start", "order", str(tmp_path / "file"))
    assert code == 2
    assert "another folder" in err


@pytest.mark.parametrize("language", ["c", "rust"])
def test_without_a_compiler_it_says_so(
    language: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = nk.exercises.start("order", tmp_path, language=language).source
    monkeypatch.setenv("PATH", "/nowhere")
    for variable in ("CC", "RUSTC"):
        monkeypatch.delenv(variable, raising=False)
    code, _, err = run("exercise", "check", str(source))
    assert code == 2
    assert "no compiler answers" in err


def test_what_does_not_compile_ends_with_the_compilers_words(tmp_path: Path, run: Run) -> None:
    source = changed(tmp_path, "order", "uint16_t *keys;", "unknown_t *keys;")
    checked_source = nk.exercises.start("select", tmp_path).source
    checked(checked_source)  # Skips where nothing compiles.
    code, _, err = run("exercise", "check", str(source))
    assert code == 2
    assert "order.c" in err


def test_a_missing_file_and_odd_times_are_refused(tmp_path: Path, run: Run) -> None:
    assert run("exercise", "check", str(tmp_path / "order.c"))[0] == 2
    source = nk.exercises.start("order", tmp_path).source
    for timeout in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(nk.InvalidArgument, match="timeout"):
            nk.exercises.check(source, timeout=timeout)


def test_the_list_is_also_json(run: Run) -> None:
    code, out, _ = run("exercise", "list", "--json")
    assert code == 0
    assert {one["id"] for one in json.loads(out)} == set(FAILS_FIRST)
    code, out, _ = run("exercise", "list")
    assert code == 0
    assert all(name in out for name in FAILS_FIRST)
