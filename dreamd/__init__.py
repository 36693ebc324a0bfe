"""dreamd: sleep for AI agents. A memory program may be slow, late or off, but it never loses and never invents."""

__version__ = "0.1.0"
