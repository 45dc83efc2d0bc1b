"""What every stage stands on: artefacts, keys, knobs, errors, paths."""
