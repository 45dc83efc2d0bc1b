"""Programs compiled for chips that are not there, and what they need."""
