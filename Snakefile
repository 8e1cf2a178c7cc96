# Everything that runs: studies -> networks -> routes, proofs and numbers -> reports.
#
#   snakemake                                    all studies of config/config.yaml
#   snakemake report --config studies=NAME,NAME  chosen ones (the target stands before --config)
#   snakemake -n --quiet host                    what would run, and why
#   snakemake report --config apply_routing=true measure on a fabric, and allow to switch it
#
# Paths, all in results/. <topology> and <routing> are canonical instance names
# (name~key=value,key=value, compositions selection@rules@layers) or the alias a study gives:
#
#   topologies/<topology>/outcome.json            network.   Beside it: topology.npz, channels.csv
#   routes/<topology>/<routing>/outcome.json      routing.   Beside it: metrics.csv, channels.csv,
#                                                 turns.csv, routes.npz, certificate.json
#   bounds/<topology>/<rules>/outcome.json        bound.     Beside it: bound.csv, its certificate;
#                                                 <rules> is _network where all minimal routes count
#   throughput/<topology>/<traffic>/outcome.json  bounds for any routing. Beside it: bound.csv
#   simulations/<topology>/<routing>/<traffic>/<settings>/outcome.json
#                                                 simulation. Beside it: curve.csv, channels.csv,
#                                                 terminals.csv, latencies.csv
#   flows/<topology>/<routing>/<workload>/<settings>/outcome.json
#                                                 workload.   Beside it: channels.csv, ranks.csv
#   bench/comparisons/<study>/<topology>/<settings>/outcome.json
#                                                 comparison. Beside it: runs.csv, figures.csv
#   bench/runs/<fingerprint>/run.json             run of a benchmark. Beside it: what it printed
#   batches/<kind>/<batch>.json                   what became of the jobs that one process did
#   surveys/<study>-<number>.csv                  runs of a survey, a row each
#   report/<study>/index.html                     report.    Beside it: tables/, figures/
#   report/index.html                             list of the reports
#   logs/..., benchmarks/...                      of every batch and report
#
# docs/decisions/0002-workflow.md says why each thing is as it is.


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/batches.smk"
include: "workflow/rules/comparisons.smk"
include: "workflow/rules/surveys.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.report.input,
