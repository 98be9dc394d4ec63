// The page: a form and its answers if a server parses, otherwise the sentences in the data of the page.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main"), choice = document.getElementById("choice");
const sheet = new CSSStyleSheet();
sheet.replaceSync(look(true));
document.adoptedStyleSheets = [sheet];

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
// trace: a function that returns a promise of the derivations, with the steps of one of them
function card(sentence, formalism, number, trace) {
  const kind = DRAWN[formalism], drawing = kind.draw(sentence), name = `sentence-${number + 1}`;
  let loaded = null, panel = null;
  const said = html("p", { class: "status" });
  const button = (text, label, click) => html("button", { type: "button", "aria-label": label, title: label, click }, text);
  const details = tableButton(kind.table(sentence));
  const steps = html("button", { type: "button", class: "steps", "aria-expanded": "false", click: () => toggle({}) }, "Steps");
  const drawn = () => (panel || { view }).view.picture.querySelector("svg");
  const written = () => (panel === null ? sentence : panel.derivation.graph).written;
  const tools = html("div", { class: "row tools" }, steps, details.button,
    button("SVG", "Download the drawing as SVG", () => download(`${name}.svg`, "image/svg+xml", svgFile(drawn()))),
    button(kind.written, `Download ${kind.written}`, () => download(`${name}.${kind.suffix}`, "text/plain;charset=utf-8", written())),
    button("JSON", "Download JSON", () => download(`${name}.json`, "application/json", JSON.stringify(loaded || sentence, null, 1))));
  const view = new View(`The graph of sentence ${number + 1}`);
  view.show(drawing);
  const element = html("article", { class: "card", id: name }, html("div", { class: "row" },
    html("p", { class: "sentence" }, html("small", {}, sentence.id || number + 1), sentence.text), tools), view.element, said, details.table);

  async function toggle(place) {
    if (panel !== null) {
      panel.element.replaceWith(view.element);
      view.fit();
      panel = null;
      steps.setAttribute("aria-expanded", "false");
      share({ sentence: null, hypothesis: null, step: null });
      return;
    }
    said.className = "status";
    said.textContent = loaded === null ? "Loading the derivation …" : "";
    steps.disabled = true;
    try {
      loaded = loaded || await trace(place.hypothesis || 0);
    } catch (error) {
      said.className = "status error";
      said.textContent = error.message;
      return;
    } finally {
      steps.disabled = false;
    }
    said.textContent = "";
    panel = new DerivationPanel(loaded, place, trace, (now) => share({ sentence: number, ...now }));
    view.element.replaceWith(panel.element);
    panel.view.fit();
    steps.setAttribute("aria-expanded", "true");
    share({ sentence: number, hypothesis: panel.hypothesis, step: panel.step });
    panel.slider.focus({ preventScroll: true });
  }
  return { element, toggle, view };
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
async function show(answer, link, traceOf) {
  const cards = answer.sentences.map((sentence, i) => card(sentence, answer.formalism, i, traceOf(i)));
  const kind = DRAWN[answer.formalism], all = answer.sentences.map((sentence) => sentence.written).join("");
  const tools = html("div", { class: "row tools" }, html("span", { class: "status" }, many(cards.length, "sentence")), zoomControls(),
    html("button", { type: "button", class: "push", click: copyLink }, "Copy link"),
    html("button", { type: "button", click: () => download(`parses.${kind.suffix}`, "text/plain;charset=utf-8", all) }, `All as ${kind.written}`),
    html("button", { type: "button", click: () => download("parses.json", "application/json", JSON.stringify(answer, null, 1)) }, "All as JSON"));
  answers.replaceChildren(tools, kind.legend(answer.sentences), ...cards.map(({ element }) => element));
  for (const { view } of cards) view.fit();
  const wanted = link.has("sentence") ? cards[Number(link.get("sentence"))] : undefined;
  if (wanted) {
    await wanted.toggle({ hypothesis: Number(link.get("hypothesis")) || 0, step: Number(link.get("step")) || 0 });
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

async function ask(path, body) {
  let reply, answer;
  try {
    reply = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    answer = await reply.json();
  } catch {
    throw new Error("The server does not answer: is it still running?");
  }
  if (!reply.ok) throw new Error(answer.error || `The server says ${reply.status}`);
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

  async function parse(link) {
    const number = ++latest, asked = { model: model.value, text: text.value };
    said.className = "status";
    said.textContent = "Parsing …";
    const begin = performance.now();
    try {
      const answer = await ask("api/parse", asked);
      if (number !== latest) return; // another text has been sent since then
      if (!answer.sentences.length) throw new Error("There are no sentences: type a text");
      shared = {};
      share(asked);
      said.textContent = `Parsed in ${Math.max(1, Math.round(performance.now() - begin))} ms`;
      about.hidden = true;
      await show(answer, link, (i) => (derivation) => ask("api/derivation", { ...asked, sentence: i, derivation }));
    } catch (error) {
      if (number !== latest) return;
      said.className = "status error";
      said.textContent = error.message; // the last parse stays below, or the examples
    }
  }

  async function open() {
    const link = readLink();
    if (models.some(({ name }) => name === link.get("model"))) model.value = link.get("model");
    text.value = link.get("text") || "";
    if (text.value.trim()) await parse(link);
    else {
      about.hidden = false;
      answers.replaceChildren();
    }
  }
  window.addEventListener("hashchange", open);
  await open();
  if (!text.value) text.focus();
}

function filePage() {
  const documents = selector("model", "Model", data.documents.map(({ title }, i) => [i, title]));
  choice.append(data.documents.length > 1 ? documents : html("span", { class: "status" }, data.documents[0].title));
  main.append(answers);

  async function open(link) {
    const traces = data.documents[Number(documents.value)].traces;
    const answer = { formalism: traces[0].formalism, sentences: traces.map((trace) => trace.derivations[0].graph) };
    shared = { model: documents.value };
    await show(answer, link, (i) => async () => traces[i]);
  }
  function openLink() {
    const link = readLink(), wanted = Number(link.get("model")) || 0;
    documents.value = String(wanted < data.documents.length ? wanted : 0);
    open(link);
  }
  documents.addEventListener("change", () => open(new URLSearchParams()));
  window.addEventListener("hashchange", openLink);
  openLink();
}

if (data.documents) filePage();
else serverPage().catch((error) => main.append(html("p", { class: "status error", role: "alert" }, error.message)));
