// Drawings of dependency trees: arcs above words.
const LEVEL = 26, WORD_GAP = 14, FOOT = 6, TURN = 7, LONG = 560, LINE_GAP = 18;
const PHONE = 480, ROW = 24, UPRIGHT_FOOT = 2.4, LEAST_COLUMN = 6, MOST_COLUMN = 16;

// Return the level of each arc: above all shorter arcs that overlap with it, and 0 for arcs from the root.
function levelsOf(arcs) {
  const order = arcs.map((arc, i) => i).filter((i) => arcs[i].head >= 0);
  const span = (i) => [Math.min(arcs[i].head, arcs[i].word), Math.max(arcs[i].head, arcs[i].word)];
  order.sort((a, b) => { const [s, t] = [span(a), span(b)]; return s[1] - s[0] - (t[1] - t[0]) || s[0] - t[0]; });
  const levels = arcs.map(() => 0), done = [];
  for (const i of order) {
    const [low, high] = span(i);
    let level = 0;
    for (const [l, h, below] of done) if (l < high && h > low) level = Math.max(level, below);
    levels[i] = level + 1;
    done.push([low, high, level + 1]);
  }
  return levels;
}

// Return the centres of words, which leave room for the relations between neighbours.
// rows: the tags and lemmas below the words
function placesOf(words, rows, arcs) {
  const widths = words.map((word, i) => Math.max(widthOf(word, 15), ...rows.map(({ values }) => widthOf(values[i] || "", 11))));
  const between = words.map(() => 0);
  for (const { head, word, relation } of arcs) {
    if (head < 0) continue;
    const left = Math.min(head, word);
    const share = Math.abs(head - word);
    if (share <= 2) between[left] = Math.max(between[left], (widthOf(relation, 12) + 36) / share);
  }
  const places = [];
  words.forEach((word, i) => {
    const before = i ? places[i - 1] + Math.max((widths[i - 1] + widths[i]) / 2 + WORD_GAP, between[i - 1]) : widths[0] / 2 + 10;
    places.push(before);
  });
  return { places, width: places[places.length - 1] + widths[words.length - 1] / 2 + 10 };
}

// Return a function for the place at which an arc meets a word; short arcs are further from the middle of the word.
function feetOf(arcs, places, gap = FOOT) {
  const roots = new Set(arcs.filter(({ head }) => head < 0).map(({ word }) => word));
  const ends = places.map(() => ({ left: [], right: [] }));
  arcs.forEach(({ head, word }, i) => {
    if (head < 0) return;
    ends[word][head < word ? "left" : "right"].push(i);
    ends[head][word < head ? "left" : "right"].push(i);
  });
  const length = (i) => Math.abs(arcs[i].head - arcs[i].word);
  return (word, i) => {
    for (const [side, sign] of [["left", -1], ["right", 1]]) {
      const sorted = [...ends[word][side]].sort((a, b) => length(b) - length(a));
      const place = sorted.indexOf(i);
      if (place >= 0) return places[word] + sign * gap * (place + (roots.has(word) ? 1.1 : 0.6));
    }
    return places[word];
  };
}

const isKnown = (value) => Boolean(value) && value !== "_";

// Return the arcs of the words from `start` to before `end`, renumbered from 1. The ends of arcs that leave this line are
// 0 on its left and one more than its words on its right.
function arcsOfLine(arcs, start, end) {
  const place = (word) => clamp(word - start + 1, [0, end - start + 1]);
  const touches = ({ head, word }) => (head < 0 ? word >= start && word < end : Math.max(head, word) >= start && Math.min(head, word) < end);
  return arcs.filter(touches).map((arc) => ({ ...arc, own: arc.word, head: arc.head < 0 ? -1 : place(arc.head), word: place(arc.word) }));
}

