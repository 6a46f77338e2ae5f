// The page of the explorer. It executes no step: `source` answers from the server, or from states that stand in the file.
//
// source.features: which there are of find, watch, picture, check.
// source.about(), .view(node, before, others), .take(node, choice), .disabled(node), .trace(name), .open(address),
// .watch(expression), .forget(expression), .values(nodes, expressions), .find(node, expression), .picture(way, window), .check(),
// .place(line), .enter(line, state): promises.
import { readAddress, writeAddress } from "./address.js";
import { longList, rowOf, svgBox, text, valueCell } from "./elements.js";
import { watchedItem, watches } from "./watches.js";

const WALKED_MAX = 20;
const NUMBERED_MAX = 300;  // steps of a run whose numbers are known
const STRIDE = 30;         // steps by which windows of the diagram are apart; each has twice as many
const ADDRESS_MS = 350;    // browsers refuse more writes of the address than a hundred in half a minute
const SCROLLS = {ArrowUp: [0, -60], ArrowDown: [0, 60], ArrowLeft: [-60, 0], ArrowRight: [60, 0]};
const $ = (id) => document.getElementById(id);

export async function start(source) {
  const about = await source.about();
  const runs = new Map(Object.entries(about.traces || {}).map(([name, told]) => [name, {...told, given: true, load: () => source.trace(name)}]));
  // What the page shows. It is replaced as a whole, when the view of its state is there: no part of the page is ahead of another.
  let shown = {
    way: [], here: 0, view: null,
    run: "",                    // the run that is walked, "" if it was left
    left: {run: "", at: 0, log: null},  // the run that was left, or the line and state of the log (with its step), and where
    others: [],                 // runs that stand beside: name and labels
    pinned: null,               // the node whose values stand beside
    line: null, place: null, state: 0,  // the line of the log, the states in which the system may be there, and the number of this one
  };
  let chosen = 0, asked = 0, showWhy = true, changesOnly = false, watched = [], unfolded = new Set(), allUnfolded = false;
  let walks = 0, drawn = {}, block = 0, listed = "";

  $("title").textContent = about.name;
  $("constants").textContent = Object.entries(about.constants).map(([name, value]) => `${name}=${value}`).join(", ");
  $("contents").textContent = about.contents ? `${about.contents[0].toUpperCase()}${about.contents.slice(1).replace("in it", "in this file")}.` : "";
  for (const feature of ["find", "watch", "check"]) $(feature).hidden = !source.features.includes(feature);
  watched = about.watched || [];
  $("questions-part").hidden = !source.features.includes("find") && !watched.length;
  $("picture-part").hidden = !source.features.includes("picture");
  document.querySelector("main").classList.toggle("no-picture", !source.features.includes("picture"));

  const drawWay = longList($("way"), () => shown.way.length, wayRow, (index) => guarded(() => goTo(index)));
  const drawStarts = longList($("starts"), () => (shown.way.length ? about.starts.length : 0), startRow, (index) => guarded(() => begin(index)));
  const drawLog = longList($("log"), () => (about.log ? about.log.lines.length : 0), logRow, (index) => guarded(() => enter(index, 0)));
  const watching = watches(source), putPicture = svgBox($("picture"));

  function notice(message) { $("notice").textContent = message || ""; }

  async function quietly(work) {
    try { return await work(); } catch (error) { notice(error.message); return undefined; }
  }

  // One thing after the other: who types fast is at the next state when the next key is looked at.
  let queue = Promise.resolve(), waiting = 0;
  function guarded(work) {
    waiting += 1;
    queue = queue.then(() => quietly(work)).finally(() => { waiting -= 1; });
    return queue;
  }

  // Runs ----------------------------------------------------------------------------------------------------

  function listRuns() {
    const known = [...runs.keys()], {run, others} = shown, now = JSON.stringify(known);
    if (listed !== now) {
      listed = now;
      $("runs").hidden = $("beside").hidden = !known.length;
      $("runs").replaceChildren(new Option("jump to a run", ""), ...known.map((name) => new Option(`${name} (${runs.get(name).steps} ${runs.get(name).steps === 1 ? "step" : "steps"})`, name)));
      $("besides").replaceChildren(...known.map((name) => {
        const label = document.createElement("label"), box = document.createElement("input");
        box.type = "checkbox";
        box.value = name;
        box.onchange = () => { const {checked} = box; guarded(() => besides(name, checked)); };
        label.append(box, ` ${name}`);
        return label;
      }));
    }
    for (const box of $("besides").querySelectorAll("input")) box.checked = others.some((one) => one.name === box.value);
    $("runs").value = run;
  }

  // Lay a run beside, or take it away; the others stay as they are.
  async function besides(name, stands) {
    const names = [...runs.keys()].filter((one) => one === name ? stands : shown.others.some((other) => other.name === one));
    await show({others: await Promise.all(names.map(async (one) => ({name: one, labels: await runs.get(one).load()})))});
  }

  // What was walked by hand stays a run of this page.
  function keep() {
    const {way, run, line} = shown;
    if (run || line !== null || way.length < 2 || walks >= WALKED_MAX) return;
    walks += 1;
    runs.set(`walk ${walks}`, {steps: way.length - 1, loop: null, load: async () => way});
  }

  // Leave what is shown for another way.
  const LEFT = {run: "", left: {run: "", at: 0, log: null}, line: null, place: null, state: 0};
  async function leaveFor(changes, told) {
    keep();
    chosen = 0;
    await show({...LEFT, ...changes, way: changes.way.map((label) => ({...label}))}, told);
  }

  async function jump(name, at) {
    const labels = await runs.get(name).load(), loop = loopOf(name), last = labels.length - 1;
    const told = loop === null ? "" : loop === last
      ? "This run stays in its last state for ever." : `This run goes on for ever: after the last step it repeats from step ${loop + 1}, marked ↻.`;
    const here = at === undefined ? labels.findIndex((one) => one.node >= 0) : Math.min(at, last);
    await leaveFor({way: labels, here, run: name, left: {run: name, at: last, log: null}}, told);
  }

  function loopOf(name) {
    const loop = runs.has(name) ? runs.get(name).loop : null;
    return loop === undefined ? null : loop;
  }

  async function check() {
    notice("checking …");
    const found = await source.check();
    for (const one of found.properties) if (one.run) runs.set(one.run, {...one.told_run, load: () => source.trace(one.run)});
    $("properties").replaceChildren(text("li", found.told, "note"), ...found.properties.map((one) => {
      const item = document.createElement("li");
      item.append(text("span", `${{holds: "✓", violated: "✗"}[one.outcome] || "?"} ${one.name} `, one.outcome === "violated" ? "broken" : ""), text("span", one.told, "note"));
      if (one.run) {
        const go = text("button", one.outcome === "violated" ? "counterexample" : "the run");
        go.onclick = () => guarded(() => jump(one.run));
        item.append(" ", go);
      }
      return item;
    }));
    listRuns();
    notice("");
    const first = $("properties").querySelector("button");
    $("properties").scrollIntoView({block: "nearest"});
    if (first) first.focus();
  }

  // Walking -------------------------------------------------------------------------------------------------

  // Show what is shown now with these changes, and a notice with it; `given` is the view, where it is known.
  async function show(changes, told, given) {
    const next = {...shown, ...changes}, {way, here, others, pinned} = next;
    if (way[here].node < 0) { notice(`The state of step ${here} is not in this file.`); return; }
    const ticket = ++asked;
    const before = pinned !== null ? pinned : here > 0 && way[here - 1].node >= 0 ? way[here - 1].node : null;
    const view = given && pinned === null && !others.length ? given
      : await source.view(way[here].node, before, others.map((one) => one.labels[Math.min(here, one.labels.length - 1)].node));
    if (ticket !== asked) return;  // somebody was faster
    shown = {...next, view};
    if (view.false.length) way[here].broken = [...new Set([...(way[here].broken || []), ...view.false.map((one) => one.name)])];
    for (const flag of ["whole", "addressed"]) delete document.documentElement.dataset[flag];
    chosen = Math.min(chosen, Math.max(0, view.enabled.length - 1));
    if (way[here + 1]) chosen = Math.max(0, view.enabled.findIndex((one) => one.step === way[here + 1].step));
    if (told !== undefined) notice(told);
    quietly(() => later(ticket));  // asked for before the page is busy with what is there
    listRuns();
    draw();
    placeAddress();
  }

  const goTo = (here) => show({here});

  // What follows the state: the diagram, the disabled steps, the watched expressions; each as it comes.
  async function later(ticket) {
    const {way, here} = shown, node = way[here].node;
    const fresh = (draw) => (found) => ticket === asked ? draw(found) : undefined;
    const scrolls = await Promise.all([
      source.features.includes("picture") && drawWindow(Math.floor(here / STRIDE)),
      showWhy && drawDisabled(ticket, node),
      watched.length && watching.values(shown, watched).then(fresh(drawWatched)),
    ]);
    for (const scroll of scrolls) if (scroll && ticket === asked) scroll();  // now, for each asks for the layout of all
    if (ticket === asked) document.documentElement.dataset.whole = "true";  // nothing more comes
  }

  // The diagram -----------------------------------------------------------------------------------------------

  // Draw the window of this number round; the steps of the way after the one that is shown are pale.
  async function drawWindow(wanted) {
    const {way, here, run} = shown, steps = way.length - 1, ticket = asked;
    block = Math.max(1, Math.min(wanted, Math.floor(steps / STRIDE)));
    const first = (block - 1) * STRIDE + 1, last = Math.min(steps, (block + 1) * STRIDE);
    const loop = loopOf(run) !== null && last === steps ? loopOf(run) : null, key = `${way[last].node} ${first} ${loop}`;
    const found = drawn.key === key && source.features.includes("find") ? drawn : await source.picture(way, {here, block, first, last, loop});
    return ticket === asked ? drawPicture({...found, key}, first, last, here, steps) : undefined;
  }

  function drawPicture(found, first, last, here, steps) {
    const box = $("picture"), upTo = (number) => number.toLocaleString("en");
    if (found.told) box.replaceChildren(text("p", found.told));
    else { if (drawn.told) box.replaceChildren(); putPicture(found.svg); }
    drawn = found;
    $("windows").hidden = first === 1 && last === steps;
    $("windows-told").textContent = `steps ${upTo(first)} to ${upTo(last)} of ${upTo(steps)}`;
    $("earlier").disabled = first === 1;
    $("further").disabled = last === steps;
    const picture = box.querySelector("svg");
    if (!picture) return undefined;
    const top = found.rows[Math.max(1, Math.min(here - found.first + 2, found.rows.length))] ?? found.bottom;
    let cover = box.querySelector(".later");
    if (top >= found.bottom) { if (cover) cover.remove(); } else if (!cover) {
      cover = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [name, value] of Object.entries({class: "later", x: 0, width: "100%", fill: "#fff", opacity: ".75"})) cover.setAttribute(name, value);
      picture.append(cover);
    }
    if (cover) { cover.setAttribute("y", top); cover.setAttribute("height", Math.max(0, found.bottom - top)); }
    return () => {
      const scale = picture.clientWidth / picture.viewBox.baseVal.width, begin = (found.rows[Math.max(0, here - found.first + 1)] ?? found.rows[0]) * scale;
      if (begin < box.scrollTop + 60 || top * scale > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top * scale - box.clientHeight * .7);
    };
  }

  // The address ------------------------------------------------------------------------------------------------

  // Of a long run that was opened by its name the address has that name, and what was walked after it; of a log the line and
  // the state; else all steps.
  function placeOf({way, here, left, line}) {
    const names = (from, to) => way.slice(from + 1, to + 1).map((one) => one.step);
    const start = about.starts.indexOf(way[0].node), at = Math.min(here, left.at);
    if (left.log && here >= left.log.at && left.at === left.log.at && (line !== null || start < 0)) {
      return {...left.log, names: names(0, left.at), further: names(left.at, here)};
    }
    const run = runs.get(left.run), given = run && run.given;
    if (given && (here > NUMBERED_MAX || start < 0)) {
      return {run: left.run, run_digest: run.digest, at: at + (run.before || 0), names: names(at, here)};
    }
    if (start < 0) throw new Error("this way begins in no initial state");
    const choices = way.slice(1, here + 1).map((one) => one.choice);
    return {start, choices: choices.every((one) => one >= 0) ? choices : [], begins: begins(start), names: names(0, here)};
  }

  // One write after the other, and not too many; the last one holds the place.
  const addressed = location.protocol !== "about:";  // a frame of a notebook has no address
  let placing = null, placed = -ADDRESS_MS;
  function placeAddress() {
    if (addressed && !placing) placing = placeSoon().finally(() => { placing = null; });
    return placing;
  }

  async function placeSoon() {
    let wait = placed + ADDRESS_MS - performance.now(), wanted = null;
    while (wanted !== shown) {
      await new Promise((go) => { setTimeout(go, Math.max(0, wait)); });
      wanted = shown;
      const told = await quietlyPlaced(wanted);
      $("address-told").textContent = told ? `The address line does not hold this place: ${told}.` : "";
      wait = told ? 3000 : ADDRESS_MS;
      if (!told && wanted === shown) document.documentElement.dataset.addressed = "true";
      if (told === REFUSED) wanted = null;  // once more
    }
  }

  const REFUSED = "the browser has not taken it yet";
  async function quietlyPlaced(wanted) {
    try {
      const hash = await writeAddress(about, placeOf(wanted));
      placed = performance.now();
      try { history.replaceState(null, "", hash); } catch { return REFUSED; }
      return location.hash === hash ? "" : REFUSED;
    } catch (error) { return error.message; }
  }

  async function take(choice) {
    const {way, here, view} = shown;
    if (choice < 0 || choice >= view.enabled.length) return;
    const step = view.enabled[choice], next = way[here + 1];
    if (next && next.step === step.step) { await goTo(here + 1); return; }
    const after = await source.take(way[here].node, choice);
    const ways = (one) => one.choice === choice || (one.known !== null && one.known !== undefined) || (next && one.step === next.step);
    const grown = way.slice(0, here + 1);
    grown[here] = {...way[here], branches: view.enabled.filter(ways).length - 1};
    grown.push({node: after.node, step: step.step, choice, emits: after.emits, broken: after.broken, branches: 0});
    if (next) keep();
    chosen = 0;
    const left = {...shown.left, at: Math.min(shown.left.at, here)};
    await show({...LEFT, way: grown, here: here + 1, left}, "", after.view);
  }

  function back() { return shown.here > 0 ? goTo(shown.here - 1) : undefined; }

  function forth() {
    const {way, here, run} = shown, loop = loopOf(run);
    if (here < way.length - 1) return goTo(here + 1);
    return loop !== null && loop < way.length - 1 ? goTo(loop + 1) : undefined;
  }

  // Initial states --------------------------------------------------------------------------------------------

  const several = about.starts.length > 1;
  function begins(start) { return several ? about.beginnings[start] || "" : ""; }

  function startRow(index) {
    const there = about.starts[index] >= 0;
    const parts = [text("span", `${index + 1}  ${begins(index) || (about.beginnings[index] === "" ? "as declared" : "")}`)];
    if (!there) parts.push(text("span", "not in this file", "count"));
    return rowOf(parts, index, {here: about.starts[index] === shown.way[0].node, later: !there, take: () => guarded(() => begin(index))});
  }

  async function begin(index) {
    const node = about.starts[index];
    if (node === undefined) return;
    if (node < 0) { notice(`Initial state ${index + 1} is not in this file.`); return; }
    await leaveFor({way: [{node, step: "the start", choice: -1, emits: [], broken: []}], here: 0}, "");
  }

  function drawBeginning() {
    const at = about.starts.indexOf(shown.way[0].node);
    $("starts-part").hidden = !several || shown.here > 0;
    if ($("starts-part").hidden) return;
    $("starts-title").textContent = `Initial states: ${about.starts.length.toLocaleString("en")} (i)`;
    drawStarts(Math.max(0, at));
  }

  function draw() {
    const {way, here, run, others} = shown;
    $("way-title").textContent = `Way: step ${here} of ${way.length - 1}`;
    document.querySelector("main").classList.toggle("side", others.length > 0);
    $("way-head").hidden = !others.length;
    $("way-head").replaceChildren(text("span", run || "this way"), ...others.map((one) => text("span", one.name)));
    for (const one of others) one.differs = way.findIndex((own, index) => index >= one.labels.length || one.labels[index].step !== own.step);
    drawWay(here);
    drawPlace();
    drawBeginning();
    drawEnabled();
    drawState();
    document.title = `${way[here].step} · ${about.name}`;
  }

  function wayRow(index) {
    const {way, here, run, others} = shown, one = way[index], loop = loopOf(run);
    const own = text("span", `${index}  ${one.step}`), start = index || !several ? -1 : about.starts.indexOf(one.node);
    if (start >= 0) own.append(text("span", `  initial state ${start + 1} of ${about.starts.length.toLocaleString("en")}`, "note"));
    if (loop !== null && (index > loop || (index === loop && loop === way.length - 1))) own.prepend("↻ ");
    if (one.line) own.append(text("span", `  ${one.line}`, "note"));
    if (one.broken && one.broken.length) own.append(text("span", `  ✗ ${one.broken.join(", ")}`, "broken"));
    if (one.emits && one.emits.length) own.append(text("span", `  » ${one.emits.join(", ")}`, "note"));
    if (one.branches) own.append(text("span", `  ⎇ ${one.branches + 1}`, "note"));
    const beside = others.map(({labels, differs}) => {
      if (index >= labels.length) return text("span", "(ended)", "note");
      const same = labels[index].step === one.step, first = index === differs;
      return text("span", `${same ? "" : "≠ "}${labels[index].step}`, first ? "broken" : same ? "note" : "");
    });
    return rowOf([own, ...beside], index, {here: index === here, later: index > here, take: () => guarded(() => goTo(index))});
  }

  function drawEnabled() {
    const {view} = shown;
    $("steps-title").textContent = view.enabled.length ? `Steps: ${view.enabled.length} enabled` : "Steps: none is enabled";
    const focused = $("enabled").contains(document.activeElement);
    $("enabled").replaceChildren(...view.enabled.map((step) => {
      const item = document.createElement("li"), button = text("button", step.step);
      const notes = [];
      if (step.fault) notes.push("fault");
      if (step.stays) notes.push("changes nothing");
      if (step.known !== null && step.known !== undefined) notes.push("walked");
      if (step.to === -1) { notes.push("not in this file"); button.disabled = true; }
      if (notes.length) button.append(text("span", `  ${notes.join(", ")}`, "note"));
      if (step.breaks.length) button.append(text("span", `  ✗ ${step.breaks.join(", ")}`, "broken"));
      if (step.choice === chosen) { button.classList.add("chosen"); button.setAttribute("aria-current", "true"); }
      button.onclick = () => guarded(() => take(step.choice));
      item.append(button);
      return item;
    }));
    const ready = $("enabled").querySelector(".chosen");
    if (focused && ready) ready.focus();  // who walks by Tab and Enter stays among the steps
    if (view.error) notice(`The specification has an error in a step from here: ${view.error}`);
    $("disabled").replaceChildren();
    $("disabled").hidden = !showWhy;
    $("why").setAttribute("aria-expanded", String(showWhy));
    $("why").textContent = showWhy ? "Hide the disabled (d)" : "Show the disabled (d)";
  }

  function choose(by) {
    chosen = Math.max(0, Math.min(chosen + by, shown.view.enabled.length - 1));
    const buttons = [...$("enabled").querySelectorAll("button")];
    buttons.forEach((button, index) => {
      button.classList.toggle("chosen", index === chosen);
      if (index === chosen) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
    });
    if (buttons[chosen]) buttons[chosen].scrollIntoView({block: "nearest"});
  }

  function guardOf(reason) {
    const guard = text("div", "", "guard");
    guard.append(reason.guard === "" ? "" : "requires ", text("code", reason.guard));
    if (reason.at) guard.append(text("span", `  ${reason.at}`, "note"));
    return guard;
  }

  async function drawDisabled(ticket, node) {
    const found = await source.disabled(node);
    if (ticket !== asked) return;
    $("disabled").replaceChildren(...found.map((reason) => {
      const item = document.createElement("li");
      const names = reason.steps.join(", ") + (reason.more ? `, and ${reason.more} more` : "");
      item.append(text("span", names || reason.action, "steps"), guardOf(reason));
      return item;
    }));
  }

  function drawState() {
    const {way, here, view, others, pinned, place} = shown;
    $("state-title").textContent = way[here].step === "the start" ? "State at the start" : `State after ${way[here].step}`;
    $("pin").textContent = pinned === null ? "Pin (p)" : "Unpin (p)";
    $("difference").textContent = view.difference ? `✗ The implementation differs ${view.difference}` : "";
    $("false").replaceChildren(...view.false.map((one) => {
      const part = document.createElement("div"), list = document.createElement("ul");
      list.append(...one.because.map((because) => text("li", because)));
      part.append(text("span", `✗ ${one.name} is false`, "false"), list);
      return part;
    }));
    const possible = place && place.total > 1 ? Object.fromEntries(place.parts.map((part) => [part.where, part.values])) : null;
    const beside = pinned !== null || !others.length;  // for the state before there is no room beside others
    const columns = ["part", "here", ...(beside ? [pinned !== null ? "pinned" : "before"] : [])];
    const changed = view.fields.filter((field) => field.before !== null).map((field) => field.where);
    $("changes").textContent = changed.length ? `● ${pinned !== null ? "differs" : "changed"}: ${changed.slice(0, 8).join(", ")}${changed.length > 8 ? `, and ${changed.length - 8} more` : ""}` : "";
    if (view.implementation) columns.push("implementation");
    if (possible) columns.push(`in the ${place.total} states`);
    columns.push(...others.map((one) => `${one.name}, step ${Math.min(here, one.labels.length - 1)}`));
    $("columns").replaceChildren(...columns.map((name) => { const head = text("th", name); head.scope = "col"; return head; }));
    const filter = $("filter").value.toLowerCase();
    const rows = view.fields.filter((field) => (!changesOnly || field.before !== null)
      && (!filter || field.where.toLowerCase().includes(filter) || field.value.toLowerCase().includes(filter)));
    drawFields(rows.map((field) => ({where: field.where, told: JSON.stringify([columns, field, allUnfolded || unfolded.has(field.where),
      view.implementation && view.implementation[field.where], possible && possible[field.where], (view.others || []).map((other) => other[field.where])]), make: () => {
      const row = document.createElement("tr"), where = field.where;
      if (field.before !== null) row.className = "changed";
      row.append(text("td", where), cell(where, field.value));
      if (beside) row.append(cell(where, field.before === null ? "" : field.before));
      if (view.implementation) row.append(compared(where, field.value, view.implementation[where]));
      if (possible) row.append(cell(where, (possible[where] || []).map(([value, count]) => `${value} in ${count}`).join("; ")));
      for (const other of view.others || []) row.append(compared(where, field.value, other[where]));
      return row;
    }})));
    $("own").hidden = !view.drawn;
    if (view.drawn) $("own").innerHTML = view.drawn;
  }

  // Rows that tell what they told stay: most of a large state does not change.
  let fieldsDrawn = [];
  function drawFields(rows) {
    const old = [...$("fields").children], same = rows.length === fieldsDrawn.length && rows.every((row, index) => row.where === fieldsDrawn[index].where);
    if (!same) $("fields").replaceChildren(...rows.map((row) => row.make()));
    else rows.forEach((row, index) => { if (row.told !== fieldsDrawn[index].told) old[index].replaceWith(row.make()); });
    fieldsDrawn = rows;
  }

  function compared(where, value, other) {
    const found = cell(where, other === undefined ? "" : other);
    if (other !== undefined && other !== value) found.className = "differs";
    return found;
  }

  function cell(where, value) {
    return valueCell(value, allUnfolded || unfolded.has(where), () => {
      if (allUnfolded) { allUnfolded = false; shown.view.fields.forEach((field) => unfolded.add(field.where)); }
      if (!unfolded.delete(where)) unfolded.add(where);
      drawState();
      const folds = [...$("fields").children].find((row) => row.firstChild.textContent === where);
      if (folds) folds.querySelector(".value").focus();
    });
  }

  function drawWatched(rows) {
    const {here} = shown, may = source.features.includes("watch");
    $("watched").replaceChildren(...rows.map((row) => watchedItem(row, here, (step) => guarded(() => goTo(step)), may && (() => guarded(async () => {
      await source.forget(row.expression);
      watched = watched.filter((one) => one !== row.expression);
      $("watched").replaceChildren();
      await show({});
    })))));
    return () => {
      for (const row of $("watched").querySelectorAll("[aria-current]")) row.parentElement.scrollTop = row.offsetTop - row.parentElement.clientHeight / 2;
    };
  }

  // The log -------------------------------------------------------------------------------------------------

  function logRow(index) {
    const {line} = shown, one = about.log.lines[index], parts = [text("span", one.at ? `${one.at}  ${one.text}` : one.text)];
    if (one.states !== null) parts.push(text("span", `${one.complete ? "" : "≥ "}${one.states} ${one.states === 1 ? "state" : "states"}`, "count"));
    else parts.push(text("span", "✗ not explained", "count broken"));
    return rowOf(parts, index, {here: index === line, later: line !== null && index > line, take: () => guarded(() => enter(index, 0))});
  }

  const lastExplained = () => about.log.lines.filter((one) => one.states !== null).length - 1;

  async function enter(index, number, note = "") {
    const last = lastExplained(), at = Math.max(0, Math.min(index, last));
    const found = await source.place(at);
    const which = Math.max(0, Math.min(number, found.states.length - 1));
    const entered = await source.enter(at, which), end = entered.length - 1;
    if (entered[end].node < 0) { notice(`This state is not in this file: ${about.contents}.`); return; }
    const told = note || (index > last ? `${about.log.lines[index].at} is not explained: here are the states before it.` : "");
    const log = {line: at, line_digest: about.log.lines[at].digest, state: which, state_digest: found.states[which].digest, at: end};
    await leaveFor({way: entered, here: end, line: at, place: found, state: which, left: {run: "", at: end, log}}, told);
  }

  function drawPlace() {
    const {line, place, state} = shown;
    if (about.log) drawLog(line === null ? 0 : line);
    $("possible").hidden = !place;
    $("kept-back").replaceChildren();
    if (!place) return;
    $("possible").replaceChildren(text("div", place.told), text("div", line ? about.log.lines[line].text : "", "note"));
    if (place.states.length > 1) {
      const list = document.createElement("div");
      list.append(...place.states.map((one, index) => {
        const button = text("button", `${index + 1}${one.goes === false ? " ✗" : ""}`);
        button.title = one.goes === false ? "the rest of the log is not explained from here" : "";
        button.setAttribute("aria-pressed", String(index === state));
        button.onclick = () => guarded(() => enter(line, index));
        return button;
      }));
      $("possible").append(list);
    }
    const one = place.states[state];
    for (const kept of one.kept) {
      const part = document.createElement("div"), list = document.createElement("ul");
      list.append(...kept.obstacles.map((why) => {
        const item = text("li", why.steps.join(", ") || why.action), reason = text("div", `✗ ${why.why}`);
        if (why.at) reason.append(text("span", `  ${why.at}`, "note"));
        item.append(reason);
        return item;
      }));
      part.append(text("span", `✗ ${kept.at} is not possible here`, "broken"), text("div", kept.text, "note"), list);
      $("kept-back").append(part);
    }
    if (one.goes === false && !one.kept.length) $("kept-back").append(text("p", "The next line is possible here; the rest of the log is explained by no way from here.", "note"));
  }

  // Keys ----------------------------------------------------------------------------------------------------

  const keys = {
    ArrowDown: () => choose(1), ArrowUp: () => choose(-1), j: () => choose(1), k: () => choose(-1),
    ArrowRight: () => guarded(() => take(chosen)), Enter: () => guarded(() => take(chosen)),
    ArrowLeft: () => guarded(back), Backspace: () => guarded(back),
    f: () => guarded(forth),
    Home: () => guarded(() => goTo(0)), End: () => guarded(() => goTo(shown.way.length - 1)),
    ",": () => !$("windows").hidden && $("earlier").click(), ".": () => !$("windows").hidden && $("further").click(),
    l: () => loopOf(shown.run) !== null && guarded(() => goTo(Math.min(loopOf(shown.run) + 1, shown.way.length - 1))),
    i: () => several && guarded(() => begin(about.starts.indexOf(shown.way[0].node) + 1)),
    I: () => several && guarded(() => begin(about.starts.indexOf(shown.way[0].node) - 1)),
    d: () => $("why").click(), p: () => $("pin").click(), "?": () => $("help-button").click(), y: () => $("copy").click(),
    u: () => { allUnfolded = !allUnfolded; unfolded.clear(); drawState(); },
    x: () => $("only").click(),
    c: () => !$("check").hidden && $("check").click(),
    r: () => $("runs").focus(),
    s: () => { if ($("beside").hidden) return; $("beside").open = !$("beside").open; const box = $("besides").querySelector("input"); if ($("beside").open && box) box.focus(); },
    g: () => $("way").focus(), G: () => about.log && $("log").focus(), o: () => !$("starts-part").hidden && $("starts").focus(),
    n: () => about.log && guarded(() => enter(shown.line === null ? 0 : shown.line + 1, 0)),
    N: () => about.log && guarded(() => enter(shown.line === null ? 0 : shown.line - 1, 0)),
    "]": () => shown.place && guarded(() => enter(shown.line, shown.state + 1)),
    "[": () => shown.place && guarded(() => enter(shown.line, shown.state - 1)),
    "/": () => $("find-text").focus(), w: () => $("watch-text").focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.target.blur(); $("beside").open = false; return; }
    if (event.repeat && waiting) { event.preventDefault(); return; }  // a key that is held goes as fast as the page
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && event.target.id === "picture" && SCROLLS[event.key]) { event.preventDefault(); event.target.scrollBy(...SCROLLS[event.key]); return; }
    if (event.target.matches("select") || (event.target.matches("input") && event.target.type !== "checkbox")) return;
    if (event.key === "Enter" && event.target.matches("button, summary")) return;
    if (/^[1-9]$/.test(event.key)) { guarded(() => take(Number(event.key) - 1)); return; }
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  $("runs").onchange = () => { const name = $("runs").value; if (name) guarded(() => jump(name)); };
  $("help-button").onclick = () => {
    $("help").hidden = !$("help").hidden;
    $("help-button").setAttribute("aria-expanded", String(!$("help").hidden));
  };
  $("check").onclick = () => quietly(check);
  $("why").onclick = () => { showWhy = !showWhy; drawEnabled(); if (showWhy) quietly(() => drawDisabled(asked, shown.way[shown.here].node)); };
  $("pin").onclick = () => guarded(() => show({pinned: shown.pinned === null ? shown.way[shown.here].node : null}));
  for (const [name, by] of [["earlier", -1], ["further", 1]]) $(name).onclick = () => guarded(async () => { const scroll = await drawWindow(block + by); if (scroll) scroll(); });
  $("only").onchange = () => { changesOnly = $("only").checked; drawState(); };
  $("filter").oninput = drawState;
  $("copy").hidden = !addressed;
  $("copy").onclick = () => guarded(async () => {
    const address = new URL(await writeAddress(about, placeOf(shown)), location.href);
    const copied = await navigator.clipboard.writeText(address.href).then(() => true, () => false);
    await placeAddress();
    notice(copied ? "The address of this place is copied." : "The browser does not allow to copy; the address of this place stands in the address line.");
  });
  $("find").onsubmit = (event) => {
    event.preventDefault();
    quietly(async () => {
      notice("searching …");
      const found = await source.find(shown.way[shown.here].node, $("find-text").value);
      if (!found.way.length) { notice(found.told); return; }
      $("find-text").blur();
      await guarded(() => leaveFor({way: found.way, here: found.way.length - 1}, found.told));
    });
  };

  $("watch").onsubmit = (event) => {
    event.preventDefault();
    const field = $("watch-text"), expression = field.value.trim();
    if (!expression || watched.includes(expression)) return;
    field.value = "";
    field.blur();  // who types fast is back at the keys at once
    guarded(async () => {
      try { await source.watch(expression); } catch (error) { field.value = expression; field.focus(); throw error; }
      watched.push(expression);
      await show({}, "");
    });
  };

  // The place that the address names ------------------------------------------------------------------------

  if (about.log) {
    $("log-part").hidden = false;
    document.querySelector("main").classList.add("with-log");
    $("log-title").textContent = `Log: ${about.log.lines.length - 1} lines that tell something`;
    $("log-told").textContent = about.log.told;
    $("log-told").className = about.log.explained ? "" : "broken";
  }
  const empty = () => !shown.way.length;
  await guarded(async () => {
    const address = await readAddress(location.hash).catch(() => { throw new Error("This address cannot be read: it is cut off, or another program changed it."); });
    if (address) await openPlace(address);
  });
  if (empty() && about.log) await enter(about.log.explained ? 0 : about.log.lines.length - 1, 0);
  if (empty() && runs.size) await jump([...runs.keys()][0]);
  if (empty()) await show({way: [{node: about.starts[0], step: "the start", choice: -1, emits: [], broken: []}]});
  window.addEventListener("hashchange", () => location.reload());
  document.documentElement.dataset.ready = "true";
  if (!performance.getEntriesByName("ready").length) performance.mark("ready");

  async function openPlace(given) {
    const file = (name) => name.slice(name.lastIndexOf("/") + 1);  // a colleague has it in another folder
    const same = given.digest === about.digest, named = file(given.spec) === file(about.name);
    const own = same || (named && given.options === about.options.join(" "));
    const called = given.options.startsWith("--binding") ? given.options : `${given.spec} ${given.options}`.trim();
    const other = own ? "" : `This address is of ${called}. Start: antiphon explore ${called}. `;
    if (!same && !named) { notice(other); return; }
    const changed = other || (same ? "" : "The specification has changed since this address was made. ");
    if (given.line !== null && about.log) await openLine(given, changed);
    else if (given.line !== null) notice(`${changed}This address is of a log, which was not opened: --observed`);
    else if (given.run) await openRun(given, changed);
    else await openWay(given, changed, other ? "Its steps were taken as far as they are enabled here." : "");
  }

  // A long way comes in parts. The first is shown at once, and the page tells how far the others are.
  async function openWay(given, changed, instead) {
    const count = Math.max(given.choices.length, given.names.length);
    let found = await source.open(given), way = found.way, told = found.told;
    while (found.left) {
      const done = way.length - 1, upTo = (number) => number.toLocaleString("en");
      const progress = `Step ${upTo(done)} of ${upTo(count)} of this address; the others are being taken …`;
      if (!shown.way.length) { await show({way, here: done}, progress); performance.mark("ready"); } else notice(progress);
      found = await source.open({...given, choices: given.choices.slice(done), names: given.names.slice(done), after: way[done].node});
      way = way.concat(found.way);
      told += found.told;
    }
    shown = {...shown, way: []};  // what was shown on the way here is no way that somebody walked
    await leaveFor({way, here: way.length - 1}, changed + (instead || told));
  }

  async function openRun(given, changed) {
    const run = runs.get(given.run);
    if (!run) { notice(`${changed}This address is of the run ${given.run}, which was not opened: --trace ${given.run}`); return; }
    const at = given.at - (run.before || 0), same = !given.run_digest || given.run_digest === run.digest;
    const labels = await run.load(), last = labels.length - 1, step = Math.max(0, Math.min(at, last));
    const other = same ? "" : `${given.run} is another run than when this address was made: this is its step ${step.toLocaleString("en")}. `;
    const missing = step === at ? "" : `It has no step ${given.at.toLocaleString("en")}. `;
    await jump(given.run, step);
    for (const [index, name] of given.names.entries()) {
      const found = shown.view.enabled.findIndex((one) => one.step === name);
      if (found < 0) { notice(`${changed}${other}${missing}Step ${index + 1} after the run, ${name}, is not enabled: the walk ends before it.`); return; }
      await take(found);
    }
    if (changed || other || missing) notice(changed + other + missing);
  }

  // The line is found by its text, and the state by its digest or by the names of the steps that lead to it; else the page
  // shows what is nearest, and says so.
  async function openLine(given, changed) {
    const lines = about.log.lines, last = lastExplained(), told = [changed];
    let line = given.line;
    if (given.line_digest && (!lines[line] || lines[line].digest !== given.line_digest)) {
      const alike = lines.map((one, index) => index).filter((index) => lines[index].digest === given.line_digest);
      alike.sort((one, other) => Math.abs(one - line) - Math.abs(other - line));
      told.push(`The log has changed since this address was made${alike.length ? ": its line stands elsewhere. " : ", and has its line no more: this is the line in its place. "}`);
      line = alike.length ? alike[0] : Math.min(line, lines.length - 1);
    }
    if (line > last) { told.push(`${lines[line].at} is not explained: here are the states before it. `); line = last; }
    const place = await source.place(line), count = place.states.length;
    let state = given.state_digest ? place.states.findIndex((one) => one.digest === given.state_digest) : given.state;
    if (state < 0 || state >= count) {
      let most = -1;
      for (let number = 0; number < count; number += 1) {
        const names = (await source.enter(line, number)).slice(1).map((one) => one.step);
        const differs = given.names.findIndex((name, index) => names[index] !== name);
        const same = differs < 0 ? given.names.length : differs, whole = differs < 0 && names.length === given.names.length;
        if (same + whole > most) { most = same + whole; state = number; }
      }
      if (most > given.names.length) told.push("The state was found again by the names of its steps.");
      else told.push(`The system cannot be in the state of this address here: this is state ${state + 1} of ${count}, whose way has ${most === 0 ? "none" : `the first ${most}`} of its ${given.names.length} steps.`);
    } else if (changed) told.push("The state was found again by its values.");
    await enter(line, state, told.join("").trim());
    for (const [index, name] of given.further.entries()) {
      const found = shown.view.enabled.findIndex((one) => one.step === name);
      if (found < 0) { notice(`${told.join("")} Step ${index + 1} after the line, ${name}, is not enabled: the walk ends before it.`.trim()); return; }
      await take(found);
    }
    if (given.further.length) notice(told.join("").trim());
  }
}
