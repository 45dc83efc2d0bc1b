"""Races against peers, and programs compiled for chips that are not here."""
