"""Tables, figures and the static site, made from the artifacts of a study's runs.

`write_study_report` and `write_index` are imported from `routelab.report.page.site`; this package
itself imports nothing heavy.
"""
