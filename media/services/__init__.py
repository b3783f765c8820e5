"""Doing the work of documents, objects, jobs and retrieval."""
