"""The parts of the agent: turn taking, recognition, language, speech, the client and the server.

Every stage keeps its decisions in a pure core that takes time as an argument, apart from the service that runs it.
Nothing here knows how parts are put together: that is `pipelines.assemble`.
"""
