"""Sets of features with a softmax for each attribute, and labels that UPOS tags limit, against plain references."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.modules.tagging import LabelSet, OneLabel, RankedLabels, RankedSets, TagHeads, preferred
from transition_parser.text.columns import Columns

FEATS = ("Number=Sing", "Case=Nom", "Number=Plur", "Foreign", "Case=Acc", "case=x")
ATTRIBUTES = (("Number=Sing", "Number=Plur"), ("Case=Nom", "Case=Acc"), ("Foreign",), ("case=x",))
SEEN = {
    "feats": {"NOUN": ["Number=Sing", "Number=Plur", "Case=Acc"], "VERB": []},
    "xpos": {"NOUN": ["NN", "NNS"], "VERB": ["VB"]},
}
VALUES = {"upos": ("NOUN", "VERB", "X"), "xpos": ("NN", "VB", "NNS"), "feats": FEATS}
COLUMNS = Columns(VALUES, seen=SEEN | {"xpos": {**SEEN["xpos"], "X": []}})
DIM = 6


def features() -> LabelSet:
    return LabelSet(COLUMNS, "feats")


def some_scores(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, len(FEATS) + 1, generator=torch.Generator().manual_seed(seed))


sets = st.tuples(*(st.sampled_from([None, *labels]) for labels in ATTRIBUTES))


@given(st.lists(sets, min_size=1, max_size=4))
def test_any_set_can_be_a_target_and_a_prediction(chosen):
    """A set that no word of the training data has, too; the order is UD's, and the order of the targets is not."""
    values = ["|".join(sorted(filter(None, one), reverse=True)) or "|" for one in chosen]
    labels = features()
    (target,) = labels.targets([values], len(values) + 1)
    assert target[-1].tolist() == [-1] * len(ATTRIBUTES)  # the root
    scores = torch.full((1, len(values), len(FEATS) + 1), -1.0)
    for word, one in enumerate(chosen):
        for label in filter(None, one):
            scores[0, word, FEATS.index(label) + 1] = 1.0
    found = labels.values(labels.best(scores)[0].tolist())
    assert found == ["|".join(sorted(filter(None, one), key=str.lower)) or "_" for one in chosen]
    loss = labels.loss(scores, target[None, :-1])
    assert loss.right == loss.words == len(values)


def test_lemma_rules_that_are_hardly_worse_than_the_best_are_predicted_too():
    labels = RankedLabels(Columns({"lemma": "abcdefghijkl"}), "lemma")
    scores = torch.tensor([[9.0, 1, 5, 2.5, 4, 2.01, 1.99, 0, 0, 0, 0, 0, 0], [9.0, *range(12)], [9.0, *[7] * 12]])
    few, falling, alike = labels.values(labels.best(scores[None])[0].tolist())
    assert few == "b d c e"  # the margin is three
    assert falling == "l k j" and len(alike.split()) == RankedLabels.most


def test_the_lemma_rules_of_a_language_are_the_same_beside_sentences_of_another():
    columns = Columns({"upos": ("NOUN", "VERB"), "lemma": tuple("abcdefghij"), "domain": ("de", "fr")})
    heads = TagHeads(DIM, columns, 1.0)
    with torch.no_grad():
        heads["lemma"].bias[0] = 9.0  # of unknown rules
    heads.limit_domains([{"upos": ["NOUN"], "lemma": ["a", "c", "rare"]}, {"upos": ["VERB"], "lemma": list("bdefgh")}])
    words, domains = torch.randn(2, 5, DIM, generator=torch.Generator().manual_seed(1)), torch.tensor([1, 2])
    together = heads.predict(words, [5, 4], domains=domains).tags
    alone = [heads.predict(words[[i]], [n], domains=domains[[i]]).tags[0] for i, n in enumerate((5, 4))]
    assert together == alone
    assert {*" ".join(alone[0]["lemma"]).split()} == {"a", "c"} and "_" not in alone[1]["lemma"]


