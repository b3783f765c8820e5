"""What every app stands on: actions, context, contracts, errors, clock, ids, text, and every database difference."""
