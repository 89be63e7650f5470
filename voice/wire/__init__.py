"""The wire between client and server, defined once for both ends.

`endpoint` holds the address and the audio formats, `framing` turns WebSocket messages into typed events and back,
`messages` and `requests` hold the RTVI messages that travel in them. No other room matches a string of the protocol.
"""
