"""A source is told of as far as it is known."""

import pytest

from routelab.api import Citation


@pytest.mark.parametrize(
    ("venue", "year", "published"),
    [("A Journal", 1999, "A Journal, 1999"), ("A Journal", None, "A Journal"), ("", 1999, "1999")],
)
def test_what_is_not_printed_is_left_out(venue, year, published):
    source = Citation("key", "Title", "Author, An", year, venue, "all of it")
    assert source.published == published
    assert ("year = " in source.bibtex()) == (year is not None)
