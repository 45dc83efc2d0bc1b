"""Text from models: greedy, beams, drafts, spans filled in."""
