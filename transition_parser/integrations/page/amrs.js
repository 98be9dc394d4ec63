// Drawings of AMRs: the graph with the places of `layoutOf`, and its words below. Words have numbers, which stand in the
// nodes; a node and its words are marked together while the mouse is on one of them.
const MARGIN = 14, WORD_LINE = 42, WORDS_BELOW = 36, NARROWEST = 560;

// Return the numbers of the words of a node, which count from 1.
function numbersOf({ words }) {
  const first = words[0] + 1, last = words[words.length - 1] + 1;
  if (words.length > 1 && last - first === words.length - 1) return `${first}–${last}`;
  return words.map((i) => i + 1).join(", ");
}

// Return the places {x, y} of words in lines, which are centred around an x together.
function wordLines(words, middle, width, top) {
  let x = 0, y = top, most = 0;
  const places = words.map((word, i) => {
    const wide = Math.max(widthOf(word, 15), widthOf(String(i + 1), 11));
    if (x + wide > width && x > 0) [x, y] = [0, y + WORD_LINE];
    most = Math.max(most, x + wide);
    x += wide + WORD_GAP;
    return { x: x - WORD_GAP - wide / 2, y };
  });
  return places.map((place) => ({ ...place, x: place.x + middle - most / 2 }));
}

// Mark each node together with its words while the mouse is on one of them.
// nodes, words: elements; wordsOf: the numbers of the words of each node
function linkAlignments(nodes, words, wordsOf) {
  const link = (element, others) => {
    const mark = (on) => () => { for (const one of [element, ...others]) one.classList.toggle("linked", on); };
    element.addEventListener("pointerenter", mark(true));
    element.addEventListener("pointerleave", mark(false));
  };
  nodes.forEach((node, i) => { if (wordsOf[i].length) link(node, wordsOf[i].map((k) => words[k])); });
  words.forEach((word, k) => link(word, nodes.filter((_, i) => wordsOf[i].includes(k))));
}

// Return the path of an edge of the tree, from below one node to above another. It is straight beside the tracks and
// beside its role.
function treeEdge(upper, lower, share, bottom) {
  const x = upper.x + 0.8 * (share - 0.5) * upper.w, from = upper.y + BOX / 2, to = lower.y - BOX / 2, role = to - ARROW - ROLES;
  const [sx, ex] = [x.toFixed(1), lower.x.toFixed(1)], curve = (bottom + role) / 2;
  return {
    path: `M${sx} ${from} V${bottom} C${sx} ${curve} ${ex} ${curve} ${ex} ${role} V${to}`, top: [x, from], end: [lower.x, to],
    label: { x: lower.x, y: to - ARROW - ROLES / 2 }, vertical: { x, from, to: bottom, row: upper.row },
  };
}

// Return the corners of a re-entrant edge, from its upper node to its lower one.
function cornersOf(runs, upper, lower) {
  const corners = [[runs[0].from, upper.y + BOX / 2]];
  for (const { from, to, y } of runs) corners.push([from, y], [to, y]);
  const last = corners[corners.length - 1][0];
  if (upper.row === lower.row) return [...corners, [last, lower.y + BOX / 2]];
  return [...corners, [last, lower.y], [lower.x + Math.sign(last - lower.x) * lower.w / 2, lower.y]];
}

// Return a path along corners, with rounded corners.
function roundedPath(corners) {
  let path = `M${corners[0][0].toFixed(1)} ${corners[0][1].toFixed(1)}`;
  for (let i = 1; i < corners.length; i++) {
    const [[px, py], [x, y], next] = [corners[i - 1], corners[i], corners[i + 1]];
    if (!next) return `${path} L${x.toFixed(1)} ${y.toFixed(1)}`;
    const toward = ([qx, qy]) => {
      const length = Math.hypot(qx - x, qy - y) || 1, share = Math.min(6, length / 2) / length;
      return `${(x + share * (qx - x)).toFixed(1)} ${(y + share * (qy - y)).toFixed(1)}`;
    };
    path += ` L${toward([px, py])} Q${x.toFixed(1)} ${y.toFixed(1)} ${toward(next)}`;
  }
  return path;
}