// Draw a tree in lines that are as wide as `width` allows; arcs continue where a line breaks.
function drawLines({ words, tags, lemmas, arcs, room, kinds }, width) {
  const line = (start, end) => {
    const part = (values) => (values.length ? ["", ...values.slice(start, end), ""] : []);
    return { words: part(words), tags: part(tags), lemmas: part(lemmas), kinds: part(kinds), isLine: true,
      arcs: arcsOfLine(arcs, start, end), room: arcsOfLine(room, start, end) };
  };
  const isTooWide = (one) => placesOf(one.words, [{ values: one.tags }, { values: one.lemmas }], one.room).width > width;
  const lines = [];
  for (let start = 0, end; start < words.length; start = end) {
    for (end = start + 1; end < words.length && !isTooWide(line(start, end + 1)); end++);
    lines.push(drawTree(line(start, end)));
  }
  let y = 0;
  for (const one of lines) {
    one.setAttribute("y", y);
    y += Number(one.getAttribute("height")) + LINE_GAP;
  }
  const most = Math.max(width, ...lines.map((one) => Number(one.getAttribute("width"))));
  return pictureOf(words, most, y - LINE_GAP, lines);
}

// Draw a tree upright, as `print` does in Python: a word a line, to its right the arcs, and then its relation.
function drawUpright({ words, tags, arcs, room, kinds }, width) {
  const widest = (texts, size) => Math.max(0, ...texts.map((text) => widthOf(text, size)));
  const tagged = 10 + widest(words, 15), start = tagged + (tags.some(isKnown) ? 10 + widest(tags, 11) : 0) + 8;
  const levels = levelsOf(room), most = Math.max(1, ...levels);
  const names = Math.max(0, ...room.map(({ relation, confidence }) => widthOf(relation, 12) + 6 + figureWidth(confidence)));
  const column = clamp((width - start - names - 12) / (most + 0.5), [LEAST_COLUMN, MOST_COLUMN]), end = start + column * (most + 0.5) + 6;
  const places = words.map((_, i) => ROW * (i + 0.5) + 4), foot = feetOf(room, places, UPRIGHT_FOOT);
  const picture = pictureOf(words, end + names + 4, ROW * words.length + 8), number = new Map(room.map(({ word }, i) => [word, i]));
  for (const arc of arcs) {
    const i = number.get(arc.word), y = places[arc.word], named = widthOf(arc.relation, 12), from = arc.head < 0 ? y : foot(arc.head, i), to = foot(arc.word, i);
    const x = start + column * (levels[i] + 0.5), sign = Math.sign(to - from), turn = Math.min(TURN, column / 2);
    picture.append(svg("g", { class: `${arc.kind || ""} ${doubt(arc.confidence)}` }, sureness(arc.relation, arc.confidence),
      ...(arc.head < 0 ? [] : [tip(start - 1, to, -1, 0, "tip"), svg("path", { class: "line",
        d: `M${start} ${from} H${x - turn} Q${x} ${from} ${x} ${from + sign * turn} V${to - sign * turn} Q${x} ${to} ${x - turn} ${to} H${start + 4}` })]),
      svg("text", { class: "role", x: end + named / 2, y: y + 4 }, arc.relation), figure(arc, end + named + 4 + figureWidth(arc.confidence) / 2, y + 4)));
  }
  words.forEach((word, i) => picture.append(svg("text", { class: `word ${kinds[i] || ""}`, x: 2 + widthOf(word, 15) / 2, y: places[i] + 5 }, word),
    ...(isKnown(tags[i]) ? [svg("text", { class: "tag", x: tagged + widthOf(tags[i], 11) / 2, y: places[i] + 4 }, tags[i])] : [])));
  return picture;
}

const pictureOf = (words, width, height, children = []) => svg("svg",
  { width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "img", "aria-label": `Tree of: ${words.join(" ")}` }, ...children);

