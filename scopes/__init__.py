"""Who may reach what: domains, scopes, principals, keys, grants and reviewer assignments."""
