"""What agents say and learn: sessions and their events, and finding them again."""
