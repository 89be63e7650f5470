"""The server: takes calls over WebSockets and reports its health. Pipelines are assembled elsewhere."""
