"""Settings of flow simulations: what they change of a machine, and their text."""

import pytest
from pydantic import ValidationError
from settings_text import settings_from_text

from routelab.simulation.flow.settings import FlowSettings
from routelab.toolkit.machine import Machine


@pytest.mark.parametrize("name", Machine.model_fields)
def test_every_field_of_a_machine_can_be_changed_within_its_limits(name):
    assert FlowSettings.model_fields[name].description.startswith(
        Machine.model_fields[name].description
    )
    for value in (-1, 0, 1, 1e19):
        try:
            Machine(**{name: value})
        except ValidationError:
            with pytest.raises(ValidationError):
                FlowSettings(**{name: value})
        else:
            assert getattr(FlowSettings(**{name: value}).override(Machine()), name) == value


def test_the_text_comes_back():
    settings = FlowSettings(
        machine="desmos",
        ranks_per_node=4,
        collectives="bcast=binomial+alltoall=pairwise",
        handshake=False,
        latency=1e-6,
    )
    assert settings.canonical() == (
        "machine=desmos,ranks_per_node=4,collectives=[alltoall=pairwise+bcast=binomial],"
        "latency=1e-06,handshake=false"
    )
    assert settings_from_text(settings.canonical(), FlowSettings) == settings
    assert FlowSettings(collectives="mpich").canonical() == ""
