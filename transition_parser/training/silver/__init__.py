"""Silver AMRs and trees: parses on which several models agree. PropBank's annotation gives facts about the AMRs."""
