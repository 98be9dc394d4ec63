"""Sentences are not divided after the abbreviations in them: five sentences for each of more than 200 abbreviations."""

import pytest

from tests.text.test_segmentation import segmented

# A row: abbreviations, and five sentences that each of them stands in
TITLES = """Mr. Mrs. Ms. Dr. Prof. Rev. Hon. Fr. Gen. Col. Lt. Capt. Cpl. Sgt. Maj. Cmdr. Adm. Gov. Sen. Rep. Pres.
    Supt. Msgr. Amb. Atty. Pvt. Insp. Det. Brig. Messrs. Mme. Dir. Pfc. Cllr."""
NAMES = (
    "Jr. Sr. Esq. Ret. Ph.D. M.D. D.D.S. B.Sc. M.Sc. M.B.A. D.Phil. LL.B. LL.M. J.D. Ed.D. R.N. C.P.A. D.V.M. Litt.D."
)
DEGREES = "Ph.D. M.D. B.A. B.Sc. M.Sc. M.B.A. D.Phil. LL.B. Ed.D. B.Ed. M.Phil. Sc.D. Th.D. B.Tech. M.Eng."
MONTHS = "Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct. Nov. Dec."
DAYS = "Mon. Tue. Tues. Wed. Thu. Thur. Thurs. Fri. Sat. Sun."
UNITS = """in. ft. yd. yds. lb. lbs. oz. mi. hr. hrs. min. mins. sec. secs. gal. pt. qt. tsp. tbsp. cm. mm. km. kg.
    mg. ml. sq. yr. yrs. wks. mos. doz. deg."""
REFERENCES = """p. pp. Vol. vol. vols. No. no. Nos. nos. Fig. fig. Figs. figs. Eq. eq. Eqs. Ch. ch. chap. Sec. sec. Art.
    art. par. para. col. ed. ver. v. pt. Ex. App. app. l. n. nn. ll. pl. Tab. tab. Thm. Prop. Def. vv. bk. sect."""
EXAMPLES = "e.g. i.e. viz. cf. esp. incl. ca. approx. eg. ie. resp. excl."
COMPANIES = "Inc. Corp. Co. Ltd. Bros. Assn. Mfg. Intl. Cos. Assoc. Inst. Univ. S.A. N.V. P.L.C. L.L.C. L.P. Pty."
STREETS = "St. Ave. Blvd. Rd. Ln. Dr. Pl. Sq. Ct. Hwy. Pkwy. Cir. Ter. Tpk. Bldg."
BEFORE_NAMES = "Mt. Ft. St. Pt. Ste. Sta. Lk. Pk. No. So."
STATES = """Ala. Ariz. Ark. Calif. Cal. Colo. Conn. Del. Fla. Ga. Ill. Ind. Kan. Ky. La. Md. Mass. Mich. Minn. Miss. Mo.
    Mont. Neb. Nev. N.H. N.J. N.M. N.Y. N.C. N.D. Okla. Ore. Pa. Penn. R.I. S.C. S.D. Tenn. Tex. Vt. Va. Wash. W.Va.
    Wis. Wyo. D.C. Ont. Que. B.C. Alta. Sask."""
