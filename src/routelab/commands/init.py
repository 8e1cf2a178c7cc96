"""``routelab init``: make a working directory for studies."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from routelab.commands._shared.arguments import FLAG, FOLDER


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "init",
        help="make a working directory with a Snakefile and example studies",
        examples=("routelab init my-experiments", "routelab init --notebook my-experiments"),
        description="Make a working directory: Snakefile, workflow, profile, configuration, "
        "example studies and a README with the next steps.",
    )
    parser.add_argument("folder", **FOLDER, help="new or empty folder")
    parser.add_argument("--notebook", **FLAG, help="add the tutorial notebook, tutorial.ipynb")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make the working directory and print the commands to type next."""
    import shlex

    from routelab.workflow.project import create_project

    create_project(arguments.folder, notebook=arguments.notebook)
    print(f"Created {arguments.folder}. Next steps:")
    if arguments.folder.resolve() != Path.cwd():
        print(f"    cd {shlex.quote(str(arguments.folder))}")
    print("    snakemake report --config studies=examples/compare-algorithms")
    if arguments.notebook:
        print("    jupyter lab tutorial.ipynb    # if missing: pip install jupyterlab")
    return 0
