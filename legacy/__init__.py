"""Moving in: reading the older systems' database and storing every row of it here, or saying why not."""
