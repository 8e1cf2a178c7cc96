"""From the artifacts of a study to data frames that tables and figures show."""
