// Elements of the page. Text is set as text and never read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function button(words, does, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, words);
  made.addEventListener("click", does);
  return made;
}

// Buttons of which one is pressed.
function choice(label, names, does) {
  const group = element("div", { class: "choice", role: "group", "aria-label": label });
  const press = (pressed) => {
    [...group.children].forEach((each, index) => {
      each.setAttribute("aria-pressed", index === pressed);
    });
  };
  names.forEach((name, index) => group.append(button(name, () => {
    press(index);
    does(index);
  })));
  press(0);
  return group;
}

// A path whose folder is paler than its name.
function path(name) {
  const end = name.lastIndexOf("/", name.length - 2) + 1;
  const folder = element("span", { class: "folder" }, name.slice(0, end));
  return end > 0 ? [folder, name.slice(end)] : [name];
}

function note(words, kind = "note") {
  return element("p", { class: kind }, words);
}

// A table that says the same as a picture, closed at first. It is filled when it is opened.
function equivalent(summary, headings, rows) {
  const body = element("tbody");
  const head = headings.map(([name, kind]) => element("th", { scope: "col", class: kind }, name));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)), body);
  const details = element("details", {}, element("summary", {}, summary),
    element("div", { class: "wide" }, table));
  const fill = () => {
    if (!details.open) return;
    body.replaceChildren(...rows().map((cells) => element("tr", {}, ...cells.map((cell, index) => {
      const kind = headings[index][1];
      return element("td", { class: kind }, ...(kind === "path" ? path(cell) : [cell]));
    }))));
  };
  details.addEventListener("toggle", fill);
  let wasOpen = false;
  const print = () => {
    wasOpen = details.open;
    details.open = true;
    fill();
  };
  const printed = () => { details.open = wasOpen; };
  return { details, fill, print, printed };
}

// The box beside the pointer.
const tip = element("div", { id: "tip", role: "presentation", hidden: "" });

function showTip(x, y, lines) {
  tip.replaceChildren(...lines.map((line, index) => element(index ? "div" : "strong", {}, line)));
  tip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.min(x + 14, document.documentElement.clientWidth - width - 8);
  const below = y + 18 + height < window.innerHeight;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = (below ? y + 18 : y - height - 12) + "px";
}

function hideTip() {
  tip.hidden = true;
}
