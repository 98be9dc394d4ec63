"""Closed-class knowledge of English and of the AMR guidelines, as data, in lower case.

Source: Banarescu et al., Abstract Meaning Representation (AMR) Specification 1.2.6.
"""

from __future__ import annotations

from collections.abc import Mapping

# words before `|` nearly always express the concept; words after `|` often express something else
CONCEPT_WORDS: Mapping[str, str] = {
    # pronouns
    "i": "i me my mine myself i'm im",
    "you": "you your yours yourself yourselves u ya ye thou thee thy y'all | 's",
    "he": "he him his himself | 'em",
    "she": "she her hers herself",
    "it": "it its itself",
    "we": "we us our ours ourselves | 's",
    "they": "they them their theirs themselves 'em",
    "one": "one oneself ones",
    "this": "this these",
    "that": "that those",
    "each-other": "each-other | each",
    "someone": "someone somebody",
    "anyone": "anyone anybody",
    "everyone": "everyone everybody",
    "nobody": "nobody no-one",
    # conjunctions and discourse
    "and": "and & | as plus et , ; nor -- : or but",
    "or": "or nor | either / , and",
    "slash": "/ | or",
    "contrast-01": "but however yet | although though while whereas nevertheless nonetheless still instead",
    "have-concession-91": "although though despite however nevertheless nonetheless | but even while spite",
    "have-condition-91": "if unless provided otherwise | when as long case in",
    "cause-01": "because why therefore thus hence since due cause so reason consequently 'cause | for as owing result "
    "thanks then that such lead make from by",
    "instead-of-91": "instead rather | not",
    "have-purpose-91": "purpose | for to so",
    "in-addition": "addition moreover furthermore besides",
    "mean-01": "mean | i.e. namely",
    "exemplify-01": "example instance e.g. such | like as for",
    "include-01": "include including | among of",
    "include-91": "include including | among of between in some most",
    "except-01": "except | but apart besides other",
    "resemble-01": "resemble like similar alike | as",
    "multi-sentence": "| . ? ! ; : ...",
    "yes": "yes yeah yep yup aye | sure",
    "no": "no nope nah",
    "emoticon": ":) :( ;) :D :-) :-(",
    "have-subevent-91": "| part of during in",
    "have-part-91": "| part of with have",
    "have-frequency-91": "| times often every each always",
    "have-manner-91": "| how way by like",
    "have-extent-91": "| how far much long",
    "have-mod-91": "| be",
    "have-li-91": "| first second third last 1 2 3 a b c",
    "publication-91": "| al. et",
    "cite-01": "cite | see",
    # modality
    "possible-01": "can could may might possible possibly perhaps maybe able cannot ca | potential potentially would "
    "ability impossible unable capable enable",
    "obligate-01": "must obligate ought | have need should got gotta supposed",
    "recommend-01": "should recommend ought | better must would shall suggest",
    "permit-01": "permit allow | may let can could able",
    "likely-01": "likely probably probable unlikely | presumably",
    "need-01": "need necessary | must require want",
    "infer-01": "infer | must so",
    "capable-01": "able can capable could | ability unable",
    "capable-41": "able capable ability unable | can could",
    "seem-01": "seem appear apparently seemingly",
    "appear-02": "seem appear apparently",
    "intend-01": "intend | going will mean",
    "use-02": "| used would",
    "wish-01": "wish | hope if",
    "request-confirmation-91": "? | right ok okay",
    "correct-02": "correct | right",
    "right-06": "right | okay",
    # having and being
    "have-03": "have own got | with of 's 've has without be there",
    "have-04": "have | with of 's there got",
    "have-06": "have",
    "be-located-at-91": "| be 's there in at on from where 're here under over above",
    "be-temporally-at-91": "| be in at on when",
    "be-from-91": "from | be of",
    "be-destined-for-91": "for | be to",
    "be-made-of-91": "| of made from",
    "be-polite-91": "please | polite",
    "exist-01": "exist existence | there be",
    "relative-position": "from away | of",
    "have-polarity-91": "not n't no | none without",
    "have-value-91": "| be value of",
    "become-01": "become | get grow turn go be make",
    "do-02": "do deed | so it action",
    "and-so-on": "etc etc. | so and",
    "et-cetera": "etc etc. | so and",
    # degree and quantity
    "have-degree-91": "more most less least too enough than so | as such very that far",
    "have-quant-91": "more most less least too enough than so many much few | as such very that number amount",
    "more": "more additional further | another other rather greater larger increase",
    "most": "most | mostly least",
    "less": "less fewer | lower smaller reduce",
    "least": "least | lowest",
    "equal": "as equal | same",
    "equal-01": "equal equally as | same",
    "too": "too overly",
    "enough": "enough sufficient sufficiently | adequate",
    "so": "so such | that",
    "very": "very | much so highly really extremely quite too pretty most",
    "extreme": "extreme extremely | very",
    "much": "much lot lots | great deal many",
    "many": "many numerous lots | lot much several number multiple",
    "few": "few | little handful",
    "some": "some certain | several",
    "several": "several | some number multiple few",
    "multiple": "multiple | many several dozens hundreds thousands millions times fold",
    "all": "all every whole entire each | everything everyone always throughout both",
    "each": "each every | per",
    "any": "any | every",
    "only": "only just sole solely | mere merely but alone",
    "just": "just only | merely",
    "also": "also too as-well additionally | as",
    "about": "about around approximately roughly ~ | nearly almost some",
    "approximately": "approximately about around roughly ~",
    "almost": "almost nearly | about",
    "at-least": "at-least least | minimum",
    "at-most": "at-most most | maximum",
    "more-than": "more over above exceed > | than greater",
    "less-than": "less under below fewer < | than up",
    "up-to": "up | to maximum",
    "between": "between from | - to",
    "value-interval": "between from | - to and",
    "date-interval": "between from since until | - to and",
    "another": "another other | else more",
    "other": "other others another else | different rest",
    "same-01": "same | identical equal",
    "percentage-entity": "% percent per-cent percentage | pct",
    "rate-entity-91": "every each per daily weekly monthly yearly annual annually hourly | a once twice always often",
    "dollar": "$ dollar usd us$ buck",
    "euro": "€ euro eur",
    "pound": "£ pound gbp lb",
    "yen": "¥ yen",
    "cent": "¢ cent",
    "degree": "° degree",
    "product-of": "times multiply fold | × x * of",
    "sum-of": "sum plus + total | and",
    "ratio-of": "ratio | : to /",
    "micrometer": "µm μm um",
    "microgram": "µg μg ug microgram",
    "milligram": "mg milligram",
    "milliliter": "ml milliliter",
    "kilometer": "km kilometer",
    "centimeter": "cm centimeter",
    "meter": "m meter",
    "foot": "foot feet ft",
    "inch": "inch in \"",
    "minute": "minute min",
    "hour": "hour h hr hrs",
    "second": "second sec s",
    "kilodalton": "kda kilodalton",
    # time and place
    "after": "after later | since following once subsequently then next",
    "before": "before ago earlier prior | previously until",
    "since": "since",
    "until": "until till | by to",
    "now": "now | today currently present",
    "then": "then | that",
    "current": "current currently now | present",
    "present": "present presently | now",
    "ever": "ever never | always",
    "always": "always | forever ever",
    "again": "again once-more | re",
    "once": "once | one when",
    "still": "still yet | remain",
    "already": "already | yet",
    "early": "early earlier earliest | soon",
    "late": "late later lately latest",
    "recent": "recent recently | lately newly just",
    "today": "today | tonight",
    "tomorrow": "tomorrow",
    "day": "day daily | date",
    "week": "week weekly",
    "month": "month monthly",
    "year": "year yearly annual annually yr yrs y.o. | old",
    "night": "night tonight overnight | nightly",
    "age-01": "age aged old | years at",
    "here": "here | this",
    "there": "there | that where",
    "location": "where location place | area there",
    "manner": "how manner way",
    "date-entity": "| when date",
    "time": "time when | times moment",
    # indefinite nouns
    "thing": "thing what something | that which it whatever how everything anything stuff one",
    "something": "something | what some",
    "everything": "everything | all",
    "person": "person people persons folks someone somebody everyone everybody one guy | who those human one's whoever "
    "men man anyone anybody they others nobody individual ones",
    "people": "people nation",
    "man": "man | guy men",
    "government-organization": "government | administration",
    "company": "company | firm corporation",
    "good": "good | well goods",
    "good-02": "good | well fine nice better best",
    "well-09": "well | good better best",
    "bad": "bad poor | worse worst wrong ill",
    "bad-07": "bad poor | worse worst poorly badly",
    # questions
    "amr-unknown": "what who which where when why how whose whom whats what's who's where's how's | ? whether if",
    "amr-choice": "or | whether",
    "truth-value": "whether if | ?",
    # deictic and polite
    "please": "please",
    "thank-01": "thank thanks thx",
    "hello": "hello hi hey",
    "oh": "oh ah o",
    "okay": "ok okay o.k. | all right alright",
    "okay-04": "ok okay o.k. alright | fine right",
    # biology and chemistry: words of the AMR guidelines' entity types
    "wild-type": "wild-type wild wt wildtype",
    "small-molecule": "| inhibitor drug compound molecule",
    "protein-segment": "| domain residue region terminal",
    "increase-01": "increase elevate up higher enhance | rise greater",
    "decrease-01": "decrease reduce down lower | loss",
    "upregulate-01": "upregulate up-regulate upregulation",
    "downregulate-01": "downregulate down-regulate downregulation",
    "express-03": "express expression overexpress overexpression",
    "activity-06": "activity active",
    "act-02": "act activity function | behave",
    "mutate-01": "mutate mutation mutant mutational | variant mutagenesis",
    "human": "human | patient",
}  # fmt: skip

