"""Components from outside: pipecat services and processors of any package, used in our pipelines."""
