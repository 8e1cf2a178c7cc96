from routelab.stages.workflow import apply_option, begin, submits_all

plan = begin(workflow, config)


def batch(kind):
    return lambda wildcards: plan.batches[kind, wildcards.batch]


def shard(wildcards):
    return plan.shards()[wildcards.shard]


def comparison(wildcards):
    return plan.comparison(wildcards.comparison)


def measures_here(wildcards):
    return workflow.local_exec and not comparison(wildcards).hosts


def study_plan(wildcards):
    return plan.studies[wildcards.study]


wildcard_constraints:
    batch="[^/]+",
    comparison="[^/]+",
    shard="[^/]+",
    study="[^/]+",


localrules:
    all,
    report,


# With an executor of a cluster only what is measured goes there: all else is short, and would wait in
# a queue for nodes that it does not fill.
if not submits_all(config):

    localrules:
        topologies,
        routes,
        bounds,
        simulations,
        flows,
        survey_shard,
        study_report,
        report_index,
