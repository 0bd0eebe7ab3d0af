"""Files of counts: what is read, and what is refused with its line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanokata.errors import InvalidArgument
from nanokata.weights_file import read_weights


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "counts.csv"
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return read_weights(path)


@pytest.mark.parametrize(
    ("text", "by", "weights"),
    [
        ("key,count\n6,70\n17,30\n", "key", {6: 70, 17: 30}),
        ("6,70\n17,30\n", "key", {6: 70, 17: 30}),
        ("protocol;packets\n6;70\n17;30\n", "key", {6: 70, 17: 30}),
        ("Count\tPort\n70\t0x1bb\n", "key", {443: 70}),
        ("port,bytes,count\n443,9,70\n", "key", {443: 70}),
        ("handler,weight\nalpha,0.5\n7,0.25\n", "handler", {"alpha": 0.5, "7": 0.25}),
        ("alpha,1\nbeta,2\n", "handler", {"alpha": 1, "beta": 2}),
        ("what,how many\n6,1\n", "key", {6: 1}),
        ("count\n5\n6\n", "handler", {"0": 5, "1": 6}),
        ("5\n6\n", "handler", {"0": 5, "1": 6}),
        ("\ufeffkey,count\r\n6,1\r\n", "key", {6: 1}),
        ("# seen on a Monday\n\nkey,count\n6,1\n\n6,2\n", "key", {6: 3}),
        ('handler,count\n"a, b",1e3\n', "handler", {"a, b": 1000}),
        ("6,0\n7,1\n", "key", {6: 0, 7: 1}),
    ],
)
def test_headings_delimiters_and_sums(tmp_path, text, by, weights):
    found = read(tmp_path, text)
    assert (found.by, found.weights) == (by, weights)
    assert list(found.weights) == list(weights)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key,count\n6,1\n7,many\n", "line 3: count = 'many'"),
        ("key,count\n6,-1\n", "line 2: count = '-1'"),
        ("key,count\n6,nan\n", "line 2: count = 'nan'"),
        ("key,count\n6,inf\n", "line 2: count = 'inf'"),
        ("key,count\n6,\n", "line 2: count = ''"),
        ("key,count\n65536,1\n", "line 2: key = '65536'"),
        ("key,count\n-1,1\n", "line 2: key = '-1'"),
        ("6,1\n\nalpha,1\n", "line 3: key = 'alpha'"),
        ("key,count\n6\n", "line 2: row = '6'"),
        ("handler,count\n,1\n", "line 2: handler = ''"),
        ("a,b,c\n1,2,3\n", "line 1: heading = 'a,b,c'"),
        ("", "no rows"),
        ("# nothing\n", "no rows"),
        ("key,count\n", "counts sum to 0"),
        ("6,0\n", "counts sum to 0"),
        ("6,1e308\n7,1e308\n", "counts sum to inf"),
        (b"\xff\xfe6,1", "byte 0xff"),
        (b"6,1\n7,\x00\n", "line 2"),
    ],
)
def test_what_doesnt_fit_is_refused_by_its_line(tmp_path, text, message):
    with pytest.raises(InvalidArgument, match=".*" + message.replace("(", r"\(")) as refused:
        read(tmp_path, text)
    assert str(refused.value).startswith(str(tmp_path / "counts.csv"))


def test_more_names_than_keys_are_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="line 65537: handler = 'h65536': wanted at most 65536"):
        read(tmp_path, "".join(f"h{n},1\n" for n in range(65_537)))


def test_a_missing_file_is_the_systems_to_refuse(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_weights(tmp_path / "absent.csv")


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 65_535), st.integers(0, 10**9)), min_size=1, max_size=40).filter(
        lambda rows: sum(count for _, count in rows) > 0
    ),
    st.sampled_from([",", ";", "\t"]),
    st.booleans(),
)
def test_rows_are_summed_whatever_the_delimiter(tmp_path_factory, rows, delimiter, headed):
    text = f"key{delimiter}count\n" * headed + "".join(f"{key}{delimiter}{count}\n" for key, count in rows)
    found = read(tmp_path_factory.mktemp("rows"), text)
    expected: dict[int, float] = {}
    for key, count in rows:
        expected[key] = expected.get(key, 0.0) + count
    assert (found.weights, found.rows) == (expected, len(rows))


@settings(max_examples=150)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_by_name(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "any.csv"
    path.write_bytes(data)
    try:
        found = read_weights(path)
    except InvalidArgument as refused:
        assert str(refused).startswith(str(path))  # noqa: PT017
    else:
        assert found.weights
