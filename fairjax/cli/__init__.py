"""The command line: commands that stand for configs, and help."""
