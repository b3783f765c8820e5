"""Commands of memory for the operator at the shell."""
