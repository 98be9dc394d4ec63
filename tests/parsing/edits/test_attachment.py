"""Lists, clauses, modifiers and arguments go where the tree of the sentence has them."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser.parsing.edits.arguments import add_arguments
from transition_parser.parsing.edits.attachment import attach

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
    "a clause after if is a condition": (
        attach, "I help you if you tell me", "2:nsubj 0:root 2:obj 6:mark 6:nsubj 2:advcl 6:iobj",
        "(h / help-01~1 :ARG0 (i / i~0) :ARG2 (y / you~2) :ARG1 (t / tell-01~5 :ARG0 y :ARG2 i))",
        "(h / help-01 :ARG0 (i / i) :ARG2 (y / you) :condition (t / tell-01 :ARG0 y :ARG2 i))",
    ),
    "an object is no subject": (
        add_arguments, "I help you if you tell me", "2:nsubj 0:root 2:obj 6:mark 6:nsubj 2:advcl 6:iobj",
        "(h / help-01~1 :ARG0 (i / i~0) :ARG2 (y / you~2) :condition (t / tell-01~5 :ARG0 i :ARG2 i))",
        "(h / help-01 :ARG0 (i / i) :ARG2 (y / you) :condition (t / tell-01 :ARG2 i :ARG0 y))",
    ),
    "what somebody is told is a clause, not a word inside it": (
        attach, "he told Ann that she should drink tea", "2:nsubj 0:root 2:iobj 7:mark 7:nsubj 7:aux 2:ccomp 7:obj",
        "(t / tell-01~1 :ARG0 (h / he~0) :ARG2 (p / person~2 :ARG0-of (d / drink-01~6 :ARG1-of (r / recommend-01~5)"
        " :ARG1 t2)) :ARG1 (t2 / tea~7))",
        "(t / tell-01 :ARG0 (h / he) :ARG2 (p / person) :ARG1 (r / recommend-01 :ARG1 (d / drink-01 :ARG0 p :ARG1 (t2"
        " / tea))))",
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
        "(w / want-01 :ARG1 (i / i) :ARG0 (l / landlord :poss i))",
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
    "who has a participle before or after the main verb is its subject": (
        add_arguments, "having washed it , Tom wept", "2:aux 6:advcl 2:obj 2:punct 6:nsubj 0:root",
        '(w / weep-01~5 :ARG0 (p / person~4 :name (n / name~4 :op1 "Tom"~4)) :time (w2 / wash-01~1 :ARG1 (i / it~2)))',
        '(w / weep-01 :ARG0 (p / person :name (n / name :op1 "Tom")) :time (w2 / wash-01 :ARG1 (i / it) :ARG0 p))',
    ),
    "the object does what it is forbidden": (
        add_arguments, "laws forbid trucks from using it", "2:nsubj 0:root 2:obj 5:mark 2:advcl 5:obj",
        "(f / forbid-01~1 :ARG0 (l / law~0) :ARG2 (t / truck~2) :ARG1 (u / use-01~4 :ARG1 (i / it~5)))",
        "(f / forbid-01 :ARG0 (l / law) :ARG2 (t / truck) :ARG1 (u / use-01 :ARG1 (i / it) :ARG0 t))",
    ),
    "nobody knows who does what something is used for": (
        add_arguments, "they use it for cutting", "2:nsubj 0:root 2:obj 5:mark 2:advcl",
        "(u / use-01~1 :ARG0 (t / they~0) :ARG1 (i / it~2) :purpose (c / cut-01~4))", "the same",
    ),
    "who is suspected is no agent": (
        add_arguments, "police saw men suspected of lying", "2:nsubj 0:root 2:obj 3:acl 6:mark 4:advcl",
        "(s / see-01~1 :ARG0 (p / police~0) :ARG1 (m / man~2 :ARG0-of (s2 / suspect-01~3 :ARG1 (l / lie-08~5 :ARG0"
        " m))))",
        "(s / see-01 :ARG0 (p / police) :ARG1 (m / man :ARG1-of (s2 / suspect-01 :ARG2 (l / lie-08 :ARG0 m))))",
    ),
    "a pronoun without a node is who the verb above has": (
        add_arguments, "Tom hoped he forgot to buy it",
        "2:nsubj 0:root 4:nsubj 2:ccomp 6:mark 4:xcomp 6:obj",
        '(h / hope-01~1 :ARG0 (p / person~0 :name (n / name~0 :op1 "Tom"~0)) :ARG1 (f / forget-01~3 :ARG0 p :ARG1 (b'
        " / buy-01~5 :ARG1 (i / it~6))))",
        '(h / hope-01 :ARG0 (p / person :name (n / name :op1 "Tom")) :ARG1 (f / forget-01 :ARG0 p :ARG1 (b / buy-01'
        " :ARG1 (i / it) :ARG0 p)))",
    ),
    "it is no person": (
        add_arguments, "a man laughed when it ate him", "2:det 3:nsubj 0:root 6:advmod 6:nsubj 3:advcl 6:obj",
        "(l / laugh-01~2 :ARG0 (m / man~1) :time (e / eat-01~5 :ARG0 m :ARG1 (h / he~6)))",
        "(l / laugh-01 :ARG0 (m / man) :time (e / eat-01 :ARG1 (h / he) :ARG0 (i / it)))",
    ),
    "a number of persons is persons": (
        add_arguments, "thousands of people who came sang", "6:nsubj 3:case 1:nmod 5:nsubj 3:acl:relcl 0:root",
        "(s / sing-01~5 :ARG0 (m / multiple~0 :quant-of (p / person~2 :ARG1-of (c / come-01~4))))",
        "(s / sing-01 :ARG0 (p / person :quant (m / multiple) :ARG1-of (c / come-01)))",
    ),
    "a condition without an edge to what it conditions gets one": (
        attach, "I help you move it if you ask", "2:nsubj 0:root 2:obj 2:xcomp 4:obj 8:mark 8:nsubj 4:advcl",
        "(h / help-01~1 :ARG0 (i / i~0) :ARG2 (y / you~2 :ARG0-of (a / ask-01~7)) :ARG1 (m / move-01~3 :ARG0 y :ARG1"
        " (i2 / it~4)))",
        "(h / help-01 :ARG0 (i / i) :ARG2 (y / you) :ARG1 (m / move-01 :ARG0 y :ARG1 (i2 / it)) :condition (a / ask-01"
        " :ARG0 y))",
    ),
    "an agent is no purpose": (
        attach, "to sew it , sit and follow rules", "2:mark 5:advcl 2:obj 2:punct 0:root 7:cc 5:conj 7:obj",
        "(a / and~5 :op1 (s2 / sit-01~4) :op2 (f / follow-02~6 :ARG0 (s / sew-01~1 :ARG1 (i / it~2)) :ARG1 (r /"
        " rule-01~7)))",
        "(a / and :op1 (s / sit-01 :purpose (s2 / sew-01 :ARG1 (i / it))) :op2 (f / follow-02 :ARG1 (r / rule-01)))",
    ),
    "because gives a cause": (
        attach, "Tom wept because he fell", "2:nsubj 0:root 5:mark 5:nsubj 2:advcl",
        '(w / weep-01~1 :ARG0 (p / person~0 :name (n / name~0 :op1 "Tom"~0) :ARG1-of (f / fall-01~4 :ARG0-of (c /'
        " cause-01~2))))",
        '(w / weep-01 :ARG0 (p / person :name (n / name :op1 "Tom")) :ARG1-of (c / cause-01 :ARG0 (f / fall-01 :ARG1'
        " p)))",
    ),
    "a time stays with its verb beside a noun": (
        attach, "the president on Tuesday named a judge", "2:det 5:nsubj 4:case 2:nmod 0:root 7:det 5:obj",
        "(n / name-01~4 :ARG0 (p / president~1) :ARG1 (j / judge~6) :time (d / date-entity~3 :weekday (t /"
        " tuesday~3)))",
        "the same",
    ),
    "what nobody owns has no owner": (
        attach, "the king saved her from a dragon", "2:det 3:nsubj 0:root 3:obj 7:case 7:det 3:obl",
        "(s / save-02~2 :ARG0 (k / king~1) :ARG1 (s2 / she~3) :ARG2 (d / dragon~6 :poss k))",
        "(s / save-02 :ARG0 (k / king) :ARG1 (s2 / she) :ARG2 (d / dragon))",
    ),
    "his names what somebody owns": (
        attach, "the king gave his land to a man", "2:det 3:nsubj 0:root 5:nmod:poss 3:obj 8:case 8:det 3:obl",
        "(g / give-01~2 :ARG0 (k / king~1) :ARG1 (l / land~4) :ARG2 (m / man~7 :poss k))",
        "(g / give-01 :ARG0 (k / king) :ARG1 (l / land :poss k) :ARG2 (m / man))",
    ),
    "who has a relation is no owner of its name": (
        attach, "the king saw his friend", "2:det 3:nsubj 0:root 5:nmod:poss 3:obj",
        "(s / see-01~2 :ARG0 (k / king~1) :ARG1 (p / person~4 :ARG0-of (h / have-rel-role-91~4 :ARG2 (f / friend~4"
        " :poss k))))",
        "(s / see-01 :ARG0 (k / king) :ARG1 (p / person :ARG0-of (h / have-rel-role-91 :ARG2 (f / friend) :ARG1 k)))",
    ),
    "after has its verb alone": (
        attach, "he left after eating", "2:nsubj 0:root 4:mark 2:advcl",
        "(l / leave-11~1 :ARG0 (h / he~0) :time (a / after~2 :op1 (e / eat-01~3 :ARG0 h)) :time e)",
        "(l / leave-11 :ARG0 (h / he) :time (a / after :op1 (e / eat-01 :ARG0 h)))",
    ),
    "a member of a list joins the verb above that is in the list": (
        add_arguments, "Tom said that it works and smiled",
        "2:nsubj 0:root 5:mark 5:nsubj 2:ccomp 7:cc 5:conj",
        '(a / and~5 :op1 (s / say-01~1 :ARG0 (p / person~0 :name (n / name~0 :op1 "Tom"~0)) :ARG1 (w / work-09~4'
        " :ARG1 (i / it~3))) :op2 (s2 / smile-01~6 :ARG0 i))",
        '(a / and :op1 (s / say-01 :ARG0 (p / person :name (n / name :op1 "Tom")) :ARG1 (w / work-09 :ARG1 (i / it)))'
        " :op2 (s2 / smile-01 :ARG0 p))",
    ),
    "what a relative clause has is no argument of the main verb": (
        add_arguments, "a road built by Ann was repaired",
        "2:det 7:nsubj:pass 2:acl 5:case 3:obl:agent 7:aux:pass 0:root",
        '(r / repair-01~6 :ARG0 (p / person~4 :name (n / name~4 :op1 "Ann"~4)) :ARG1 (r2 / road~1 :ARG1-of (b /'
        " build-01~2 :ARG0 p)))",
        '(r / repair-01 :ARG1 (r2 / road :ARG1-of (b / build-01 :ARG0 (p / person :name (n / name :op1 "Ann")))))',
    ),
    "nobody rains": (
        add_arguments, "we fear wind when it rains", "2:nsubj 0:root 2:obj 6:advmod 6:nsubj 2:advcl",
        "(f / fear-01~1 :ARG0 (w / we~0) :ARG1 (w2 / wind~2) :time (r / rain-01~5 :ARG0 w :ARG1 w2))",
        "(f / fear-01 :ARG0 (w / we) :ARG1 (w2 / wind) :time (r / rain-01))",
    ),
    "he is no princess": (
        add_arguments, "the princess wept because he lied", "2:det 3:nsubj 0:root 6:mark 6:nsubj 3:advcl",
        "(w / weep-01~2 :ARG0 (p / princess~1) :ARG1-of (c / cause-01~3 :ARG0 (l / lie-08~5 :ARG0 p)))",
        "(w / weep-01 :ARG0 (p / princess) :ARG1-of (c / cause-01 :ARG0 (l / lie-08 :ARG0 (h / he))))",
    ),
    "she may be a teacher": (
        add_arguments, "the teacher wept because she lied", "2:det 3:nsubj 0:root 6:mark 6:nsubj 3:advcl",
        "(w / weep-01~2 :ARG0 (p / person~1 :ARG0-of (t / teach-01~1)) :ARG1-of (c / cause-01~3 :ARG0 (l / lie-08~5"
        " :ARG0 p)))",
        "the same",
    ),
    "the first of two objects receives": (
        add_arguments, "who sold you these pills", "2:nsubj 0:root 2:obj 5:det 2:obj",
        "(s / sell-01~1 :ARG0 (a / amr-unknown~0 :poss (y / you~2)) :ARG1 (p / pill~4))",
        "(s / sell-01 :ARG0 (a / amr-unknown :poss y) :ARG1 (p / pill) :ARG2 (y / you))",
    ),
    "a participle is no purpose": (
        attach, "he left , saying nothing", "2:nsubj 0:root 4:punct 2:advcl 4:obj",
        "(l / leave-11~1 :ARG0 (h / he~0) :purpose (s / say-01~3 :ARG1 (n / nothing~4)))",
        "(l / leave-11 :ARG0 (h / he) :manner (s / say-01 :ARG1 (n / nothing)))",
    ),
    "a verb has the verb of its clause": (
        attach, "we say the man he asked left", "2:nsubj 0:root 4:det 7:nsubj 6:nsubj 4:acl:relcl 2:ccomp",
        "(s / say-01~1 :ARG0 (w / we~0) :ARG1 (a / ask-02~5 :ARG0 (h / he~4) :ARG2 (m / man~3) :ARG1 (l / leave-11~6"
        " :ARG0 m)))",
        "(s / say-01 :ARG0 (w / we) :ARG1 (l / leave-11 :ARG0 (m / man :ARG2-of (a / ask-02 :ARG0 (h / he)))))",
    ),
    "clauses after the same conjunction are one list": (
        attach, "it stops when you talk or when you sing",
        "2:nsubj 0:root 5:advmod 5:nsubj 2:advcl 9:cc 9:advmod 9:nsubj 2:conj",
        "(s / stop-01~1 :ARG1 (i / it~0) :time (t / talk-01~4 :ARG0 (y / you~3) :op1-of (o / or~5 :op2 (s2 / sing-01~8"
        " :ARG0 y))))",
        "(s / stop-01 :ARG1 (i / it) :time (o / or :op1 (t / talk-01 :ARG0 (y / you)) :op2 (s2 / sing-01 :ARG0 y)))",
    ),
    "even if begins a concession": (
        attach, "we go even if it rains", "2:nsubj 0:root 6:advmod 6:mark 6:nsubj 2:advcl",
        "(g / go-02~1 :ARG0 (w / we~0) :purpose (r / rain-01~5))",
        "(g / go-02 :ARG0 (w / we) :concession (r / rain-01))",
    ),
    "a place of two verbs belongs to its own": (
        attach, "he lent it so he drives to school", "2:nsubj 0:root 2:obj 6:mark 6:nsubj 2:advcl 8:case 6:obl",
        "(l / lend-01~1 :ARG0 (h / he~0) :ARG1 (i / it~2) :location (s / school~7) :purpose (d / drive-01~5 :ARG0 h"
        " :location s))",
        "(l / lend-01 :ARG0 (h / he) :ARG1 (i / it) :purpose (d / drive-01 :ARG0 h :location (s / school)))",
    ),
    "a verb that wants is the condition, not what it wants": (
        attach, "if you want to sew , sit and wait", "3:mark 3:nsubj 7:advcl 5:mark 3:xcomp 3:punct 0:root 9:cc 7:conj",
        "(a / and~7 :op1 (s / sit-01~6) :op2 (w / wait-01~8) :condition (s2 / sew-01~4 :ARG0 (y / you~1)) :ARG1-of (w2"
        " / want-01~2 :ARG0 y))",
        "(a / and :op1 (s / sit-01) :op2 (w / wait-01) :condition (w2 / want-01 :ARG1 (s2 / sew-01 :ARG0 y) :ARG0 (y /"
        " you)))",
    ),
    "a gardener is a subject, not the frame of his work": (
        add_arguments, "the gardener left", "2:det 3:nsubj 0:root",
        "(l / leave-11~2 :ARG0 (g / gardener~1 :ARG0-of (g2 / garden-01~1)))", "the same",
    ),
    "both sides of nor are a subject": (
        add_arguments, "neither men nor women wept", "2:cc:preconj 5:nsubj 4:cc 2:conj 0:root",
        "(w / weep-01~4 :polarity -~0 :ARG0 (n / nor~2 :op1 (m / man~1) :op2 (w2 / woman~3)))", "the same",
    ),
    "a participle has the subject of its verb": (
        add_arguments, "we told Tom he should stop smoking", "2:nsubj 0:root 2:iobj 6:nsubj 6:aux 2:ccomp 6:xcomp",
        "(t / tell-01~1 :ARG0 (w / we~0) :ARG1 (s / stop-01~5 :ARG0 (h / he~3) :ARG1 (s2 / smoke-02~6 :ARG0 w)))",
        "(t / tell-01 :ARG0 (w / we) :ARG1 (s / stop-01 :ARG0 (h / he) :ARG1 (s2 / smoke-02 :ARG0 h)))",
    ),
    "who is blamed for it did it": (
        add_arguments, "cooks blame men for leaving", "2:nsubj 0:root 2:obj 5:mark 2:advcl",
        "(b / blame-01~1 :ARG0 (c / cook~0) :ARG1 (l / leave-11~4 :ARG0 c) :ARG2 (m / man~2))",
        "(b / blame-01 :ARG0 (c / cook) :ARG1 (l / leave-11 :ARG0 m) :ARG2 (m / man))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_tree_decides(case):
    edit, text, tree, graph, expected = CASES[case]
    assert after(edit, text, graph, tree=tree) == expected
    assert after(edit, text, graph) == "the same"  # without a tree