# constant → the words that express it
CONSTANT_WORDS: Mapping[str, str] = {
    "-": "not n't no never none nothing nobody neither nor without cannot non n’t nowhere nope unless fail lack hardly "
    "unlikely unable impossible dont doesnt didnt cant wont isnt no-one don't can't won't | un dis free absence few "
    "little any",
    "+": "please | thank thanks sir",
    "interrogative": "? whether if | do be have will can could would shall may",
    "imperative": "| let please ! do",
    "expressive": "| ! oh wow ah please",
}  # fmt: skip

# role → the question words that ask for it
QUESTION_WORDS: Mapping[str, str] = {
    "location": "where", "destination": "where", "direction": "where", "source": "where", "path": "where how",
    "time": "when", "manner": "how", "instrument": "how what", "degree": "how", "extent": "how", "quant": "how",
    "duration": "how", "frequency": "how", "value": "what how", "cause": "why", "purpose": "why what",
    "poss": "whose", "mod": "what which", "topic": "what", "domain": "what who which", "polarity": "? whether if",
    "mode": "?",
}  # fmt: skip

# words that rarely express a node, for EM and for the choice of a token of last resort
FUNCTION_WORDS = frozenset(
    "the a an of to in on at by for with from as that which who is are was were be been being am 's 're 'm 've do does "
    "did has have had will would shall it its this these those there and or , . ; : ? ! -- - \" ' `` '' ( ) [ ] "
    "@-@ @/@ <i> </i> … ... “ ” ‘ ’ into than then so such".split()
)
PUNCTUATION = frozenset(
    ". , ; : ? ! -- - — – \" ' `` '' ( ) [ ] { } @-@ @/@ <i> </i> <xref> </xref> … ... “ ” ‘ ’ < >".split()
)
SENTENCE_END = frozenset(". ? ! ... … ; :".split())

