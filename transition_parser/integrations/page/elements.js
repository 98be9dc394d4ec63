// Elements of HTML, whose texts are inserted as text nodes; drawings in SVG, which Python has made; files.
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

const percent = (p) => (p >= 0.99995 ? "100 %" : p >= 0.0995 ? `${(100 * p).toFixed(1)} %` : `${(100 * p).toFixed(2)} %`);

// Return a drawing that came as text. It is parsed as XML, whose texts were escaped by Python.
const parsed = (text) => document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);

// Return a drawing as the text of a stand-alone file.
function svgFile(drawing) {
  const copy = drawing.cloneNode(true);
  copy.removeAttribute("style"); // the drawing may be zoomed in the page
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
