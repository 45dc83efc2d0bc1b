"""FairFlow (Tokpo and Calders 2024): counterfactual words from one pair."""
