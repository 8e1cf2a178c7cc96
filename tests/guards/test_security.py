"""What ``SECURITY.md`` says about data of other people is true."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

from routelab.api import InputError
from routelab.registry.instances import load
from routelab.routing.routes_file import load_routes
from routelab.study import load_study
from routelab.workflow.plan.expansion import expand_studies

ROOT = Path(__file__).parents[2]


def test_rules_quote_the_texts_that_they_insert():
    inserted = [
        word
        for path in sorted((ROOT / "workflow" / "rules").glob("*.smk"))
        for word in re.findall(
            r"\{((?:params|input|output|log|wildcards)\b[^}]*)\}", path.read_text()
        )
    ]
    assert len(inserted) > 5
    assert [word for word in inserted if not word.endswith(":q")] == []


class Intruder:
    """An object whose unpickling makes a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_arrays_do_not_run_code(tmp_path):
    mark = str(tmp_path / "intruder")
    hostile = np.array([Intruder(mark)], dtype=object)
    for name in ("metadata", "channels"):
        members = {"metadata": np.array("{}"), name: hostile}
        np.savez(tmp_path / "routes.npz", **members)
        with pytest.raises(InputError):
            load_routes(tmp_path / "routes.npz", None)
    assert not Path(mark).exists()
    np.load(tmp_path / "routes.npz", allow_pickle=True)["channels"]
    assert Path(mark).exists()


def test_studies_create_no_objects(tmp_path):
    mark = tmp_path / "intruder"
    study = tmp_path / "study.yaml"
    study.write_text(
        f"title: !!python/object/apply:os.mkdir ['{mark}']\ntopologies: [torus]\nroutings: [dor]\n"
    )
    with pytest.raises(InputError, match="could not determine a constructor"):
        load_study(study)
    assert not mark.exists()


GRAPHML = """<?xml version="1.0"?>
<!DOCTYPE graphml [{entities}]>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="l" for="node" attr.name="label" attr.type="string"/>
<graph edgedefault="undirected">
<node id="a"><data key="l">{label}</data></node><node id="b"/><edge source="a" target="b"/>
</graph></graphml>
"""


def test_xml_reads_no_other_files(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    network = tmp_path / "network.graphml"
    entity = f'<!ENTITY e SYSTEM "file://{tmp_path}/secret.txt">'
    network.write_text(GRAPHML.format(entities=entity, label="&e;"))
    try:
        names = load("topology", f"graph~file={network}").build().switch_names
    except InputError:
        return
    assert not any("secret" in name for name in names)


def test_a_study_names_no_program(tmp_path):
    (tmp_path / "program").write_text("#!/bin/sh\n")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "study.yaml").write_text(
        f"title: t\ntopologies: [torus~dims=4]\nroutings: [dor]\nflow: {{engine: smpi}}\n"
        f"workloads: [{tmp_path}/program]\n"
    )
    with pytest.raises(InputError, match="expected the name of a plugin"):
        expand_studies([tmp_path / "study.yaml"])
