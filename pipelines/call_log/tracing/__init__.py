"""OpenTelemetry traces of calls, made from the records of their turns."""
