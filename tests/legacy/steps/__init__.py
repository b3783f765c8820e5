"""Tests of what rows of the older systems become."""
