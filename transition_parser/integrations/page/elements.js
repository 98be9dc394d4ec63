// Elements of HTML and SVG. Texts are inserted as text nodes; no markup is parsed.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map((child) =>
    child instanceof Node ? child : document.createTextNode(String(child))));
  return element;
}

const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const percent = (p) => (p >= 0.99995 ? "100 %" : p >= 0.0995 ? `${(100 * p).toFixed(1)} %` : `${(100 * p).toFixed(2)} %`);
// Below the first of these confidences an arc or a node is unsure, below the second it is doubtful.
const UNSURE = 0.9, DOUBTFUL = 0.5;
const doubt = (confidence) => (confidence === undefined || confidence >= UNSURE ? "" : confidence >= DOUBTFUL ? "unsure" : "unsure doubtful");
// The confidence as pictures show it, and its width with a gap. Only unsure arcs and nodes show it; the width of others
// is 0.
const figureOf = (confidence) => `${Math.floor(100 * confidence)} %`;
const figureWidth = (confidence) => (doubt(confidence) ? widthOf(figureOf(confidence), 10) + 6 : 0);
// Return the confidence of an arc or a node as a title, which is shown at the mouse.
const sureness = (name, confidence) => (confidence === undefined ? null : svg("title", {}, `${name}: ${percent(confidence)}`));

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const ruler = document.createElement("canvas").getContext("2d");

// Return the width of a text in pixels.
function widthOf(text, size, weight = 400) {
  ruler.font = `${weight} ${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

// The look of drawings in the page, and in files, whose colours are always light.
const LOOK = [
  ["text", "font-family", FONT], [".word", "font-size", "15px"], [".tag", "font-size", "11px"],
  [".lemma", "font-size", "11px"], [".lemma", "font-style", "italic"], [".figure", "font-size", "10px"],
  [".role", "font-size", "12px"], [".concept", "font-size", "14px"], [".constant", "font-size", "13px"],
  ["text", "text-anchor", "middle"], [".line", "fill", "none"], [".line", "stroke-width", "1.4"],
  [".again", "stroke-dasharray", "5 3"], [".box", "stroke-width", "1.2"],
  [".ring", "fill", "none"], [".ring", "stroke-width", "1.2"], [".role", "paint-order", "stroke"], [".role", "stroke-width", "4"],
  [".role", "stroke-linejoin", "round"], [".figure", "paint-order", "stroke"], [".figure", "stroke-width", "3"],
  [".figure", "stroke-linejoin", "round"], [".unsure .line", "stroke-width", "2"], [".unsure .box", "stroke-width", "2"],
  [".doubtful .line", "stroke-dasharray", "2 3"], [".doubtful .box", "stroke-dasharray", "2 3"],
];
const COLOURS = [
  // selector, property, value in the page, value in files
  ["text", "fill", "--text", "#1c2430"], [".tag", "fill", "--quiet", "#5d6878"],
  [".lemma", "fill", "--quiet", "#5d6878"], [".figure", "fill", "--aside", "#8a5a00"], [".figure", "stroke", "--surface", "#ffffff"],
  [".line", "stroke", "--quiet", "#5d6878"], [".tip", "fill", "--quiet", "#5d6878"],
  [".role", "stroke", "--surface", "#ffffff"],
  [".box", "fill", "--surface", "#ffffff"], [".concept", "fill", "--stack", "#1b5fa8"],
  [".constant", "fill", "--buffer", "#2f7a3b"], [".box", "stroke", "--stack", "#1b5fa8"], [".ring", "stroke", "--stack", "#1b5fa8"],
  [".value .box", "stroke", "--buffer", "#2f7a3b"], [".again", "stroke", "--new", "#b3392f"],
  [".againtip", "fill", "--new", "#b3392f"], [".unsure .line", "stroke", "--aside", "#8a5a00"],
  [".unsure .tip", "fill", "--aside", "#8a5a00"], [".unsure .box", "stroke", "--aside", "#8a5a00"], [".stack", "fill", "--stack", "#1b5fa8"],
  [".buffer", "fill", "--buffer", "#2f7a3b"], [".gone", "fill", "--gone", "#6a7381"],
  [".new .line", "stroke", "--new", "#b3392f"], [".new .tip", "fill", "--new", "#b3392f"],
  [".new .role", "fill", "--new", "#b3392f"], [".new .box", "stroke", "--new", "#b3392f"],
];

// Return the style sheet of drawings.
// inPage: true for the colours of the page, light or dark
function look(inPage) {
  const prefix = inPage ? ".picture " : "";
  const plain = LOOK.map(([selector, property, value]) => `${prefix}${selector}{${property}:${value}}`);
  const coloured = COLOURS.map(([selector, property, name, value]) =>
    `${prefix}${selector}{${property}:${inPage ? `var(${name})` : value}}`);
  return [...plain, ...coloured].join("\n");
}

// Return a drawing as the text of a stand-alone file.
function svgFile(drawing) {
  const copy = drawing.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  copy.removeAttribute("style"); // the drawing may be zoomed in the page
  copy.prepend(svg("style", {}, look(false)), svg("rect", { width: "100%", height: "100%", fill: "#ffffff" }));
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy) + "\n";
}

function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Return an arrowhead with its point at (x, y) and the direction (dx, dy).
function tip(x, y, dx, dy, kind) {
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [bx, by] = [x - 7 * ux, y - 7 * uy];
  const points = [[x, y], [bx - 3.4 * uy, by + 3.4 * ux], [bx + 3.4 * uy, by - 3.4 * ux]];
  return svg("polygon", { class: kind, points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" ") });
}
