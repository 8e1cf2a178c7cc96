"""``routelab simulate --engine flow``: messages are whole, though a child process has them."""

from __future__ import annotations

from routelab.cli import main


def refused(capsys, *arguments: str) -> str:
    assert main(["simulate", "torus~dims=2x2", "dor", *arguments, "--engine", "flow"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    return printed.err


def test_mistakes_in_a_cluster_are_reported_with_their_lines(capsys, tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text("machine: {latency: 1.0e-6}\nnodes: many\nranks_per_node: -4\n", "utf-8")
    lines = refused(capsys, "neighbor", "--machine", str(file)).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"routelab: error: {file}:2: nodes: 'many' should be")
    assert lines[1].startswith(f"{file}:3: ranks_per_node: -4 should be")


def test_ranks_that_wait_for_each_other_are_reported(capsys, tmp_path):
    """Blocking sends of more than eager_bytes that face each other."""
    trace = tmp_path / "trace.txt"
    lines = [
        f"{rank} {action} {1 - rank} 0 70000" for rank in (0, 1) for action in ("send", "recv")
    ]
    trace.write_text("\n".join(lines), "utf-8")
    error = refused(capsys, f"trace~file={trace}", "--ranks", "2")
    assert "2 of 2 ranks wait for each other" in error
    assert "raise --eager-bytes" in error
    assert "rank 1: send to 0" in error
