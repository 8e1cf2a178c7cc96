import sys

from routelab._runtime.platforms import unsupported_platform

# before the imports of what only Linux has
if problem := unsupported_platform():
    sys.exit(problem)

from routelab.workflow.cluster_options import apply_routing_option, submits_parts
from routelab.workflow.entry import begin_run

# in a job on a node of a cluster there is no plan, as it makes no page
plan, steps = begin_run(workflow, config)
studies = plan.studies if plan else {}


# Jobs on nodes have no hooks, and do not import what these need.
onstart:
    from routelab.workflow.snakefile import start_run

    start_run(workflow)


onsuccess:
    from routelab.workflow.snakefile import end_run

    end_run(workflow, finished=True)


onerror:
    from routelab.workflow.snakefile import end_run

    end_run(workflow, finished=False)


# What a stage asks of the plan. All are functions of the wildcards alone, because Snakemake does not
# record a parameter whose function also takes the input, output, threads or resources, and would not
# notice that the fingerprint of a comparison has changed.
def step(stage, wildcards):
    return steps[f"results/.plan/{stage}/{'-'.join(wildcards)}.json"]  # the study and a number


def batches(stage, before):
    return lambda wildcards: step(before, wildcards).before.get(stage, ())


def files(stage):
    return lambda wildcards: step(stage, wildcards).inputs


def priority(stage):
    return lambda wildcards: step(stage, wildcards).priority


# The list of the items of a batch. It changes when items have to be computed, or tried again.
def work(stage):
    return lambda wildcards: step(stage, wildcards).work


# What a stage asks a cluster for. One function serves all stages, as the list of work has the name of
# the batch. Without a list, nothing is asked for, and nothing runs.
def memory(wildcards, input):
    return steps[input.work[0]].memory_mb if input.work else 0


def runtime(wildcards, input):
    return steps[input.work[0]].minutes if input.work else 0


def comparison(wildcards):
    return step("comparisons", wildcards)


# Routes that an upgrade computes again do not repeat a measurement.
def measured(stage):
    def paths(wildcards):
        paths = comparison(wildcards).before.get(stage, ())
        return ancient(list(paths)) if comparison(wildcards).is_done else paths

    return paths


def measures_here(wildcards):
    return workflow.local_exec and not comparison(wildcards).hosts


def study_plan(wildcards):
    return studies[wildcards.study]


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
