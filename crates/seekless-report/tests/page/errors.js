// Runs in the head: keeps what goes wrong.
window.seen = { errors: [] };
for (const kind of ["error", "unhandledrejection", "securitypolicyviolation"]) {
  window.addEventListener(kind, (event) => {
    window.seen.errors.push(`${kind}: ${event.message || event.reason || event.violatedDirective}`);
  });
}
console.error = (...words) => window.seen.errors.push(words.join(" "));
console.warn = console.error;
window.alert = () => window.seen.errors.push("a name became code");
