"""`voice load`: many callers at once."""