# concepts that usually share a token with another node, so that they do not compete for the token
SHARING = frozenset(
    "name date-entity ordinal-entity percentage-entity have-degree-91 have-quant-91 have-org-role-91 have-rel-role-91 "
    "rate-entity-91 imperative expressive interrogative person thing amr-unknown ever more most be-located-at-91 "
    "relative-position multi-sentence product-of url-entity string-entity date-interval value-interval - +".split()
)

# types that one word names together with the action that they do or undergo: teacher, inhibitor, employee, result
NOMINALS = frozenset(
    "person thing human animal company organization government-organization criminal-organization small-molecule "
    "molecular-physical-entity enzyme protein protein-family protein-segment macro-molecular-complex product event "
    "facility country cell medical-condition".split()
)

# pronouns; a node with several mentions is aligned to the first mention
FIRST_MENTIONED = frozenset("i you he she we they one".split())

# concept → the neighbours whose tokens it gets if no word expresses the concept, best first: `>role` for the target of
# an edge from the concept, `<role` for the source of an edge to the concept, `*` for any role; see `forced.py`
NEIGHBOURS: Mapping[str, str] = {
    "have-degree-91": ">ARG3 >ARG2 >ARG4 >ARG1",
    "have-quant-91": ">ARG3 >ARG2 >ARG4 >ARG1",
    "have-org-role-91": ">ARG2 >ARG3 >ARG1 >ARG0",
    "have-rel-role-91": ">ARG2 >ARG3 >ARG1 >ARG0",
    "rate-entity-91": ">ARG2 >ARG1 >ARG3 >ARG4",
    "be-located-at-91": ">ARG2 >ARG1",
    "name": ">op1 >* <name",
    "ordinal-entity": ">value",
    "percentage-entity": ">value",
    "date-entity": ">weekday >month >year >day >dayperiod >time >season >century >decade >year2 >*",
    "date-interval": ">op1 >op2",
    "value-interval": ">op1 >op2",
    "relative-position": ">direction >quant >op1",
    "person": "<ARG0 <ARG1 <ARG2 >name <domain",
    "thing": "<ARG1 <ARG2 <ARG0 <ARG3 <topic",
    "and": ">op2 >op1",
    "or": ">op2 >op1",
    "multi-sentence": ">snt2 >snt1",
    "imperative": "<mode",
    "expressive": "<mode",
    "interrogative": "<mode",
    "-": "<polarity",
    "+": "<polite <*",
    "you": "<ARG0 <ARG1 <vocative",
    "describe-01": ">ARG0",
    "cite-01": ">ARG2 >ARG1",
    "publication": "<ARG1 <ARG0 <ARG2",
    "byline-91": ">*",
    "publication-91": ">*",
    "quantity": ">unit >quant",
    "91": ">ARG2 >ARG1 >ARG3 >ARG0",
    "entity": ">value >*",
}


