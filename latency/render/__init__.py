"""A report in forms for people and programs; the only part of this package that may draw with a library."""
