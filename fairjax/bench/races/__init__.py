"""Races against peers, one a file."""
