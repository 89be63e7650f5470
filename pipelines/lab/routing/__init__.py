"""How well the rules that route a turn by its words do on utterances that a person labelled."""
