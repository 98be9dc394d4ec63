"""Floor 6 (see CONTRIBUTING.md): derivations step by step, and confidence."""
