// Tables: sorted by a click on a heading, searched by words.

const MORE_ROWS = 200;
// Shorter tables are seen at a glance.
const SEARCHED_ROWS = 12;
const COLLATOR = new Intl.Collator("en", { numeric: true });

class SortedTable {
  constructor(part, names) {
    this.section = document.getElementById(part.id);
    this.columns = part.columns;
    this.names = names;
    this.count = part.rows;
    this.first = part.first;
    this.shown = part.first;
    this.order = Array.from({ length: part.rows }, (_, row) => row);
    this.sorted = { column: -1, falls: false };
    this.words = [];
    this.body = this.section.querySelector("tbody");
    this.headings = [...this.section.querySelectorAll("th")];
    this.headings.forEach((heading, column) => this.makeSortable(heading, column));
    if (part.rows > SEARCHED_ROWS) this.addSearch();
    this.more = button("", () => this.showMore(), { class: "more" });
    this.section.append(this.more);
    if (part.left_out > 0) {
      const rows = counted(part.left_out, "more row is", "more rows are");
      this.section.append(note(rows + " left out to keep this page small.", "thinned"));
    }
    this.draw();
  }

  makeSortable(heading, column) {
    heading.replaceChildren(button(heading.textContent, () => this.sort(column)));
    heading.setAttribute("aria-sort", "none");
  }

  addSearch() {
    this.field = element("input", {
      type: "search", placeholder: "Search", "aria-label": "Search the rows", spellcheck: "false",
    });
    this.field.addEventListener("input", () => this.search());
    this.status = element("span", { role: "status" });
    const wide = this.section.querySelector(".wide");
    wide.before(element("div", { class: "tools" }, this.field, this.status));
  }

  text(column, row) {
    const { content, cells } = this.columns[column];
    const cell = cells[row];
    if (cell === null) return "";
    if (content === "text" || content === "path") return this.names[cell];
    if (Array.isArray(cell)) return this.names[cell[0]];
    return cell < 0 ? "unknown" : WORDS[content](cell);
  }

  // Figures fall at first, words rise; the third click brings the first order back.
  sort(column) {
    const isWords = ["text", "path"].includes(this.columns[column].content);
    const same = this.sorted.column === column;
    if (same && this.sorted.falls === isWords) this.sorted = { column: -1, falls: false };
    else this.sorted = { column, falls: same ? !this.sorted.falls : !isWords };
    this.headings.forEach((heading, index) => {
      const is = index === this.sorted.column;
      const way = this.sorted.falls ? "descending" : "ascending";
      heading.setAttribute("aria-sort", is ? way : "none");
    });
    this.arrange();
  }

  arrange() {
    const { column, falls } = this.sorted;
    this.order.sort((a, b) => a - b);
    if (column >= 0) {
      const { content, cells } = this.columns[column];
      const isWords = content === "text" || content === "path";
      const value = (row) => isWords
        ? (cells[row] === null ? "" : this.names[cells[row]])
        : (typeof cells[row] === "number" ? cells[row] : -2);
      const rises = isWords
        ? (a, b) => COLLATOR.compare(value(a), value(b))
        : (a, b) => value(a) - value(b);
      this.order.sort((a, b) => (falls ? rises(b, a) : rises(a, b)));
    }
    this.draw();
  }

  search() {
    this.words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.first;
    this.draw();
  }

  found() {
    if (this.words.length === 0) return this.order;
    return this.order.filter((row) => {
      const all = this.columns.map((_, column) => this.text(column, row)).join("\n").toLowerCase();
      return this.words.every((word) => all.includes(word));
    });
  }

  // Shows the row of a path; false if there is none.
  find(path) {
    const column = this.columns.findIndex(({ content }) => content === "path");
    const row = column < 0 || !this.field ? -1
      : this.columns[column].cells.findIndex((cell) => this.names[cell] === path);
    if (row < 0) return false;
    this.field.value = path;
    this.search();
    this.section.scrollIntoView();
    this.field.focus();
    return true;
  }

  showMore() {
    this.shown += MORE_ROWS;
    this.draw();
  }

  draw() {
    const found = this.found();
    const rows = found.slice(0, this.shown).map((row) => element("tr", {},
      ...this.columns.map(({ content }, column) => {
        const text = this.text(column, row);
        return element("td", { class: content }, ...(content === "path" ? path(text) : [text]));
      })));
    this.body.replaceChildren(...rows);
    const left = found.length - rows.length;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${thousands(Math.min(left, MORE_ROWS))} more`;
    if (this.status) {
      const all = counted(this.count, "row", "rows");
      this.status.textContent = this.words.length ? `${thousands(found.length)} of ${all}` : all;
    }
  }

  print() {
    this.before = this.shown;
    this.shown = Infinity;
    this.draw();
  }

  printed() {
    this.shown = this.before;
    this.draw();
  }
}