# nominalisations, agents and adjectives that no suffix rule finds, as "lemma of the concept": "other words"
IRREGULAR_DERIVATIONS: Mapping[str, str] = {
    "able": "ability", "absent": "absence", "accede": "accession", "acquire": "acquisition",
    "act": "action actor activity", "add": "addition additional", "admit": "admission", "advise": "advice",
    "analysis": "analyze", "analyze": "analysis analyst analyses", "apoptosis": "apoptotic", "appear": "apparent",
    "apply": "application", "approve": "approval", "arrive": "arrival", "assume": "assumption", "bear": "birth born",
    "begin": "beginning", "behave": "behavior behaviour", "believe": "belief", "big": "large", "bind": "binder bound",
    "bleed": "blood", "breathe": "breath", "broad": "breadth", "build": "building", "capture": "captive",
    "cede": "cession", "choose": "choice", "city": "urban municipal", "clear": "clarity", "cold": "coldness",
    "colleague": "collegial", "collide": "collision", "commit": "commitment commission", "compare": "comparison",
    "conceive": "conception concept", "conclude": "conclusion", "confuse": "confusion", "consist": "consistent",
    "consume": "consumption", "correlate": "correlation", "costly": "cost", "counter": "against",
    "create": "creature", "crime": "criminal", "cure": "curable", "deceive": "deception deceit", "decide": "decision",
    "deep": "depth", "defend": "defense defence", "deny": "denial", "depart": "departure", "describe": "description",
    "destroy": "destruction", "detain": "detention", "diagnose": "diagnosis diagnostic", "die": "death dead",
    "differ": "difference different", "different": "difference", "divide": "division", "do": "deed", "drink": "drunk",
    "drive": "driver", "elect": "election", "emphasis": "emphatic", "enforce": "force", "enter": "entry entrance",
    "err": "error", "evacuate": "evacuee", "evidence": "evident", "excel": "excellent", "exist": "existence",
    "expand": "expansion", "explain": "explanation", "explode": "explosion", "extend": "extent", "fail": "failure",
    "favor": "favorite favourite", "feed": "food", "fight": "fighter", "fix": "fixation", "flow": "influx",
    "fly": "flight", "foot": "footed", "found": "foundation", "free": "freedom liberty", "gene": "genetic",
    "give": "gift", "glass": "glasses", "go": "gone", "goal": "purpose", "grow": "growth", "half": "halve",
    "hate": "hatred", "hear": "audible", "heart": "cardiac", "heat": "hot", "help": "aid", "high": "height",
    "hot": "heat", "hungry": "hunger", "hydrolyze": "hydrolysis", "hypothesize": "hypothesis hypothetical hypotheses",
    "include": "inclusion", "inhabit": "habitat", "injure": "injury", "instead": "rather",
    "intervene": "intervention", "introduce": "introduction", "invade": "invasion", "invert": "inverse inversion",
    "join": "joint", "judge": "judgment judgement", "kill": "killer", "know": "knowledge", "lack": "without",
    "large": "big", "laugh": "laughter", "law": "legal lawyer", "lead": "leader", "legal": "law", "lie": "liar lay",
    "life": "living alive", "like": "fond", "live": "life alive living", "logic": "logical", "long": "length",
    "lose": "loss", "lung": "pulmonary", "marry": "marriage", "mean": "meaning", "medicine": "medical",
    "meet": "meeting", "metastasis": "metastatic", "mitosis": "mitotic", "moon": "lunar", "mother": "maternal",
    "mountain": "mountainous", "mouth": "oral", "move": "motion", "near": "vicinity", "necrosis": "necrotic",
    "nerve": "neural nervous", "obey": "obedience obedient", "oblige": "obligation", "omit": "omission",
    "oppose": "opposition", "other": "another", "owe": "debt", "pay": "payment", "peace": "pacific",
    "perceive": "perception", "permit": "permission", "person": "people", "phosphorylate": "phosphorylation phospho",
    "plan": "planning", "please": "pleasure", "poor": "poverty", "possess": "possession", "present": "presence",
    "president": "presidential", "presume": "presumption", "prior": "previously", "produce": "production product",
    "pronounce": "pronunciation", "prosecute": "prosecutor", "proud": "pride", "prove": "proof evidence",
    "provide": "provision", "pursue": "pursuit", "realize": "realization", "receive": "receipt reception",
    "reduce": "reduction", "relieve": "relief", "repeat": "repetition", "require": "requirement",
    "reside": "residence resident", "resolve": "resolution", "respond": "response reply answer",
    "reveal": "revelation", "rise": "arise", "sad": "sorrow", "school": "scholar", "sea": "marine",
    "see": "sight vision view", "seize": "seizure", "sell": "sale", "send": "sent", "sense": "sensation",
    "separate": "separation", "sequence": "seq", "serve": "service servant", "shoot": "shot", "similar": "similarity",
    "sing": "song", "sit": "seat", "solve": "solution", "speak": "speech", "state": "statement", "steal": "theft",
    "step": "footstep", "strike": "struck stroke", "strong": "strength", "submit": "submission",
    "subscribe": "subscription", "succeed": "success successful", "sun": "solar", "supply": "supplier",
    "survive": "survival", "suspect": "suspicion suspicious", "synthesis": "synthetic synthesize",
    "synthesize": "synthesis", "teach": "teacher", "tell": "tale", "tend": "tendency", "thief": "theft",
    "think": "thought", "total": "sum", "town": "urban", "transmit": "transmission", "treat": "therapy",
    "true": "truth", "try": "trial attempt", "tumor": "tumour", "understand": "understanding",
    "use": "usage useful useless", "vanish": "gone", "vary": "variant variation various", "version": "isoform",
    "vote": "ballot", "warm": "warmth", "weigh": "weight", "wide": "width", "win": "victory", "wise": "wisdom",
    "wound": "injury", "write": "writing", "year": "annual", "yes": "yeah", "young": "youth",
}  # fmt: skip

