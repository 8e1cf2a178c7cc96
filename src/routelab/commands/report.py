"""``routelab report``: write a study's tables, figures and page from its jobs' outcomes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from routelab.commands._shared.arguments import FLAG, FOLDER, named_path


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "report",
        help="write a study's report from its results",
        examples=(
            "routelab report config/studies/angara-table2.yaml",
            "routelab report --index",
            "routelab report config/studies/angara-table2.yaml --also pdf,png",
        ),
        description="Write a study's tables, figures and page from its jobs' files in the results "
        "folder; or, with --index, the list of all reports there.",
    )
    parser.add_argument(
        "study", metavar="STUDY.yaml", nargs="?", type=named_path, help="study file"
    )
    parser.add_argument("--index", **FLAG, help="write the list of all reports")
    parser.add_argument(
        "--results",
        **FOLDER,
        default=Path("results"),
        help="folder of the results (default: results)",
    )
    parser.add_argument(
        "-o", "--output", **FOLDER, help="folder for the report (default: RESULTS/report/STUDY)"
    )
    parser.add_argument(
        "--also",
        metavar="SUFFIXES",
        default="",
        help="further files of every figure, beside those of the page: png, pdf or png,pdf",
    )
    parser.add_argument(
        "--cluster",
        metavar="NAME",
        default="",
        help="cluster that was measured on instead of those of the study",
    )
    parser.add_argument(
        "--keep-going",
        **FLAG,
        help="write the page without tables and figures that do not fit the results; it says why",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the report of one study, or the list of all reports; print the path of the page."""
    from routelab.api import InputError
    from routelab.commands._shared.logging import show_progress
    from routelab.workflow.report import write_report, write_report_index

    # exactly one of STUDY.yaml and --index
    if arguments.index == (arguments.study is not None):
        raise InputError("name a study file, or give --index for the list of all reports")
    if arguments.index and arguments.also:
        raise InputError("--also: the list of all reports has no figures; name a study file")
    if arguments.index:
        write_report_index(arguments.results)
        print(arguments.results / "report" / "index.html")
        return 0
    suffixes = arguments.also.split(",") if arguments.also else []
    if not {*suffixes} <= {"png", "pdf"}:
        raise InputError(f"--also {arguments.also}: not a list of png and pdf, such as pdf,png")
    folder = arguments.output or arguments.results / "report" / arguments.study.stem
    with show_progress(arguments):
        write_report(
            study=arguments.study,
            results=arguments.results,
            directory=folder,
            also=suffixes,
            cluster=arguments.cluster,
            keep_going=arguments.keep_going,
        )
    print(folder / "index.html")
    return 0
