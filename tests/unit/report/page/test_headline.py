"""The sentence that answers a study's question: what it compares, and what it never says."""

from __future__ import annotations

from itertools import product

import pytest

from routelab.api import InputError
from routelab.report.page.headline import find_answer
from routelab.report.page.missing_rows import missing_results
from routelab.report.rows.study_rows import StudyRows
from routelab.report.tables import build_table

LOADS = "tables: {t: {rows: [routing, nodes], values: [max_load]}}\n"


@pytest.fixture
def answer(world, write_study):
    """The answer of a study over the runs of `world`."""

    def build(text):
        study = write_study(text)
        views = StudyRows(world.records, world.simulated)
        tables = [
            (build_table(name, spec, views.rows_for(spec), None, ""), views.rows_for(spec))
            for name, spec in study.tables.items()
        ]
        return find_answer(study, views, tables, missing_results("demo", views))

    return build


def three_networks(world, loads, baseline=(10, 20, 40)):
    """Runs of ``bfs`` and ``sssp`` with these maximum loads on networks of 2, 4 and 8 nodes."""
    for dims, load, base in zip(("2", "4", "4x2"), loads, baseline, strict=False):
        world.add("sssp", dims, load=[load])
        world.add("bfs", dims, load=[base])


def test_several_rows_are_one_geometric_mean_with_both_extremes(world, answer):
    three_networks(world, (5, 20, 20))
    headline = answer(f"headline: {{value: max_load, baseline: bfs}}\n{LOADS}")
    # (1/2 * 1 * 1/2) ** (1/3) = 0.63; the arithmetic mean of the ratios is 0.67
    assert headline.sentence == (
        "The maximum channel load of sssp is 37 % lower than that of bfs (geometric mean "
        "over 3 network "
        "sizes; 0 % to 50 % lower)."
    )
    assert headline.table == "t"


@pytest.mark.parametrize(
    ("loads", "sizes"),
    [
        ((9, 20, 50), "1 (by up to 11 %), lower in 1 (by up to 20 %)"),
        ((5, 20, 80), "1 (up to 2 times), lower in 1 (down to 0.5 times)"),
    ],
)
def test_no_mean_mixes_wins_and_losses(world, answer, loads, sizes):
    three_networks(world, loads)
    text = f"headline: {{value: max_load, compare: bfs, baseline: sssp}}\n{LOADS}"
    assert answer(text).sentence == (
        f"The maximum channel load of bfs is higher than that of sssp in {sizes} and equal in 1 of "
        "3 network sizes."
    )


def test_a_mean_over_networks_says_in_how_many_pairs_it_is_better_and_worse(world, answer):
    three_networks(world, (5, 20, 44))
    table = (
        "tables: {t: {rows: [routing], relative: {to: bfs, column: max_load}, "
        "statistics: {max_load_gain: [mean]}}}\n"
    )
    # gains of 50 %, none and −10 %
    sentence = answer("headline: {value: max_load_gain_mean}\n" + table).sentence
    assert sentence == (
        "The maximum channel load of sssp is on average 13 % lower than that of bfs; higher in 1 "
        "and lower in 1 of 3 pairs of runs."
    )
    table = "tables: {t: {rows: [routing], statistics: {max_load: [mean]}}}\n"
    sentence = answer(f"headline: {{value: max_load_mean, baseline: bfs}}\n{table}").sentence
    assert sentence.endswith("; higher in 1 and lower in 1 of 3 pairs of runs.")


def test_pairs_of_tiny_values_differ_too(world, answer):
    for dims, less, more in (("2", "a", "b"), ("4", "b", "a")):
        world.add(less, dims, metrics={"share": 1e-10})
        world.add(more, dims, metrics={"share": 3e-10})
    table = "tables: {t: {rows: [routing], statistics: {share: [mean]}}}\n"
    sentence = answer(f"headline: {{value: share_mean, baseline: a}}\n{table}").sentence
    assert sentence.endswith("; higher in 1 and lower in 1 of 2 pairs of runs.")


