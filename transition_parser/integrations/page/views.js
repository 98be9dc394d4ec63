// Graphs in frames, and the common size of all drawings. A frame scrolls where its drawing is wider.
const zoom = { factor: 1, fit: true };
const views = new Set();

const READABLE = 0.64; // the least factor of Fit

// Mark a word together with the nodes or arcs that it belongs to, or one of these together with its words.
// part: null for no mark
function link(drawing, part) {
  const words = [...drawing.querySelectorAll(".word")], groups = [...drawing.querySelectorAll("[data-words]")];
  const wordsOf = ({ dataset }) => dataset.words.split(" ").map((i) => words[i]);
  const others = !part ? [] : part.matches(".word") ? groups.filter((group) => wordsOf(group).includes(part)) : wordsOf(part);
  for (const one of [...words, ...groups]) one.classList.toggle("linked", one === part || others.includes(one));
}

// A graph in a frame.
// label: label of the frame, for screen readers
class View {
  constructor(label) {
    this.picture = html("div", { class: "picture", tabindex: 0, role: "region", "aria-label": label });
    this.hint = html("p", { class: "hint", hidden: true });
    this.element = html("div", { class: "view" }, this.picture, this.hint);
    this.placed = null; // the drawing whose place has been scrolled to
    new ResizeObserver(() => this.fit()).observe(this.picture);
    this.picture.addEventListener("pointerover", ({ target }) => link(this.picture, target.closest(".word, [data-words]")));
    this.picture.addEventListener("pointerleave", () => link(this.picture, null));
  }

  // Show a graph.
  // text: its drawing
  // mark: called with the drawing
  show(text, mark = () => {}) {
    if (text !== this.text) this.drawing = parsed(text);
    [this.text, this.mark] = [text, mark];
    this.fit(true);
  }

  // Scale the drawing by `zoom`, and show a hint if it is wider than the frame.
  // isMoved: true to scroll to what is new in the drawing
  fit(isMoved = false) {
    if (!this.element.isConnected) { views.delete(this); return; }
    views.add(this);
    const { picture, drawing } = this, room = picture.clientWidth, wide = Number(drawing.getAttribute("width"));
    if (picture.firstChild !== drawing) picture.replaceChildren(drawing);
    this.mark(drawing);
    const factor = zoom.fit ? Math.min(1, Math.max(READABLE, room / wide)) : zoom.factor;
    if (factor === 1) drawing.removeAttribute("style");
    else [drawing.style.width, drawing.style.height] = [`${factor * wide}px`, `${factor * drawing.getAttribute("height")}px`];
    this.hint.textContent = `Wider than this window: scroll sideways${zoom.fit ? "" : ", or choose Fit"}.`;
    this.hint.hidden = factor * wide <= room + 1;
    picture.classList.toggle("wide", !this.hint.hidden);
    if (this.placed === drawing && !isMoved) return;
    if (!this.placed && drawing.dataset.middle) picture.scrollLeft = factor * drawing.dataset.middle - room / 2;
    this.placed = drawing;
    const news = drawing.querySelector(".new:has(text)") || drawing.querySelector(".word.buffer");
    if (news) this.reveal(news);
  }

  // Scroll sideways to a part of the drawing, or to its text if the part is wider than the frame.
  reveal(part) {
    const frame = this.picture.getBoundingClientRect(), whole = part.getBoundingClientRect();
    const { left, right } = whole.width > frame.width ? part.querySelector("text").getBoundingClientRect() : whole;
    if (left < frame.left || right > frame.right) this.picture.scrollLeft += (left + right - frame.left - frame.right) / 2;
  }
}

function zoomTo(factor, fit) {
  zoom.factor = Math.min(3, Math.max(0.25, factor));
  zoom.fit = fit;
  for (const view of [...views]) view.fit();
}

// Return the buttons for the size of all drawings.
function zoomControls() {
  const said = html("span", { class: "status size", "aria-live": "polite" });
  const fitted = html("button", { type: "button", "aria-pressed": "false", title: "Fit all drawings to the width, as far as they can be read", click: () => change(zoom.factor, !zoom.fit) }, "Fit");
  const change = (factor, fit) => {
    zoomTo(factor, fit);
    said.textContent = zoom.fit ? "" : `${Math.round(100 * zoom.factor)} %`;
    fitted.setAttribute("aria-pressed", String(zoom.fit));
  };
  const button = (label, text, by) => html("button", { type: "button", "aria-label": label, title: label, click: () => change(zoom.factor * by, false) }, text);
  const controls = html("span", { class: "row zoom", role: "group", "aria-label": "Zoom" }, button("Smaller", "−", 0.8), said, button("Larger", "+", 1.25), fitted);
  change(zoom.factor, zoom.fit);
  return controls;
}
