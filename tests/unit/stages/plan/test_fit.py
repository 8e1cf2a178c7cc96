"""study check asks plugins what goes with the networks of a study."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.stages.plan.preview import check_studies

STUDY = """\
title: t
topologies: [{networks}]
routings: [{routings}]
traffic: [{traffic}]
simulation: {{vcs: {vcs}}}
"""


@pytest.fixture
def told(tmp_path):
    def told(networks, routings="dor", traffic="uniform", vcs="2"):
        path = tmp_path / "study.yaml"
        path.write_text(
            STUDY.format(networks=networks, routings=routings, traffic=traffic, vcs=vcs)
        )
        return [line.removeprefix(f"{path}:") for line in check_studies([path])]

    return told


def test_a_pattern_that_no_network_can_have_is_a_mistake(told):
    with pytest.raises(InputError) as raised:
        told("torus~dims=3x3, torus~dims=5", traffic="uniform, bit-complement")
    text = str(raised.value)
    assert "study.yaml:4: traffic: bit-complement supports no network of this study" in text
    assert "needs a power of two terminals" in text
    assert "uniform" not in text


def test_a_pattern_that_some_networks_cannot_have_is_a_note(told):
    first, note = told("torus~dims=4x4, torus~dims=3x3, torus~dims=5", traffic="bit-complement")
    assert " OK: " in first
    assert note.startswith(
        "4: traffic: bit-complement does not support torus~dims=3x3 and 1 more: "
    )
    assert note.endswith("(note)")


def test_too_few_virtual_channels_are_a_mistake(told):
    with pytest.raises(InputError, match=r"3: routings: goal supports no network .*needs 3"):
        told("torus~dims=4x4", routings="dor, goal")


def test_a_sweep_with_enough_virtual_channels_fits(told):
    (line,) = told("torus~dims=4x4", routings="dor, goal", vcs="{sweep: [2, 3]}")
    assert " OK: " in line


def test_a_routing_is_not_checked_on_networks_that_it_does_not_run_on(told):
    networks = "torus~dims=4x4, hamming~dims=3x3"
    (line,) = told(networks, routings="{use: omniwar, on: {families: [hamming]}}", vcs="4")
    assert " OK: " in line
    assert told(networks, routings="omniwar", vcs="4")[1:]
