"use strict";
const data = JSON.parse(document.getElementById("trace").textContent);
const $ = (id) => document.getElementById(id);
const kWarp = 32, kSector = 32, kBanks = 32, kWord = 4;
const everyWarp = "every warp";
let launch, events = [], step = 0;

/// An element with a class and a text. Texts only ever become text: nothing of the trace is parsed as HTML.
function make(tag, style, text) {
  const element = document.createElement(tag);
  if (style) element.className = style;
  if (text !== undefined) element.textContent = text;
  return element;
}
const lanesOf = (mask) => [...Array(kWarp).keys()].filter((lane) => Number(BigInt(mask) >> BigInt(lane) & 1n));
/// {lane: entry} of one of an event's lists.
function perLane(event, key) {
  const entries = event[key] || [], found = new Map();
  lanesOf(event.lanes).forEach((lane, k) => { if (entries[k] !== null && entries[k] !== undefined) found.set(lane, entries[k]); });
  return found;
}

function fill(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => {
    const option = make("option", "", text);
    option.value = value;
    option.selected = String(value) === String(chosen);
    return option;
  }));
  select.disabled = entries.length < 2;
}

// ---- what is looked at -----------------------------------------------------------------------------

function chooseLaunch(index, block, warp) {
  launch = data.launches[index];
  $("launch").value = index;
  $("kernel").textContent = launch.title;
  $("about").textContent = [
    data.program, launch.test && `test: ${launch.test}`, launch.lanes_recorded && `recorded: ${launch.lanes_recorded}`,
    !launch.complete && "the recorder stopped before the kernel's end", data.omitted,
  ].filter(Boolean).join("; ");
  const blocks = [...new Set(launch.events.map((event) => event.block))];
  fill($("block"), blocks.map((b) => [b, b]), block === undefined ? blocks[0] : block);
  $("findings").hidden = launch.findings.length === 0;
  $("findings").replaceChildren(...launch.findings.map((finding) => {
    const box = make("div", "finding"), pre = make("pre"), lines = finding.text.split("\n");
    pre.append(make("strong", "", lines[0]), "\n" + lines.slice(1).join("\n"));
    box.append(pre);
    return box;
  }));
  chooseBlock(warp);
}

function chooseBlock(warp) {
  const block = Number($("block").value);
  const warps = [...new Set(launch.events.filter((event) => event.block === block).map((event) => event.warp))].sort((a, b) => a - b);
  const entries = warps.map((w) => [w, w]);
  if (warps.length > 1) entries.push([everyWarp, "all, in the order in which they ran"]);
  fill($("warp"), entries, warp === undefined ? warps[0] : warp);
  chooseWarp();
}

function chooseWarp() {
  const block = Number($("block").value), warp = $("warp").value;
  events = launch.events.filter((event) => event.block === block && (warp === everyWarp || event.warp === Number(warp)));
  $("slider").max = Math.max(events.length, 1);
  shownFile = null;
  go(0);
}

// ---- one event -------------------------------------------------------------------------------------

function go(to) {
  step = Math.max(0, Math.min(events.length - 1, to));  // 0 if there is none
  const event = events[step];
  $("slider").value = step + 1;
  $("where").textContent = `${step + 1} of ${events.length}`;
  $("first").disabled = $("back").disabled = step === 0;
  $("last").disabled = $("next").disabled = step === events.length - 1;
  if (!event) {
    $("where").textContent = "no event";
    $("last").disabled = $("next").disabled = true;
    $("sentence").textContent = "The launch was stopped before anything was recorded.";
    $("detail").textContent = $("lanes-key").textContent = "";
    for (const id of ["source", "lanes", "memory"]) $(id).replaceChildren();
    if (launch.named.length) showSource({ file: launch.named[0][0], line: launch.named[0][1] });
    showTotals();
    return;
  }
  $("slider").setAttribute("aria-valuetext", `event ${step + 1} of ${events.length}: ${event.sentence}`);
  $("sentence").textContent = event.sentence;
  const who = $("warp").value === everyWarp ? `, warp ${event.warp}` : "";
  $("detail").textContent = `line ${event.line} of ${event.file}${who}`;
  showSource(event);
  showLanes(event);
  showMemory(event);
  showTotals();
}

