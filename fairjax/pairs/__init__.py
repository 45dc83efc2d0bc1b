"""Counterfactual texts by rules, with no models inside."""
