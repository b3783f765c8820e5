"""The gate, its policies, proposals and audit log, and the screens where people decide."""
