"""A report in the forms people and programs read; the only place of this package that may draw with a library."""
