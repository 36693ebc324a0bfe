"""The composition root: the only place where a store and a provider are chosen."""
