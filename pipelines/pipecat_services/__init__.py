"""The user's components: pipecat services and processors of any package, used in our pipelines."""
