"""Floor 6 (see CONTRIBUTING.md): experiments, with their configs and their stages from data to model."""
