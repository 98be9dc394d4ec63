"""PropBank's frames, predicted from the encoder, against sums written out word by word and pair by pair."""

import torch

from transition_parser.modules.frame_heads import ARGUMENTS, SENSES, FrameHeads
from transition_parser.text.columns import ARGUMENT_LABELS, PROPBANK, SENSE_NUMBERS

VALUES = [["-", "want.01|ARG0:1|ARG1:4", "-", "go.02|ARG0:1"], ["_", "_"], ["go.99|ARGX:1"]]
WIDE = 5


def sense(name: str) -> int:
    return 1 + SENSE_NUMBERS.index(name)


def label(name: str) -> int:
    return 1 + ARGUMENT_LABELS.index(name)


def test_targets_are_the_senses_of_words_and_the_labels_of_pairs():
    targets = FrameHeads(4, 1.0).targets({PROPBANK: VALUES}, WIDE)
    assert targets[SENSES].tolist() == [
        [0, sense("01"), 0, sense("02"), -1],
        [-1] * WIDE,
        [sense("other"), -1, -1, -1, -1],
    ]
    arguments = targets[ARGUMENTS]
    assert arguments[0, :, 1].tolist() == [label("ARG0"), 0, 0, label("ARG1"), -1]
    assert arguments[0, :, 3].tolist() == [label("ARG0"), 0, 0, 0, -1]
    assert arguments[2, :, 0].tolist() == [label("other"), -1, -1, -1, -1]
    others = arguments.clone()
    others[0, :, [1, 3]] = others[2, :, 0] = -1
    assert (others == -1).all()


def test_the_loss_is_the_sum_over_words_and_pairs_with_targets():
    torch.manual_seed(1)
    heads, words = FrameHeads(6, 0.3), torch.randn(3, WIDE, 6)
    targets = heads.targets({PROPBANK: VALUES}, WIDE)
    found = heads.loss(words, targets)
    ends, total, right = heads.arguments.ends(words), 0.0, {SENSES: 0, ARGUMENTS: 0}
    for row, values in enumerate(VALUES):
        for word, value in enumerate(values if values[0] != "_" else ()):
            scores = heads.senses(words[row, word])
            gold = int(targets[SENSES][row, word])
            total = total - scores.log_softmax(0)[gold]
            if value == "-":
                continue
            right[SENSES] += int(scores.argmax() == gold)
            for other in range(len(values)):
                scores = heads.arguments(ends.heads[row, word][None], ends.dependents[row, other][None])[0]
                gold = int(targets[ARGUMENTS][row, other, word])
                total = total - scores.log_softmax(0)[gold]
                right[ARGUMENTS] += int(scores.argmax() == gold > 0)
    assert torch.isclose(found.loss, 0.3 * total, atol=1e-5)
    assert {name: int(count) for name, count in found.right.items()} == right
    assert {name: int(count) for name, count in found.words.items()} == {SENSES: 3, ARGUMENTS: 4}


def test_sentences_without_annotation_have_no_loss():
    heads, words = FrameHeads(4, 0.3), torch.randn(2, 3, 4, requires_grad=True)
    found = heads.loss(words, heads.targets({PROPBANK: [["_", "_"], ["_"]]}, 3))
    found.loss.backward()
    assert found.loss == 0.0 and not words.grad.any() and not any(found.words.values())
    assert all(parameter.grad is not None for parameter in heads.parameters())  # as several processes need it