# names of countries, regions and religions, with derived words that do not share their beginning
DEMONYMS: Mapping[str, str] = {
    "afghanistan": "afghan", "britain": "british brit brits briton uk", "buddhism": "buddhist",
    "catholicism": "catholic", "china": "chinese", "christianity": "christian", "cyprus": "cypriot",
    "denmark": "danish dane danes", "england": "english englishman", "europe": "european",
    "european union": "eu e.u.", "finland": "finnish finn finns", "france": "french", "germany": "german",
    "great britain": "british britain uk", "greece": "greek", "hinduism": "hindu", "iceland": "icelandic",
    "ireland": "irish", "islam": "muslim islamic moslem", "judaism": "jewish jew jews", "laos": "laotian",
    "middle east": "mideast", "myanmar": "burmese burma", "netherlands": "dutch", "north korea": "korean dprk",
    "norway": "norwegian", "philippines": "filipino philippine", "poland": "polish pole poles",
    "scotland": "scottish scots", "south korea": "korean rok", "soviet": "ussr", "soviet union": "soviet ussr",
    "spain": "spanish spaniard", "sweden": "swedish swede swedes", "switzerland": "swiss", "thailand": "thai",
    "turkey": "turkish turk turks", "uk": "british britain", "united kingdom": "british britain uk u.k. brits",
    "united nations": "un u.n.", "united states": "us u.s. usa u.s.a. american americans america",
    "united states of america": "us u.s. usa america american", "vatican": "papal", "wales": "welsh",
}  # fmt: skip

