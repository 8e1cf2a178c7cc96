# From a study to its page. Each step is a rule in workflow/rules, each stage makes many items:
#
#   topologies -> routes -> metrics, simulations, flows, comparisons -.
#   topologies -> bounds, throughput ---------------------------------+-> page -> index
#   surveys ----------------------------------------------------------'
#
#   snakemake                                    all studies of config/config.yaml
#   snakemake report --config studies=NAME,NAME  only these studies (write targets before --config)
#   snakemake figures --config studies=NAME      also draw the figures as PNG and PDF
#   snakemake -n --quiet host                    show what would run, and why
#   snakemake report --config fresh=routes       compute all route tables again
#   snakemake report --config apply_routing=true measure on a fabric, and allow switching its routing
#
# docs/concepts/artifacts.md lists the paths of results; docs/decisions.md has the reasons.


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/stages.smk"
include: "workflow/rules/comparisons.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.report.input,
