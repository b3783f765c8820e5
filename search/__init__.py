"""One index over everything findable: scope-local terms, candidates by rarest term, one ranking for both databases."""
