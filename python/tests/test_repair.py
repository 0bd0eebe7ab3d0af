"""What may not cross: every rule is named, with its line, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nanokata as nk
from nanokata.exercises.repair import RULES, Broken, examine_text

RUST_FINE = [
    "u8", "i64", "f64", "[u8; 24]", "*const u8", "*mut c_void", "*const *const u16", "NonNull<u8>", "Level",
    "Option<NonNull<u64>>", 'Option<unsafe extern "C" fn(*const u8, u64) -> u32>', 'extern "C" fn()', "PhantomData<u8>",
    "Option<Work>", "AtomicU64", "[*const u8; N]", "MaybeUninit<[u64; 4]>", "()",
]  # fmt: skip
RUST_BROKEN = {
    "String": "string", "std::string::String": "string", "Vec<u16>": "container",
    "Vec<Vec<Option<(u8, bool)>>>": "container",
    "HashMap<String, Vec<u8>>": "container", "bool": "bool", "[bool; 3]": "bool", "*const bool": "bool",
    "usize": "size",
    "[usize; 4]": "size", "isize": "size", "Loose": "enum", "Arc<Mutex<u8>>": "ownership",
    "std::sync::Arc<u8>": "ownership",
    "Box<[u8]>": "ownership", "Option<Arc<u8>>": "ownership", "Option<u32>": "option", "Option<[u8; 4]>": "option",
    "Option<*const u8>": "option", "&'static str": "slice", "&[u8]": "slice", "&'static mut [u8]": "slice",
    "*const [u8]": "slice", "&u8": "reference", "&'static u32": "reference", "(u8, u16)": "tuple", "char": "character",
    "u128": "wide integer", "fn(u8) -> u8": "calling convention", "Option<fn()>": "calling convention",
    "*const dyn Fn(u8) -> u8": "trait object", 'extern "C" fn(usize)': "size", 'extern "C" fn() -> bool': "bool",
    "Result<u8, u8>": "enum", "c_long": "width", "core::ffi::c_ulong": "width", "Option<Loose>": "enum",
    "Text": "string",
    "ManuallyDrop<String>": "string", "Mutex<u8>": "library type",
}  # fmt: skip
RUST_KNOWN = """
#[repr(u8)]
pub enum Level { One, Two }
/// repr(u8) in words is none.
pub enum Loose { One, Two }
type Work = unsafe extern "C" fn(*const u8) -> u64;
type Text = String;
"""

C_FINE = [
    "uint8_t", "int64_t", "double", "const uint8_t *", "void *", "const struct Opaque *", "char", "unsigned char",
    "signed char", "float",
]  # fmt: skip
C_BROKEN = {
    "bool": "bool", "_Bool": "bool", "size_t": "size", "const size_t *": "size", "uintptr_t": "size", "long": "width",
    "unsigned long": "width", "unsigned long long": "width", "int": "width", "unsigned": "width", "wchar_t": "width",
    "const wchar_t *": "width", "long double": "long double", "enum Loose": "enum", "Tagged": "enum", "Flag": "bool",
    "unsigned __int128": "wide integer", "time_t": "width",
}  # fmt: skip
CPP_FINE = [*C_FINE, "std::uint32_t", "std::byte", "Sized", "const std::uint8_t *"]
CPP_BROKEN = {
    "std::string": "string", "std :: string": "string", "std::string_view": "string",
    "std::vector<std::vector<bool>>": "container", "std::array<std::uint8_t, 4>": "container",
    "std::map<std::string, size_t>": "container", "std::shared_ptr<Handler>": "ownership",
    "std::unique_ptr<int[]>": "ownership", "std::optional<bool>": "library type",
    "std::function<void(std::string)>": "library type", "const std::uint8_t &": "reference", "std::size_t": "size",
    "bool": "bool", "Loose": "enum", "Scoped": "enum", "Words": "container", "std::chrono::seconds": "library type",
}  # fmt: skip
C_KNOWN = """
enum Loose { ONE };
typedef enum { A, B } Tagged;
typedef bool Flag;
"""
CPP_KNOWN = """
enum Loose { ONE };
enum class Scoped { A };
enum class Sized : std::uint8_t { A };
using Words = std::vector<std::string>;
"""

# What must not fool it: rules in comments, texts and attributes, brackets in all of them.
RUST_NOISE = [
    "", "// bool, Vec<String> }", "/* usize /* nested } */ bool, */", "/// `x: Vec<u8>`, a { bracket",
    '#[cfg(any(unix, feature = "bool]"))]', "#[allow(dead_code, reason = r#\"} String, \"x\" #\"#)]",
]  # fmt: skip
C_NOISE = ["", "// bool x; std::string y; }", "/* size_t z; { */", "#define FIELD bool b; }", "/* // */"]


def _rust(fields: list[tuple[str, str, bool]], *, tuple_struct: bool = False) -> tuple[str, dict[int, str]]:
    """Return a source with a struct of those (noise, type, public) fields, and the lines of the fields by number."""
    lines = [*RUST_KNOWN.splitlines(), "#[derive(Debug)]", "#[repr(C)]", "pub struct Crossing<'a, const N: usize> {"]
    at = {}
    if tuple_struct:
        lines[-1] = "pub struct Crossing<const N: usize>("
    for number, (noise, spelled, public) in enumerate(fields):
        lines.append(f"    {noise}")
        name = "" if tuple_struct else f"field_{number}: "
        lines.append(f"    {'pub(crate) ' if public else ''}{name}{spelled},")
        at[len(lines)] = spelled
    lines.append(");" if tuple_struct else "}")
    return "\n".join(lines), at


rust_fields = st.lists(
    st.tuples(st.sampled_from(RUST_NOISE), st.sampled_from([*RUST_FINE, *RUST_BROKEN]), st.booleans()), max_size=12
)


@given(rust_fields, st.booleans())
def test_rust_fields_are_told_apart_by_line_and_rule(fields: list[tuple[str, str, bool]], tuple_struct: bool) -> None:
    source, at = _rust(fields, tuple_struct=tuple_struct)
    wanted = [(line, RUST_BROKEN[spelled]) for line, spelled in at.items() if spelled in RUST_BROKEN]
    assert [(broken.line, broken.rule) for broken in examine_text(source, "rust")] == wanted


def _c_family(known: str, fields: list[tuple[str, str]]) -> tuple[str, dict[int, str]]:
    lines = [*known.splitlines(), "struct Crossing {"]
    at = {}
    for number, (noise, spelled) in enumerate(fields):
        lines.append(noise)
        lines.append(f"    {spelled}{'' if spelled.endswith(('*', '&')) else ' '}field_{number};")
        at[len(lines)] = spelled
    lines.append("};")
    return "\n".join(lines), at


@given(st.lists(st.tuples(st.sampled_from(C_NOISE), st.sampled_from([*C_FINE, *C_BROKEN])), max_size=12))
def test_c_fields_are_told_apart_by_line_and_rule(fields: list[tuple[str, str]]) -> None:
    source, at = _c_family(C_KNOWN, fields)
    wanted = [(line, C_BROKEN[spelled]) for line, spelled in at.items() if spelled in C_BROKEN]
    assert [(broken.line, broken.rule) for broken in examine_text(source, "c")] == wanted


@given(st.lists(st.tuples(st.sampled_from(C_NOISE), st.sampled_from([*CPP_FINE, *CPP_BROKEN])), max_size=12))
def test_cpp_fields_are_told_apart_by_line_and_rule(fields: list[tuple[str, str]]) -> None:
    source, at = _c_family(CPP_KNOWN, fields)
    wanted = [(line, CPP_BROKEN[spelled]) for line, spelled in at.items() if spelled in CPP_BROKEN]
    assert [(broken.line, broken.rule) for broken in examine_text(source, "cpp")] == wanted


def _rules(source: str, language: str) -> list[tuple[str, str, str]]:
    return [(broken.owner, broken.field, broken.rule) for broken in examine_text(source, language)]


def test_rust_only_what_crosses_is_judged() -> None:
    source = """
    struct Inside { name: String }
    struct Reached { flag: bool }
    #[repr(C)] pub struct Public { size: usize }
    pub extern "C" fn entry(given: *const Reached, text: &str) -> *mut c_void { make(Inside { name: "x".into() }) }
    extern "C" { fn theirs(size: usize); }
    fn own(text: &str) -> String { text.into() }
    """
    found = _rules(source, "rust")
    assert ("Inside", "name", "string") not in found
    assert found == [
        ("Reached", "", "no repr(C)"),
        ("Reached", "flag", "bool"),
        ("Public", "size", "size"),
        ("entry", "text", "slice"),
    ]


def test_c_only_what_crosses_is_judged() -> None:
    source = """
    struct Inside { bool flag; };
    typedef struct { size_t size; } Reached;
    static int helper(struct Inside inside) { return inside.flag; }
    const Reached *entry(const uint8_t *list, long count) { struct Inside inside = {1}; if (helper(inside)) return 0; }
    uint64_t declared_only(size_t size);
    """
    assert _rules(source, "c") == [("Reached", "size", "size"), ("entry", "count", "width")]


def test_cpp_only_what_crosses_is_judged() -> None:
    source = """
    namespace { struct Hidden { std::string name; }; std::string own(bool flag) { return {}; } }
    struct Base { std::uint32_t x; };
    struct Reached : public Base {
      public:
        Reached() : x_{1} {}
        virtual ~Reached() = default;
        std::string method(bool flag) const { return flag ? "a" : "b"; }
        static bool shared;
        std::uint32_t plain = 5, *pointer, counted[4], bits : 3;
        void (*work)(void *state, bool flag);
    };
    extern "C" { __attribute__((visibility("default"))) const Reached *entry() { return nullptr; } }
    """
    found = _rules(source, "cpp")
    assert found == [
        ("Reached", "", "base class"),
        ("Reached", "~Reached", "virtual"),
        ("Reached", "bits", "bit-field"),
        ("Reached", "work", "bool"),
    ]


def test_names_of_ones_own_are_no_library_s() -> None:
    assert _rules("struct list { uint32_t vector; }; struct Crossing { struct list *string; };", "c") == []
    assert _rules("#[repr(C)] pub struct Path { x: u8 } #[repr(C)] pub struct A { p: Path }", "rust") == []
    opened = "using namespace std; struct Crossing { string name; vector<int> keys; };"
    assert [rule for _, _, rule in _rules(opened, "cpp")] == ["string", "container"]


@pytest.mark.parametrize("language", ["rust", "c", "cpp"])
@given(text=st.text(alphabet="struct pubfn{}()[]<>;:,&*'\"/#=-\n 19A", max_size=80))
def test_nothing_that_is_written_breaks_it(language: str, text: str) -> None:
    assert all(isinstance(broken, Broken) for broken in examine_text(text, language))


def test_every_rule_says_why_and_what_instead() -> None:
    named = {*RUST_BROKEN.values(), *C_BROKEN.values(), *CPP_BROKEN.values()}
    assert set(RULES) - named == {"virtual", "base class", "bit-field", "no repr(C)"}
    for name, rule in RULES.items():
        text = str(Broken("Api", "field", 3, "T", name))
        assert text.startswith(f"line 3: Api.field: T ({name})")
        assert rule.why in text
        assert rule.instead in text


@pytest.mark.parametrize("language", ["rust", "c", "cpp"])
def test_the_exercises_starter_breaks_a_rule_a_field_and_its_solution_none(language: str) -> None:
    files = nk.exercise("repair-abi").within(language)
    rules = [broken.rule for broken in nk.exercises.examine(files.starter)]
    assert {"bool", "size", "enum"} <= set(rules)
    if language != "c":
        assert {"string", "container", "ownership"} <= set(rules)
    assert ("no repr(C)" in rules) == (language == "rust")
    assert nk.exercises.examine(files.solution) == ()


def test_the_shipped_headers_and_plugins_break_none() -> None:
    sources = nk.plugin.sources()
    paths = [*sources.glob("include/nanokata_plugin.*"), *sources.glob("include/nanokata_arm.*")]
    paths += sources.glob("plugins/v*.*")
    assert len(paths) == 10
    for path in paths:
        assert nk.exercises.examine(path) == (), path


def test_what_cannot_be_read_is_refused(tmp_path) -> None:
    (tmp_path / "x.py").write_text("")
    for path in (tmp_path / "x.py", tmp_path / "missing.c"):
        with pytest.raises(nk.InvalidArgument, match=path.name):
            nk.exercises.examine(path)
    with pytest.raises(nk.InvalidArgument, match="fortran"):
        examine_text("", "fortran")
