"""Composing as pure functions over frozen values: plan, same-key winners, fusion, token budget, rendering."""
