"""Text from models: greedy, beams, spans filled in."""
