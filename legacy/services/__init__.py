"""What moving in does: a run of the migration, and what is said of it afterwards."""
