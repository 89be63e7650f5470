"""The embedded backend: answers without a language model, from requests it knows, and really does what it says."""
