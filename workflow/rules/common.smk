from routelab.stages.workflow import begin

plan = begin(workflow, config)


def batch(kind):
    return lambda wildcards: plan.batches[kind, wildcards.batch]


def shard(wildcards):
    return plan.shards()[wildcards.shard]


def study_plan(wildcards):
    return plan.studies[wildcards.study]


wildcard_constraints:
    batch="[^/]+",
    shard="[^/]+",
    study="[^/]+",


localrules:
    all,
    report,
