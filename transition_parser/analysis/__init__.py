"""Floor 6: derivations step by step, ablation of the parser state, Δ scores, and confidence."""
