"""English words that no spelling rule relates (derivations, demonyms), and number words and affixes, as data."""

from __future__ import annotations

from collections.abc import Mapping

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
