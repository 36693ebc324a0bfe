"""The HTTP face: `listening` holds the socket, all behind it is loaded at the first connection."""
