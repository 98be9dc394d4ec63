// The layout of an AMR: nodes in layers, and routes of edges between them. Subtrees stand as close as
// their layers allow (Reingold and Tilford 1981). Below each layer is a zone of tracks for the horizontal runs of
// re-entrant edges. The curves of the tree's edges follow below the zone, and then their roles, right above the next
// layer.
const BOX = 26, NODE_GAP = 24, TRACK = 20, FAN = 34, ROLES = 16, ARROW = 10, BEND = 30;

// Return a breadth-first forest: a tree from the top, and a tree from one node of each part that is not reached.
// rest: the edges that are not in the forest
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

// Return the width of the numbers of a node's words, with a gap.
const numbersWidth = ({ numbers }) => (numbers ? widthOf(numbers, 11) + 6 : 0);

// Return the nodes without heights: for each {x, row, w, slot}, its middle, layer, width, and width including its role.
function boxesOf(nodes, edges, tree) {
  const widths = nodes.map((node, i) => Math.max(widthOf(node.label, 14) + 20 + figureWidth(node.confidence) + numbersWidth(node), 12 * tree.children[i].length));
  const slots = widths.map((width, i) => Math.max(width, tree.by.has(i) ? widthOf(edges[tree.by.get(i)][1], 12) + 10 : 0));
  const boxes = [];
  let right = 0;
  for (const root of tree.roots) {
    const { places, contour } = placed(root, tree.children, slots);
    const left = Math.min(...contour.map(([l]) => l));
    places.forEach((x, node) => { boxes[node] = { x: x - left + right, row: tree.depth.get(node), w: widths[node], slot: slots[node] }; });
    right += Math.max(...contour.map(([, r]) => r)) - left + 2 * NODE_GAP;
  }
  return boxes;
}

// Return for each layer the ranges of x in which a line meets neither a node nor the role above a node.
function gapsOf(boxes) {
  const rows = [];
  for (const box of boxes) (rows[box.row] ||= []).push(box);
  return rows.map((row) => {
    const sorted = [...row].sort((a, b) => a.x - b.x), gaps = [];
    let left = -Infinity;
    for (const { x, slot } of sorted) {
      gaps.push([left, x - slot / 2 - 6]);
      left = x + slot / 2 + 6;
    }
    return [...gaps, [left, Infinity]].filter(([l, r]) => l <= r);
  });
}

const clamp = (x, [low, high]) => Math.min(Math.max(x, low), high);

// Return the x at which an edge passes each layer below its upper node, with few bends and a short way. The last x is
// beside the lower node.
function columnsOf(upper, lower, gaps) {
  const side = lower.slot / 2 + NODE_GAP / 2, ends = [lower.x - side, lower.x + side];
  let ways = [{ cost: 0, columns: [upper.x] }];
  for (let row = upper.row + 1; row <= lower.row; row++) {
    const wanted = [upper.x, ...ends];
    const places = row === lower.row ? ends : [...new Set(gaps[row].flatMap((gap) => wanted.map((x) => clamp(x, gap))))];
    ways = places.map((x) => {
      const costs = ways.map(({ cost, columns }) => { const away = Math.abs(columns[columns.length - 1] - x); return cost + away + (away > 1 ? BEND : 0); });
      const best = costs.indexOf(Math.min(...costs));
      return { cost: costs[best], columns: [...ways[best].columns, x] };
    });
  }
  return ways.reduce((best, way) => (way.cost < best.cost ? way : best)).columns.slice(1);
}

// Return a re-entrant edge as horizontal runs {edge, row, from, to, role} below layers. The edge is attached to the
// bottom of the upper node and to the side of the lower node. If both nodes are in one layer, it is attached to both
// bottoms.
function routeOf(edge, boxes, gaps, ports, role) {
  const [upper, lower] = edge.ends.map((i) => boxes[i]);
  if (upper.row === lower.row) {
    const sign = Math.sign(lower.x - upper.x) || 1;
    return [{ edge: edge.i, row: upper.row, from: ports.next(edge.ends[0], sign), to: ports.next(edge.ends[1], -sign), role }];
  }
  const columns = columnsOf(upper, lower, gaps);
  const points = [ports.next(edge.ends[0], Math.sign(columns[0] - upper.x) || 1), ...columns.map((x, k) => ports.column(upper.row + 1 + k, x))];
  return points.slice(1).map((x, k) => ({ edge: edge.i, row: upper.row + k, from: points[k], to: x, role: k ? 0 : role }));
}

