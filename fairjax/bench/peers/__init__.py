"""The other sides of races."""
