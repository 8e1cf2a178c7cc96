"""Networks from links: parallel links, ports, random numbers, limits."""

import numpy as np
import pytest

from routelab.api import InputError
from routelab.toolkit import with_random_failures
from routelab.toolkit.failures import FailureParameters
from routelab.toolkit.families.linked_network import (
    check_size,
    linked_network,
    random_numbers,
    random_orders,
)

# two links between 0 and 2, whose ports are in opposite orders at the two ends
ENDS = np.array([[0, 2], [2, 1], [0, 2]])
PORTS = np.array([[0, 1], [2, 0], [1, 0]])
FIRST_WORD = 17_394_127_715_520_444_142


def network(**values):
    return linked_network(
        "test",
        switch_names=["a", "b", "c"],
        ends=ENDS,
        ports=PORTS,
        terminal_switch=[0, 1],
        parameters={"size": 3},
        facts={"diameter": 2},
        **values,
    )


def test_channels_are_sorted_and_parallel_links_stay_together():
    topology = network()
    assert topology.channel_source.tolist() == [0, 0, 1, 2, 2, 2]
    assert topology.channel_target.tolist() == [2, 2, 2, 0, 0, 1]
    assert topology.source_port.tolist() == [0, 1, 0, 1, 0, 2]
    assert topology.target_port.tolist() == [1, 0, 2, 0, 1, 0]
    out, back = topology.links.T
    assert (topology.source_port[out] == topology.target_port[back]).all()
    assert topology.attributes == {"size": 3, "diameter": 2}


def test_damaged_networks_have_parameters_and_no_facts():
    topology = network(failures=FailureParameters(fail_links=2, seed=7))
    expected = with_random_failures(network(), links=2, seed=7)
    assert topology.failed_links == expected.failed_links
    assert topology.num_channels == 2
    assert topology.attributes == {"size": 3}


def test_a_failed_link_takes_its_parallel_links_along():
    topology = network(failures=FailureParameters(failed_links="2-0"))
    assert topology.channel_source.tolist() == [1, 2]
    assert topology.failed_links == ("a-c", "a-c")
    assert topology.attributes == {"size": 3}


def test_named_failures_precede_random_ones():
    named = FailureParameters(failed_switches=(0,), fail_links=1)
    topology = network(failures=named)
    assert topology.switch_names == ("b", "c")
    assert topology.failed_switches == ("a",)
    assert topology.failed_links == ("b-c",)
    with pytest.raises(InputError, match="fail_links: 2 links cannot fail, only 1 are left"):
        network(failures=FailureParameters(failed_switches=(0,), fail_links=2))


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        ({"failed_switches": "3"}, "switch 3 does not exist; there are 0 to 2"),
        ({"failed_switches": "1+1"}, "switch 1 is listed twice"),
        ({"failed_links": "a-b"}, "'a-b' is not a link; write the numbers of its switches as 0-1"),
        ({"failed_links": "1-0"}, "no link joins the switches 0 and 1"),
        ({"failed_links": "0-9"}, "no link joins the switches 0 and 9"),
        ({"failed_links": "0-2+2-0"}, "the link 2-0 is listed twice"),
        ({"failed_switches": "7", "failed_links": "1-0"}, "switch 7 .*; failed_links: no link"),
    ],
)
def test_wrong_failures_are_refused_together(failures, message):
    with pytest.raises(InputError, match=f"^test: .*{message}"):
        network(failures=FailureParameters(**failures))


def test_streams_of_a_seed_differ_from_each_other_and_from_that_of_failures():
    first = {int(random_numbers(5, stream).random_raw()) for stream in range(3)}
    assert len(first | {int(np.random.PCG64(5).random_raw())}) == 4
    # the numbers are documented: they must be the same in every version
    assert int(random_numbers(0, 0).random_raw()) == FIRST_WORD
    assert np.sort(random_orders(1, 0, 4, 6), axis=1).tolist() == [list(range(6))] * 4


@pytest.mark.parametrize("size", [(1_000_001, 1), (10, 20_000_001)])
def test_too_large_networks_are_named(size):
    with pytest.raises(InputError, match=r"^wide: .* limits are 1,000,000 switches and 20,000,000"):
        check_size("wide", *size)
    check_size("wide", 1_000_000, 20_000_000)