// Return functions for places at the bottoms of nodes, and in gaps; places for several edges are a little apart.
function portsOf(boxes) {
  const used = new Map();
  const count = (key) => { const n = used.get(key) || 0; used.set(key, n + 1); return n; };
  return {
    next: (node, sign) => boxes[node].x + sign * Math.max(boxes[node].w / 2 - 6 - 5 * count(`${node} ${sign}`), 2),
    column: (row, x) => x + [0, 4, -4, 2, -2][count(`${row} ${Math.round(x)}`) % 5],
  };
}

// Return the lowest and highest x for the middle of the role of a run; the role may extend beyond a short run.
function roleRange({ from, to, role }) {
  const [low, high] = [Math.min(from, to), Math.max(from, to)], half = role / 2;
  return high - low < 2 * role ? [low - half + 3, high + half - 3] : [low + half, high - half];
}

// Return the range of x that a run and its role take of their track.
function extentOf(run) {
  const [low, high] = roleRange(run), half = run.role / 2 + 5;
  return [Math.min(run.from, run.to, low - half), Math.max(run.from, run.to, high + half)];
}

// Give each run a track, and return the number of tracks below each layer. Short runs get tracks near the nodes.
function tracksOf(runs, rows) {
  const tracks = Array.from({ length: rows }, () => []);
  for (const run of [...runs].sort((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from))) {
    if (!run.role && Math.abs(run.to - run.from) < 9) { run.track = -1; continue; } // almost straight, and needs no track
    const [low, high] = extentOf(run), zone = tracks[run.row];
    let track = zone.findIndex((taken) => taken.every(([l, r]) => high < l || low > r));
    if (track < 0) { track = zone.length; zone.push([]); }
    zone[track].push([low, high]);
    run.track = track;
  }
  return tracks.map((zone) => zone.length);
}

// Return the y of the middle of each layer, and the y of the words.
function heightsOf(tracks) {
  const heights = [BOX / 2];
  for (const count of tracks) heights.push(heights[heights.length - 1] + BOX + zoneHeight(count) + FAN + ROLES + ARROW);
  return { rows: heights, floor: heights[tracks.length - 1] + BOX / 2 + zoneHeight(tracks[tracks.length - 1]) + WORDS_BELOW };
}

const zoneHeight = (count) => (count ? count * TRACK + 4 : 0);

// Return the places of the nodes, and the routes of edges.
function layoutOf(nodes, edges, top) {
  const tree = spanningTree(nodes, edges, top), boxes = boxesOf(nodes, edges, tree), gaps = gapsOf(boxes);
  const ports = portsOf(boxes), runs = new Map();
  for (const i of tree.rest) {
    const [source, role, target] = edges[i];
    const ends = boxes[source].row <= boxes[target].row ? [source, target] : [target, source];
    runs.set(i, routeOf({ i, ends }, boxes, gaps, ports, widthOf(role, 12) + 4));
  }
  const all = [...runs.values()].flat();
  const tracks = tracksOf(all, gaps.length), { rows, floor } = heightsOf(tracks);
  for (const box of boxes) box.y = rows[box.row];
  const bottoms = tracks.map((count, row) => rows[row] + BOX / 2 + zoneHeight(count));
  for (const run of all) setHeights(run, rows[run.row] + BOX / 2);
  return { tree, boxes, runs, bottoms, floor };
}

// Set the y of a run and of the middle of its role; a role that would cover its run stands below it.
// bottom: y of the bottom of the nodes of the layer
function setHeights(run, bottom) {
  const middle = run.track < 0 ? bottom + 6 : bottom + (run.track + 0.5) * TRACK + 4;
  const short = run.role > 0 && Math.abs(run.to - run.from) < run.role + 24;
  [run.y, run.roleY] = short ? [middle - 6, middle + 5] : [middle, middle];
}
