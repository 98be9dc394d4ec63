// The page: a form, and the answers of the server.
const main = document.getElementById("main"), choice = document.getElementById("choice");

// Return data as JSON without drawings, for files.
const asJson = (value) => JSON.stringify(value, (key, inner) => (key === "drawing" ? undefined : inner), 1);

// Return the parameters of a link, after the #.
const readLink = () => new URLSearchParams(location.hash.slice(1));

function writeLink(values) {
  const link = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  const address = `#${link}`;
  if (address !== location.hash) history.replaceState(null, "", address);
}

const answers = html("div", { id: "answers" });
let shared = {}; // the current parameters of the link

function share(values) {
  shared = { ...shared, ...values };
  writeLink(shared);
}

// Return the card of a sentence with its graph.
// trace: a function that returns a promise of the derivations, with the steps of one of them, by the model or by another
// other: the name of a model whose actions have probabilities, or undefined
function card(sentence, formalism, number, trace, other) {
  const kind = DRAWN[formalism], name = `sentence-${number + 1}`, loaded = new Map();
  let panel = null;
  const said = html("p", { class: "status" });
  const button = (text, label, click) => html("button", { type: "button", "aria-label": label, title: label, click }, text);
  const details = tableButton(kind.table(sentence));
  const steps = html("button", { type: "button", class: "steps", "aria-expanded": "false", click: () => (panel === null ? open({}) : close()) }, "Steps");
  const shown = () => panel || { view };
  const drawn = () => shown().view.picture.querySelector("svg");
  const written = () => (panel === null ? sentence : panel.derivation.graph).written;
  const tools = html("div", { class: "row tools" }, steps, details.button,
    button("SVG", "Download the drawing as SVG", () => download(`${name}.svg`, "image/svg+xml", svgFile(drawn()))),
    button(kind.written, `Download ${kind.written}`, () => download(`${name}.${kind.suffix}`, "text/plain;charset=utf-8", written())),
    button("JSON", "Download JSON", () => download(`${name}.json`, "application/json", asJson(shown().trace || sentence))));
  const view = new View(`The graph of sentence ${number + 1}`);
  view.show(sentence.drawing);
  const element = html("article", { class: "card", id: name }, html("div", { class: "row" },
    html("p", { class: "sentence" }, html("small", {}, sentence.id || number + 1), sentence.text), tools), view.element, said, details.table);

  function close() {
    panel.element.replaceWith(view.element);
    view.fit();
    panel = null;
    steps.setAttribute("aria-expanded", "false");
    share({ sentence: null, hypothesis: null, step: null, by: null });
  }

  // Open the panel at a place {hypothesis, step, by}, with the steps of the model `by` instead of this one.
  async function open(place) {
    const by = place.by && place.by === other ? other : null, load = (derivation) => trace(derivation, by);
    said.className = "status";
    said.textContent = loaded.has(by) ? "" : "Loading the steps …";
    steps.disabled = true;
    try {
      if (!loaded.has(by)) loaded.set(by, await load(place.hypothesis || 0));
    } catch (error) {
      said.className = "status error";
      said.textContent = error.message;
      return;
    } finally {
      steps.disabled = false;
    }
    said.textContent = "";
    const before = shown();
    panel = new DerivationPanel(loaded.get(by), place, load, (now) => share({ sentence: number, ...now }), note(by));
    (before.element || view.element).replaceWith(panel.element);
    panel.view.fit();
    steps.setAttribute("aria-expanded", "true");
    share({ sentence: number, hypothesis: panel.hypothesis, step: panel.step, by });
    panel.slider.focus({ preventScroll: true });
  }

  // Return the line above the steps if their model has no probabilities of actions, or is not the one of the page.
  function note(by) {
    if (by === null && !isWhole(loaded.get(by))) return null;
    const [text, to] = by === null ? [WHOLE, other] : [`These are the steps of ${by}, whose tree may differ. `, null];
    return html("p", { class: "note" }, text,
      by === null && !other ? null : html("button", { type: "button", click: () => open({ by: to }) }, to ? `Steps of ${to}` : "Back"));
  }
  return { element, open, view };
}

// Return a table, which has the contents of the picture in words and figures, and a button that shows and hides it.
function tableButton(table) {
  const button = html("button", { type: "button", class: "as-table", "aria-expanded": "false", title: "Words and figures as a table", click: () => {
    table.hidden = !table.hidden;
    button.setAttribute("aria-expanded", String(!table.hidden));
  } }, "Table");
  table.hidden = true;
  return { button, table };
}

// Show sentences, and open the derivation that a link names.
// traceOf: number of a sentence → the parameter `trace` of `card`
// other: as for `card`
async function show(answer, link, traceOf, other) {
  const cards = answer.sentences.map((sentence, i) => card(sentence, answer.formalism, i, traceOf(i), other));
  const kind = DRAWN[answer.formalism], all = answer.sentences.map((sentence) => sentence.written).join("");
  const tools = html("div", { class: "row tools" }, html("span", { class: "status" }, many(cards.length, "sentence")), zoomControls(),
    html("button", { type: "button", class: "push", click: copyLink }, "Copy link"),
    html("button", { type: "button", click: () => download(`parses.${kind.suffix}`, "text/plain;charset=utf-8", all) }, `All as ${kind.written}`),
    html("button", { type: "button", click: () => download("parses.json", "application/json", asJson(answer)) }, "All as JSON"));
  answers.replaceChildren(tools, legendOf(answer.formalism), ...cards.map(({ element }) => element));
  for (const { view } of cards) view.fit();
  const wanted = link.has("sentence") ? cards[Number(link.get("sentence"))] : undefined;
  if (wanted) {
    await wanted.open({ hypothesis: Number(link.get("hypothesis")) || 0, step: Number(link.get("step")) || 0, by: link.get("by") });
    wanted.element.scrollIntoView();
  }
}

