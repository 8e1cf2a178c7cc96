"""Tables, figures and the static site, made from the artifacts of a study's runs.

`page.study_page` writes the page of a study, `page.index_page` the index of all studies; this
package itself imports nothing heavy.
"""
