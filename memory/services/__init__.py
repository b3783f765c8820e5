"""Writing memory. Only actions call these."""
