"""Evaluates the routing rules on utterances labelled by a person."""
