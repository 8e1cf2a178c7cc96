import sys
from pathlib import Path

from routelab._runtime.platforms import unsupported_platform

# before the imports of what only Linux has
if problem := unsupported_platform():
    sys.exit(problem)

from routelab.workflow.options import apply_routing_option, longest_minutes, submits_parts
from routelab.workflow.plan.requests import memory_mb, minutes
from routelab.workflow.snakefile import begin_run, end_run, start_run

plan = begin_run(workflow, config)


onstart:
    start_run(workflow)


onsuccess:
    end_run(workflow, finished=True)


onerror:
    end_run(workflow, finished=False)


# What a stage asks of the plan. All are functions of the wildcards alone, because Snakemake does not
# record a parameter whose function also takes the input, output, threads or resources, and would not
# notice that the fingerprint of a comparison has changed.
def batch(stage, wildcards):
    return plan.batches[stage, "-".join(wildcards)]  # the study and a number


def batches(stage, before):
    return lambda wildcards: plan.manifests_before(batch(before, wildcards), stage)


def files(stage):
    return lambda wildcards: batch(stage, wildcards).inputs


def priority(stage):
    return lambda wildcards: batch(stage, wildcards).priority


# The list of the items of a batch. It changes when items have to be computed, or tried again.
def work(stage):
    return lambda wildcards: plan.work(batch(stage, wildcards))


# What a stage asks a cluster for. One function serves all stages, as the list of work has the name of
# the batch. Without a list, nothing is asked for, and nothing runs.
def memory(wildcards, input):
    return memory_mb(batch_of(input.work)) if input.work else 0


def runtime(wildcards, input):
    return minutes(batch_of(input.work), longest_minutes(config)) if input.work else 0


def batch_of(work):
    (path,) = map(Path, work)
    return plan.batches[path.parent.name, path.stem]


def comparison(wildcards):
    (job,) = batch("comparisons", wildcards).jobs
    return job


# Routes that an upgrade computes again do not repeat a measurement.
def measured(stage):
    def paths(wildcards):
        paths = plan.manifests_before(batch("comparisons", wildcards), stage)
        return ancient(paths) if comparison(wildcards).is_done() else paths

    return paths


def measures_here(wildcards):
    return workflow.local_exec and not comparison(wildcards).hosts


def study_plan(wildcards):
    return plan.studies[wildcards.study]


wildcard_constraints:
    batch="[^/]+",
    study="[^/]+",


# With an executor of a cluster, these run where Snakemake runs: networks are small, and pages read what
# all jobs have written.
localrules:
    all,
    report,
    topologies,
    page,
    index,
    figures,


# All other parts become jobs of the cluster, or only measurements, which need whole nodes: a part would
# use one core of them.
if not submits_parts(config):

    localrules:
        routes,
        metrics,
        bounds,
        throughput,
        simulations,
        flows,
        surveys,
