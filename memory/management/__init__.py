"""Memory's commands."""
