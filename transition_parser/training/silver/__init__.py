"""Silver AMRs: parses that agree among several models, with PropBank's annotation as given facts."""
