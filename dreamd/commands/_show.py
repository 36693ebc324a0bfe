"""Shared by the commands: opening the house, printing data as JSON or as plain lines, progress on a terminal."""
