// The page of the explorer. It executes no step: `source` answers from the server, or from states that stand in the file.
//
// source.about(), .view(node, beside), .take(node, choice), .disabled(node), .trace(name), .open(address),
// .watch(expression), .forget(expression), .truths(nodes), .find(node, expression), .picture(node): promises.
// source.features: which of these there are.

const ROW = 24;
const $ = (id) => document.getElementById(id);

function text(tag, content, className) {
  const element = document.createElement(tag);
  element.textContent = content;
  if (className) element.className = className;
  return element;
}

export function readAddress(hash) {
  // #a1;spec=NAME;h=DIGEST;t=START.CHOICE.CHOICE;n=STEP~STEP   or   #a1;spec=NAME;h=DIGEST;run=NAME;at=NUMBER
  if (!hash.startsWith("#a1;")) return null;
  const parts = Object.fromEntries(hash.slice(4).split(";").map((part) => {
    const at = part.indexOf("=");
    return [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
  }));
  const numbers = (parts.t || "").split(".").filter(Boolean).map(Number);
  return {
    spec: parts.spec || "", options: parts.o || "", digest: parts.h || "", start: numbers[0] || 0, choices: numbers.slice(1),
    names: parts.n ? parts.n.split("~") : [], run: parts.run || "", at: Number(parts.at || 0),
  };
}

export function writeAddress(about, way, here, run) {
  const begin = `#a1;spec=${encodeURIComponent(about.name)};o=${encodeURIComponent(about.options.join(" "))};h=${about.digest}`;
  if (run && way.length > 300) return `${begin};run=${encodeURIComponent(run)};at=${here}`;
  const steps = way.slice(1, here + 1);
  const start = Math.max(0, about.starts.indexOf(way[0].node));
  const known = steps.every((step) => step.choice >= 0);
  const numbers = known ? `;t=${[start, ...steps.map((step) => step.choice)].join(".")}` : `;t=${start}`;
  const names = steps.length ? `;n=${encodeURIComponent(steps.map((step) => step.step).join("~"))}` : "";
  return begin + numbers + names;
}

export async function start(source) {
  const about = await source.about();
  let way = [], here = 0, view = null, chosen = 0, pinned = null, run = "", watched = [], asked = 0, showWhy = false, other = null;

  $("title").textContent = about.name;
  $("constants").textContent = Object.entries(about.constants).map(([name, value]) => `${name}=${value}`).join(", ");
  for (const feature of ["find", "watch"]) if (!source.features.includes(feature)) $(feature).hidden = true;
  if (!source.features.includes("picture")) $("picture-part").hidden = true;

  const runs = Object.keys(about.traces || {});
  if (runs.length) {
    $("traces").hidden = false;
    $("traces").append(new Option("jump to a run", ""), ...runs.map((name) => new Option(`${name} (${about.traces[name].steps} steps)`, name)));
    $("traces").onchange = () => $("traces").value && jump($("traces").value);
    $("beside").hidden = runs.length < 2;
    $("beside").append(new Option("lay a run beside", ""), ...runs.map((name) => new Option(`beside: ${name}`, name)));
    $("beside").onchange = () => guarded(async () => {
      other = $("beside").value ? await source.trace($("beside").value) : null;
      await show(here);
    });
  }

  function notice(message) { $("notice").textContent = message || ""; }

  async function guarded(work) {
    try { return await work(); } catch (error) { notice(error.message); return undefined; }
  }

  async function jump(name, at) {
    const labels = await source.trace(name);
    way = labels.map((label) => ({choice: -1, ...label}));
    run = name;
    const loop = about.traces[name].loop;
    notice(loop === null || loop === undefined ? "" : loop === way.length - 1
      ? "This run stays in its last state for ever." : `This run goes on for ever: after the last step it repeats from step ${loop + 1}.`);
    await show(at === undefined ? 0 : Math.min(at, way.length - 1));
  }

  async function show(index) {
    const ticket = ++asked;
    here = index;
    const node = way[here].node;
    const found = await source.view(node, pinned !== null ? pinned : besideAt(here) ? besideAt(here).node : null);
    if (ticket !== asked) return;  // somebody was faster
    view = found;
    chosen = Math.min(chosen, Math.max(0, view.enabled.length - 1));
    const next = way[here + 1];
    if (next) {
      const at = view.enabled.findIndex((one) => one.step === next.step);
      if (at >= 0) { chosen = at; next.choice = at; }
    }
    draw();
    window.requestAnimationFrame(() => later(ticket, node));
  }

  function besideAt(index) { return other && other[Math.min(index, other.length - 1)]; }

  async function later(ticket, node) {
    if (source.features.includes("picture")) {
      const picture = await source.picture(node);
      if (ticket !== asked) return;
      $("picture").innerHTML = picture;
    }
    if (showWhy) await drawDisabled(ticket, node);
    if (watched.length && way.length <= 2000) {
      const rows = await source.truths(way.map((one) => one.node));
      if (ticket === asked) drawTruths(rows);
    }
  }

  async function take(choice) {
    if (choice < 0 || choice >= view.enabled.length) return;
    const step = view.enabled[choice];
    if (way[here + 1] && way[here + 1].step === step.step) { await show(here + 1); return; }
    const after = await source.take(way[here].node, choice);
    way = way.slice(0, here + 1);
    way.push({node: after.node, step: step.step, choice, emits: after.emits, broken: after.broken, branches: 0});
    run = "";
    chosen = 0;
    notice("");
    await show(here + 1);
  }

  function draw() {
    drawWay();
    drawEnabled();
    drawState();
    const address = writeAddress(about, way, here, run);
    try { history.replaceState(null, "", address); } catch { /* a frame of a notebook has no address */ }
    document.title = `${way[here].step} · ${about.name}`;
  }

  function drawWay() {
    const box = $("way");
    $("way-title").textContent = `Way: step ${here} of ${way.length - 1}`;
    let rows = box.querySelector(".rows");
    if (!rows) {
      box.append(text("div", "", "space"), text("div", "", "rows"));
      rows = box.querySelector(".rows");
      box.addEventListener("scroll", drawRows);
    }
    box.querySelector(".space").style.height = `${way.length * ROW}px`;
    const top = here * ROW;
    if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    drawRows();
  }

  function drawRows() {
    const box = $("way"), rows = box.querySelector(".rows");
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const last = Math.min(way.length, first + Math.ceil(box.clientHeight / ROW) + 10);
    rows.style.top = `${first * ROW}px`;
    rows.replaceChildren(...way.slice(first, last).map((one, offset) => {
      const index = first + offset;
      const row = text("button", `${index}  ${one.step}`);
      row.dataset.index = index;
      row.tabIndex = -1;
      if (one.emits && one.emits.length) row.append(text("span", `  » ${one.emits.join(", ")}`, "note"));
      if (one.broken && one.broken.length) row.append(text("span", `  ✗ ${one.broken.join(", ")}`, "broken"));
      if (other) row.append(text("span", index < other.length ? `  | ${other[index].step}` : "  | (ended)", index < other.length && other[index].step !== one.step ? "broken" : "note"));
      if (one.branches) row.append(text("span", `  ⎇ ${one.branches + 1}`, "note"));
      if (index === here) row.setAttribute("aria-current", "step");
      if (index > here) row.classList.add("later");
      row.onclick = () => guarded(() => show(index));
      return row;
    }));
  }

  function drawEnabled() {
    $("steps-title").textContent = view.enabled.length ? `Steps: ${view.enabled.length} enabled` : "Steps: none is enabled";
    $("enabled").replaceChildren(...view.enabled.map((step) => {
      const item = document.createElement("li"), button = text("button", step.step);
      const notes = [];
      if (step.fault) notes.push("fault");
      if (step.stays) notes.push("changes nothing");
      if (step.known !== null && step.known !== undefined) notes.push("walked");
      if (step.to === -1) { notes.push("not in this file"); button.disabled = true; }
      if (notes.length) button.append(text("span", `  ${notes.join(", ")}`, "note"));
      if (step.breaks.length) button.append(text("span", `  ✗ ${step.breaks.join(", ")}`, "broken"));
      if (step.choice === chosen) button.classList.add("chosen");
      button.onclick = () => guarded(() => take(step.choice));
      item.append(button);
      return item;
    }));
    const at = $("enabled").querySelector(".chosen");
    if (at) at.scrollIntoView({block: "nearest"});
    if (view.error) notice(`The specification has an error in a step from here: ${view.error}`);
    $("why").setAttribute("aria-expanded", String(showWhy));
    $("disabled").hidden = !showWhy;
  }

  async function drawDisabled(ticket, node) {
    const found = await source.disabled(node);
    if (ticket !== asked) return;
    $("disabled").replaceChildren(...found.map((reason) => {
      const item = document.createElement("li");
      item.append(text("b", reason.action), " requires ", text("code", reason.guard));
      const names = reason.steps.join(", ") + (reason.more ? `, and ${reason.more} more` : "");
      if (names) item.append(text("div", names));
      if (reason.at) item.title = reason.at, item.append(text("div", reason.at, "note"));
      return item;
    }));
  }

  function drawState() {
    $("state-title").textContent = `State after ${way[here].step}`;
    $("other").textContent = pinned !== null ? "pinned" : other ? `beside, step ${Math.min(here, other.length - 1)}` : "before";
    $("pin").textContent = pinned === null ? "Pin (p)" : "Unpin (p)";
    $("implementation").hidden = !view.implementation;
    $("difference").textContent = view.difference ? `✗ The implementation differs ${view.difference}` : "";
    $("false").replaceChildren(...view.false.map((one) => {
      const part = document.createElement("div");
      part.append(text("span", `✗ ${one.name} is false`, "false"));
      const list = document.createElement("ul");
      list.append(...one.because.map((because) => text("li", because)));
      part.append(list);
      return part;
    }));
    const only = $("only").checked, filter = $("filter").value.toLowerCase();
    const rows = view.fields.filter((field) => (!only || field.before !== null)
      && (!filter || field.where.toLowerCase().includes(filter) || field.value.toLowerCase().includes(filter)));
    $("fields").replaceChildren(...rows.map((field) => {
      const row = document.createElement("tr");
      if (field.before !== null) row.className = "changed";
      row.append(text("td", field.where), cell(field.value), cell(field.before === null ? "" : field.before));
      if (view.implementation) {
        const own = view.implementation[field.where], there = cell(own === undefined ? "" : own);
        if (own !== undefined && own !== field.value) there.className = "broken";
        row.append(there);
      }
      return row;
    }));
    $("own").hidden = !view.drawn;
    if (view.drawn) $("own").innerHTML = view.drawn;
  }

  function cell(value) {
    const found = document.createElement("td");
    if (value.length <= 120) { found.textContent = value; return found; }
    const fold = text("button", value, "fold");
    fold.title = "unfold";
    fold.onclick = () => fold.classList.toggle("fold");
    found.append(fold);
    return found;
  }

  function drawTruths(rows) {
    $("watched").replaceChildren(...watched.map((expression, number) => {
      const item = document.createElement("li"), values = rows[number];
      const drop = text("button", "✕");
      drop.title = "watch it no more";
      drop.onclick = () => guarded(async () => {
        await source.forget(expression);
        watched = watched.filter((one) => one !== expression);
        $("watched").replaceChildren();
        await show(here);
      });
      const line = text("span", values.slice(0, 400).map((value) => (value ? "●" : "○")).join(""), "line");
      line.title = "one sign a state of the way: ● true, ○ false";
      item.append(drop, " ", text("code", expression), ": ", text("b", values[here] ? "true" : "false"), line);
      return item;
    }));
  }

  const keys = {
    ArrowDown: () => { chosen = Math.min(chosen + 1, view.enabled.length - 1); drawEnabled(); },
    ArrowUp: () => { chosen = Math.max(chosen - 1, 0); drawEnabled(); },
    ArrowRight: () => guarded(() => take(chosen)), Enter: () => guarded(() => take(chosen)),
    ArrowLeft: () => here > 0 && guarded(() => show(here - 1)), Backspace: () => here > 0 && guarded(() => show(here - 1)),
    f: () => here < way.length - 1 && guarded(() => show(here + 1)),
    Home: () => guarded(() => show(0)), End: () => guarded(() => show(way.length - 1)),
    d: () => $("why").click(), p: () => $("pin").click(), "?": () => $("help-button").click(),
    "/": () => $("find-text").focus(), w: () => $("watch-text").focus(),
  };
  keys.j = keys.ArrowDown;
  keys.k = keys.ArrowUp;
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select")) { if (event.key === "Escape") event.target.blur(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target.matches("button, #way")) return;
    if (/^[1-9]$/.test(event.key)) { guarded(() => take(Number(event.key) - 1)); return; }
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  $("help-button").onclick = () => {
    $("help").hidden = !$("help").hidden;
    $("help-button").setAttribute("aria-expanded", String(!$("help").hidden));
  };
  $("why").onclick = () => { showWhy = !showWhy; drawEnabled(); if (showWhy) guarded(() => drawDisabled(asked, way[here].node)); };
  $("pin").onclick = () => { pinned = pinned === null ? way[here].node : null; guarded(() => show(here)); };
  $("only").onchange = drawState;
  $("filter").oninput = drawState;
  $("copy").onclick = async () => {
    await navigator.clipboard.writeText(location.href).catch(() => undefined);
    notice("The address of this place stands in the address line, and is copied where the browser allows it.");
  };
  $("find").onsubmit = (event) => {
    event.preventDefault();
    guarded(async () => {
      notice("searching …");
      const found = await source.find(way[here].node, $("find-text").value);
      notice(found.told);
      if (found.way.length) {
        way = found.way.map((label) => ({choice: -1, ...label}));
        run = "";
        $("find-text").blur();
        await show(way.length - 1);
      }
    });
  };
  $("watch").onsubmit = (event) => {
    event.preventDefault();
    guarded(async () => {
      const expression = $("watch-text").value.trim();
      if (!expression || watched.includes(expression)) return;
      await source.watch(expression);
      watched.push(expression);
      $("watch-text").value = "";
      $("watch-text").blur();
      notice("");
      await show(here);
    });
  };

  const address = readAddress(location.hash);
  if (address && address.spec && (address.spec !== about.name || address.options !== about.options.join(" "))) {
    notice(`This address is of ${address.spec}. Start: antiphon explore ${address.spec} ${address.options}`);
  }
  if (address && address.run && about.traces && about.traces[address.run]) await jump(address.run, address.at);
  else if (address && address.spec === about.name) {
    const opened = await guarded(() => source.open(address));
    if (opened) {
      way = opened.way.map((label, index) => ({choice: index && opened.numbered ? address.choices[index - 1] : -1, ...label}));
      await show(way.length - 1);
      if (opened.told) notice(opened.told);
    }
  } else if (runs.length) await jump(runs[0]);
  if (!way.length) { way = [{node: about.starts[0], step: "the start", choice: -1, emits: [], broken: []}]; await show(0); }
  window.addEventListener("hashchange", () => location.reload());
  document.documentElement.dataset.ready = "true";
}