// Return the place of the role of a re-entrant edge: on or below its first run, at the place that covers the fewest
// crossing lines.
function rolePlace(run, verticals) {
  const half = run.role / 2, [low, high] = roleRange(run), middle = (low + high) / 2;
  const crossing = verticals.filter(({ row, from, to, edge }) => row === run.row && (edge !== run.edge || run.roleY > run.y) && Math.min(from, to) < run.roleY + 8 && Math.max(from, to) > run.roleY - 8);
  let best = null;
  for (let x = low; x <= high; x += 2) {
    const covered = crossing.filter((line) => Math.abs(line.x - x) < half + 2).map(({ edge }) => (edge === run.edge ? 400 : 1000));
    const cost = covered.reduce((sum, one) => sum + one, Math.abs(x - middle));
    if (best === null || cost < best.cost) best = { cost, x };
  }
  return { x: best.x, y: run.roleY };
}

// Return the vertical lines of a re-entrant edge in the zones of tracks.
function verticalsOf(runs, corners) {
  const found = [{ edge: runs[0].edge, row: runs[0].row, x: corners[0][0], from: corners[0][1], to: runs[0].y }];
  runs.forEach(({ edge, row, to, y }, k) => {
    found.push({ edge, row, x: to, from: y, to: corners[2 * k + 3][1] });
    if (runs[k + 1]) found.push({ edge, row: row + 1, x: to, from: y, to: runs[k + 1].y });
  });
  return found;
}

// Return the edges with their paths, the ends of their arrows and the places of their roles.
function edgesOf(edges, { tree, boxes, runs, bottoms }) {
  const found = [], verticals = [];
  tree.children.forEach((children, parent) => children.forEach((child, k) => {
    const i = tree.by.get(child), upper = boxes[parent];
    const { path, top, end, label, vertical } = treeEdge(upper, boxes[child], (k + 0.5) / children.length, bottoms[upper.row]);
    verticals.push(vertical);
    found.push({ i, path, label, again: false, tip: edges[i][2] === child ? [...end, 0, 1] : [...top, 0, -1] });
  }));
  for (const [i, own] of runs) {
    const [source, , target] = edges[i], [upper, lower] = boxes[source].row <= boxes[target].row ? [source, target] : [target, source];
    const corners = cornersOf(own, boxes[upper], boxes[lower]);
    verticals.push(...verticalsOf(own, corners));
    const [last, before] = upper === target ? corners : [...corners].reverse();
    found.push({ i, path: roundedPath(corners), again: true, run: own[0], tip: [...last, last[0] - before[0], last[1] - before[1]] });
  }
  for (const edge of found) edge.label ||= rolePlace(edge.run, verticals);
  return found;
}

