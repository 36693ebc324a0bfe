"""One HTTP exchange with an LLM server: JSON goes out, status, headers and bytes come back, or a classified error."""