def accepted(world, routing, traffic, load, state="saturated", starved=0, **facts):
    """A simulation at a load of 0.8 that accepts `load`."""
    row = {"load": 0.8, "state": state, "accepted_load": load, "starved_terminals": starved}
    world.simulate(routing, curve=[row], traffic=traffic, facts=facts)


ACCEPTED = (
    "traffic: [uniform, tornado, transpose]\n"
    "headline: {value: accepted_load, compare: rdr, baseline: dor}\n"
    "tables: {t: {of: loads, rows: [traffic, routing], values: [accepted_load]}}\n"
)


def test_no_headline_rests_on_starved_terminals(world, answer):
    # numbers of the study patterns-small; with starved terminals, the mean is 1.7 times
    for traffic, base, rdr, starved in (
        ("uniform", 0.6236, 0.58, 0),
        ("transpose", 0.1785, 0.4869, 36),
        ("tornado", 0.1293, 0.2597, 0),
    ):
        accepted(world, "dor", traffic, base, starved=starved)
        accepted(world, "rdr", traffic, rdr)
    assert answer(ACCEPTED).sentence == (
        "The accepted load of rdr is higher than that of dor in 1 (up to 2 times) and lower in 1 "
        "(down to 0.93 times) of 2 traffic patterns; all runs are saturated; left out: 1 of 3 "
        "cases, where terminals of dor starve."
    )


def test_runs_that_are_not_stationary_are_counted(world, answer):
    accepted(world, "dor", "uniform", 0.5, "stationary")
    accepted(world, "rdr", "uniform", 0.6, "undecided")
    assert answer(ACCEPTED).sentence == (
        "Under uniform, the accepted load of rdr is 0.6, 20 % higher than the 0.5 of dor; "
        "of 2 runs, 1 is undecided."
    )


def test_columns_that_differ_are_enumerated(world, answer):
    for routing, dims, traffic in product(("dor", "rdr"), ("4", "4x2"), ("uniform", "tornado")):
        accepts = 1 if routing == "dor" else 0.5
        curve = [
            {"load": load, "state": "stationary", "accepted_load": load * accepts}
            for load in (0.2, 0.4)
        ]
        world.simulate(routing, dims, curve, traffic=traffic)
    text = ACCEPTED.replace("rows: [traffic, routing]", "rows: [traffic, load, dims, routing]")
    assert answer(text).sentence == (
        "The accepted load of rdr is 50 % lower than that of dor (geometric mean over 8 "
        "combinations of traffic pattern, offered load and network; 50 % lower)."
    )


@pytest.mark.parametrize(
    ("state", "starved", "verdict", "why"),
    [
        ("saturated", 1, "proven", "terminals of rdr starve"),
        ("deadlock", 0, "proven", "rdr deadlocks"),
        ("unfinished", 0, "proven", "rdr does not finish"),
        ("stationary", 0, "unproven", "rdr is not proven free of deadlock"),
    ],
)
def test_a_headline_that_cannot_be_given_says_why(world, answer, state, starved, verdict, why):
    for traffic in ("uniform", "tornado"):
        accepted(world, "dor", traffic, 0.5, "stationary")
        accepted(world, "rdr", traffic, 0.7, state, starved, deadlock=verdict)
    headline = answer(ACCEPTED)
    assert headline.sentence == (
        f"The accepted load of rdr cannot be compared with that of dor: {why} in 2 of 2 cases."
    )
    assert headline.table == ""


def test_an_unproven_baseline_is_said_in_the_sentence(world, answer):
    accepted(world, "dor", "uniform", 0.5, "stationary", deadlock="cycle")
    accepted(world, "rdr", "uniform", 0.6, "stationary")
    assert answer(ACCEPTED).sentence == (
        "Under uniform, the accepted load of rdr is 0.6, 20 % higher than the 0.5 of dor; "
        "dor is not proven free of deadlock."
    )


