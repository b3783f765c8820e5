"""The command line door: what every command that performs an action shares, and the commands on access."""
