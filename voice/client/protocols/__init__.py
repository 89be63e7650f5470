"""Protocols of agents besides pipecat's: Twilio Media Streams and OpenAI's Realtime API."""
