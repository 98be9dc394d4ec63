// Graphs as tables, in words and figures, and legends of the lines of drawings.
const isKnown = (value) => Boolean(value) && value !== "_";

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

// Return the legend of drawings; samples of confidences are left out where no sentence has any.
function legendOf(formalism, sentences) {
  const legend = document.getElementById(`legend-${formalism}`).content.firstElementChild.cloneNode(true);
  legend.open = window.matchMedia("(min-width: 44rem)").matches; // narrow screens have little room above the first picture
  if (sentences.every(({ confidences = [] }) => !confidences.length)) for (const one of legend.querySelectorAll(".sure")) one.remove();
  return legend;
}
