"""The parts of the agent: turn taking, recognition, language, speech, the client and the server.

Every stage keeps its decisions in a pure core, which takes time as an argument, apart from the service that runs it.
The parts are assembled elsewhere, in `pipelines.assemble`.
"""
