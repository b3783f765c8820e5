"""Clients that ask a document store for evidence and never break a compose."""