def test_words_whose_lemma_is_known_get_no_rules_and_the_others_the_same():
    columns = Columns({"upos": ("NOUN", "VERB"), "lemma": tuple("abcdefghij")})
    heads, asked = TagHeads(DIM, columns, 1.0), {}
    words = torch.randn(3, 7, DIM, generator=torch.Generator().manual_seed(1))
    lengths, settled = [6, 4, 2], [[True, False] * 3, [False] * 4, [True] * 2]

    def known(i, tags):
        asked[i] = tags
        return settled[i]

    free, found = heads.predict(words, lengths), heads.predict(words, lengths, settled=known)
    assert [one["upos"] for one in free.tags] == [*asked.values()] and asked.keys() == {0, 1, 2}
    for i, length in enumerate(lengths):
        wanted = ["_" if settled[i][k] else free.tags[i]["lemma"][k] for k in range(length)]
        assert found.tags[i]["lemma"] == wanted and "_" not in free.tags[i]["lemma"]


def test_the_loss_is_the_sum_over_attributes():
    labels, scores = features(), some_scores(1, 1, 4)
    target = labels.targets([["Case=Acc|Number=Sing", "|", "_"]], 4)
    wanted = 0.0
    for word, chosen in enumerate(({"Case=Acc", "Number=Sing"}, set())):
        for attribute in ATTRIBUTES:
            of_labels = {label: scores[0, word, FEATS.index(label) + 1].item() for label in attribute}
            right = sum(score for label, score in of_labels.items() if label in chosen)  # 0 for absent
            wanted += math.log(1.0 + sum(map(math.exp, of_labels.values()))) - right
    loss = labels.loss(scores, target)
    assert loss.loss.item() == pytest.approx(wanted, rel=1e-5) and loss.words == 2


def test_labels_that_are_not_legal_are_absent():
    labels, scores = features(), torch.ones(1, 1, len(FEATS) + 1)
    legal = torch.zeros(1, 1, len(FEATS) + 1, dtype=torch.bool)
    assert labels.values(labels.best(scores, legal)[0].tolist()) == ["_"]
    legal[0, 0, FEATS.index("Case=Acc") + 1] = True
    assert labels.values(labels.best(scores, legal)[0].tolist()) == ["Case=Acc"]
    one = OneLabel(COLUMNS, "xpos")
    scores = torch.tensor([[[9.0, 1.0, 2.0, 3.0]]])
    assert one.values(one.best(scores)[0].tolist()) == ["NNS"]
    for legal, wanted in (([True, True, True, False], "VB"), ([True, False, False, False], "_")):
        assert one.values(one.best(scores, torch.tensor([[legal]]))[0].tolist()) == [wanted]


def test_no_xpos_is_a_label():
    one = OneLabel(Columns({"xpos": ("NN", "|")}), "xpos")
    assert one.targets([["|", "_", "NN"]], 4).tolist() == [[2, 0, 1, 0]]
    assert one.values(one.best(torch.tensor([[[9.0, 1.0, 2.0], [9.0, 2.0, 1.0]]]))[0].tolist()) == ["_", "NN"]


def heads() -> TagHeads:
    torch.manual_seed(3)
    return TagHeads(DIM, COLUMNS, weight=0.5)


def test_predictions_keep_to_what_was_seen_with_the_tag():
    words = torch.randn(5, 8, DIM, generator=torch.Generator().manual_seed(4))
    for tags in ((), [["VERB"] * 7] * 5, [["_", "NOUN", "unseen"] * 2] * 5):
        for number, found in enumerate(heads().predict(words, [6] * 5, tags).tags):
            for word in range(6):
                given_tag = tags[number][word] if tags else "_"
                tag = given_tag if given_tag in VALUES["upos"] else found["upos"][word]
                allowed = {None, *SEEN["feats"].get(tag, FEATS)}
                assert {label or None for label in found["feats"][word].replace("_", "").split("|")} <= allowed | {None}
                assert found["xpos"][word] in (SEEN["xpos"] | {"X": ["_"]})[tag]


def test_usual_labels_are_preferred_unless_another_is_far_likelier():
    scores = torch.tensor([[0.0, -1.0, -2.9, -3.1], [0.0, -5.0, -4.0, -3.1], [0.0, -1.0, -0.5, -2.0]])
    usual = torch.tensor([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0]]).bool()
    found = preferred(scores, usual)
    assert found.isfinite().tolist() == [[False, False, True, False], [True] * 4, [True] * 4]
    assert torch.equal(found[found.isfinite()], scores[found.isfinite()])


