"""One call from the client's side: connected, paced and recorded."""
