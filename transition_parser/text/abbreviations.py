"""The abbreviations of English, with the final mark that belongs to them, and where they stand in sentences.

A word that is seldom an abbreviation (in, no, art) is an abbreviation only beside what makes it one, such as a number.
"""

from __future__ import annotations

# Before names; a sentence never opens after them
TITLES = (
    "Mr Mrs Ms Mme Mlle Messrs Mssrs Dr Drs Prof Rev Hon Fr Msgr Bp St Sts Ste Sta Mt Mts Ft Pt Gen Col Lt Lieut Capt "
    "Cpl Sgt Maj Cmdr Cdr Adm Brig Ens Pvt PVT Pfc Gov Sen Sens Rep Reps Pres Supt Amb Atty Insp Det Dir Cllr Wm Chas "
    "Geo Thos Jas Jos Robt Edw Benj Lk Pk vs"
)
# Anywhere
_ANYWHERE = (
    "Jr Sr Esq Ret Ph Sc AD BC al cf ca eg ie viz approx est esp incl excl resp ext pp vol vols Jan Feb Mar Apr Jun "
    "Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Inc Corp Co Cos Ltd Pty Bros Ave Blvd "
    "Rd Ln Pl Sq Ct Hwy Pkwy Expy Fwy Cir Cres Ter Tpk Hts Bldg Apt Rte Fig Figs Vol Vols Sec Ext Eq Eqs Ch Chap Nos "
    "Tel Ala Ariz Calif Colo Conn Fla Minn Mont Nev Okla Ont Que Alta Sask Penn Tenn Tex Va Wis Wyo"
)
# With a capital anywhere, otherwise before words
_SHORTENED = (
    "abbr acad acct addl admin agric amt anat anon appt archit assn assoc asst astron attn avg bibl biol bull chem "
    "comm conf cong conj contd decd dept diam dist distr div econ educ elec elem encl engr environ exec fed fem freq "
    "geog geol geom govt hist hosp illus indus inst instr intl introd lang masc mech mfg mgmt mgr misc mun natl obs "
    "occas orig philos phys physiol plur polit poss prelim proc prov pseud psych publ recd repr sched sci soc sociol "
    "spec specif std subj suppl surg syn theol transl transp treas univ usu vocab zool"
)
# Before words
_BEFORE_WORDS = (
    "adj adv cat cert comp cont corp def ed eds etc exp fut gen inc jr lat lib lic lit max med min mod mus nat neg "
    "obj opp perf pop pos prep pres prev prob prod prof pron ref reg req ret rev sing sp spp sr stat sub supp tech "
    "temp trad trans var vet"
)
# Between a number and words
_UNITS = "ac bu cu deg doz gal gals gr hp in mi min mins mo mos oz sec secs yd yds yr yrs"
# Before a number
_NUMBERED = (
    "app apps apt art arts bldg cap chap col cols eq eqs ex exs fig figs no nos par para paras pl prop rm rte "
    "sec secs sect tab tel thm ver"
)
# After a comma
_STATES = "Ark Cal Del Ga Ill Ind Kan Ky La Mass Md Me Mich Miss Mo Neb Ore Pa Vt Wash"
_DEGREES = (
    r"(?:Ph|Ed|Litt|Sc|Th|Psy|Pharm|Mus|LL|W)\.(?:[A-Z]|Va)(?!\w)\.?",
    r"[A-Z]\.(?:Sc|Ed|Phil|Tech|Eng|Com|Arch|Mus|Litt|Mex)(?!\w)\.?",
)


def _any(words: str) -> str:
    return rf"(?:{'|'.join(words.split())})\."


def _after(characters: str) -> str:
    return rf"(?:(?<={characters}\s)|(?<={characters}\r\n))"


# A name that ends in a mark is known by the words beside it, some also without these words
_NAMES = (r"(?:Yahoo|Jeopardy)!", rf"{_after('[a-z]')}[A-Z]\w{{1,30}}[!?](?=\r?\s[a-z])")


_NO_VOWELS = r"[^\W\d_AEIOUYaeiouy][b-df-hj-np-tv-xz]{1,4}\."
_WORDS_FOLLOW = r"(?=\r?\s?[a-z\d(,;:])"
_WITH_PERIOD = (
    rf"{_any(' '.join((TITLES, _ANYWHERE, _SHORTENED.title())))}(?!\w)",
    rf"(?:{_any(_SHORTENED)}|(?i:{_any(_BEFORE_WORDS)})|{_NO_VOWELS}){_WORDS_FOLLOW}",
    rf"(?:(?<=[0-9])|{_after('[0-9]')}){_any(_UNITS)}{_WORDS_FOLLOW}",
    rf"(?i:{_any(_NUMBERED)})(?=\r?\s?\d)",
    rf"{_after(',')}{_any(_STATES)}(?!\w)",
    rf"{_after('[a-z]')}(?:No|So|v)\.(?=\r?\s[A-Z])",
    r"[A-Z]\.(?=\r?\s[A-Z])",
    r"(?m:(?<!^))(?:[A-Z]\.(?=\r?\s[a-z])|[A-Za-z]\.(?=\r?\s?\d))",  # at the start of a line: an item of a list
)
# A regular expression that matches at the start of a word; it reads up to `CONTEXT` characters before the word
CONTEXT = 3
PATTERN = "|".join((*_DEGREES, *_NAMES, rf"(?=\w{{1,8}}\.)(?:{'|'.join(_WITH_PERIOD)})"))