let shownFile = null;
function showSource(event) {
  const box = $("source");
  if (shownFile !== event.file) {
    shownFile = event.file;
    $("source-head").textContent = event.file;
    const busy = new Set(events.filter((e) => e.file === event.file).map((e) => e.line));
    const lines = data.sources[event.file] || [];
    const count = Math.max(lines.length, ...busy);
    box.replaceChildren();
    for (let line = 1; line <= count; ++line) {
      const row = make(busy.has(line) ? "button" : "div");
      row.append(make("span", "number", String(line)), lines[line - 1] || " ");
      if (busy.has(line)) row.addEventListener("click", () => goToLine(line));
      box.append(row);
    }
  }
  for (const row of box.querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
  const row = box.children[event.line - 1];
  if (!row) return;
  row.setAttribute("aria-current", "step");
  const top = row.offsetTop, bottom = top + row.offsetHeight;
  if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
}

/// The next event of a line of the shown file, from the beginning again after the last one.
function goToLine(line) {
  for (let k = 1; k <= events.length; ++k) {
    const to = (step + k) % events.length;
    if (events[to].line === line && events[to].file === shownFile) return go(to);
  }
}

const kLabels = {
  load: ["", "gets"], store: ["gives", ""], atomic: ["gives", "gets back"], shuffle: ["gives", "gets"],
  vote: ["gives", "gets"], reduce: ["gives", "gets"], match: ["gives", "gets"], activemask: ["", "gets"],
};
function showLanes(event) {
  const active = new Set(lanesOf(event.lanes)), gone = new Set();
  for (let k = 0; k < step; ++k) {
    if (events[k].op === "return" && events[k].warp === event.warp) lanesOf(events[k].lanes).forEach((lane) => gone.add(lane));
  }
  const brings = perLane(event, event.op === "store" || event.op === "atomic" ? "values" : "given");
  const takes = event.op === "store" ? new Map() : perLane(event, event.op === "atomic" ? "old" : "values");
  const sources = perLane(event, "sources"), expected = perLane(event, "expected"), stored = perLane(event, "stored");
  const threads = launch.block.reduce((a, b) => a * b, 1);
  const [giveLabel, getLabel] = kLabels[event.op] || ["", ""];
  $("lanes").replaceChildren(...[...Array(kWarp).keys()].map((lane) => {
    const cell = make("li"), words = [];
    cell.append(make("b", "", String(lane)));
    if (event.warp * kWarp + lane >= threads) {
      cell.className = "none"; words.push("does not exist"); cell.append(make("span", "", "none"));
    } else if (gone.has(lane)) {
      cell.className = "gone"; words.push("has returned"); cell.append(make("span", "", "left"));
    } else if (!active.has(lane)) {
      cell.className = "idle"; words.push("takes no part"); cell.append(make("span", "", "–"));
    } else {
      cell.className = `on L${lane}`;
      words.push("takes part");
      if (expected.has(lane)) { cell.append(make("span", "", `=${expected.get(lane)}?`)); words.push(`expects ${expected.get(lane)}`); }
      if (brings.has(lane)) { cell.append(make("span", "", brings.get(lane))); words.push(`${giveLabel} ${brings.get(lane)}`); }
      if (takes.has(lane)) {
        const from = sources.has(lane) && sources.get(lane) !== lane ? ` of lane ${sources.get(lane)}` : "";
        cell.append(make("span", "", (brings.has(lane) ? "→ " : "") + takes.get(lane)));
        words.push(`${getLabel} ${takes.get(lane)}${from}`);
        if (stored.has(lane)) {
          cell.append(make("b", "", stored.get(lane) ? "✓ stored" : "not stored"));
          words.push(stored.get(lane) ? "stored" : "not stored");
        }
      }
      if (sources.has(lane)) cell.append(make("b", "", sources.get(lane) === lane ? "own" : `of ${sources.get(lane)}`));
    }
    cell.title = `lane ${lane}: ${words.join(", ")}`;
    cell.setAttribute("aria-label", cell.title);
    return cell;
  }));
  const parts = [], idle = document.querySelectorAll("#lanes .idle").length;
  if (brings.size && takes.size) parts.push(`${giveLabel} → ${getLabel}`);
  else if (brings.size) parts.push(`value: what the lane ${giveLabel}`);
  else if (takes.size) parts.push(`value: what the lane ${getLabel}`);
  if (sources.size) parts.push("below: whose value it is");
  if (idle) parts.push("hatched: takes no part");
  $("lanes-key").textContent = parts.join("; ");
}

const elementText = (index) => String(Number.isInteger(index) ? index : index.toFixed(2));
/// "d_x[3]": the element to which a byte belongs; bytes are counted as the touches' are.
function elementName(array, byte) {
  const { name, offset, element_bytes: size } = launch.arrays[array];
  return `${name}[${Math.floor((byte - offset) / size)}]`;
}

function showMemory(event) {
  const places = perLane(event, "places"), box = $("memory");
  box.replaceChildren();
  $("memory-head").textContent = event.cost && places.size ? `Memory: ${event.cost}` : "Memory";
  if (!places.size) { box.append(make("p", "soft", "This event touches no memory.")); return; }
  const touches = [...places].map(([lane, [array, index]]) => {
    const begin = launch.arrays[array].offset + Math.round(index * launch.arrays[array].element_bytes);
    return { lane, array, index, begin, end: begin + event.bytes };
  });
  if (event.op === "atomic") showAddresses(touches, box);
  else if (launch.arrays[touches[0].array].space === "shared") showBanks(touches, box);
  else showSectors(touches, box);
}

function laneClass(lanes) { return lanes.length > 1 ? "on-lane many" : `on-lane L${lanes[0]}`; }
function laneList(lanes) {
  return lanes.length === 1 ? `lane ${lanes[0]}` : lanes.length === lanes[lanes.length - 1] - lanes[0] + 1
    ? `lanes ${lanes[0]} to ${lanes[lanes.length - 1]}` : `lanes ${lanes.join(", ")}`;
}

function showAddresses(touches, box) {
  const found = new Map();
  for (const t of touches) {
    const name = `${launch.arrays[t.array].name}[${elementText(t.index)}]`;
    found.set(name, [...(found.get(name) || []), t.lane]);
  }
  box.append(...[...found].map(([name, lanes]) => make("div", `address ${laneClass(lanes)}`, `${name} ← ${laneList(lanes)}`)));
}

function showSectors(touches, box) {
  const keys = new Map(), shared = [];
  for (const t of touches) {
    for (let s = Math.floor(t.begin / kSector); s <= Math.floor((t.end - 1) / kSector); ++s) keys.set(`${t.array} ${s}`, [t.array, s]);
  }
  for (const [array, sector] of [...keys.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const size = launch.arrays[array].element_bytes, unit = Math.min(size, kSector);
    const holder = make("div", "sector", elementName(array, sector * kSector));
    const bytes = make("div", "bytes");
    for (let at = sector * kSector; at < (sector + 1) * kSector; at += unit) {
      const lanes = touches.filter((t) => t.array === array && t.begin < at + unit && t.end > at).map((t) => t.lane);
      const cell = make("i", lanes.length ? laneClass(lanes) : "", lanes.length && unit > 1 ? (lanes.length > 1 ? "+" : String(lanes[0])) : "");
      cell.style.setProperty("--share", unit / kSector);
      if (lanes.length > 1) shared.push(`${elementName(array, at)} for ${laneList(lanes)}`);
      cell.title = `${elementName(array, at)}: ${lanes.length ? laneList(lanes) : "not touched"}`;
      bytes.append(cell);
    }
    holder.append(bytes);
    box.append(holder);
  }
  if (shared.length) box.append(make("p", "soft", `+: several lanes: ${shared.slice(0, 4).join("; ")}${shared.length > 4 ? "; …" : ""}`));
}

function showBanks(touches, box) {
  const words = new Map();
  for (const t of touches) {
    for (let w = Math.floor(t.begin / kWord); w <= Math.floor((t.end - 1) / kWord); ++w) {
      const key = `${t.array} ${w}`;
      if (!words.has(key)) words.set(key, { array: t.array, word: w, lanes: [] });
      words.get(key).lanes.push(t.lane);
    }
  }
  const grid = make("div", "banks");
  for (let bank = 0; bank < kBanks; ++bank) {
    const column = make("div");
    for (const { array, word, lanes } of [...words.values()].filter((w) => w.word % kBanks === bank).sort((a, b) => b.word - a.word)) {
      const cell = make("i", laneClass(lanes), lanes.length > 1 ? "×" + lanes.length : String(lanes[0]));
      cell.title = `${elementName(array, word * kWord)}, bank ${bank}: ${laneList(lanes)}`;
      column.append(cell);
    }
    column.append(make("b", "", String(bank)));
    grid.append(column);
  }
  const name = [...new Set(touches.map((t) => launch.arrays[t.array].name))].join(", ");
  box.append(grid, make("p", "soft", `${name}: columns are the 32 banks; words in one bank take turns.`));
}

function showTotals() {
  const rows = new Map();
  const add = (name, cost, unit) => {
    const row = rows.get(name) || { requests: 0, cost: 0, unit };
    row.requests += 1; row.cost += cost; rows.set(name, row);
  };
  for (const event of events.slice(0, step + 1)) {
    if (event.sectors !== undefined) add(`global ${event.op}s`, event.sectors, "sector");
    else if (event.wavefronts !== undefined) add(`shared ${event.op}s`, event.wavefronts, "wavefront");
    else if (event.op === "atomic") add("atomics", lanesOf(event.lanes).length, "lane");
    else if (event.op === "barrier") add("barriers of the block", 0, "");
    else if (event.op === "cluster_barrier") add("barriers of the cluster", 0, "");
    else if (event.op === "syncwarp") add("barriers of the warp", 0, "");
    else if (["shuffle", "vote", "reduce", "match"].includes(event.op)) add("shuffles, votes, reductions", 0, "");
  }
  $("totals").tBodies[0].replaceChildren(...[...rows].map(([name, row]) => {
    const line = make("tr"), head = make("th", "", name);
    head.scope = "row";
    line.append(head, make("td", "", String(row.requests)), make("td", "", row.unit ? `${row.cost} ${row.unit}${row.cost === 1 ? "" : "s"}` : "–"));
    return line;
  }));
  if (!rows.size) {
    const line = make("tr"), cell = make("td", "soft", "nothing yet");
    cell.colSpan = 3; line.append(cell); $("totals").tBodies[0].append(line);
  }
}

// ---- the reader ------------------------------------------------------------------------------------

$("first").addEventListener("click", () => go(0));
$("back").addEventListener("click", () => go(step - 1));
$("next").addEventListener("click", () => go(step + 1));
$("last").addEventListener("click", () => go(events.length - 1));
$("slider").addEventListener("input", () => go(Number($("slider").value) - 1));
$("launch").addEventListener("change", () => chooseLaunch(Number($("launch").value)));
$("block").addEventListener("change", () => chooseBlock());
$("warp").addEventListener("change", chooseWarp);
document.addEventListener("keydown", (key) => {
  if (key.altKey || key.ctrlKey || key.metaKey || ["SELECT", "INPUT"].includes(document.activeElement.tagName)) return;
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, PageUp: step - 10, PageDown: step + 10, Home: 0, End: events.length - 1 }[key.key];
  if (to === undefined) return;
  key.preventDefault();
  go(to);
});

fill($("launch"), data.launches.map((l, k) => [k, `${l.number}: ${l.title}${l.findings.length ? ", with a finding" : ""}`]), data.chosen.launch);
chooseLaunch(data.chosen.launch, data.chosen.block, data.chosen.warp);
