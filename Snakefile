# Everything that runs: studies -> networks -> routes, proofs and numbers -> reports.
#
#   snakemake                                    all studies of config/config.yaml
#   snakemake report --config studies=NAME,NAME  only these studies (write targets before --config)
#   snakemake -n --quiet host                    show what would run, and why
#   snakemake report --config apply_routing=true measure on a fabric, and allow switching its routing
#
# Paths, all in results/. <topology> and <routing> are canonical instance names
# (name~key=value,key=value, compositions selection@rules@layers) or the alias a study gives:
#
#   topologies/<topology>/outcome.json            network;    also topology.npz, channels.csv
#   routes/<topology>/<routing>/outcome.json      routing;    also metrics.csv, channels.csv,
#                                                 turns.csv, routes.npz, certificate.json
#   bounds/<topology>/<rules>/outcome.json        bound;      also bound.csv, its certificate;
#                                                 <rules> is _network if all minimal routes count
#   throughput/<topology>/<traffic>/outcome.json  bounds for any routing; also bound.csv
#   simulations/<topology>/<routing>/<traffic>/<settings>/outcome.json
#                                                 simulation; also curve.csv, channels.csv,
#                                                 terminals.csv, latencies.csv
#   flows/<topology>/<routing>/<workload>/<settings>/outcome.json
#                                                 workload;   also channels.csv, ranks.csv
#   bench/comparisons/<study>/<topology>/<settings>/outcome.json
#                                                 comparison; also runs.csv, figures.csv
#   bench/runs/<fingerprint>/run.json             run of a benchmark; also its output
#   batches/<kind>/<batch>.json                   outcomes of the jobs of one process
#   surveys/<study>-<number>.csv                  runs of a survey, a row each
#   report/<study>/index.html                     report;     also tables/, figures/
#   report/index.html                             list of the reports
#   logs/..., benchmarks/...                      of every batch and report
#
# docs/decisions/0002-workflow.md explains the reasons.


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
