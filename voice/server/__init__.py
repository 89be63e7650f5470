"""The server: takes calls over WebSockets and reports its health. It does not know how pipelines are assembled."""
