"""The clock side of dreamd: when which night is due (`due`), one night (`run`), and the daemon's watch (`watch`)."""