COUNTRIES = "U.S. U.K. U.N. E.U. U.A.E. U.S.S.R. U.S.A. D.R.C. P.R.C."
HOURS = "a.m. p.m. A.M. P.M. a.m.-p.m."
YEARS = "B.C. A.D. B.C.E. C.E. B.P. AD. BC."
ADJECTIVES = "dept. govt. natl. intl. misc. max. min. avg. std. temp. prev. orig. admin. cont. assoc. asst."
NUMBERED = "tel. Tel. ext. Ext. rm. Rm. apt. Apt. Ste. bldg. Rte. rte. Hwy. Bldg. fl. Fl."
BORN = "b. d. m. fl. r. est. ca. c."
BRANDS = "Yahoo! Node.js Vue.js ASP.NET .NET Three.js Jeopardy! Wham! Next.js Booking.com Salon.com Guess? D3.js"
WRITERS = "al."
CASES = [
    (TITLES, "Yesterday {} Ellis spoke to the class.", "We wrote to {} Anna Brook about the roof.",
     "The letter from {} O'Neill arrived late.", "Nobody believed {} Grant, who had left early.",
     "Was {} Park at the meeting in May?"),
    (NAMES, "Paul Reed, {}, signed the form.", "Paul Reed {} was born in Ohio.",
     "The plaque names Ann Lake, {} and three others.", "A talk by Omar Diaz, {}, will follow.",
     "I asked Tom Wood {} for help."),
    (DEGREES, "She took her {} in Leeds.", "A {} from Cornell helps.", "He has a {} in physics.",
     "They hold {} degrees in law.", "The {} programme (three years) is full."),
    (MONTHS, "On {} 14 the shop reopened.", "It rained until {} 3, 2009, in most places.",
     "The {} 2015 issue sold out.", "Send it by {} 30 or by the end of the term.",
     "From {} to summer the road was closed."),
    (DAYS, "The shop is closed on {} and on holidays.", "See you {} at noon.", "It is open {} 9 to 5 and by request.",
     "We meet next {}, not later.", "The {} class (two hours) is full."),
    (UNITS, "Allow 3 {} for the edge.", "A gap of 5 {} is enough.", "It came to 12 {}, more or less.",
     "Use 2 {} (or a bit more) for each.", "Some 40 {} later we stopped."),
    (REFERENCES, "See {} 12 for more.", "The text ({} 7) is clear.", "In {} 3 of the book a storm begins.",
     "Compare {} 2 with the map.", "As {} 14 shows, it grew."),
    (EXAMPLES, "Bring something warm, {} a coat.", "It took some days ({} nine) to arrive.",
     "They sold fruit, {} 40 crates of plums.", "Some towns, {} Leeds and York, grew.",
     "Read the notes, {} those on soil."),
    (COMPANIES, "Miller {} makes pumps.", "He joined Miller {} as a clerk.", "Shares of Miller {} fell by a tenth.",
     "Miller {}, a maker of pumps, closed.", "A judge told Miller {} President Joan Hill to wait."),
    (STREETS, "We live at 12 Oak {} in Dover.", "The shop on Oak {} has closed.", "Turn left at Oak {} and walk on.",
     "The house at 7 Oak {}, built of brick, burned.", "The Oak {} Bridge is old."),
    (BEFORE_NAMES, "We drove past {} Albion at dawn.", "The road to {} Albion is steep.", "Is {} Albion far from here?",
     "They camped near {} Albion, in the rain.", "Snow fell on {} Albion and the hills around it."),
    (STATES, "They moved to Salem, {}, in 1990.", "A farm near Salem, {} was sold.", "He left Salem, {} for the coast.",
     "The Salem, {} City Council met.", "From Dover, {} to Salem is an hour."),
    (COUNTRIES, "The {} Army sent help.", "Firms in the {} and Canada agreed.", "He left the {} in 1990.",
     "Most {} voters stayed at home.", "A report for the {} Senate was lost."),
    (HOURS, "By 9 {} the hall was full.", "At 9 {} Eastern time the doors open.", "From 9 {} to noon it rained.",
     "The 9 {} train is late.", "Come at 9 {} on Monday."),
    (YEARS, "In 300 {} the wall was built.", "By 70 {} Rome had fallen silent.", "The 300 {} temple is gone.",
     "From 40 {} to the end of the war nothing is known.", "Around 12 {}, the river rose."),
    (ADJECTIVES, "The {} office is closed.", "We have the {} value here.", "Ask the {} head (upstairs) first.",
     "Their {} costs were low.", "It is the {} rate of 2010."),
    (NUMBERED, "Call us ({} 4567) at night.", "You find it at {} 12 on the left.", "The {} 300 sign fell.",
     "Ask at {} 9, please.", "Write to {} 210 by Friday."),
    (BORN, "The painter ({} 1820) was Dutch.", "Anna Hale, {} 1744, was a queen.",
     "It is by Jan Hals ({} 1650 in Delft).",
     "He was a smith, {} 1701 at York.", "The house, {} 1890, stands on a hill."),
    (BRANDS, "She worked at {} for years.", "The {} team won.", "Is {} better than others?",
     "We use {} and like it.", "In {}, we found a fault."),
    (WRITERS, "Reed et {} showed this in 2010.", "As Reed et {} (2010) wrote, it grew.",
     "The map of Reed et {} is lost.",
     "Reed et {}, 2010, say so.", "We follow Reed et {} 2010 here."),
]  # fmt: skip


def test_there_are_two_hundred():
    assert len({abbreviation for abbreviations, *_ in CASES for abbreviation in abbreviations.split()}) >= 200


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].split()[0])
def test_sentences_are_not_divided_after_abbreviations(case):
    abbreviations, *templates = case
    texts = [template.format(abbreviation) for abbreviation in abbreviations.split() for template in templates]
    divided = [text for text in texts if len([*segmented(f"It rained. {text} We slept.")]) != 3]
    assert len(divided) <= 0.02 * len(texts), divided


@pytest.mark.parametrize(
    "texts",
    [
        "Come in. Bob waits.|He said no. Bob left.|It is the best art. Bob paints.|Look at the sun. Bob did.",
        "They are ill. Bob is well.|She has 5 ft. We have 6.|They ran 3 mi. Bob ran 4.",
        "He is from Salem, Ore. It is far.|I use Yahoo! It works.|I love Oxford! Bob does not.",
        "Who is Bob? Nobody knows.|We left at 9 a.m. The sun shone.",
        "I have an app. Bob has none.|He went to the U.S. It was far.|It was hot. i slept.|Ask me. Bob knows.",
    ],
)
def test_sentences_end_with_words_that_may_be_abbreviations(texts):
    for text in texts.split("|"):
        assert len([*segmented(text)]) == 2, text
