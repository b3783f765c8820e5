"""Documents and media: what they say becomes searchable sections, their bytes are kept once, long work runs as jobs."""