MONTHS = (
    "january february march april may june july august september october november december".split(),
    "jan feb mar apr may jun jul aug sep oct nov dec".split(),
)

NUMBER_WORDS: Mapping[str, float] = {
    "half": 0.5, "quarter": 0.25, "once": 1, "twice": 2, "thrice": 3, "a": 1, "an": 1, "single": 1, "first": 1,
    "both": 2, "couple": 2, "pair": 2, "double": 2, "triple": 3, "twofold": 2, "last": -1, "zero": 0, "no": 0,
    "dozen": 12, "hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9, "trillion": 1e12, "final": -1,
    "sole": 1, "third": 1 / 3, "hundreds": 100, "thousands": 1000, "millions": 1e6, "billions": 1e9, "dozens": 12,
    "fourth": 4, "previous": -1, "next": 1,
}  # fmt: skip
ORDINALS: Mapping[str, int] = {
    word: value
    for value, word in enumerate(
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
    )
} | {word: 10 * (2 + i) for i, word in enumerate(
        "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split())}  # fmt: skip

NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti")
AGENT_SUFFIXES = tuple(
    "er ers or ors ist ists ant ants ent ents ian ians ee ees man men eer eers ar ars ess ate ates al als yst "
    "ysts".split()
)

# suffixes of derivation, longest first; a stem is a word without a suffix and without a final e, y or i
SUFFIXES = tuple(
    sorted(
        (
            "ly ness ment ments ion ions ation ations ition itions ification ifications ance ances ence ences "
            "ancy ancies ency encies al ial ual ous eous ious uous ive ives ative itive able ible ably ibly er "
            "ers or ors ar ator ators ist ists ism ity ities ility ilities ful fully less ing ings ed y ic ical "
            "ically ant ants ent ents ship ships hood dom age ages ee ees ure ures th en ize ise ized izes izing "
            "ization isation ify ifies ified ate ates ated ating ary ory es s est ier iest ish like ward wards "
            "tion tions sion sions ty eer eers ess ian ians ability "
        ).split(),
        key=lambda suffix: (-len(suffix), suffix),
    )
)
