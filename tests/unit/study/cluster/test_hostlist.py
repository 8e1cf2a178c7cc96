"""Lists of hosts: the laws of both directions, and Slurm's own reading as a twin."""

import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.study.cluster.hostlist import HOST, compress, expand, find_hosts, short_name

NAMES = st.from_regex(HOST, fullmatch=True)
# many of few letters, so that runs of numbers come up
NUMBERED = st.builds(
    lambda prefix, number, width: f"{prefix}{number:0{width}d}",
    st.sampled_from(["n", "m", "rack1-n", "n0", "a.b"]),
    st.integers(0, 120),
    st.integers(1, 4),
)


@given(st.lists(NAMES | NUMBERED, min_size=1, max_size=40))
def test_compressed_lists_expand_to_the_same_hosts(hosts):
    assert expand(compress(hosts)) == tuple(hosts)


@given(st.integers(0, 10**6), st.integers(1, 200), st.integers(1, 8))
def test_a_run_of_numbers_is_one_range(first, count, width):
    hosts = [f"n{number:0{width}d}" for number in range(first, first + count)]
    assert compress(hosts).count(",") == 0
    assert expand(compress(hosts)) == tuple(hosts)


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a", ["a"]),
        ("a1, b[2-3]", ["a1", "b2", "b3"]),
        ("n[01-04,07]", ["n01", "n02", "n03", "n04", "n07"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[099-100]", ["n099", "n100"]),
        ("n[03,01]", ["n03", "n01"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[1-2].cluster", ["n1.cluster", "n2.cluster"]),
    ],
)
def test_lists_are_read(text, hosts):
    assert expand(text) == tuple(hosts)


@pytest.mark.parametrize(
    ("hosts", "text"),
    [
        ([], ""),
        (["a", "b1", "b2"], "a,b[1-2]"),
        (["n01", "n02", "n03", "n07", "m1"], "n[01-03,07],m1"),
        (["n02", "n01"], "n[02,01]"),
        (["n9", "n10", "n010"], "n[9-10,010]"),
        (["1", "2"], "1,2"),
        (["n1.b", "n2.b"], "n1.b,n2.b"),
    ],
)
def test_lists_are_written_shortly(hosts, text):
    assert compress(hosts) == text


NO_LIST = "is not a list of hosts; write n01,n02 or n[01-04,07]"
NO_HOST = (
    "is not a valid host name; use letters, digits, '.', '-' and '_', beginning with a letter or "
    "digit"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"'' {NO_LIST}"),
        ("a,,b", f"'a,,b' {NO_LIST}"),
        ("n[1-2", f"'n[1-2' {NO_LIST}"),
        ("n1]", f"'n1]' {NO_LIST}"),
        ("n[]", f"'n[]' {NO_LIST}"),
        ("n[1,,2]", f"'n[1,,2]' {NO_LIST}"),
        ("n[a-b]", f"'n[a-b]' {NO_LIST}"),
        ("n[[1]]", f"'n[[1]]' {NO_LIST}"),
        ("n[5-3]", "'n[5-3]': 5-3 ends before it begins"),
        ("-oProxyCommand=x", f"'-oProxyCommand=x' {NO_HOST}"),
        ("a b", f"'a b' {NO_HOST}"),
        ("n1;reboot", f"'n1;reboot' {NO_HOST}"),
        ("$(x)", f"'$(x)' {NO_HOST}"),
        ("a\nb", f"'a\\nb' {NO_HOST}"),
        ("n[1-999999999]", "'n[1-999999999]' stands for more than 100000 hosts"),
        ("a[1-999]b[1-999]", "'a[1-999]b[1-999]' stands for more than 100000 hosts"),
    ],
)
def test_anything_else_is_refused(text, message):
    with pytest.raises(InputError) as raised:
        expand(text)
    assert str(raised.value) == message


@given(st.text(max_size=20))
def test_nothing_but_hosts_comes_of_any_text(text):
    try:
        hosts = expand(text)
    except InputError:
        return
    assert hosts
    assert all(
        host.isascii() and not set(host) & set(" ;|&$`'\"\\/[](){}<>*?!\n") for host in hosts
    )


@pytest.fixture(scope="module")
def scontrol(tmp_path_factory):
    """Slurm's own `scontrol show hostnames`; it asks no daemon, but wants a slurm.conf."""
    program = shutil.which("scontrol")
    if program is None:
        pytest.skip("Slurm's commands are not installed (Debian: slurm-client)")
    conf = tmp_path_factory.mktemp("slurm") / "slurm.conf"
    conf.write_text("ClusterName=x\nSlurmctldHost=localhost\nNodeName=n1\n")

    def hostnames(text):
        done = subprocess.run(
            [program, "show", "hostnames", text],
            env=os.environ | {"SLURM_CONF": str(conf)},
            capture_output=True,
            text=True,
            check=True,
        )
        return tuple(done.stdout.split())

    return hostnames


def test_slurm_reads_written_lists_the_same_way(scontrol):
    @settings(max_examples=60, deadline=None)
    @given(st.lists(NUMBERED, min_size=1, max_size=12))
    def same(hosts):
        assert scontrol(compress(hosts)) == tuple(hosts)

    same()


@pytest.mark.parametrize("text", ["a1,b[2-3]", "n[01-04,07]", "n[8-010]", "r[1-2]n[1-3]", "n[7,1]"])
def test_slurm_reads_lists_the_same_way(scontrol, text):
    assert expand(text) == scontrol(text)


@pytest.mark.parametrize(
    ("host", "other", "same"),
    [
        ("n01.cl.example", "n01", True),
        ("n01.cl.example", "n01.localdomain", True),
        ("n01", "n1", False),
        ("n01", "n012.cl.example", False),
        ("10.0.0.1", "10.0.0.2", False),
        ("10.0.0.1", "10.0.0.1", True),
    ],
)
def test_hosts_are_compared_without_their_domain(host, other, same):
    assert (short_name(host) == short_name(other)) is same
    hosts = find_hosts([host], ["m", other])
    assert hosts == ({host: other} if same else {})


def test_a_short_name_of_several_hosts_is_refused():
    known = ["n01.a", "n01.b"]
    assert find_hosts(["n01.b"], known) == {"n01.b": "n01.b"}
    with pytest.raises(InputError, match=r"n01 may be n01\.a or n01\.b; write one of these names"):
        find_hosts(["n01"], known)
