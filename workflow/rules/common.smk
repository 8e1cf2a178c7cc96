from routelab.stages.workflow import begin

plan = begin(workflow, config)


def batch(kind):
    return lambda wildcards: plan.batches[kind, wildcards.batch]


def study_plan(wildcards):
    return plan.studies[wildcards.study]


wildcard_constraints:
    batch="[^/]+",
    study="[^/]+",


localrules:
    all,
    report,
