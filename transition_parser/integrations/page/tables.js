// Graphs as tables, in words and figures, and legends of the lines of drawings.
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

const sureColumn = (rows) => ({ name: "Sure", values: rows.map(({ score }) => percent(score)), kind: "number" });

function treeTable({ words }) {
  const column = (name, key) => ({ name, values: words.map((word) => word[key] || "") });
  return tableOf("The tree as a table", [
    { name: "Word", values: words.map(({ id, form }) => `${id} ${form}`) },
    column("Lemma", "lemma"), column("UPOS", "upos"), column("XPOS", "xpos"),
    { name: "Features", values: words.map(({ feats }) => (feats || "").replaceAll("|", " ")) },
    column("Relation", "deprel"),
    { name: "Head", values: words.map(({ head }) => (head ? `${head} ${words[head - 1].form}` : "–")) },
    sureColumn(words),
  ]);
}

function amrTable({ words, nodes, edges }) {
  const named = (id) => `${id} ${nodes[id - 1].concept}`;
  const edgesOf = ({ id, wiki }) => [
    ...edges.filter(({ source }) => source === id).map(({ role, target }) => `:${role} ${named(target)}`), ...(wiki ? [`:wiki ${wiki}`] : [])];
  return tableOf("The AMR as a table", [
    { name: "Node", values: nodes.map(({ id }) => named(id)) },
    { name: "From the words", values: nodes.map((node) => node.words.map((id) => words[id - 1].form).join(" ")) },
    { name: "Edges", values: nodes.map((node) => edgesOf(node).join(", ")) },
    sureColumn(nodes),
  ]);
}

// Return the legend of drawings.
function legendOf(formalism) {
  const legend = document.getElementById(`legend-${formalism}`).content.firstElementChild.cloneNode(true);
  legend.open = window.matchMedia("(min-width: 44rem)").matches; // narrow screens have little room above the first picture
  return legend;
}
