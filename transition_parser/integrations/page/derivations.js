// Derivations step by step.
const DRAWN = {
  trees: { written: "CoNLL-U", suffix: "conllu", table: treeTable, mark: markTree, places: treePlaces },
  AMRs: { written: "PENMAN", suffix: "amr", table: amrTable, mark: markAmr, places: amrPlaces },
};

const signed = (value, digits) => value.toFixed(digits).replace("-", "−");
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Return the items that have been made before a step (all), and the items that the previous action has made (fresh).
function grown(steps, step, name) {
  return { all: steps.slice(0, step + 1).flatMap((one) => one.configuration[name]), fresh: steps[step].configuration[name] };
}

// Mark parts of a drawing: those that have not been built yet, those that are new, and where the words are.
// parts: {element, isBuilt, isNew}
// kindOf: number of a word → stack, buffer or gone
function mark(drawing, parts, kindOf) {
  for (const { element, isBuilt, isNew } of parts) {
    element.classList.toggle("unbuilt", !isBuilt);
    element.classList.toggle("new", isNew);
  }
  drawing.querySelectorAll(".word").forEach((word, i) => {
    for (const kind of ["stack", "buffer", "gone"]) word.classList.toggle(kind, kindOf(i) === kind);
  });
}

// Mark the state of a step in the drawing of the whole tree.
function markTree(drawing, { steps }, step) {
  const { stack, buffer } = steps[step].configuration, { all, fresh } = grown(steps, step, "arcs");
  const [built, made] = [all, fresh].map((arcs) => new Set(arcs.map(([, word]) => word)));
  const parts = [...drawing.querySelectorAll(".arc")].map((element) => {
    const word = Number.parseInt(element.dataset.words, 10); // the dependent is the first of its words
    return { element, isBuilt: built.has(word), isNew: made.has(word) };
  });
  mark(drawing, parts, (i) => (stack.includes(i) ? "stack" : buffer.includes(i) ? "buffer" : "gone"));
}

function treePlaces(trace, derivation, step) {
  const { stack, buffer } = derivation.steps[step].configuration, name = (i) => (i === trace.forms.length ? "ROOT" : trace.forms[i]);
  return [
    { title: "Stack, its top at the end", kind: "stack", items: stack.map(name), first: stack.length - 1 },
    { title: "Buffer, its front first", kind: "buffer", items: buffer.map(name), first: 0 },
  ];
}

// Mark the state of a step in the drawing of all nodes and edges of a derivation.
function markAmr(drawing, { steps }, step) {
  const parts = [["node", "nodes"], ["edge", "edges"]].flatMap(([name, list]) => {
    const { all, fresh } = grown(steps, step, list), made = all.length - fresh.length;
    return [...drawing.querySelectorAll(`.${name}`)].map((element, i) => {
      const number = Number(element.dataset.edge ?? i);
      return { element, isBuilt: number < all.length, isNew: number >= made && number < all.length };
    });
  });
  const [first, position] = steps[step].configuration.span;
  mark(drawing, parts, (i) => (i >= position ? "buffer" : i >= first && step < steps.length - 1 ? "stack" : "gone"));
}

function amrPlaces(trace, derivation, step) {
  const { stack, aside, span, buffer } = derivation.steps[step].configuration;
  const labels = grown(derivation.steps, step, "nodes").all.map(([, label]) => label);
  const words = (numbers) => numbers.map((i) => trace.forms[i]), named = (numbers) => numbers.map((i) => labels[i]);
  return [
    { title: "Stack of nodes, its top at the end", kind: "stack", items: named(stack), first: stack.length - 1 },
    { title: "Buffer, its front first", kind: "buffer", items: words(buffer), first: 0 },
    { title: "Set aside", kind: "aside", items: named(aside), first: -1 },
    { title: "Current span", kind: "stack", items: trace.forms.slice(...span), first: -1 },
  ];
}

function placeElement({ title, kind, items, first }, number) {
  const chips = items.map((item, i) => html("span", { class: `chip ${kind}${i === first ? " first" : ""}` }, item));
  return html("div", { class: `place ${number % 2 ? "" : "stack"}` }, html("h2", {}, title),
    html("div", { class: "chips" }, ...(chips.length ? chips : [html("span", { class: "none" }, "empty")])));
}

function candidateTable(step) {
  const rows = step.candidates.map(([action, probability, legal]) => candidateRow(
    action, probability, `${action === step.action ? "taken" : ""} ${legal ? "" : "illegal"}`,
    legal ? (action === step.action ? "taken" : "") : "may not be taken, but its probability counts"));
  if (step.others) rows.push(candidateRow(many(step.others, "other action"), step.rest, "rest", ""));
  return html("table", { class: "candidates" }, html("tbody", {}, ...rows));
}

function candidateRow(name, probability, kind, title) {
  const bar = html("i");
  bar.style.width = `${Math.max(100 * probability, 0.3)}%`;
  return html("tr", { class: kind, title }, html("td", { class: "name" }, name),
    html("td", {}, html("div", { class: "track" }, bar)), html("td", { class: "number" }, percent(probability)));
}

// Return the parts of a graph as [key, name]: heads with relations, or nodes and edges. Keys are the same for equal parts.
function parts(formalism, { words, nodes, edges }) {
  if (formalism === "trees")
    return words.map(({ id, form, head, deprel }) => [`${id} ${head} ${deprel}`, `${form} is ${deprel}${head ? ` of ${words[head - 1].form}` : ""}`]);
  const named = (id) => nodes[id - 1].concept, key = (id) => `${named(id)} ${nodes[id - 1].is_constant} ${nodes[id - 1].words}`;
  return [...nodes.map(({ id, concept }) => [key(id), concept]),
    ...edges.map(({ source, role, target }) => [`${key(source)} ${role} ${key(target)}`, `${named(source)} :${role} ${named(target)}`])];
}

