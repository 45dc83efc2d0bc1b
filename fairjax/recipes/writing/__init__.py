"""What models write, of whom: prompts, continuations, scores, gaps"""
