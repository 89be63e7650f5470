"""The wire between client and server, defined once for both ends.

`endpoint` holds the address and the audio formats, `framing` converts WebSocket messages to typed events and back,
`messages` and `requests` define the RTVI messages in them. No other package matches strings of the protocol.
"""
