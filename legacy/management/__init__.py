"""Commands of moving in."""
