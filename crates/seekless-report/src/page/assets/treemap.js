// The treemap: folders and files as areas. A click on a folder looks into it.

const MAP_HEIGHT = 420;
const HEADER = 18;
// Areas of less are not divided.
const LEAST_SIDE = 6;
const SHADES = 5;
const MEASURES = [["Wait", "wait", "seconds"], ["Bytes", "bytes", "bytes"],
  ["Requests", "requests", "count"]];

class Treemap {
  constructor(part, names, find) {
    this.find = find;
    this.section = document.getElementById(part.id);
    this.root = this.read(part, names);
    this.at = this.root;
    while (this.at.children.length === 1 && this.at.children[0].children.length > 0) {
      this.at = this.at.children[0];
    }
    const has = MEASURES.filter(([, key]) => this.root[key] > 0);
    this.measures = has.length ? has : MEASURES.slice(0, 1);
    this.measure = this.measures[0];
    this.trail = element("nav", { class: "trail", "aria-label": "Folders" });
    this.map = shape("svg", { class: "map", role: "group", "aria-label": "Treemap" });
    const list = equivalent("This folder as a table",
      [["Name", "path"], ["Wait", "seconds"], ["Bytes", "bytes"], ["Requests", "count"],
        ["Files", "count"]], () => this.rows());
    this.list = list;
    this.section.append(element("div", { class: "tools" },
      choice("Area by", this.measures.map(([name]) => name), (index) => {
        this.measure = this.measures[index];
        this.draw();
      }), this.trail), element("div", { class: "canvas" }, this.map), this.scale(), list.details);
    const leftOut = part.others.reduce((sum, count) => sum + count, 0);
    if (leftOut > 0) {
      const files = counted(leftOut, "file is", "files are");
      this.section.append(note(`${files} not listed singly to keep this page small; “*” stands `
        + "for them in each folder.", "thinned"));
    }
    this.map.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.at.parent) this.open(this.at.parent, true);
    });
    let width = 0;
    new ResizeObserver(() => {
      if (this.map.parentElement.clientWidth !== width) this.draw();
      width = this.map.parentElement.clientWidth;
    }).observe(this.map.parentElement);
    this.draw();
  }

  read(part, names) {
    const folder = (name, parent) => ({
      name, parent, wait: 0, bytes: 0, requests: 0, files: 0, inside: new Map(),
    });
    const root = folder("", null);
    const alone = part.path.length - part.others.length;
    part.path.forEach((number, index) => {
      const files = index < alone ? 1 : part.others[index - alone];
      const pieces = names[number].split("/").filter(Boolean);
      if (names[number].startsWith("/")) root.absolute = true;
      let at = root;
      for (let depth = 0; ; depth++) {
        for (const [, key] of MEASURES) at[key] += part[key][index];
        at.files += files;
        if (depth === pieces.length) break;
        const name = pieces[depth];
        if (!at.inside.has(name)) at.inside.set(name, folder(name, at));
        at = at.inside.get(name);
      }
      at.others = index >= alone;
    });
    return this.collapsed(root);
  }

  // Folders that hold nothing but one folder are one.
  collapsed(node) {
    const children = [...node.inside.values()].map((child) => this.collapsed(child));
    const [only] = children;
    if (node.parent && children.length === 1 && only.children.length > 0) {
      only.name = `${node.name}/${only.name}`;
      only.parent = node.parent;
      return only;
    }
    node.children = children;
    children.forEach((child) => { child.parent = node; });
    return node;
  }

  path(node) {
    if (!node.parent) return node.absolute ? "/" : "all files";
    const above = node.parent.parent ? this.path(node.parent) : (node.parent.absolute ? "/" : "");
    return above + node.name + (node.children.length ? "/" : "");
  }

  describe(node) {
    const isOne = node.children.length === 0 && !node.others;
    const files = isOne ? "" : counted(node.files, "file", "files") + ", ";
    return [this.path(node), `waited ${duration(node.wait)}`,
      `${files}${bytes(node.bytes)}, ${counted(node.requests, "request", "requests")}`];
  }

  rows() {
    const key = this.measure[1];
    const inside = [...this.at.children].sort((a, b) => b[key] - a[key]).slice(0, 500);
    return inside.map((node) => [node.name + (node.children.length ? "/" : ""),
      duration(node.wait), bytes(node.bytes), thousands(node.requests), thousands(node.files)]);
  }

  open(node, focus) {
    this.at = node;
    this.draw();
    hideTip();
    const first = focus && (this.map.querySelector("[tabindex]") || this.trail.lastElementChild);
    if (first) first.focus();
  }

  draw() {
    const width = this.map.parentElement.clientWidth || 900;
    this.map.setAttribute("viewBox", `0 0 ${width} ${MAP_HEIGHT}`);
    this.map.setAttribute("width", width);
    this.map.setAttribute("height", MAP_HEIGHT);
    this.map.replaceChildren();
    this.most = this.mostOfFiles(this.at);
    this.divide(this.at, { x: 0, y: 0, width, height: MAP_HEIGHT }, 0);
    this.drawTrail();
    this.list.fill();
  }

  // The longest wait of one file here, which is the darkest shade.
  mostOfFiles(node) {
    if (!node.children.length) return node.others ? 0 : node.wait;
    return node.children.reduce((most, child) => Math.max(most, this.mostOfFiles(child)), 0);
  }

  drawTrail() {
    const folders = [];
    for (let node = this.at; node; node = node.parent) folders.unshift(node);
    this.trail.replaceChildren(...folders.map((node, index) => {
      const name = node.parent ? node.name + "/" : this.path(node);
      const isLast = index === folders.length - 1;
      return button(name, () => this.open(node, true), isLast ? { "aria-current": "true" } : {});
    }));
  }

  // Rows of areas that are as square as can be.
  divide(node, box, depth) {
    const key = this.measure[1];
    const children = node.children.filter((child) => child[key] > 0)
      .sort((a, b) => b[key] - a[key]);
    const total = children.reduce((sum, child) => sum + child[key], 0);
    let { x, y, width, height } = box;
    const scale = width * height / total;
    for (let start = 0; start < children.length;) {
      const side = Math.min(width, height);
      if (side < 1) break;
      let [end, sum, worst] = [start, 0, Infinity];
      while (end < children.length) {
        const next = sum + children[end][key] * scale;
        const least = children[end][key] * scale;
        const most = children[start][key] * scale;
        const square = (next / side) ** 2;
        const ratio = Math.max(most / square, square / least);
        if (ratio > worst) break;
        [worst, sum, end] = [ratio, next, end + 1];
      }
      const deep = sum / side;
      let at = 0;
      for (; start < end; start++) {
        const long = children[start][key] * scale / deep;
        const area = width >= height
          ? { x, y: y + at, width: deep, height: long }
          : { x: x + at, y, width: long, height: deep };
        this.area(children[start], area, depth);
        at += long;
      }
      if (width >= height) [x, width] = [x + deep, width - deep];
      else [y, height] = [y + deep, height - deep];
    }
  }

  area(node, box, depth) {
    if (box.width < 1.5 || box.height < 1.5) return;
    const isFolder = node.children.length > 0;
    const words = this.describe(node);
    const drawn = shape("rect", {
      x: (box.x + 0.5).toFixed(1), y: (box.y + 0.5).toFixed(1),
      width: Math.max(0.5, box.width - 1).toFixed(1),
      height: Math.max(0.5, box.height - 1).toFixed(1),
      class: isFolder ? "folder-area" : this.shade(node),
    }, shape("title", {}, words.join("\n")));
    if (isFolder && depth === 0) {
      drawn.setAttribute("tabindex", "0");
      drawn.setAttribute("role", "button");
      drawn.setAttribute("aria-label", words.join(", "));
      drawn.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.open(node, true);
      });
    }
    drawn.addEventListener("click", () => {
      if (isFolder) this.open(this.below(node));
      else this.find(this.path(node));
    });
    this.map.append(drawn);
    const named = box.width > 36 && box.height > HEADER;
    if (named) this.nameArea(node, box, isFolder);
    const inner = { x: box.x + 2, y: box.y + (named ? HEADER : 2), width: box.width - 4,
      height: box.height - (named ? HEADER + 2 : 4) };
    if (isFolder && inner.width > LEAST_SIDE && inner.height > LEAST_SIDE) {
      this.divide(node, inner, depth + 1);
    }
  }

  // The folder just below the open one, on the way to this.
  below(node) {
    while (node.parent && node.parent !== this.at) node = node.parent;
    return node;
  }

  nameArea(node, box, isFolder) {
    const letters = Math.floor((box.width - 8) / (isFolder ? 7.2 : 6.4));
    const full = node.name + (isFolder ? "/" : "");
    const name = full.length > letters ? full.slice(0, Math.max(0, letters - 1)) + "…" : full;
    if (letters < Math.min(8, full.length)) return;
    this.map.append(shape("text", {
      x: (box.x + 5).toFixed(1), y: (box.y + 13).toFixed(1), "aria-hidden": "true",
      class: isFolder ? "folder-name" : "on-" + this.shade(node),
    }, name));
  }

  shade(node) {
    if (node.others) return "others";
    const share = this.most > 0 ? Math.sqrt(node.wait / this.most) : 0;
    return "shade-" + Math.min(SHADES - 1, Math.floor(share * SHADES));
  }

  scale() {
    const boxes = Array.from({ length: SHADES }, (_, shade) => shape("rect", {
      class: "shade-" + shade, x: shade * 22, width: 22, height: 12,
    }));
    return element("p", { class: "scale" }, "shorter wait ",
      shape("svg", { width: 22 * SHADES, height: 12, "aria-hidden": "true" }, ...boxes),
      " longer wait of a file");
  }

  print() {
    this.list.print();
  }

  printed() {
    this.list.printed();
  }
}
