// The timeline: what is seen of it, and what a reader does to it. `drawing.js` draws it.

// A span of less is not looked at closer.
const LEAST_VIEW = 2000;
// The longest spans stand in a table too.
const LISTED = 50;

class Timeline {
  constructor(part, names, find) {
    this.find = find;
    this.section = document.getElementById(part.id);
    this.kinds = part.kinds.map(([name, hue, total]) => ({ name, hue, total, hidden: false }));
    this.rowNames = part.rows.map((name) => names[name]);
    this.threadNames = part.threads.map((name) => names[name]);
    this.byThread = false;
    this.selected = -1;
    this.read(part);
    this.view = { from: 0, to: this.end };
    this.build(part);
    this.drawing = new TimelineDrawing(this);
    this.drawing.draw();
  }

  read(part) {
    let at = 0;
    const times = (step) => Math.round(step * part.step_ns);
    this.spans = part.start.map((start, index) => {
      at += start;
      const length = times(part.length[index]);
      return {
        from: times(at), to: times(at) + length, length, file: part.row[index],
        thread: part.thread[index], kind: part.kind[index], bytes: part.bytes[index],
      };
    });
    this.end = this.spans.reduce((max, span) => Math.max(max, span.to), 1);
    this.longest = this.spans.reduce((max, span) => Math.max(max, span.length), 0);
  }

  build(part) {
    this.canvas = element("canvas", {
      tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": this.section.querySelector("h2").textContent
        + ". Left and right arrows pan, plus and minus zoom, 0 shows all, "
        + "up and down step through the spans, Enter finds the file in the table.",
    });
    this.status = element("p", { class: "status", role: "status" });
    const list = equivalent("The longest spans as a table",
      [["File", "path"], ["What", "text"], ["Thread", "text"], ["At", "seconds"],
        ["Took", "seconds"], ["Bytes", "bytes"]], () => this.longestSpans());
    this.list = list;
    const seen = element("span", { class: "seen" });
    this.seen = seen;
    this.section.append(this.legend(), element("div", { class: "tools" },
      choice("Rows", ["By file", "By thread"], (index) => this.setRows(index === 1)),
      button("−", () => this.zoom(2), { "aria-label": "Zoom out" }),
      button("+", () => this.zoom(0.5), { "aria-label": "Zoom in" }),
      button("All", () => this.showAll(), { "aria-label": "Show all" }), seen),
    element("div", { class: "canvas" }, this.canvas), this.status,
    note("Drag to pan, pinch or Ctrl and wheel to zoom, click a mark to find its file in the "
      + "table. The strip on top shows the whole time: click it to go there.",
    "note hint"), list.details);
    this.addNotes(part);
    this.listen();
  }

  legend() {
    const keys = this.kinds.map((kind) => {
      const key = button("", () => {
        kind.hidden = !kind.hidden;
        key.setAttribute("aria-pressed", !kind.hidden);
        this.drawing.draw();
      }, { "aria-pressed": "true", title: "Show or hide" });
      // Touches and the like are not timed.
      const figure = kind.total > 0 ? duration(kind.total) : "";
      key.append(element("i", { class: "hue-" + kind.hue }), kind.name + " ",
        element("span", { class: "figure" }, figure));
      return key;
    });
    return element("div", { class: "legend", role: "group", "aria-label": "Kinds" }, ...keys);
  }

  addNotes(part) {
    if (part.left_out > 0) {
      const spans = counted(part.left_out, "shorter span is", "shorter spans are");
      this.section.append(note(`${spans} left out to keep this page small: `
        + `${duration(part.left_out_ns)} together.`, "thinned"));
    }
    if (part.unusable > 0) {
      const spans = counted(part.unusable, "span has", "spans have");
      this.section.append(note(`${spans} no usable time or place.`, "thinned"));
    }
  }

  longestSpans() {
    const spans = [...this.spans].sort((a, b) => b.length - a.length).slice(0, LISTED);
    return spans.map((span) => [this.rowNames[span.file], this.kinds[span.kind].name,
      this.threadNames[span.thread], duration(span.from), duration(span.length),
      span.bytes ? bytes(span.bytes) : ""]);
  }

  setRows(byThread) {
    this.byThread = byThread;
    this.drawing.draw();
  }

  rowOf(span) {
    return this.byThread ? span.thread : span.file;
  }

