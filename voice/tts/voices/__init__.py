"""The embedded voice: package data, see NOTICE.md."""