@pytest.mark.parametrize(
    ("value", "starved", "is_given"),
    [
        ("saturation_load", 0.4, False),
        ("saturation_load", 0.8, True),
        ("throughput", 0.4, True),
        ("throughput", 0.8, False),
    ],
)
def test_a_search_depends_on_starved_terminals_at_its_loads(
    world, answer, value, starved, is_given
):
    for routing, load in (("dor", 0.5), ("rdr", 0.6)):
        curve = [
            {"load": at, "state": state, "starved_terminals": int(at == starved)}
            for at, state in ((0.4, "undecided"), (0.8, "saturated"))
        ]
        facts = {value: load, "saturation_bound": 0.7, "throughput_at": 0.8}
        world.simulate(routing, curve=curve, facts=facts, find_saturation=True)
    headline = answer(
        f"traffic: [uniform]\nheadline: {{value: {value}, baseline: dor}}\n"
        f"tables: {{t: {{of: simulations, rows: [routing], values: [{value}]}}}}\n"
    )
    assert ("20 % higher" in headline.sentence) == is_given
    assert ("terminals of dor and rdr starve" in headline.sentence) != is_given


def test_one_row_has_its_numbers_and_the_range_over_its_runs(world, answer):
    for tie, load in enumerate([48, 40, 60]):
        world.add(f"bfs~tie_seed={tie}", "4x2", load=[load], tie_seed=tie)
    world.add("genetic", "4x2", load=[26], tie_seed=0)
    text = (
        "headline: {value: max_load, baseline: bfs}\n"
        "tables: {t: {rows: [routing, nodes], values: [max_load], over: {tie_seed: range}}}\n"
    )
    # 1 - 26/48; the ends are 1 - 26/40 and 1 - 26/60
    assert answer(text).sentence == (
        "On 8 nodes, the maximum channel load of genetic is 26, 46 % lower than the 48 of bfs "
        "(35 % to 57 % lower over all runs)."
    )


@pytest.mark.parametrize("verdict", ["cycle", "unproven", None])
def test_a_routing_that_is_not_proven_free_of_deadlock_never_wins(world, answer, verdict):
    world.add("best", "4", load=[1], facts={"deadlock": verdict})
    world.add("second", "4", load=[8])
    world.add("bfs", "4", load=[10])
    headline = answer(f"headline: {{value: max_load, baseline: bfs}}\n{LOADS}")
    assert headline.sentence.startswith(
        "On 4 nodes, the maximum channel load of second is 8, 20 % lower"
    )
    # not even if the study names it
    headline = answer(f"headline: {{value: max_load, compare: best, baseline: bfs}}\n{LOADS}")
    assert headline.sentence.endswith(": best is not proven free of deadlock.")
    assert headline.table == ""


def test_only_the_proven_runs_of_a_routing_count(world, answer):
    three_networks(world, (5, 10))
    world.add("sssp", "4x2", load=[1], facts={"deadlock": "cycle"})
    world.add("bfs", "4x2", load=[40])
    assert answer(f"headline: {{value: max_load, baseline: bfs}}\n{LOADS}").sentence == (
        "The maximum channel load of sssp is 50 % lower than that of bfs (geometric mean "
        "over 2 network sizes; 50 % lower); left out: 1 of 3 cases, where sssp is not proven free "
        "of deadlock."
    )


def test_a_study_excludes_routings_that_its_hardware_forbids(world, answer):
    world.add("dor", "4", load=[2])
    world.add("sssp", "4", load=[8])
    world.add("genetic", "4", load=[9])
    world.add("bfs", "4", load=[10])
    headline = answer(
        f"headline: {{value: max_load, compare: [genetic, sssp], baseline: bfs}}\n{LOADS}"
    )
    assert headline.sentence == (
        "On 4 nodes, the maximum channel load of sssp is 8, 20 % lower than the 10 of bfs."
    )


def test_a_renamed_column_has_its_preferred_direction(world, answer):
    for routing, load in (("bfs", 10), ("dor", 8), ("sssp", 5)):
        world.add(routing, load=[load])
    table = "{rows: [routing, nodes], names: {busiest: max_load}, values: [busiest]}"
    text = f"headline: {{value: busiest, baseline: bfs}}\ntables: {{t: {table}}}\n"
    assert answer(text).sentence.startswith("On 4 nodes, the busiest of sssp is 5, 50 % lower than")


