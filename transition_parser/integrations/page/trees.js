// Dependency trees: arcs above words.
const LEVEL = 26, WORD_GAP = 14, FOOT = 6, TURN = 7;

// At which level each arc runs: above all arcs between the words it joins. Those of the root have none.
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

// The centres of words, far enough apart for the relations between neighbours.
function placesOf(words, tags, arcs) {
  const widths = words.map((word, i) => Math.max(widthOf(word, 15), widthOf(tags[i] || "", 11)));
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

// Where arcs stand at a word: the shorter, the further from its middle.
function feetOf(arcs, places) {
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
      if (place >= 0) return places[word] + sign * FOOT * (place + (roots.has(word) ? 1.1 : 0.6));
    }
    return places[word];
  };
}

// words, tags: of each; arcs: {head, word, relation, kind, confidence}, head −1 for the root; room: arcs to make room for, by
// default the same; kinds: the class of each word.
function drawTree({ words, tags = [], arcs, room = arcs, kinds = [] }) {
  const all = levelsOf(room);
  const { places, width } = placesOf(words, tags, room);
  const hasTags = tags.some((tag) => tag && tag !== "_");
  const most = Math.max(0, ...all), base = LEVEL * (most + 1.4) + 8, height = base + (hasTags ? 42 : 26);
  const known = new Map(room.map((arc, i) => [`${arc.head} ${arc.word}`, all[i]]));
  const picture = svg("svg", { width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "img", "aria-label": `Tree of: ${words.join(" ")}` });
  const foot = feetOf(room, places);
  const number = new Map(room.map((arc, i) => [`${arc.head} ${arc.word}`, i]));
  for (const arc of arcs) {
    const key = `${arc.head} ${arc.word}`;
    picture.append(arc.head < 0
      ? drawRoot(arc, places[arc.word], base)
      : drawArc(arc, foot(arc.head, number.get(key)), foot(arc.word, number.get(key)), base, base - LEVEL * known.get(key)));
  }
  words.forEach((word, i) => {
    picture.append(svg("text", { class: `word ${kinds[i] || ""}`, x: places[i].toFixed(1), y: base + 18 }, word));
    if (hasTags) picture.append(svg("text", { class: "tag", x: places[i].toFixed(1), y: base + 34 }, tags[i] === "_" ? "" : tags[i]));
  });
  return picture;
}

function drawArc(arc, from, to, base, top) {
  const sign = Math.sign(to - from) || 1, turn = Math.min(TURN, Math.abs(to - from) / 2);
  const path = `M${from.toFixed(1)} ${base} V${top + turn} Q${from.toFixed(1)} ${top} ${(from + sign * turn).toFixed(1)} ${top}`
    + ` H${(to - sign * turn).toFixed(1)} Q${to.toFixed(1)} ${top} ${to.toFixed(1)} ${top + turn} V${base - 4}`;
  return svg("g", { class: arc.kind || "" }, sureness(arc.relation, arc.confidence),
    svg("path", { class: "line", d: path }), tip(to, base + 1, 0, 1, "tip"),
    svg("text", { class: "role", x: ((from + to) / 2).toFixed(1), y: top + 4 }, arc.relation));
}

function drawRoot(arc, x, base) {
  return svg("g", { class: arc.kind || "" }, sureness(arc.relation, arc.confidence),
    svg("path", { class: "line", d: `M${x.toFixed(1)} 20 V${base - 4}` }), tip(x, base + 1, 0, 1, "tip"),
    svg("text", { class: "role", x: x.toFixed(1), y: 14 }, arc.relation));
}

// The tree of a parsed sentence.
function treeOf(sentence) {
  const { confidences = [] } = sentence;
  const arcs = sentence.heads.map((head, word) =>
    ({ head: head - 1, word, relation: sentence.relations[word], confidence: confidences[word] }));
  return drawTree({ words: sentence.words, tags: sentence.upos, arcs });
}
