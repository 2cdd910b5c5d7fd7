// Uses the page as a reader does, and leaves what it saw in an attribute of the root.
(() => {
  const { seen } = window;
  const root = document.documentElement;
  seen.ready = root.dataset.ready;
  seen.sentence = document.getElementById("answer").textContent;
  seen.scripted = window.tables();
  seen.images = document.querySelectorAll("img").length;

  const files = [...document.querySelectorAll("table.sorted")].at(-1);
  const headings = [...files.querySelectorAll("th")];
  const sort = (column) => {
    headings[column].querySelector("button").click();
    return [headings[column].getAttribute("aria-sort"), window.rowsOf(files)];
  };
  seen.sorted = [sort(3), sort(3), sort(3), sort(0)];

  const field = document.querySelector("input[type=search]");
  if (field) {
    field.value = "TTF dejavu";
    field.dispatchEvent(new Event("input"));
    seen.found = field.parentElement.querySelector("[role=status]").textContent;
    seen.foundRows = window.rowsOf(files);
    window.dispatchEvent(new Event("beforeprint"));
    seen.printed = window.rowsOf(files).length;
    window.dispatchEvent(new Event("afterprint"));
    seen.afterwards = window.rowsOf(files).length;
  }

  // Not every page has a timeline and a treemap.
  const canvas = document.querySelector("canvas");
  const useTimeline = () => {
    const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const colours = () => {
      const { data } = canvas.getContext("2d").getImageData(0, 70, canvas.width, canvas.height - 70);
      const found = new Set();
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] === 255) found.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
      }
      return [...found];
    };
    seen.colours = colours();
    seen.whole = document.querySelector(".seen").textContent;
    const box = canvas.getBoundingClientRect();
    const tip = document.getElementById("tip");
    const point = (x, y) => canvas.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + x, clientY: box.top + y,
    }));
    for (let y = 64; y < box.height && tip.hidden; y += 2) {
      for (let x = 0; x < box.width && tip.hidden; x += 4) point(x, y);
    }
    seen.hover = [...tip.children].map((line) => line.textContent);
    point(0, 0);
    seen.left = tip.hidden;

    ["+", "+", "+", "ArrowRight", "ArrowDown"].forEach(press);
    seen.status = document.querySelector(".status").textContent;
    return press;
  };
  const press = canvas ? useTimeline() : () => {};

  const areas = () => [...document.querySelectorAll(".map rect")];
  seen.areas = areas().length;
  seen.untitled = areas().filter((area) => !area.querySelector("title").textContent).length;
  const trail = () => document.querySelector(".trail").textContent;
  seen.trail = document.querySelector(".trail") ? [trail()] : [];
  const folder = document.querySelector(".map [role=button]");
  if (folder) {
    folder.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    seen.trail.push(trail());
  }

  press("Enter");
  seen.enter = field ? [field.value, window.rowsOf(files)] : [];

  const finish = () => {
    seen.zoomed = canvas ? document.querySelector(".seen").textContent : "";
    root.dataset.seen = JSON.stringify(seen);
  };
  // A page without moving parts draws no frames.
  if (canvas) requestAnimationFrame(() => requestAnimationFrame(finish));
  else finish();
})();