PIVOT = "tables: {t: {rows: [nodes], pivot: {by: routing, value: max_load}}}\n"
ACROSS = "tables: {t: {rows: [routing], pivot: {by: nodes, value: max_load}}}\n"


@pytest.mark.parametrize("table", [PIVOT, ACROSS])
def test_routings_or_networks_that_are_columns_are_compared_too(world, answer, table):
    three_networks(world, (5, 10, 20))
    assert answer(f"headline: {{value: max_load, baseline: bfs}}\n{table}").sentence == (
        "The maximum channel load of sssp is 50 % lower than that of bfs (geometric mean "
        "over 3 network "
        "sizes; 50 % lower)."
    )


LOWER = "The maximum channel load of sssp is on average 29 % lower than that of bfs"
BETTER = "sssp is on average 41 % better than bfs in maximum channel load"


@pytest.mark.parametrize(
    ("value", "start", "extremes"),
    [
        ("max_load_gain_mean", LOWER, "0 % to 50 % lower"),
        # twice as good, and as good: the square root of 2
        ("improvement_percent_mean", BETTER, "0 % to 100 % better"),
        # the square root of 1/2
        ("max_load_ratio_mean", LOWER, "0 % to 50 % lower"),
    ],
)
def test_comparisons_of_a_table_are_taken_as_they_are(world, answer, value, start, extremes):
    three_networks(world, (5, 20))
    table = (
        "tables: {t: {rows: [routing, nodes], relative: {to: bfs, column: max_load}, statistics: "
        "{max_load_gain: [mean], improvement_percent: [mean], max_load_ratio: [mean]}}}\n"
    )
    sentence = answer(f"headline: {{value: {value}}}\n{table}").sentence
    assert sentence == f"{start} (geometric mean over 2 network sizes; {extremes})."


def test_values_of_zero_have_means_and_no_ratio(world, answer):
    for dims, share in (("2", 0.5), ("4", 1.0)):
        world.add("exact", dims, metrics={"share": share})
        world.add("none", dims, metrics={"share": share - 0.5})
    table = "tables: {t: {rows: [routing, nodes], values: [share]}}\n"
    headline = "headline: {value: share, name: share of routable parts, baseline: none}\n"
    assert answer(headline + table).sentence == (
        "The share of routable parts of exact is 0.75, that of none is 0.25 "
        "(means over 2 network sizes)."
    )
    world.add("third", "2", metrics={"share": 0.1})
    world.add("third", "4", metrics={"share": 0.2})
    best = headline.replace("}", ", better: lower}")
    # 0.1 is more than 0, and 0.2 less than 0.5
    assert answer(best + table).sentence == (
        "The share of routable parts of third is higher than that of none in 1 and lower in 1 (by "
        "up to 60 %) of 2 network sizes."
    )
    with pytest.raises(InputError, match="add 'better: lower' or 'better: higher'"):
        answer(headline + table)


def test_a_comparison_of_some_results_says_of_how_many(world, answer):
    three_networks(world, (5, 10, 20))
    (world.add("sssp", "3").directory / "outcome.json").unlink()
    proviso = (
        "Among the 6 of 7 route tables that have a result, the maximum channel load of sssp is"
    )
    assert answer(f"headline: {{value: max_load, baseline: bfs}}\n{LOADS}").sentence.startswith(
        proviso
    )
    # without a comparison the loss is the answer
    headline = answer(LOADS)
    assert headline.sentence == "1 of 7 route tables of demo has not run yet."
    assert headline.table == ""


def test_a_routing_without_values_is_the_reason(world, answer):
    three_networks(world, (5, 10, 20))
    world.add("dor", "2", status="unsupported")
    assert answer(f"headline: {{value: max_load, baseline: dor}}\n{LOADS}").sentence == (
        "The maximum channel load of no routing can be compared with that of dor: dor has no value "
        "in 3 of 3 cases."
    )
    text = f"headline: {{value: max_load, compare: dor, baseline: bfs}}\n{LOADS}"
    assert answer(text).sentence.endswith("of bfs: dor has no value in 3 of 3 cases.")
