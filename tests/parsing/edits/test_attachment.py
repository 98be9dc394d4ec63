"""Lists, clauses, modifiers and arguments go where the tree of the sentence has them."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.attachment import add_arguments, attach

CASES = {
    "a list has the relation of its first member": (
        attach, "he wants to swim and sing", "2:nsubj 0:root 4:mark 2:xcomp 6:cc 4:conj",
        "(w / want-01~1 :ARG0 (h / he~0) :ARG1 (s / swim-01~3 :ARG0 h :op1-of (a / and~4 :op2 (s2 / sing-01~5 :ARG0"
        " h))))",
        "(w / want-01 :ARG0 (h / he) :ARG1 (a / and :op1 (s / swim-01 :ARG0 h) :op2 (s2 / sing-01 :ARG0 h)))",
    ),
    "a finite verb is no member beside an infinitive, and the list is the top": (
        attach, "she told us to go and left", "2:nsubj 0:root 2:obj 5:mark 2:xcomp 7:cc 5:conj",
        "(t / tell-01~1 :ARG0 (s / she~0) :ARG1 (w / we~2) :ARG2 (g / go-02~4 :ARG0 w :op1-of (a / and~5 :op2 (l /"
        " leave-11~6 :ARG0 s))))",
        "(a / and :op1 (t / tell-01 :ARG0 (s / she) :ARG1 (w / we) :ARG2 (g / go-02 :ARG0 w)) :op2 (l / leave-11"
        " :ARG0 s))",
    ),
    "a list gets a lost member": (
        attach, "he bought , washed and sold it", "2:nsubj 0:root 4:punct 2:conj 6:cc 2:conj 6:obj",
        "(a / and~4 :op1 (w / wash-01~3 :ARG0 (h / he~0 :ARG0-of (b / buy-01~1))) :op2 (s / sell-01~5 :ARG0 h))",
        "(a / and :op1 (b / buy-01 :ARG0 (h / he)) :op2 (w / wash-01 :ARG0 h) :op3 (s / sell-01 :ARG0 h))",
    ),
    "a time belongs to the verb": (
        attach, "police stole it in Rome last month", "2:nsubj 0:root 2:obj 5:case 2:obl 7:amod 2:obl:unmarked",
        '(s / steal-01~1 :ARG0 (p / police~0) :ARG1 (i / it~2) :location (c / city~4 :name (n / name~4 :op1 "Rome"~4)'
        " :time (m / month~6 :mod (l / last~5))))",
        '(s / steal-01 :ARG0 (p / police) :ARG1 (i / it) :location (c / city :name (n / name :op1 "Rome")) :time (m /'
        " month :mod (l / last)))",
    ),
    "a place beside a noun stays with it": (
        attach, "laws ban strikes in schools", "2:nsubj 0:root 2:obj 5:case 2:obl",
        "(b / ban-01~1 :ARG0 (l / law~0) :ARG1 (s / strike-01~2 :location (s2 / school~4)))", "the same",
    ),
    "although begins a concession": (
        attach, "although he slept , we left", "3:mark 3:nsubj 6:advcl 3:punct 6:nsubj 0:root",
        "(l / leave-11~5 :ARG0 (w / we~4) :time (s / sleep-01~2 :ARG0 (h / he~1)))",
        "(l / leave-11 :ARG0 (w / we) :concession (s / sleep-01 :ARG0 (h / he)))",
    ),
    "whose names an owner": (
        attach, "the man whose cow died left", "2:det 6:nsubj 4:nmod:poss 5:nsubj 2:acl:relcl 0:root",
        "(l / leave-11~5 :ARG0 (m / man~1) :time (d / die-01~4 :ARG1 (c / cow~3)))",
        "(l / leave-11 :ARG0 (m / man :poss-of (c / cow :ARG1-of (d / die-01))))",
    ),
    "who promises does it": (
        add_arguments, "he promised her to write", "2:nsubj 0:root 2:obj 5:mark 2:xcomp",
        "(p / promise-01~1 :ARG0 (h / he~0) :ARG2 (s / she~2) :ARG1 (w / write-01~4 :ARG0 s))",
        "(p / promise-01 :ARG0 (h / he) :ARG2 (s / she) :ARG1 (w / write-01 :ARG0 h))",
    ),
    "who is asked does it": (
        add_arguments, "he asked her to write", "2:nsubj 0:root 2:obj 5:mark 2:xcomp",
        "(a / ask-02~1 :ARG0 (h / he~0) :ARG1 (w / write-01~4 :ARG0 h) :ARG2 (s / she~2))",
        "(a / ask-02 :ARG0 (h / he) :ARG1 (w / write-01 :ARG0 s) :ARG2 (s / she))",
    ),
    "a passive without an agent has none": (
        add_arguments, "we regret the form was not signed",
        "2:nsubj 0:root 4:det 7:nsubj:pass 7:aux:pass 7:advmod 2:ccomp",
        "(r / regret-01~1 :ARG0 (w / we~0) :ARG1 (s / sign-01~6 :polarity -~5 :ARG0 w :ARG1 (f / form~3)))",
        "(r / regret-01 :ARG0 (w / we) :ARG1 (s / sign-01 :polarity - :ARG1 (f / form)))",
    ),
    "subject and object are exchanged": (
        add_arguments, "I met you", "2:nsubj 0:root 2:obj",
        "(m / meet-03~1 :ARG0 (y / you~2) :ARG1 (i / i~0))", "(m / meet-03 :ARG1 (y / you) :ARG0 (i / i))",
    ),
    "an owner is no subject": (
        add_arguments, "my landlord wants me", "2:nmod:poss 3:nsubj 0:root 3:obj",
        "(w / want-01~2 :ARG0 (i / i~0 :poss-of (l / landlord~1)))",
        "(w / want-01 :ARG0 (l / landlord :poss i) :ARG1 (i / i))",
    ),
    "what another verb has is no argument": (
        add_arguments, "he washed it and gave it to Ann",
        "2:nsubj 0:root 2:obj 5:cc 2:conj 5:obj 8:case 5:obl",
        '(a / and~3 :op1 (w / wash-01~1 :ARG0 (h / he~0) :ARG1 (i / it~2) :ARG2 (p / person~7 :name (n / name~7 :op1'
        ' "Ann"~7))) :op2 (g / give-01~4 :ARG0 h :ARG1 i :ARG2 p))',
        '(a / and :op1 (w / wash-01 :ARG0 (h / he) :ARG1 (i / it)) :op2 (g / give-01 :ARG0 h :ARG1 i :ARG2 (p / person'
        ' :name (n / name :op1 "Ann"))))',
    ),
    "an argument of another clause is none": (
        add_arguments, "if the weather is good we row", "3:mark 3:det 5:nsubj 5:cop 7:advcl 7:nsubj 0:root",
        "(r / row-01~6 :ARG0 (w / we~5) :ARG1 (w2 / weather~2) :condition (g / good-02~4 :ARG1 w2))",
        "(r / row-01 :ARG0 (w / we) :condition (g / good-02 :ARG1 (w2 / weather)))",
    ),
    "who is told does it, also without a node": (
        add_arguments, "the nurse told him to sleep", "2:det 3:nsubj 0:root 3:obj 6:mark 3:xcomp",
        "(t / tell-01~2 :ARG0 (n / nurse~1) :ARG1 (s / sleep-01~5 :ARG0 n) :ARG2 (b / boy))",
        "(t / tell-01 :ARG0 (n / nurse) :ARG1 (s / sleep-01 :ARG0 b) :ARG2 (b / boy))",
    ),
    "a verb with a subject is no command": (
        add_arguments, "Tom came and set it", "2:nsubj 0:root 4:cc 2:conj 4:obj",
        '(a / and~2 :op1 (c / come-01~1 :ARG1 (p / person~0 :name (n / name~0 :op1 "Tom"~0))) :op2 (s / set-01~3 :mode'
        " imperative :ARG0 (y / you) :ARG1 (i / it~4)))",
        '(a / and :op1 (c / come-01 :ARG1 (p / person :name (n / name :op1 "Tom"))) :op2 (s / set-01 :ARG0 p :ARG1 (i'
        " / it)))",
    ),
    "it is no she": (
        add_arguments, "she saw that it ate him", "2:nsubj 0:root 5:mark 5:nsubj 2:ccomp 5:obj",
        "(s / see-01~1 :ARG0 (s2 / she~0) :ARG1 (e / eat-01~4 :ARG0 s2 :ARG1 (h / he~5)))",
        "(s / see-01 :ARG0 (s2 / she) :ARG1 (e / eat-01 :ARG1 (h / he) :ARG0 (i / it)))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_tree_decides(case):
    edit, text, tree, graph, expected = CASES[case]
    assert after(edit, text, graph, tree=tree) == expected
    assert after(edit, text, graph) == "the same"  # without a tree
