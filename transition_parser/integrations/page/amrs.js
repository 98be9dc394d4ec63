// AMRs: the graph in layers, its words below. Subtrees stand as close as their layers allow (Reingold and Tilford 1981).
const LAYER = 78, BOX = 26, NODE_GAP = 16;
const BENDS = [0.1, -0.1, 0.2, -0.2, 0.32, -0.32, 0.48, -0.48, 0.7, -0.7];

// A breadth-first tree from the top, and from one node of each other part. rest: the edges that it leaves out.
function spanningTree(nodes, edges, top) {
  const depth = new Map(), children = nodes.map(() => []), by = new Map(), used = new Set(), roots = [];
  const around = nodes.map(() => []);
  edges.forEach(([source, , target], i) => { around[source].push([i, target]); around[target].push([i, source]); });
  const headed = new Set(edges.map(([, , target]) => target));
  const order = nodes.map((_, i) => i).sort((a, b) => headed.has(a) - headed.has(b) || a - b);
  for (const start of [...(top === null ? [] : [top]), ...order]) {
    if (depth.has(start)) continue;
    roots.push(start);
    depth.set(start, 0);
    const queue = [start];
    while (queue.length) {
      const node = queue.shift();
      for (const [i, other] of around[node]) {
        if (depth.has(other)) continue;
        depth.set(other, depth.get(node) + 1);
        by.set(other, i);
        used.add(i);
        children[node].push(other);
        queue.push(other);
      }
    }
  }
  const first = nodes.map((node) => (node.words.length ? Math.min(...node.words) : Infinity));
  const below = [...depth.keys()].sort((a, b) => depth.get(b) - depth.get(a));
  for (const node of below) {
    for (const child of children[node]) first[node] = Math.min(first[node], first[child]);
    children[node].sort((a, b) => first[a] - first[b] || a - b);
  }
  return { depth, children, by, roots, rest: edges.map((_, i) => i).filter((i) => !used.has(i)) };
}

function placed(node, children, slots) {
  let places = new Map(), contour = [];
  const shifts = [];
  for (const child of children[node]) {
    const part = placed(child, children, slots);
    let shift = contour.length ? -Infinity : 0;
    for (let i = 0; i < Math.min(contour.length, part.contour.length); i++)
      shift = Math.max(shift, contour[i][1] - part.contour[i][0] + NODE_GAP);
    shifts.push(shift);
    part.places.forEach((x, other) => places.set(other, x + shift));
    part.contour.forEach(([l, r], i) => {
      const moved = [l + shift, r + shift];
      contour[i] = contour[i] ? [Math.min(contour[i][0], moved[0]), Math.max(contour[i][1], moved[1])] : moved;
    });
  }
  const middle = shifts.length ? (shifts[0] + shifts[shifts.length - 1]) / 2 : 0;
  places = new Map([...places].map(([other, x]) => [other, x - middle]));
  places.set(node, 0);
  return { places, contour: [[-slots[node] / 2, slots[node] / 2], ...contour.map(([l, r]) => [l - middle, r - middle])] };
}

// Where the nodes stand: for each {x, y, w, h}, its middle and its size.
function boxesOf(nodes, edges, tree) {
  const widths = nodes.map((node, i) => Math.max(widthOf(node.label, 14) + 20, 12 * tree.children[i].length));
  const slots = widths.map((width, i) => Math.max(width, tree.by.has(i) ? widthOf(edges[tree.by.get(i)][1], 12) + 14 : 0));
  const boxes = [];
  let right = 0;
  for (const root of tree.roots) {
    const { places, contour } = placed(root, tree.children, slots);
    const left = Math.min(...contour.map(([l]) => l));
    places.forEach((x, node) => { boxes[node] = { x: x - left + right, y: LAYER * tree.depth.get(node), w: widths[node], h: BOX }; });
    right += Math.max(...contour.map(([, r]) => r)) - left + 2 * NODE_GAP;
  }
  return { boxes, width: right - 2 * NODE_GAP };
}

const inside = (x, y, box, margin = 2) => Math.abs(x - box.x) < box.w / 2 + margin && Math.abs(y - box.y) < box.h / 2 + margin;

function curve(points, steps = 40) {
  const [p, q, r, s] = points.length === 4 ? points : [points[0], points[1], points[1], points[2]];
  const found = [];
  for (let i = 0; i <= steps; i++) {
    const t = i / steps, u = 1 - t;
    found.push(points.length === 4
      ? [0, 1].map((k) => u * u * u * p[k] + 3 * u * u * t * q[k] + 3 * u * t * t * r[k] + t * t * t * s[k])
      : [0, 1].map((k) => u * u * points[0][k] + 2 * u * t * points[1][k] + t * t * points[2][k]));
  }
  return found;
}

// A curve from below one node, at a share of its width, to above another.
function drop(upper, lower, share) {
  const start = [upper.x + 0.8 * (share - 0.5) * upper.w, upper.y + BOX / 2], end = [lower.x, lower.y - BOX / 2];
  return curve([start, [start[0], (start[1] + end[1]) / 2], [end[0], start[1] + 5], end]);
}

function bow(source, target, bend) {
  const [dx, dy] = [target.x - source.x, target.y - source.y];
  const control = [(source.x + target.x) / 2 - 2 * bend * dy, (source.y + target.y) / 2 + 2 * bend * dx];
  return curve([[source.x, source.y], control, [target.x, target.y]], 80)
    .filter(([x, y]) => !inside(x, y, source, 0) && !inside(x, y, target, 0));
}

