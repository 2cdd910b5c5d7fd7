// Draws a timeline: a strip of the whole time, an axis, and a row for each file in view.

const STRIP = 40;
const AXIS = 24;
const PLOT = 520;
// Rows at least this high have names.
const NAMED = 12;
const MOST_HIGH = 18;
const THREAD_HIGH = 26;
// In lower rows, some names at least this far apart, where this much is free.
const FEW_APART = 26;
const FEW_ROOM = 150;
// With less room beside its spans, the name of a row stands over them.
const LEAST_NAME = 60;

class TimelineDrawing {
  constructor(timeline) {
    this.timeline = timeline;
    this.canvas = timeline.canvas;
    this.pens = this.canvas.getContext("2d");
    new ResizeObserver(() => this.later()).observe(this.canvas.parentElement);
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.later());
  }

  // Draws once before the next frame, however often it is asked.
  later() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  draw() {
    const { timeline } = this;
    this.visible = timeline.visible();
    this.placeRows();
    const height = STRIP + AXIS + this.plotHeight;
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.parentElement.clientWidth || 900;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = height + "px";
    this.pens.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pens.font = "12px system-ui, sans-serif";
    this.inks = getComputedStyle(this.canvas);
    this.drawStrip();
    this.drawAxis();
    this.drawRows();
    this.drawSpans();
    this.drawNames();
    const { from, to } = timeline.view;
    const rows = this.rows.size;
    const start = from > 0 ? duration(Math.round(from)) : "0 s";
    timeline.seen.textContent = `${start} to ${duration(Math.round(to))}, `
      + (timeline.byThread ? counted(rows, "thread", "threads") : counted(rows, "file", "files"));
  }

  ink(name) {
    return this.inks.getPropertyValue("--" + name).trim();
  }

  // Only rows with something in view have a place, in the order of first need.
  placeRows() {
    const used = new Set(this.visible.map((index) => {
      return this.timeline.rowOf(this.timeline.spans[index]);
    }));
    const rows = [...used].sort((a, b) => a - b);
    this.rows = new Map(rows.map((row, place) => [row, place]));
    const { byThread, threadNames, rowNames } = this.timeline;
    const [all, most] = byThread ? [threadNames, THREAD_HIGH] : [rowNames, MOST_HIGH];
    // The same at each zoom, so that what stands below stays where it is.
    this.plotHeight = Math.max(60, Math.min(PLOT, all.length * most));
    this.rowHeight = Math.min(most, this.plotHeight / Math.max(1, rows.length));
  }

  plotWidth() {
    return Math.max(1, this.width - 2);
  }

  x(time) {
    const { from, to } = this.timeline.view;
    return 1 + (time - from) / (to - from) * this.plotWidth();
  }

  y(row) {
    return STRIP + AXIS + this.rows.get(row) * this.rowHeight;
  }

  share(event) {
    const { left } = this.canvas.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left - 1) / this.plotWidth()));
  }

  isStrip(event) {
    return event.clientY - this.canvas.getBoundingClientRect().top < STRIP;
  }

  // For each column of the strip, how much of which kind: threads that work at once add up.
  stripSums() {
    const { timeline } = this;
    const columns = Math.ceil(this.plotWidth() / 2);
    const key = [columns, ...timeline.kinds.map((kind) => kind.hidden)].join();
    if (this.strip && this.strip.key === key) return this.strip;
    const step = timeline.end / columns;
    const sums = timeline.kinds.map(() => new Float64Array(columns));
    for (const span of timeline.spans) {
      if (timeline.kinds[span.kind].hidden) continue;
      const last = Math.min(columns - 1, Math.floor(span.to / step));
      for (let at = Math.floor(span.from / step); at <= last; at++) {
        const part = Math.min(span.to, (at + 1) * step) - Math.max(span.from, at * step);
        sums[span.kind][at] += Math.max(0, part);
      }
    }
    let most = step;
    for (let at = 0; at < columns; at++) {
      most = Math.max(most, sums.reduce((sum, kind) => sum + kind[at], 0));
    }
    this.strip = { key, columns, sums, most };
    return this.strip;
  }

  drawStrip() {
    const { pens, timeline } = this;
    const { columns, sums, most } = this.stripSums();
    pens.fillStyle = this.ink("sunken");
    pens.fillRect(0, 0, this.width, STRIP - 4);
    for (let at = 0; at < columns; at++) {
      let y = STRIP - 4;
      sums.forEach((kind, index) => {
        const height = kind[at] / most * (STRIP - 6);
        pens.fillStyle = this.ink(timeline.kinds[index].hue);
        pens.fillRect(1 + 2 * at, y - height, 2, height);
        y -= height;
      });
    }
    const left = 1 + timeline.view.from / timeline.end * this.plotWidth();
    const right = 1 + timeline.view.to / timeline.end * this.plotWidth();
    if (right - left > this.plotWidth() - 1) return;
    pens.fillStyle = this.ink("veil");
    pens.fillRect(0, 0, left, STRIP - 4);
    pens.fillRect(right, 0, this.width - right, STRIP - 4);
    pens.strokeStyle = this.ink("ink");
    pens.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), STRIP - 5);
  }

  drawAxis() {
    const { pens } = this;
    const { from, to } = this.timeline.view;
    const step = roundStep((to - from) / Math.max(2, this.width / 110));
    pens.textBaseline = "middle";
    for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      pens.strokeStyle = this.ink("grid");
      pens.beginPath();
      pens.moveTo(x, STRIP + AXIS - 5);
      pens.lineTo(x, STRIP + AXIS + this.plotHeight);
      pens.stroke();
      const words = tick(time, step, to);
      const room = pens.measureText(words).width;
      pens.fillStyle = this.ink("quiet");
      pens.fillText(words, Math.min(Math.max(2, x - room / 2), this.width - room - 2), STRIP + 8);
    }
  }

  drawRows() {
    if (this.rowHeight < NAMED) return;
    this.pens.fillStyle = this.ink("stripe");
    for (const [row, place] of this.rows) {
      if (place % 2) this.pens.fillRect(0, this.y(row), this.width, this.rowHeight);
    }
  }

  // The first kind last, so that it is never hidden by others that share its pixels.
  drawSpans() {
    const { pens, timeline } = this;
    const high = Math.max(1.5, this.rowHeight > 6 ? this.rowHeight - 3 : this.rowHeight);
    const below = this.rowHeight > 6 ? 1.5 : 0;
    for (let kind = timeline.kinds.length - 1; kind >= 0; kind--) {
      pens.fillStyle = this.ink(timeline.kinds[kind].hue);
      for (const index of this.visible) {
        const span = timeline.spans[index];
        if (span.kind !== kind) continue;
        const left = Math.max(0, this.x(span.from));
        const wide = Math.max(1.5, Math.min(this.width, this.x(span.to)) - left);
        pens.fillRect(left, this.y(timeline.rowOf(span)) + below, wide, high);
      }
    }
    const chosen = timeline.spans[timeline.selected];
    if (!chosen || !this.rows.has(timeline.rowOf(chosen))) return;
    pens.strokeStyle = this.ink("ink");
    pens.lineWidth = 2;
    pens.strokeRect(this.x(chosen.from) - 2, this.y(timeline.rowOf(chosen)) - 1,
      Math.max(5, this.x(chosen.to) - this.x(chosen.from) + 4), Math.max(5, this.rowHeight + 1));
    pens.lineWidth = 1;
  }

  // A name stands where the row has most room: right of its last span or left of its first.
  drawNames() {
    const { pens, timeline } = this;
    const ends = new Map();
    for (const index of this.visible) {
      const span = timeline.spans[index];
      const row = timeline.rowOf(span);
      const end = ends.get(row) || [Infinity, -Infinity];
      ends.set(row, [Math.min(end[0], this.x(span.from)), Math.max(end[1], this.x(span.to))]);
    }
    if (this.rowHeight < NAMED) {
      this.drawFewNames(ends);
      return;
    }
    pens.fillStyle = this.ink("ink");
    for (const [row, [left, right]] of ends) {
      const name = timeline.nameOf(row);
      const [before, behind] = [left - 12, this.width - right - 12];
      const y = this.y(row) + this.rowHeight / 2 + 0.5;
      if (Math.max(before, behind) < LEAST_NAME) {
        this.nameOver(this.shortened(name, this.width / 3), y);
        continue;
      }
      const words = this.shortened(name, Math.max(before, behind));
      const x = behind >= before ? right + 6 : left - 6 - pens.measureText(words).width;
      pens.fillText(words, x, y);
    }
  }

  // A name where spans leave no room: over them, on a patch of the page.
  nameOver(words, y) {
    const { pens } = this;
    pens.fillStyle = this.ink("page");
    pens.fillRect(2, y - 7.5, pens.measureText(words).width + 8, 15);
    pens.fillStyle = this.ink("ink");
    pens.fillText(words, 6, y);
  }

  // Rows too low for names of their own: some names, left of what the rows around them have.
  drawFewNames(ends) {
    const { pens } = this;
    pens.fillStyle = this.ink("quiet");
    const lefts = [...this.rows.keys()].map((row) => ends.get(row)[0]);
    const around = Math.ceil(8 / this.rowHeight);
    let last = STRIP + AXIS - FEW_APART / 2;
    for (const [row, place] of this.rows) {
      const y = this.y(row) + this.rowHeight / 2;
      if (y - last < FEW_APART || y > STRIP + AXIS + this.plotHeight - 8) continue;
      const near = lefts.slice(Math.max(0, place - around), place + around + 1);
      const left = near.reduce((least, x) => Math.min(least, x), Infinity);
      if (left < FEW_ROOM) continue;
      last = y;
      const words = this.shortened(this.timeline.nameOf(row), Math.min(left - 14, 340));
      pens.fillText(words, left - 8 - pens.measureText(words).width, y);
    }
  }

  // The end of a path says more than its start.
  shortened(name, room) {
    if (room < 20) return "";
    if (this.pens.measureText(name).width <= room) return name;
    let [low, high] = [0, name.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pens.measureText("…" + name.slice(middle)).width <= room) high = middle;
      else low = middle + 1;
    }
    return low < name.length ? "…" + name.slice(low) : "";
  }

  // The span below the pointer, or the nearest within a few pixels; the first kind wins.
  spanAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (y < STRIP + AXIS) return -1;
    let [best, least] = [-1, Infinity];
    for (const index of this.visible || []) {
      const span = this.timeline.spans[index];
      const top = this.y(this.timeline.rowOf(span));
      const down = Math.max(0, top - y, y - top - Math.max(1.5, this.rowHeight));
      if (down > 3) continue;
      const across = Math.max(0, this.x(span.from) - x, x - this.x(span.to));
      const away = across + down + span.kind / 100;
      if (across <= 4 && away < least) [best, least] = [index, away];
    }
    return best;
  }
}
