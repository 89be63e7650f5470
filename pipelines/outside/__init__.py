"""Components from outside: pipecat services and processors of any package in a pipeline of ours."""
