"""Floor 6 of the package (CONTRIBUTING.md): experiments, with their configs and their stages from data to model."""
