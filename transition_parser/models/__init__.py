"""Floor 4: the architectures that `--arch` names. fairseq imports every file of this folder."""
