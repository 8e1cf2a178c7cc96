import sys
from importlib.metadata import EntryPoint

import pytest

from routelab.api import InputError
from routelab.kernels.hops import ABI
from routelab.registry.catalogue import Catalogue

SOUND = """
from routelab.api import TopologyPlugin


class Ring(TopologyPlugin):
    name = "ring"
    summary = "A ring"

    def build(self):
        raise NotImplementedError
"""


def test_keys_are_known_without_importing_a_plugin(site):
    site.install(
        "rings", {"topology": {"ring": "rings:Ring", "arc": "rings:Arc"}}, {"rings.py": SOUND}
    )
    catalogue = site.catalogue()
    assert catalogue.keys("topology") == ["arc", "ring"]
    assert catalogue.keys("rules") == []
    assert catalogue.kinds_of("ring") == ["topology"]
    assert "rings" not in sys.modules


def test_using_one_plugin_imports_no_other(site):
    site.install(
        "rings",
        {"topology": {"ring": "rings:Ring", "other": "bystander:Other"}},
        {"rings.py": SOUND, "bystander.py": SOUND},
    )
    assert site.catalogue().plugin("topology", "ring").summary == "A ring"
    assert "bystander" not in sys.modules


OLD_INJECT = """
from routelab.kernels.hops import inject_kernel
@inject_kernel
def draw(tables, reals, packets, packet, queues, random):
    return 0
"""


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("", "has no attribute 'Ring'"),
        (
            "from routelab.kernels.hops import queue_of",
            f"; this routelab has ABI {ABI} of hop-by-hop routing; adapt plugins for",
        ),
        (OLD_INJECT, f"packet, queues, random); under ABI {ABI} of hop-by-hop routing it takes ("),
        ("Ring = 3", "expected a subclass of TopologyPlugin, found 3"),
        ("class Ring:\n    @property\n    def name(self): 1 / 0", "expected a subclass"),
    ],
)
def test_a_broken_plugin_is_quarantined_with_its_cause(site, source, cause):
    site.install("rings", {"topology": {"ring": "rings:Ring"}}, {"rings.py": SOUND})
    site.install("bad", {"topology": {"bad": "bad_rings:Ring"}}, {"bad_rings.py": source}, "0.4")
    catalogue = site.catalogue()
    bad, ring = catalogue.entries("topology")
    assert (bad.status, bad.plugin, ring.status) == ("broken", None, "ok")
    assert "plugin topology/bad of bad 0.4 (bad_rings:Ring): expected" in bad.cause
    assert cause in bad.cause
    with pytest.raises(InputError) as error:
        catalogue.plugin("topology", "bad")
    assert bad.cause in str(error.value)


def test_a_class_that_cannot_be_checked_is_broken_too(site):
    source = SOUND.replace(
        "class Ring(",
        "class Hostile(type(TopologyPlugin)):\n    @property\n"
        "    def summary(cls): raise ZeroDivisionError('gotcha')\n\n"
        "class Ring(",
    ).replace("(TopologyPlugin):", "(TopologyPlugin, metaclass=Hostile):")
    site.install("bad", {"topology": {"ring": "bad_rings:Ring"}}, {"bad_rings.py": source})
    entry = site.catalogue().entry("topology", "ring")
    assert entry.status == "broken"
    assert "cannot be checked: ZeroDivisionError: gotcha" in entry.cause


def test_two_distributions_with_one_key_are_both_named(site):
    for name, version in (("east", "1.0"), ("west", "2.0")):
        site.install(name, {"topology": {"ring": f"{name}:Ring"}}, {f"{name}.py": SOUND}, version)
    catalogue = site.catalogue()
    entries = catalogue.entries()
    assert {(entry.distribution, entry.version) for entry in entries} == {
        ("east", "1.0"),
        ("west", "2.0"),
    }
    assert {entry.status for entry in entries} == {"duplicate"}
    with pytest.raises(InputError, match=r"ambiguous.*east 1\.0.*west 2\.0|west 2\.0.*east 1\.0"):
        catalogue.plugin("topology", "ring")


def test_a_key_may_be_in_two_kinds(zoo, site):
    site.install("more", {"rules": {"grid": "zoo:Turns"}}, {})
    catalogue = site.catalogue()
    assert catalogue.kinds_of("grid") == ["rules", "topology"]
    assert catalogue.entry("topology", "grid").status == "ok"
    assert "expected name to be the entry point's, 'grid', found 'turns'" in (
        catalogue.entry("rules", "grid").cause
    )


@pytest.mark.parametrize(
    ("kind", "key", "said"),
    [
        ("topology", "gird", "did you mean 'grid'?"),
        ("topology", "GRID", "did you mean 'grid'?"),
        ("topology", "zzzzzz", "called 'zzzzzz' (see `routelab plugins list topology`)"),
        ("topology", "pick", "'pick' is a plugin of kind selection"),
        ("topolgy", "grid", "unknown kind of plugin: 'topolgy'; did you mean 'topology'?"),
    ],
)
def test_unknown_names_are_refused_with_a_way_out(zoo, kind, key, said):
    with pytest.raises(InputError) as error:
        zoo.plugin(kind, key)
    assert said in str(error.value)


def test_a_group_that_is_no_kind_is_reported_and_not_lost(site):
    site.install("rings", {"topolgy": {"ring": "rings:Ring"}}, {"rings.py": SOUND})
    (entry,) = site.catalogue().entries()
    assert entry.status == "broken"
    assert "did you mean 'topology'?" in entry.cause


def test_a_key_that_no_name_can_hold_is_broken(site):
    site.install("rings", {"topology": {"ring/1": "rings:Ring"}}, {"rings.py": SOUND})
    (entry,) = site.catalogue().entries()
    assert (entry.status, "'ring/1' cannot be used in a name" in entry.cause) == ("broken", True)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('selection = "pick~tie_sed=1"', "did you mean 'tie_seed'?"),
        ('selection = "pick~tie_seed=-1"', "must be greater than or equal to 0"),
        ('selection = "pikc"', "did you mean 'pick'?"),
        ('selection = "pick~"', "expected a parameter"),
        ("selection = None", "expected selection to be the name of a selection plugin"),
    ],
)
def test_a_composition_is_as_sound_as_its_parts(zoo, site, broken, said):
    source = f"""
from routelab.api import Composition


class Mixed(Composition):
    name = "mixed"
    summary = "A composition"
    rules = "turns"
    {broken}
"""
    site.install("mixes", {"routing": {"mixed": "mixes:Mixed"}}, {"mixes.py": source})
    entry = site.catalogue().entry("routing", "mixed")
    assert entry.status == "broken"
    assert said in entry.cause


def test_entry_points_without_distribution_or_of_others_do_no_harm():
    catalogue = Catalogue(
        [
            EntryPoint("ring", "nowhere_to_be_found:Ring", "routelab.topology"),
            EntryPoint("other", "nowhere_to_be_found:x", "console_scripts"),
        ]
    )
    (entry,) = catalogue.entries()
    assert (entry.key, entry.distribution, entry.status) == ("ring", "unknown", "broken")


def test_what_a_plugin_prints_at_import_is_no_result_of_a_command(site, capsys):
    site.install(
        "rings",
        {"topology": {"ring": "rings:Ring"}},
        {"rings.py": f"print('welcome')\n{SOUND}"},
    )
    assert site.catalogue().plugin("topology", "ring").summary == "A ring"
    out, err = capsys.readouterr()
    assert (out, err) == ("", "welcome\n")
