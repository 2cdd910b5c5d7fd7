// Figures to words, exactly as the Rust code writes them: a test holds both together.

function stepsOf(value, scale, steps) {
  return Math.floor((value * steps + scale / 2) / scale);
}

function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

function duration(nanos) {
  if (nanos < 1000) return nanos + " ns";
  for (const [name, scale] of [["µs", 1e3], ["ms", 1e6]]) {
    const tenths = stepsOf(nanos, scale, 10);
    if (tenths < 10000) return (tenths / 10).toFixed(1) + " " + name;
  }
  const hundredths = stepsOf(nanos, 1e9, 100);
  if (hundredths < 60000) return (hundredths / 100).toFixed(2) + " s";
  const seconds = stepsOf(nanos, 1e9, 1);
  return Math.floor(seconds / 60) + " min " + (seconds % 60) + " s";
}

function bytes(count) {
  if (count < 1000) return count + " B";
  const sizes = [["KB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12], ["PB", 1e15]];
  for (const [name, scale] of sizes) {
    const tenths = stepsOf(count, scale, 10);
    if (tenths < 10000 || name === "PB") return (tenths / 10).toFixed(1) + " " + name;
  }
  return "";
}

const WORDS = {
  seconds: duration,
  bytes,
  count: thousands,
  share: (thousandths) => (thousandths / 10).toFixed(1) + " %",
};

function counted(count, one, many) {
  return thousands(count) + " " + (count === 1 ? one : many);
}

// A round number of steps, at least this long: 1, 2 or 5 times a power of ten.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((digit) => digit * power >= least * 0.999999);
}

// A time on an axis that ends at `last` and has names `step` apart, all in one unit.
function tick(nanos, step, last) {
  const [name, scale] = [["s", 1e9], ["ms", 1e6]].find(([, unit]) => last >= unit) || ["µs", 1e3];
  const digits = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
  return (nanos / scale).toFixed(digits) + " " + name;
}