FORMS = {("dog", "NOUN"): "Number=Sing", ("sheep", "NOUN"): "Case=Acc|Number=Sing Number=Plur", ("run", "VERB"): "|"}
LISTED = Columns(VALUES, {"feats": FORMS}, seen=COLUMNS.seen)


def test_sets_are_those_of_the_tag_in_training_best_first():
    """Compared to the log-probability of each set; sets of training alone are predicted, within 3 nats of the best."""
    labels, of_tag = RankedSets(LISTED, "feats"), {1: ["Number=Sing", "Case=Acc|Number=Sing", "Number=Plur"], 2: ["|"]}
    for seed in range(20):
        scores, tags = 2 * some_scores(seed, 2, 3), torch.tensor([[1, 2, 1], [2, 1, 3]])
        found = [labels.values(ids.tolist()) for ids in labels.best_of_tags(scores, tags, None)]
        log_probs = labels.scores(scores).log_softmax(-1)
        for i, k in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1)):
            places = labels.targets([[of for of in of_tag[int(tags[i, k])]]], len(of_tag[int(tags[i, k])]))[0]
            sums = [sum(log_probs[i, k, row, place].item() for row, place in enumerate(one)) for one in places]
            ranked = sorted(zip(sums, of_tag[int(tags[i, k])], strict=True), reverse=True)
            assert found[i][k].split() == [one for total, one in ranked if total > ranked[0][0] - 3]
        assert found[1][2] == "|"  # a tag without words in training


def test_the_usual_tags_of_a_word_are_preferred_unless_another_is_far_likelier():
    torch.manual_seed(7)
    model = TagHeads(DIM, LISTED, weight=0.5)
    words = 3 * torch.randn(6, 8, DIM)
    free = model.predict(words, [8] * 6).tags
    usual = [[("VERB",), ("NOUN", "X"), ("unseen",), (), *[("X",)] * 4]] * 6
    scores = model["upos"](words).detach()
    scores[..., 0] = float("-inf")  # no tag
    changed = 0
    for i, found in enumerate(model.predict(words, [8] * 6, usual=usual).tags):
        for k, tags in enumerate(usual[i]):
            likely = [tag for tag in tags if tag in VALUES["upos"]]
            likely = [tag for tag in likely if scores[i, k, 1 + VALUES["upos"].index(tag)] > scores[i, k].max() - 3]
            best = max(likely, key=lambda tag: scores[i, k, 1 + VALUES["upos"].index(tag)], default=free[i]["upos"][k])
            assert found["upos"][k] == best
            changed += best != free[i]["upos"][k]
    assert changed > 3
    found = model.predict(words, [8] * 6, [["NOUN"] * 8] * 6, usual=usual)
    assert found.tags[0]["feats"][0] != "|" and (found.upos == 1).all()  # a given tag stays


def test_the_loss_of_all_columns():
    words = torch.randn(2, 3, DIM, generator=torch.Generator().manual_seed(6))
    annotations = {
        "upos": [["NOUN", "VERB"], ["X"]],
        "xpos": [["NN", "_"], ["VB"]],
        "feats": [["Case=Acc", "|"], ["_"]],
    }
    model = heads()
    targets = model.targets(annotations, 3)
    loss, of_columns = model.loss(words, targets)
    assert {name: int(column.words) for name, column in of_columns.items()} == {"upos": 3, "xpos": 2, "feats": 2}
    parts = [model._labels[name].loss(head(words), targets[name]).loss.item() for name, head in model.items()]
    assert loss.item() == pytest.approx(0.5 * sum(parts), rel=1e-5)
    loss.backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_predictions_do_not_depend_on_the_batch():
    words = torch.randn(4, 8, DIM, generator=torch.Generator().manual_seed(5))
    lengths = [7, 3, 5, 1]
    together = heads().predict(words, lengths).tags
    assert together == [heads().predict(words[i : i + 1, : n + 1], [n]).tags[0] for i, n in enumerate(lengths)]