// Return the names of the parts of another graph that a graph lacks.
function difference(formalism, one, other) {
  const left = new Map();
  for (const [key] of parts(formalism, one)) left.set(key, (left.get(key) || 0) + 1);
  return parts(formalism, other).filter(([key]) => {
    const found = left.get(key);
    if (found) left.set(key, found - 1);
    return !found;
  }).map(([, name]) => name);
}

const NAMED = 4; // the most different parts of a hypothesis that are named

function hypothesisText(trace, number) {
  const derivation = trace.derivations[number];
  const others = number ? difference(trace.formalism, trace.derivations[0].graph, derivation.graph) : [];
  const more = others.length > NAMED ? `, and ${others.length - NAMED} more` : "";
  return [
    number ? (others.length ? `unlike the best: ${others.slice(0, NAMED).join(", ")}${more}` : "same graph as the best, in other steps") : "the best",
    [many(derivation.actions, "action"), `log-probability ${signed(derivation.log_probability, 2)}`,
      `${signed(derivation.mean_log_probability, 3)} an action`].join(" · "),
  ];
}

const WHOLE = "This model scores whole trees, not actions: these steps build its best tree, and have no probabilities. ";

// Return true if the model of a trace scored whole graphs, not actions.
const isWhole = ({ derivations }) => derivations.every(({ steps }) => steps.every(({ candidates }) => !candidates.length));

// The panel of a derivation.
// place: {hypothesis, step}, at which the panel opens
// load: a function that returns a promise of the trace with the steps of a derivation
// moved: called with the new place after each move
// note: an element on the model, or null
class DerivationPanel {
  constructor(trace, place, load, moved, note) {
    this.trace = trace;
    this.load = load;
    this.moved = moved;
    this.hypothesis = Math.min(place.hypothesis || 0, trace.derivations.length - 1);
    this.step = Math.min(place.step || 0, this.last);
    this.slider = html("input", { type: "range", min: 0, step: 1, "aria-label": "Step of the derivation", input: () => this.go(Number(this.slider.value)) });
    this.said = html("output", { "aria-live": "polite" });
    this.view = new View("The graph so far");
    this.body = html("div");
    const button = (label, text, target) => html("button", { type: "button", "aria-label": label, title: label, click: () => this.go(target()) }, text);
    this.back = [button("First step", "«", () => 0), button("Previous step", "‹", () => this.step - 1)];
    this.on = [button("Next step", "›", () => this.step + 1), button("Last step", "»", () => this.last)];
    const controls = html("div", { class: "controls" }, ...this.back, this.slider, ...this.on, this.said);
    this.element = html("div", { class: "derivation", tabindex: -1, keydown: (event) => this.key(event) }, controls, note, this.view.element, this.body);
    this.draw();
  }

  get derivation() { return this.trace.derivations[this.hypothesis]; }
  get last() { return this.derivation.steps.length - 1; }

  go(step) {
    this.step = Math.max(0, Math.min(step, this.last));
    this.draw();
    this.moved({ hypothesis: this.hypothesis, step: this.step });
  }

  async choose(number) {
    const { derivations } = this.trace;
    try {
      if (!derivations[number].steps.length) derivations[number] = (await this.load(number)).derivations[number];
    } catch (error) {
      this.said.textContent = error.message;
      return;
    }
    this.hypothesis = number;
    this.go(Math.min(this.step, this.last));
    this.body.querySelectorAll(".hypotheses button")[number].focus();
  }

  key(event) {
    const targets = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.last };
    if (!(event.key in targets) || event.ctrlKey || event.altKey || event.metaKey || event.target.closest(".picture")) return;
    event.preventDefault();
    this.go(targets[event.key]);
  }

  draw() {
    const { trace, derivation, step } = this, now = derivation.steps[step], kind = DRAWN[trace.formalism];
    const focused = document.activeElement;
    this.slider.max = this.last;
    this.slider.value = step;
    this.back.forEach((button) => { button.disabled = step === 0; });
    this.on.forEach((button) => { button.disabled = step === this.last; });
    if ([...this.back, ...this.on].some((button) => button.disabled && button === focused))
      this.slider.focus({ preventScroll: true }); // a disabled button would swallow keys
    const next = now.action === null ? "the derivation has ended" : html("b", {}, now.action);
    this.slider.setAttribute("aria-valuetext", `Step ${step} of ${this.last}: ${now.action || "ended"}`);
    this.said.replaceChildren(`Step ${step} of ${this.last} · ${now.action === null ? "" : "next: "}`, next);
    this.view.show(derivation.drawing || derivation.graph.drawing, (drawing) => kind.mark(drawing, derivation, step));
    const sections = [html("section", { class: "places" }, ...kind.places(trace, derivation, step).map(placeElement))];
    const halves = [];
    if (now.candidates.length) halves.push(html("section", {}, html("h2", {}, "Actions"), candidateTable(now)));
    if (trace.derivations.length > 1) halves.push(html("section", {}, html("h2", {}, "Hypotheses of the beam"), this.hypotheses()));
    if (halves.length) sections.push(html("div", { class: "halves" }, ...halves));
    this.body.replaceChildren(...sections);
  }

  hypotheses() {
    return html("div", { class: "hypotheses" }, ...this.trace.derivations.map((_, number) => {
      const [title, more] = hypothesisText(this.trace, number);
      return html("button", { type: "button", "aria-pressed": String(number === this.hypothesis), click: () => this.choose(number) },
        html("span", {}, `${number + 1}. ${title}`), html("small", {}, more));
    }));
  }
}
