// Graphs as tables, in words and figures, and legends of the lines of pictures.

// Return a table of the columns that are not empty.
// columns: {name, values, kind}, with one value for each row
function tableOf(label, columns) {
  const told = columns.filter(({ values }) => values.some((value) => value !== ""));
  const rows = told[0].values.map((_, i) => html("tr", {}, ...told.map(({ values, kind }, k) =>
    html(k ? "td" : "th", { class: kind, scope: k ? null : "row" }, values[i]))));
  const head = html("tr", {}, ...told.map(({ name, kind }) => html("th", { scope: "col", class: kind }, name)));
  return html("div", { class: "details", tabindex: 0, role: "region", "aria-label": label },
    html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows)));
}

const sureColumn = (count, confidences = []) =>
  ({ name: "Sure", values: Array.from({ length: count }, (_, i) => (confidences[i] === undefined ? "" : percent(confidences[i]))), kind: "number" });

function treeTable({ words, lemmas, upos, xpos, features, heads, relations, confidences }) {
  const known = (values = []) => words.map((_, i) => (isKnown(values[i]) ? values[i] : ""));
  return tableOf("The tree as a table", [
    { name: "Word", values: words.map((word, i) => `${i + 1} ${word}`) },
    { name: "Lemma", values: known(lemmas) },
    { name: "UPOS", values: known(upos) },
    { name: "XPOS", values: known(xpos) },
    { name: "Features", values: known(features).map((text) => text.replaceAll("|", " ")) },
    { name: "Relation", values: relations },
    { name: "Head", values: heads.map((head) => (head ? `${head} ${words[head - 1]}` : "–")) },
    sureColumn(words.length, confidences),
  ]);
}

function amrTable({ words, nodes, edges, confidences }) {
  const named = (i) => `${i + 1} ${nodes[i][0]}`;
  return tableOf("The AMR as a table", [
    { name: "Node", values: nodes.map((_, i) => named(i)) },
    { name: "From the words", values: nodes.map(([, , from]) => from.map((i) => words[i]).join(" ")) },
    { name: "Edges", values: nodes.map((_, i) => edges.filter(([source]) => source === i).map(([, role, target]) => `:${role} ${named(target)}`).join(", ")) },
    sureColumn(nodes.length, confidences),
  ]);
}

// Return a sample of a drawing, 34 pixels wide, with its meaning.
const entry = (meaning, ...parts) => html("li", {},
  html("span", { class: "picture sample" }, svg("svg", { width: 34, height: 20, viewBox: "0 0 34 20", "aria-hidden": "true" }, ...parts)), meaning);
const sampleLine = (kind, group = "") => svg("g", { class: group }, svg("path", { class: `line ${kind}`, d: "M1 10 H33" }));
const sampleBox = (group, rx, margin = 3) =>
  svg("g", { class: group }, svg("rect", { class: "box", x: margin, y: margin, width: 34 - 2 * margin, height: 20 - 2 * margin, rx }));

function legendOf(entries) {
  // narrow screens have little room above the first picture
  return html("details", { class: "legend", open: window.matchMedia("(min-width: 44rem)").matches },
    html("summary", {}, "Legend"), html("ul", {}, ...entries));
}

const haveFigures = (sentences) => sentences.some(({ confidences = [] }) => confidences.length);
const [UNSURE_SAID, DOUBTFUL_SAID] = [UNSURE, DOUBTFUL].map((share) => `less than ${100 * share} % sure`);

function treeLegend(sentences) {
  return legendOf([
    entry("from a head to its dependent", sampleLine(""), tip(33, 10, 1, 0, "tip")),
    ...(haveFigures(sentences) ? [entry(`${UNSURE_SAID}, with the figure`, sampleLine("", "unsure")), entry(DOUBTFUL_SAID, sampleLine("", "unsure doubtful"))] : []),
  ]);
}

function amrLegend(sentences) {
  return legendOf([
    entry("concept", sampleBox("", 7)), entry("top of the graph", ring(5, 5, 24, 10, 4), sampleBox("", 4, 5)), entry("constant", sampleBox("value", 0)),
    entry("role", sampleLine(""), tip(33, 10, 1, 0, "tip")), entry("role of a node that has another (re-entrancy)", sampleLine("again"), tip(33, 10, 1, 0, "againtip")),
    entry("number of the node’s word; point at a node to see its words", sampleBox("", 7), svg("text", { class: "tag", x: 17, y: 14 }, "7")),
    ...(haveFigures(sentences) ? [entry(`${UNSURE_SAID}, with the figure`, sampleBox("unsure", 7)), entry(DOUBTFUL_SAID, sampleBox("unsure doubtful", 7))] : []),
  ]);
}