  fileOf(index) {
    return this.rowNames[this.spans[index].file];
  }

  nameOf(row) {
    return this.byThread ? this.threadNames[row] : this.rowNames[row];
  }

  // The spans in view whose kind is not hidden.
  visible() {
    const { from, to } = this.view;
    // Spans are sorted by their start, so those that begin too early to reach the view are skipped.
    const first = this.firstAfter(from - this.longest);
    const found = [];
    for (let index = first; index < this.spans.length && this.spans[index].from <= to; index++) {
      const span = this.spans[index];
      if (span.to >= from && !this.kinds[span.kind].hidden) found.push(index);
    }
    return found;
  }

  firstAfter(time) {
    let [low, high] = [0, this.spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.spans[middle].from < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  setView(from, length) {
    const whole = Math.min(Math.max(length, LEAST_VIEW), this.end);
    const start = Math.min(Math.max(from, 0), this.end - whole);
    this.view = { from: start, to: start + whole };
    this.drawing.later();
  }

  zoom(factor, share = 0.5) {
    const length = this.view.to - this.view.from;
    const next = Math.min(Math.max(length * factor, LEAST_VIEW), this.end);
    this.setView(this.view.from + share * (length - next), next);
  }

  pan(share) {
    const length = this.view.to - this.view.from;
    this.setView(this.view.from + share * length, length);
  }

  showAll() {
    this.setView(0, this.end);
  }

  describe(span) {
    return [this.rowNames[span.file],
      `${this.kinds[span.kind].name}: ${duration(span.length)}`
        + (span.bytes ? `, ${bytes(span.bytes)}` : ""),
      `at ${duration(span.from)}, ${this.threadNames[span.thread]}`];
  }

  // The next span of the view in time, for readers without a pointer.
  step(by) {
    const visible = this.visible();
    if (visible.length === 0) return;
    const at = visible.indexOf(this.selected);
    const next = at < 0 ? (by > 0 ? 0 : visible.length - 1) : at + by;
    this.selected = visible[Math.min(Math.max(next, 0), visible.length - 1)];
    this.status.textContent = this.describe(this.spans[this.selected]).join("; ");
    this.drawing.draw();
  }

  listen() {
    const keys = {
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
      ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      Enter: () => this.spans[this.selected] && this.find(this.fileOf(this.selected)),
      0: () => this.showAll(), Home: () => this.setView(0, this.view.to - this.view.from),
      End: () => this.setView(this.end, this.view.to - this.view.from),
    };
    this.canvas.addEventListener("keydown", (event) => {
      const does = keys[event.key];
      if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      does();
    });
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointercancel", () => { this.dragged = null; });
    this.canvas.addEventListener("pointerleave", hideTip);
  }

  // A wheel alone scrolls the page.
  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY / 200), this.drawing.share(event));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan(event.deltaX / this.drawing.plotWidth());
    }
  }

  press(event) {
    if (event.button !== 0) return;
    const length = this.view.to - this.view.from;
    if (this.drawing.isStrip(event)) {
      this.setView(this.drawing.share(event) * this.end - length / 2, length);
    }
    this.canvas.setPointerCapture(event.pointerId);
    this.dragged = { x: event.clientX, from: this.view.from, strip: this.drawing.isStrip(event) };
  }

  // A press that did not move is a click.
  release(event) {
    const { dragged } = this;
    this.dragged = null;
    if (!dragged || dragged.strip || Math.abs(event.clientX - dragged.x) > 3) return;
    const found = this.drawing.spanAt(event);
    if (found >= 0) this.find(this.fileOf(found));
  }

  move(event) {
    const length = this.view.to - this.view.from;
    if (this.dragged) {
      hideTip();
      const share = (event.clientX - this.dragged.x) / this.drawing.plotWidth();
      if (this.dragged.strip) {
        this.setView(this.drawing.share(event) * this.end - length / 2, length);
      } else {
        this.setView(this.dragged.from - share * length, length);
      }
      return;
    }
    const found = this.drawing.spanAt(event);
    if (found < 0) hideTip();
    else showTip(event.clientX, event.clientY, this.describe(this.spans[found]));
  }

  print() {
    this.list.print();
    this.drawing.draw();
  }

  printed() {
    this.list.printed();
    this.drawing.draw();
  }
}
