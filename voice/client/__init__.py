"""The client's side of a call: the speaker, the playback, and the recording of both.

`CallSession` makes a call over a `Line`: a `PacedLine` plays a `ScriptedCaller`'s recordings, a `DeviceLine` is a
microphone and a loudspeaker. `load_fixtures` reads what to play; `turn_records` and `session_entry` turn a finished
call into a run folder's entries.
"""
