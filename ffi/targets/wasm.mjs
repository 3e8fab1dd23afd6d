// Runs the vectors of records through podrank as a WebAssembly module, and prints the keys in the order of podrank_vector_keys in
// ffi/check/vectors.c. The module imports nothing; its records are written straight into its memory.
//
//     node wasm.mjs podrank.wasm
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

const root = new URL("../../", import.meta.url);
const json = (file) => JSON.parse(readFileSync(new URL(`tests/vectors/${file}`, root), "utf8"));

// The header's numbers.
const PODRANK = {};
for (const header of ["podrank.h", "podrank/controller.h", "podrank/probabilities.h", "podrank/steer.h"])
  for (const [, name, number] of readFileSync(new URL(`include/${header}`, root), "utf8").matchAll(
    /^#define PODRANK_([A-Z0-9_]+) (-?\d+)u?$/gm,
  ))
    PODRANK[name] = Number(number);
const TIME_UNSET = -(2n ** 63n);
const POD = 64, OPTIONS = 16, ROW = 24, SCRATCH = 64;

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
must(WebAssembly.Module.imports(module).length === 0, "no imports");
const podrank = new WebAssembly.Instance(module, {}).exports;
const { memory } = podrank;

// Behind what the module has in its memory, 64 KiB are enough for everything here.
const heap = podrank.__heap_base.value;
memory.grow(1);
const view = new DataView(memory.buffer);
const bytes = new Uint8Array(memory.buffer);
let top = heap;

/** Room for this many bytes, until `top` is set back. */
function room(size) {
  const at = Math.ceil(top / 8) * 8;
  top = at + size;
  must(top <= memory.buffer.byteLength, "room");
  return at;
}

function must(holds, what) {
  if (!holds) throw new Error(`not so: ${what}`);
}

function text(at) {
  let end = at;
  while (bytes[end] !== 0) end++;
  return new TextDecoder().decode(bytes.slice(at, end));
}

