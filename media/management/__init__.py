"""Commands of media for the operator at the shell."""
