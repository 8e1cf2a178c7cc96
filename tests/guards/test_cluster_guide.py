"""docs/cluster.md as its reader uses it: files are right, commands exist, messages are printed."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from routelab.cli import make_parser
from routelab.commands._shared.settings import settings_from_options
from routelab.study.bench_settings import BenchSettings
from routelab.study.cluster.keys import load_cluster
from routelab.workflow.cluster_check import check_cluster
from routelab.workflow.plan.expansion import expand_studies

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/cluster.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow


def block(language, beginning):
    (text,) = re.findall(rf"^```{language}\n({beginning}.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return text


def commands():
    """What is to be typed: indented lines and those of scripts, with their continuations."""
    text = GUIDE.replace("\\\n", " ")
    return re.findall(r"^(?:    |exec )(routelab (?:bench|cluster|study) .*)$", text, re.MULTILINE)


def test_its_cluster_and_its_study_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder, name, text in (
        ("clusters", "mycluster", block("yaml", "# yaml-language-server")),
        ("studies", "mine", block("yaml", "title:")),
    ):
        path = Path("config", folder, f"{name}.yaml")
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    file = load_cluster(Path("config/clusters/mycluster.yaml"))
    assert file.cluster.hosts_of("torus~dims=4", 4) == ("n01", "n03", "n05", "n07")
    plan = expand_studies([Path("config/studies/mine.yaml")])
    hosts = sorted(job.hosts for job in plan.of("comparisons").values())
    assert hosts == ["n[01,03,05,07]", "n[01-08]"]


def test_each_line_of_its_check_is_one_that_the_check_makes(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "mycluster.yaml"
    path.write_text(block("yaml", "# yaml-language-server"), encoding="utf-8")
    shown = re.search(r"^    what .*?\n\n", GUIDE, re.MULTILINE | re.DOTALL)[0]
    for check in check_cluster(str(path))[1:3]:
        line = f"    {check.subject:<35}{check.state:<7}{check.finding}"
        assert any(shown_line.rstrip() == line for shown_line in shown.splitlines())


def test_its_commands_are_those_of_routelab():
    lines = commands()
    assert len(lines) > 8
    for line in lines:
        options = make_parser().parse_args(
            [word for word in shlex.split(line)[1:] if word != "..."]
        )
        if line.startswith("routelab bench --"):
            assert settings_from_options(BenchSettings, vars(options)).cluster in (
                "local",
                "mycluster",
            )


def test_its_job_script_is_one_that_bash_reads(tmp_path):
    script = tmp_path / "compare.sh"
    script.write_text(block("sh", "#!/bin/bash"), encoding="utf-8")
    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_messages_of_its_troubles_are_printed_somewhere():
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    code = re.sub(r'"\s*\n\s*f?"', "", code)
    table = GUIDE[GUIDE.index("## Troubles") :]
    symptoms = re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE)
    messages = [text for symptom in symptoms for text in re.findall(r"`([^`]+)`", symptom)]
    assert len(messages) > 20
    for message in messages:
        for part in message.split("…"):
            assert part.strip(" :()") in code, message
