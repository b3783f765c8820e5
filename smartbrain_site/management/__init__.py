"""Commands of the assembled product."""
