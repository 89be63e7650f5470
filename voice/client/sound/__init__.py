"""Sound cards: microphone and loudspeaker."""
