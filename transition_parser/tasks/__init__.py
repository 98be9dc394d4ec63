"""The fairseq task (floor 6, see CONTRIBUTING.md). fairseq imports every file here."""

import argparse

import torch

# let `torch.load` read fairseq's checkpoints under its `weights_only` protection
torch.serialization.add_safe_globals([argparse.Namespace])
