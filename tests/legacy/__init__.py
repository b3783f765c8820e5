"""Tests of moving in."""
