"""What the audit log is good for: sealing and verifying its chain, and taking it elsewhere."""
