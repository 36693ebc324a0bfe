"""The MCP face: a client's calls in, dreamd's verbs called, their answers out as text; loaded only when spoken to."""