// The way for an edge, and the place of its label, that collide least with what is there.
function bestBow(ends, role, taken, curves, bounds) {
  let best = null;
  for (const bend of BENDS) {
    const points = bow(...ends, bend);
    if (points.length < 4) continue;
    let cost = Math.abs(bend);
    for (const box of taken) if (!ends.includes(box) && points.some(([x, y]) => inside(x, y, box))) cost += 2;
    cost += points.filter(([x, y]) => x < bounds[0] || x > bounds[1]).length;
    for (const share of [0.5, 0.4, 0.6, 0.3, 0.7]) {
      const [x, y] = points[Math.floor(share * (points.length - 1))];
      const label = { x, y, w: widthOf(role, 12) + 4, h: 14 };
      let covered = 0;
      for (const box of taken) if (Math.abs(box.x - x) < (box.w + label.w) / 2 && Math.abs(box.y - y) < (box.h + label.h) / 2) covered += 3;
      for (const other of curves) if (other.some(([px, py]) => inside(px, py, label))) covered += 1;
      if (best === null || cost + covered < best.cost) best = { cost: cost + covered, points, label };
    }
  }
  return best;
}

const pathOf = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

// nodes: {label, constant, words, confidence}; edges: [source, role, target]; shown: which nodes and edges are drawn, by default
// all; fresh: which are new; kinds: the class of each word.
function drawAmr({ words, nodes, edges, top, shown = null, fresh = null, kinds = [] }) {
  const tree = spanningTree(nodes, edges, top);
  const { boxes, width } = boxesOf(nodes, edges, tree);
  let x = 0;
  const places = words.map((word, i) => { const w = widthOf(word, 15); const at = x + w / 2; x += w + WORD_GAP; return at; });
  const wide = Math.max(width, x - WORD_GAP), margin = 14;
  const graphShift = margin + (wide - width) / 2, wordShift = margin + (wide - (x - WORD_GAP)) / 2;
  const room = tree.rest.length ? 22 : 0;
  for (const box of boxes) { box.x += graphShift; box.y += margin + BOX / 2 + room; }
  const floor = Math.max(0, ...boxes.map((box) => box.y)) + LAYER;
  const size = [Math.ceil(wide + 2 * margin), Math.ceil(floor + 14)];
  const picture = svg("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}`, role: "img", "aria-label": `AMR of: ${words.join(" ")}` });
  const hasNode = (i) => shown === null || shown.nodes.has(i), hasEdge = (i) => shown === null || shown.edges.has(i);
  const isNew = (set, i) => (fresh !== null && fresh[set].has(i) ? "new" : "");
  nodes.forEach((node, i) => { if (hasNode(i)) for (const word of node.words) picture.append(svg("path", { class: "line aligned", d: `M${boxes[i].x.toFixed(1)} ${boxes[i].y} L${(places[word] + wordShift).toFixed(1)} ${floor - 14}` })); });
  words.forEach((word, i) => picture.append(svg("text", { class: `word ${kinds[i] || ""}`, x: (places[i] + wordShift).toFixed(1), y: floor + 2 }, word)));
  const lines = svg("g"), labels = svg("g"), taken = [...boxes], curves = [];
  const put = (i, points, label, again) => {
    curves.push(points);
    taken.push(label);
    if (!hasEdge(i)) return;
    const [last, before] = [points[points.length - 1], points[points.length - 4]];
    lines.append(svg("g", { class: isNew("edges", i) }, svg("path", { class: again ? "line again" : "line", d: pathOf(points) }),
      tip(...last, last[0] - before[0], last[1] - before[1], again ? "againtip" : "tip")));
    labels.append(svg("g", { class: isNew("edges", i) }, svg("text", { class: "role", x: label.x.toFixed(1), y: (label.y + 4).toFixed(1) }, edges[i][1])));
  };
  tree.children.forEach((children, parent) => children.forEach((child, k) => {
    const i = tree.by.get(child), points = drop(boxes[parent], boxes[child], (k + 0.5) / children.length);
    const [lx, ly] = points[Math.floor(0.66 * (points.length - 1))];
    put(i, edges[i][2] === child ? points : [...points].reverse(), { x: lx, y: ly, w: widthOf(edges[i][1], 12) + 4, h: 14 }, false);
  }));
  for (const i of tree.rest) {
    const way = bestBow([boxes[edges[i][0]], boxes[edges[i][2]]], edges[i][1], taken, curves, [2, size[0] - 2]);
    if (way) put(i, way.points, way.label, true);
  }
  picture.append(lines, labels);
  nodes.forEach((node, i) => {
    if (!hasNode(i)) return;
    const { x: cx, y: cy, w, h } = boxes[i];
    picture.append(svg("g", { class: [node.constant ? "value" : "", i === top ? "top" : "", isNew("nodes", i)].join(" ") },
      sureness(node.label, node.confidence),
      svg("rect", { class: "box", x: (cx - w / 2).toFixed(1), y: cy - h / 2, width: w.toFixed(1), height: h, rx: node.constant ? 0 : 8 }),
      svg("text", { class: node.constant ? "constant" : "concept", x: cx.toFixed(1), y: cy + 5 }, node.label)));
  });
  return picture;
}

// The AMR of a parsed sentence.
function amrOf(sentence) {
  const { confidences = [] } = sentence;
  const nodes = sentence.nodes.map(([label, constant, words], i) => ({ label, constant, words, confidence: confidences[i] }));
  return drawAmr({ words: sentence.words, nodes, edges: sentence.edges, top: sentence.top });
}