/** A record, with this rank. */
function writePod(at, pod, rank) {
  const hex = (pod.uid ?? "0".repeat(32)).replaceAll("-", "");
  for (let i = 0; i < 16; i++) bytes[at + i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  view.setBigInt64(at + 16, BigInt(pod.readyTime ?? TIME_UNSET), true);
  view.setBigInt64(at + 24, BigInt(pod.creationTime ?? TIME_UNSET), true);
  view.setInt32(at + 32, pod.deletionCost ?? 0, true);
  view.setUint32(at + 36, rank, true);
  view.setUint32(at + 40, pod.restarts ?? 0, true);
  view.setUint32(at + 44, pod.sidecarRestarts ?? 0, true);
  view.setUint32(at + 48, pod.node ?? 0, true);
  bytes[at + 52] = pod.phase ?? 0;
  bytes[at + 53] =
    (pod.assigned ? PODRANK.POD_ASSIGNED : 0) | (pod.ready ? PODRANK.POD_READY : 0) | (pod.preferred ? PODRANK.POD_PREFERRED : 0);
  view.setUint16(at + 54, pod.tier ?? 0, true);
  bytes.fill(0, at + 56, at + POD);
}

function pods(list, ranks) {
  const at = room(POD * list.length);
  list.forEach((pod, i) => writePod(at + POD * i, pod, ranks?.[i] ?? pod.rank ?? 0));
  return at;
}

function options(policy = {}) {
  const gates = policy.featureGates ?? {};
  const at = room(OPTIONS);
  view.setUint32(at, OPTIONS, true);
  let flags = policy.now === undefined ? 0 : PODRANK.OPTIONS_NOW;
  if (gates.PodDeletionCost === false) flags |= PODRANK.OPTIONS_POD_DELETION_COST_OFF;
  if (gates.LogarithmicScaleDown === false) flags |= PODRANK.OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF;
  if (gates.PreferForScaleDown === true) flags |= PODRANK.OPTIONS_PREFER_FOR_SCALE_DOWN_ON;
  view.setUint32(at + 4, flags, true);
  view.setBigInt64(at + 8, BigInt(policy.now ?? 0), true);
  return at;
}

const keys = [];

function key(pod, policy) {
  const at = room(PODRANK.KEY_LEN);
  must(podrank.podrank_key(pod, policy, at, PODRANK.KEY_LEN) === PODRANK.OK, "key");
  return Buffer.from(bytes.slice(at, at + PODRANK.KEY_LEN));
}

/** compare, decide, explain and keys say that the pods stand like this, by this rule. */
function oneWay(a, b, policy, ordering, rule) {
  const [found, by, rows, length] = [room(4), room(1), room(ROW * PODRANK.ROW_MAX), room(4)];
  must(podrank.podrank_compare(a, b, policy, found) === PODRANK.OK && view.getInt32(found, true) === ordering, "compare");
  must(podrank.podrank_decide(a, b, policy, found, by) === PODRANK.OK && view.getInt32(found, true) === ordering, "decide");
  must(rule === undefined ? bytes[by] === PODRANK.RULE_NONE : text(podrank.podrank_rule_str(bytes[by])) === rule, "rule");
  must(podrank.podrank_explain(a, b, policy, rows, PODRANK.ROW_MAX, length) === PODRANK.OK, "explain");
  const deciding = [];
  for (let row = rows; row < rows + ROW * view.getUint32(length, true); row += ROW)
    if (bytes[row + 18] !== 0) deciding.push(bytes[row + 16]);
  must(rule === undefined ? deciding.length === 0 : deciding.length === 1 && deciding[0] === bytes[by], "explain's rule");
  must(Math.sign(Buffer.compare(key(a, policy), key(b, policy))) === ordering, "keys");
}

function pair(group, { first, second, rule, ranks, policy }) {
  const list = [group.pods[first], group.pods[second]];
  const a = pods(list, ranks), b = a + POD;
  const at = options(policy ?? group.policy);
  oneWay(a, b, at, rule === undefined ? 0 : -1, rule);
  oneWay(b, a, at, rule === undefined ? 0 : 1, rule);
  keys.push(key(a, at), key(b, at));
}

/** Where a pod counts: its node, or with all that have none. */
const place = (pod) => (pod.assigned ? pod.node ?? 0 : "unassigned");

function selection(group, { pods: names, related, delete: count, victims, anyOrder, policy }) {
  const list = names.map((name) => group.pods[name]);
  const ranks = related && list.map((pod) => related.filter((name) => place(group.pods[name]) === place(pod)).length);
  const at = pods(list, ranks), policyAt = options(policy ?? group.policy);
  const [order, chosen, selected, scratch] = [room(4 * list.length), room(4 * count), room(4), room(SCRATCH * count)];
  const read = (from, length) => Array.from({ length }, (_, i) => view.getUint32(from + 4 * i, true));

  must(podrank.podrank_sort(at, list.length, policyAt, order, list.length, scratch, count) === PODRANK.OK, "sort");
  for (const scratchLength of [0, count]) {
    must(
      podrank.podrank_select(at, list.length, policyAt, chosen, count, scratch, scratchLength, selected) === PODRANK.OK,
      "select",
    );
    const indices = read(chosen, view.getUint32(selected, true));
    must(`${indices}` === `${read(order, indices.length)}`, "the victims are the first of all");
    const found = indices.map((index) => names[index]), expected = [...victims];
    if (anyOrder) [found, expected].forEach((each) => each.sort());
    must(`${found}` === `${expected}`, "victims");
  }
  list.forEach((_, i) => keys.push(key(at + POD * i, policyAt)));
}

function relation(file, { first, second, relation, policy }) {
  const a = pods([file.pods[first], file.pods[second]]), b = a + POD;
  const at = options(policy ?? { now: file.now });
  const [found, rule] = [room(4), room(1)];
  const is = (a, b, expected) =>
    must(podrank.podrank_kubernetes_compare(a, b, at, found, rule) === PODRANK.OK && view.getInt32(found, true) === expected, relation);
  is(a, b, relation === "tie" ? 0 : -1);
  is(b, a, relation === "tie" ? 0 : 1);
  keys.push(key(a, at), key(b, at));
}

/** Where memory is shared, another thread can write the records. */
async function threads() {
  const source = `
    const { workerData: { memory, at } } = require("node:worker_threads");
    const view = new DataView(memory.buffer);
    for (let i = 0; i < 3; i++) view.setUint32(at + ${POD} * i + 40, i, true);`;
  const at = pods([{}, {}, {}]), policy = options(), order = room(12);
  const worker = new Worker(source, { eval: true, workerData: { memory, at } });
  await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
  must(podrank.podrank_sort(at, 3, policy, order, 3, 0, 0) === PODRANK.OK, "sort");
  must([0, 1, 2].every((i) => view.getUint32(order + 4 * i, true) === 2 - i), "more restarts go first");
}

let cases = 0;

function each(list, name, check) {
  list.forEach((one, i) => {
    top = heap;
    try {
      check(one);
    } catch (error) {
      console.error(`${name} ${i}, ${JSON.stringify(one)}: ${error.message}`);
      process.exit(1);
    }
    cases++;
  });
}

const order = json("order.json"), upstream = json("upstream.json");
for (const group of order) each(group.pairs ?? [], `${group.name}: pair`, (one) => pair(group, one));
for (const group of order) each(group.selections ?? [], `${group.name}: selection`, (one) => selection(group, one));
each(upstream.pairs, "upstream: pair", (one) => relation(upstream, one));
top = heap;
const shared = memory.buffer instanceof SharedArrayBuffer;
if (shared) await threads();

process.stdout.write(keys.map((each) => `${each.toString("hex")}\n`).join(""));
console.error(`${cases} cases, ${shared ? "shared" : "own"} memory`);