// Draw a tree.
// tags, lemmas: one for each word
// arcs: {head, word, relation, kind, confidence}; the head −1 is the root; own: the number of the word, in lines
// room: the arcs that the drawing has room for; by default `arcs`
// kinds: the class of each word
// isLine: the first and the last word stand for the lines before and after this one
function drawTree({ words, tags = [], lemmas = [], arcs, room = arcs, kinds = [], isLine = false }) {
  const all = levelsOf(room);
  const rows = [{ kind: "tag", values: tags }, { kind: "lemma", values: lemmas }].filter(({ values }) => values.some(isKnown));
  const { places, width } = placesOf(words, rows, room);
  const most = Math.max(0, ...all), hasRoot = !isLine || room.some(({ head }) => head < 0), base = LEVEL * (most + (hasRoot ? 1.4 : 0.6)) + 8, height = base + 26 + 16 * rows.length;
  const picture = isLine ? svg("svg", { width: Math.ceil(width), height: Math.ceil(height) }) : pictureOf(words, width, height);
  const foot = feetOf(room, places), last = words.length - 1;
  const number = new Map(room.map(({ own, word }, i) => [own ?? word, i])); // each word has one arc
  const isOpen = (word) => isLine && (word === 0 || word === last);
  for (const arc of arcs) {
    const i = number.get(arc.own ?? arc.word), end = (word) => ({ open: isOpen(word), x: !isOpen(word) ? foot(word, i) : word ? width : 0 });
    picture.append(arc.head < 0 ? drawRoot(arc, places[arc.word], base) : drawArc(arc, end(arc.head), end(arc.word), base, base - LEVEL * all[i]));
  }
  words.forEach((word, i) => {
    if (isOpen(i)) return;
    picture.append(svg("text", { class: `word ${kinds[i] || ""}`, x: places[i].toFixed(1), y: base + 18 }, word));
    rows.forEach(({ kind, values }, row) => picture.append(svg("text", { class: kind, x: places[i].toFixed(1), y: base + 34 + 16 * row }, isKnown(values[i]) ? values[i] : "")));
  });
  if (!isLine) picture.narrower = (most) => (most < PHONE ? drawUpright : drawLines)({ words, tags, lemmas, arcs, room, kinds }, most);
  return picture;
}

// Draw an arc.
// head, dependent: {x, open}; an arc has no foot at an open end
function drawArc(arc, head, dependent, base, top) {
  const from = head.x, to = dependent.x, sign = Math.sign(to - from) || 1, turn = Math.min(TURN, Math.abs(to - from) / 2);
  const begin = head.open ? `M${from.toFixed(1)} ${top}` : `M${from.toFixed(1)} ${base} V${top + turn} Q${from.toFixed(1)} ${top} ${(from + sign * turn).toFixed(1)} ${top}`;
  const path = begin + (dependent.open ? ` H${to.toFixed(1)}` : ` H${(to - sign * turn).toFixed(1)} Q${to.toFixed(1)} ${top} ${to.toFixed(1)} ${top + turn} V${base - 4}`);
  // a window seldom shows the middle of a long arc together with one of its ends
  const x = (Math.abs(to - from) < LONG || dependent.open ? (from + to) / 2 : to - sign * (48 + widthOf(arc.relation, 12) / 2)).toFixed(1);
  return svg("g", { class: `${arc.kind || ""} ${doubt(arc.confidence)}` }, sureness(arc.relation, arc.confidence),
    svg("path", { class: "line", d: path }), dependent.open ? null : tip(to, base + 1, 0, 1, "tip"),
    svg("text", { class: "role", x, y: top + 4 }, arc.relation), figure(arc, x, top + 15));
}

function drawRoot(arc, x, base) {
  return svg("g", { class: `${arc.kind || ""} ${doubt(arc.confidence)}` }, sureness(arc.relation, arc.confidence),
    svg("path", { class: "line", d: `M${x.toFixed(1)} 20 V${base - 4}` }), tip(x, base + 1, 0, 1, "tip"),
    svg("text", { class: "role", x: x.toFixed(1), y: 14 }, arc.relation), figure(arc, (x + (widthOf(arc.relation, 12) + figureWidth(arc.confidence)) / 2 + 2).toFixed(1), 14));
}

// Return the confidence of an arc as text, or null for an arc that the model is sure of.
const figure = ({ confidence }, x, y) => (doubt(confidence) ? svg("text", { class: "figure", x, y }, figureOf(confidence)) : null);

// Draw the tree of a parsed sentence.
function treeOf(sentence) {
  const { confidences = [] } = sentence;
  const arcs = sentence.heads.map((head, word) =>
    ({ head: head - 1, word, relation: sentence.relations[word], confidence: confidences[word] }));
  return drawTree({ words: sentence.words, tags: sentence.upos, lemmas: sentence.lemmas, arcs });
}
