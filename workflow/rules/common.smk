import sys

from routelab._platform import unsupported_platform

# before the imports of what only Linux has
if problem := unsupported_platform():
    sys.exit(problem)

from routelab.stages.workflow.containers import container_image
from routelab.stages.workflow.snakefile import (
    BATCHED,
    again_option,
    apply_option,
    begin_run,
    submits_all,
)

plan = begin_run(workflow, config)


def batch(wildcards, kind=None):
    return plan.batches[kind or wildcards.kind, wildcards.batch]


def comparison(wildcards):
    (job,) = batch(wildcards, "comparisons").jobs
    return job


def measures_here(wildcards):
    return workflow.local_exec and not comparison(wildcards).hosts


def study_plan(wildcards):
    return plan.studies[wildcards.study]


wildcard_constraints:
    kind="|".join(BATCHED),
    batch="[^/]+",
    study="[^/]+",


# Of all jobs but comparisons, with --sdm apptainer.
container: container_image(workflow, config)


localrules:
    all,
    report,


# With an executor of a cluster, only measurements run there: other jobs are short, and would wait in a
# queue for nodes that they do not fill.
if not submits_all(config):

    localrules:
        batches,
        surveys,
        study_report,
        report_index,
