"""Floor 6 (see CONTRIBUTING.md): derivations step by step, ablation of the parser state, Δ scores, and confidence."""