async function copyLink(event) {
  const button = event.currentTarget;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  } catch {
    const shown = html("input", { type: "text", readonly: true, "aria-label": "Link" });
    shown.value = location.href;
    button.replaceWith(shown);
    shown.select();
  }
}

const asSentence = (text) => text[0].toUpperCase() + text.slice(1) + (/[.?!]$/.test(text) ? "" : ".");

async function ask(path, body) {
  let reply, answer;
  try {
    reply = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer. Is “transition-parser serve” still running? Start it again, then reload this page.");
  }
  try {
    answer = await reply.json();
  } catch {
    throw new Error(`The answer of the server can’t be read (status ${reply.status}). Try again, or reload this page.`);
  }
  if (!reply.ok) throw new Error(asSentence(answer.error || `The server could not do this (status ${reply.status})`));
  return answer;
}

const selector = (id, label, names) => html("select", { id, "aria-label": label }, ...names.map(([value, name]) => html("option", { value }, name)));

const EXAMPLES = [
  "The boy wants to visit New York.",
  "A hearing is scheduled on the issue today.",
  "The teacher who gave the book to Anna asked her to read it before Monday.",
];

// Return a line on the purpose of the page, and examples.
// choose: called with the chosen example
function aboutPage(choose) {
  return html("section", { id: "about" },
    html("p", {}, "Type a text to see the dependency tree or the AMR (Abstract Meaning Representation) of each sentence, how sure the model is of it, and each step by which it was built. Or choose an example:"),
    html("div", { class: "row" }, ...EXAMPLES.map((example) => html("button", { type: "button", class: "example", click: () => choose(example) }, example))));
}

async function serverPage() {
  const { models, limits } = await ask("api/models");
  const model = selector("model", "Model", models.map(({ name, description, formalism, system }) => [name, `${description || `${formalism}, ${system}`} (${name})`]));
  choice.append(html("label", { for: "model" }, "Model"), model);
  const text = html("textarea", { id: "text", "aria-label": "Text to parse", placeholder: "Type an English text, of one sentence or of many", spellcheck: "true" });
  const go = html("button", { class: "main", id: "parse" }, "Parse");
  const said = html("p", { class: "status", id: "status", role: "status" });
  const form = html("form", { submit: (event) => { event.preventDefault(); parse(new URLSearchParams()); } }, text,
    html("div", { class: "row" }, go, said, html("span", { class: "status push" }, `up to ${limits.words.toLocaleString("en")} words`, html("span", { class: "keys" }, "; Ctrl+Enter parses"))));
  text.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); } });
  model.addEventListener("change", () => { if (text.value.trim()) form.requestSubmit(); });
  const about = aboutPage((example) => { text.value = example; form.requestSubmit(); });
  main.append(form, about, answers);
  let latest = 0;
  const formalismOf = (name) => models.find((one) => one.name === name).formalism;

  // Parse the text of the form, and open what a link names.
  // warning: said before the time that it took
  async function parse(link, warning = "") {
    const number = ++latest, asked = { model: model.value, text: text.value }, drawing = true;
    const other = models.find(({ name, formalism, actions }) => actions && name !== asked.model && formalism === formalismOf(asked.model));
    said.className = "status";
    said.textContent = "Parsing …";
    const begin = performance.now();
    try {
      const answer = await ask("api/parse", { ...asked, drawing });
      if (number !== latest) return; // another text has been sent since then
      if (!answer.sentences.length) throw new Error("There is nothing to parse yet. Type a sentence first.");
      shared = {};
      share(asked);
      said.textContent = `${warning}Parsed in ${Math.max(1, Math.round(performance.now() - begin))} ms`;
      about.hidden = true;
      await show(answer, link, (i) => (derivation, by) => ask("api/derivation",
        by ? { model: by, sentences: [answer.sentences[i].words.map(({ form }) => form)], derivation, drawing } : { ...asked, sentence: i, derivation, drawing }), other && other.name);
    } catch (error) {
      if (number !== latest) return;
      said.className = "status error";
      said.textContent = error.message; // the last parse stays below, or the examples
    }
  }

  async function open() {
    const link = readLink(), wanted = link.get("model"), isHere = models.some(({ name }) => name === wanted);
    if (isHere) model.value = wanted;
    text.value = link.get("text") || "";
    if (text.value.trim()) await parse(link, isHere || wanted === null ? "" : `This server has no model “${wanted}”, so ${model.value} was used. `);
    else {
      about.hidden = false;
      answers.replaceChildren();
    }
  }
  window.addEventListener("hashchange", open);
  await open();
  if (!text.value) text.focus();
}

serverPage().catch((error) => main.append(html("p", { class: "status error", role: "alert" }, error.message)));
