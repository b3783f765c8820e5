"""Reading what was moved in, what became of it, and what is new beside it."""
