"""Settings: text and back, all mistakes told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_text import settings_from_text, settings_from_values

from routelab.api import InputError
from routelab.simulation.packet.measurement.settings import LONGEST, SimulationSettings
from routelab.simulation.packet.router import Router


def test_text_names_differences_in_order_of_declaration():
    text = "packet_flits=16,buffer_flits=64,vcs=2,seed=0,loads=0.5+0.25"
    settings = settings_from_text(text, SimulationSettings)
    assert settings.canonical() == "vcs=2,buffer_flits=64,packet_flits=16,loads=0.25+0.5"
    assert settings.routers() == Router(vcs=2, buffer_flits=64, packet_flits=16)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "vcs": st.integers(1, 64),
            "loads": st.lists(st.floats(0.001, 1), min_size=1, max_size=4),
            "precision": st.floats(1e-6, 0.9),
            "find_saturation": st.booleans(),
            "priority": st.sampled_from(["round-robin", "random", "age"]),
            "seeds": st.integers(1, 50),
        },
    )
)
def test_text_and_back(values):
    settings = settings_from_values(values, SimulationSettings)
    assert settings_from_text(settings.canonical(), SimulationSettings) == settings


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("router=combined", {}),
        ("router=none", {}),
        ("router=input-queued", {"speedup": 1, "output_buffer_flits": 0}),
        ("speedup=4,router=combined,vcs=2", {"vcs": 2, "speedup": 4, "output_buffer_flits": 96}),
        ("router=combined,output_buffer_flits=64", {"speedup": 2, "output_buffer_flits": 64}),
        ("router=input-queued,output_buffer_flits=8", {"speedup": 1, "output_buffer_flits": 8}),
    ],
)
def test_a_preset_is_its_settings_and_they_override_it(text, settings):
    parsed = settings_from_text(text, SimulationSettings)
    assert parsed == SimulationSettings(**settings)
    assert parsed.canonical() == SimulationSettings(**settings).canonical()
    assert "router" not in parsed.texts() | parsed.model_dump()


def test_loads_are_ascending_and_each_once():
    assert settings_from_values({"loads": [0.5, 0.1, 0.5]}, SimulationSettings).loads == (0.1, 0.5)
    assert settings_from_values({"loads": 0.4}, SimulationSettings).loads == (0.4,)


def test_all_mistakes_are_reported():
    with pytest.raises(InputError) as error:
        settings_from_text("vcs=0,lods=3,loads=0.1+2,priority=oldest", SimulationSettings)
    text = str(error.value)
    for part in ("vcs=0", "did you mean 'loads'", "loads=0.1+2: item 2", "'round-robin'"):
        assert part in text
    assert "pydantic" not in text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("messages=4,find_saturation=true", "`find_saturation` needs offered loads"),
        ("max_cycles=1000", "it must be at least 6400"),
        ("warmup_cycles=150000", "it must be at least 300000"),
        ("packet_flits=16", "`buffer_flits` is 8, less than `packet_flits`, 16"),
        ("buffer_flits=32768", "buffers of 32768 packets are too large, the engine"),
        ("buffer_flits=65536,packet_flits=2", "buffers of 32768 packets are too large"),
        (
            "buffer_flits=65536,packet_flits=16,switching=wormhole",
            "`buffer_flits` is 65536: buffers of 65536 flits are too large",
        ),
        ("router=fast", "router=fast: must be 'input-queued' or 'combined'"),
        ("router=input-queued,speedup=2", "`speedup` is 2, but without output queues"),
        (
            "router=combined,packet_flits=128,buffer_flits=128",
            "`output_buffer_flits` is 96, less than `packet_flits`, 128",
        ),
        ("vcs", "expected '='"),
    ],
)
def test_values_that_do_not_go_together(text, part):
    with pytest.raises(InputError, match=part):
        settings_from_text(text, SimulationSettings)


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"message_packets": 65537}, "less than or equal to 65536"),
        ({"finish_within": LONGEST + 1}, f"less than or equal to {LONGEST}"),
        ({"injection_queue": 1, "message_packets": 2}, "no message fits"),
    ],
)
def test_settings_beyond_the_engine_are_rejected_beforehand(values, part):
    with pytest.raises(InputError, match=part):
        settings_from_values(values, SimulationSettings)
