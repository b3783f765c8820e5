"""What media's actions take and give."""
