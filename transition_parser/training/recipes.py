"""The config that fits a treebank by its size."""

from __future__ import annotations

from typing import NamedTuple


class Recipe(NamedTuple):
    """The configs for treebanks in a range of sizes.

    words: the recipe is for treebanks with at least this many training words
    config: name of a config of the package
    pretrained: name of the config of a model that also reads words by a pretrained encoder
    """

    words: int
    config: str
    pretrained: str


# The fewer words, the smaller the batches and the more epochs. docs/treebank.md shows this table.
RECIPES = (
    Recipe(0, "ud-spa-dp-small", "ud-minilm-small"),
    Recipe(120_000, "ewt-en", "ewt-spa-dp-minilm"),
    Recipe(600_000, "ud-spa-dp-large", "ewt-spa-dp-minilm"),
)


def config_for(words: int, pretrained: bool = False) -> str:
    """Return the name of the config for a treebank with this number of training words.

    pretrained: True for a model that also reads words by a pretrained encoder

    >>> config_for(33_878)
    'ud-spa-dp-small'
    """
    recipe = next(recipe for recipe in reversed(RECIPES) if words >= recipe.words)
    return recipe.pretrained if pretrained else recipe.config
