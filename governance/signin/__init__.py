"""How people sign in: guessing is slowed down, a second factor asked for, and all of it entered into the audit log."""
