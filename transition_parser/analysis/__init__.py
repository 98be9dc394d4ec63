"""Floor 7: derivations step by step, ablation of the parser state, and confidence."""
