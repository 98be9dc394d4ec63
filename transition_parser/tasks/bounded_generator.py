"""fairseq's generator of derivations, bounded by the transition system."""

from __future__ import annotations

from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator

from transition_parser.data.resources import Resources
from transition_parser.modules.words import WordInputs
from transition_parser.states.machine import max_search_actions
from transition_parser.tasks.graph_generator import complete


class BoundedGenerator(SequenceGenerator):
    """A generator that limits the length of the derivations of each batch by the bound of the transition system.

    Without this bound, fairseq would force `</s>` at its own limit, even where `</s>` is illegal.
    """

    def bind(self, resources: Resources, inputs: WordInputs | None) -> None:
        """Set the resources of the data, and the reader of word inputs other than pieces (None if there are none)."""
        self.resources, self.system, self.inputs = resources, resources.table.system, inputs
        self.opens = resources.opens_word()
        if type(self.search) is BeamSearch:
            self.search = _FillingBeamSearch(resources.target_dictionary)

    def _generate(self, sample, *args, **kwargs):
        net_input = sample["net_input"]
        tokens = net_input["src_tokens"]
        complete(net_input, self.resources, self.inputs)
        words = int(self.opens.to(tokens.device)[tokens].sum(1).max())
        self.max_len_a, self.max_len_b = 0, max_search_actions(self.system, words)
        sentences = super()._generate(sample, *args, **kwargs)
        return [[h for h in hypotheses if h["score"] > _FILLER] for hypotheses in sentences]


_FILLER = -1e3  # score per action that separates derivations, which score higher, from fillers, which score lower


class _FillingBeamSearch(BeamSearch):
    """A beam search that also ends for sentences with fewer derivations than the beam is wide.

    fairseq waits until each sentence has as many finished hypotheses as the beam is wide. A short sentence may have
    fewer derivations (a single word has one). When no hypothesis is left, the search fills the rest of the beam with
    filler hypotheses. They score far below all others, and `BoundedGenerator` throws them away.
    """

    def step(self, step, lprobs, scores, *args, **kwargs):
        found_scores, tokens, beams = super().step(step, lprobs, scores, *args, **kwargs)
        none_left = (found_scores == float("-inf")).all(1, keepdim=True)
        low = 10 * _FILLER * (step + 2)
        return (
            found_scores.masked_fill(none_left, low),
            tokens.masked_fill(none_left, self.eos),
            beams,
        )