// Draw an AMR.
// nodes: {label, constant, words, confidence}
// edges: [source, role, target]
// shown: the sets of nodes and edges that are drawn; by default all
// fresh: the sets of new nodes and edges
// kinds: the class of each word
// width: the least width of the lines of words
function drawAmr(graph, width = NARROWEST) {
  const { words, edges, top, shown = null, fresh = null, kinds = [] } = graph;
  const nodes = graph.nodes.map((node) => ({ ...node, numbers: numbersOf(node) }));
  const layout = layoutOf(nodes, edges, top), { boxes, floor } = layout;
  const hasNode = (i) => shown === null || shown.nodes.has(i), hasEdge = (i) => shown === null || shown.edges.has(i);
  const isNew = (set, i) => (fresh !== null && fresh[set].has(i) ? "new" : "");
  const lines = svg("g"), labels = svg("g");
  for (const { i, path, tip: at, label, again } of edgesOf(edges, layout)) {
    if (!hasEdge(i)) continue;
    lines.append(svg("g", { class: isNew("edges", i) }, svg("path", { class: again ? "line again" : "line", d: path }), tip(...at, again ? "againtip" : "tip")));
    labels.append(svg("g", { class: isNew("edges", i) }, svg("text", { class: again ? "role againrole" : "role", x: label.x.toFixed(1), y: label.y + 4 }, edges[i][1])));
  }
  const drawn = nodes.map((node, i) => drawNode(node, boxes[i], isNew("nodes", i), i === top));
  const [first, end] = boundsOf(boxes, layout.runs, [], words);
  const standing = wordLines(words, (first + end) / 2, Math.max(end - first, width), floor);
  const written = standing.map(({ x, y }, i) => svg("text", { class: `word ${kinds[i] || ""}`, x: x.toFixed(1), y }, words[i]));
  const numbers = standing.map(({ x, y }, i) => svg("text", { class: "tag", x: x.toFixed(1), y: y + 15 }, i + 1));
  linkAlignments(drawn, written, nodes.map((node) => node.words));
  const [left, right] = boundsOf(boxes, layout.runs, standing, words);
  const [wide, high] = [Math.ceil(right - left + 2 * MARGIN), Math.ceil(standing[standing.length - 1].y + MARGIN + 27)];
  const all = svg("g", { transform: `translate(${(MARGIN - left).toFixed(1)} ${MARGIN})` }, ...written, ...numbers, lines, labels,
    svg("g", {}, ...drawn.filter((_, i) => hasNode(i))));
  const picture = svg("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `AMR of: ${words.join(" ")}` }, all);
  picture.middle = top === null || !boxes[top] ? 0 : boxes[top].x + MARGIN - left; // the x that is scrolled to at first
  if (width === NARROWEST) picture.narrower = (most) => drawAmr(graph, most - 2 * MARGIN);
  return picture;
}

function boundsOf(boxes, runs, at, words) {
  const ends = [...boxes.flatMap(({ x, slot }) => [x - slot / 2, x + slot / 2])];
  for (const run of [...runs.values()].flat()) ends.push(...extentOf(run));
  at.forEach(({ x }, i) => { const half = widthOf(words[i], 15) / 2; ends.push(x - half, x + half); });
  if (!ends.length) return [0, 0];
  return [Math.min(...ends), Math.max(...ends)];
}

// Return the second outline of the top, around its box, which keeps the marks of confidence.
const ring = (x, y, width, height, rx) =>
  svg("rect", { class: "ring", x: (x - 3.5).toFixed(1), y: y - 3.5, width: (width + 7).toFixed(1), height: height + 7, rx: rx + 3.5 });

function drawNode(node, { x, y, w }, kind, isTop) {
  const figure = figureWidth(node.confidence), numbers = numbersWidth(node), label = (x + (numbers - figure) / 2).toFixed(1);
  return svg("g", { class: `${node.constant ? "value" : ""} ${kind} ${doubt(node.confidence)}` },
    sureness(node.label, node.confidence),
    isTop ? ring(x - w / 2, y - BOX / 2, w, BOX, 8) : null,
    svg("rect", { class: "box", x: (x - w / 2).toFixed(1), y: y - BOX / 2, width: w.toFixed(1), height: BOX, rx: node.constant ? 0 : 8 }),
    svg("text", { class: node.constant ? "constant" : "concept", x: label, y: y + 5 }, node.label),
    numbers ? svg("text", { class: "tag", x: (x - w / 2 + numbers / 2 + 5).toFixed(1), y: y + 4 }, node.numbers) : null,
    figure ? svg("text", { class: "figure", x: (x + w / 2 - figure / 2 - 6).toFixed(1), y: y + 4 }, figureOf(node.confidence)) : null);
}

// Draw the AMR of a parsed sentence.
function amrOf(sentence) {
  const { confidences = [] } = sentence;
  const nodes = sentence.nodes.map(([label, constant, words], i) => ({ label, constant, words, confidence: confidences[i] }));
  return drawAmr({ words: sentence.words, nodes, edges: sentence.edges, top: sentence.top });
}
