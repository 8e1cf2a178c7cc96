from routelab.stages.workflow import begin

plan = begin(workflow, config)


def topology_job(wildcards):
    return plan.topologies[wildcards.topology]


def route_job(wildcards):
    return plan.routes[wildcards.topology, wildcards.routing]


def study_plan(wildcards):
    return plan.studies[wildcards.study]


wildcard_constraints:
    topology="[^/]+",
    routing="[^/]+",
    study="[^/]+",


localrules:
    all,
    report,
