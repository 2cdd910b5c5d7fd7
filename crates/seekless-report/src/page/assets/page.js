// Starts the parts that the data names.

// Shows a file in the first table that has it.
function find(path) {
  hideTip();
  return started.some((part) => part instanceof SortedTable && part.find(path));
}

const PARTS = { table: SortedTable, timeline: Timeline, treemap: Treemap };

function addCopy(command) {
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
    }
  }, { class: "copy" });
  command.after(copy);
}

const { names, parts } = JSON.parse(document.getElementById("data").textContent);
document.body.append(tip);
const started = parts.map((part) => new PARTS[part.part](part, names, find));
document.querySelectorAll(".command").forEach(addCopy);
// Paper is light, and shows all rows.
window.addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  started.forEach((part) => part.print());
});
window.addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  started.forEach((part) => part.printed());
});
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
document.documentElement.dataset.ready = "true";
