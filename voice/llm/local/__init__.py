"""Language models of one's own in this process: a CTranslate2 folder or a GGUF file, shared by all calls."""
