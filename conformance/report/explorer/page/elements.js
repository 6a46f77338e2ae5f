// Small parts of the page: elements with text, long values that unfold, lists of which only the visible rows are made.

export const ROW = 24;
export const LONG = 120;

export function text(tag, content, className) {
  const element = document.createElement(tag);
  element.textContent = content;
  if (className) element.className = className;
  return element;
}

export function valueCell(value, isOpen, toggle) {
  const cell = document.createElement("td");
  if (value.length <= LONG) { cell.textContent = value; return cell; }
  const fold = text("button", isOpen ? value : `${value.slice(0, LONG - 20)} … ${value.length.toLocaleString("en")} characters`, "value");
  fold.setAttribute("aria-expanded", String(isOpen));
  fold.title = isOpen ? "fold (u: all)" : "unfold (u: all)";
  fold.onclick = toggle;
  cell.append(fold);
  return cell;
}

// A list of `count()` rows; `row(index)` makes one, `go(index)` is called where Enter is pressed on a row.
//
// A list that has the focus has a cursor: the arrows, Page Up and Page Down, Home and End move it, and so does a number that
// is typed. Enter goes to its row. Where the list has no focus, its cursor stands where the page stands.
export function longList(box, count, row, go) {
  const space = text("div", ""), rows = text("div", "", "rows");
  let now = 0, cursor = 0, typed = "";
  box.append(space, rows);
  box.setAttribute("role", "listbox");
  function draw() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const last = Math.min(count(), first + Math.ceil(box.clientHeight / ROW) + 10);
    rows.style.top = `${first * ROW}px`;
    const made = [];
    for (let index = first; index < last; index += 1) {
      const one = row(index);
      one.id = `${box.id}-${index}`;
      one.setAttribute("role", "option");
      one.setAttribute("aria-selected", String(index === now));
      one.setAttribute("aria-posinset", String(index + 1));
      one.setAttribute("aria-setsize", String(count()));
      if (index === cursor) one.classList.add("cursor");
      made.push(one);
    }
    rows.replaceChildren(...made);
    if (cursor >= first && cursor < last) box.setAttribute("aria-activedescendant", `${box.id}-${cursor}`);
    else box.removeAttribute("aria-activedescendant");
  }
  function reveal(index, room) {
    const top = index * ROW;
    if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - room);
    draw();
  }
  function moved(to) {
    const up = to < cursor;
    cursor = Math.max(0, Math.min(to, count() - 1));
    reveal(cursor, up ? 0 : box.clientHeight - ROW - 2);
  }
  const page = () => Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
  const keys = {
    ArrowUp: () => moved(cursor - 1), ArrowDown: () => moved(cursor + 1), PageUp: () => moved(cursor - page()),
    PageDown: () => moved(cursor + page()), Home: () => moved(0), End: () => moved(count() - 1), Enter: () => go(cursor),
  };
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const digit = /^[0-9]$/.test(event.key);
    typed = digit ? (typed + event.key).slice(-9) : "";
    if (!digit && !keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (digit) moved(Number(typed)); else keys[event.key]();
  });
  box.addEventListener("focus", () => { typed = ""; });
  box.addEventListener("blur", () => { cursor = now; draw(); });
  box.addEventListener("scroll", draw);
  new ResizeObserver(draw).observe(box);
  return (here) => {
    space.style.height = `${count() * ROW}px`;
    now = cursor = here;
    reveal(here, box.clientHeight / 2);
  };
}

// Show a drawing of which each line is whole elements. Elements whose line stood in the last drawing stay: a step changes few.
export function svgBox(box) {
  let shown = "", stand = new Map();  // line -> the nodes of each time that it stands there
  return (svg) => {
    if (svg === shown && box.querySelector("svg")) return;
    shown = svg;
    const [head, ...lines] = svg.trimEnd().split("\n").slice(0, -1), old = stand, rows = [];
    let picture = box.querySelector("svg");
    if (!picture) { box.innerHTML = `${head}</svg>`; picture = box.querySelector("svg"); old.clear(); } else {
      const given = document.createElement("template");
      given.innerHTML = `${head}</svg>`;
      for (const {name, value} of given.content.firstChild.attributes) picture.setAttribute(name, value);
    }
    for (const line of lines) rows.push([line, old.get(line)?.shift()]);
    for (const [, ...left] of old) left.flat(2).forEach((node) => node.remove());
    const fresh = document.createElement("template"), missing = rows.filter(([, nodes]) => !nodes);
    fresh.innerHTML = `<svg>${missing.map(([line]) => `<g>${line}</g>`).join("")}</svg>`;
    missing.forEach((row, index) => { row[1] = [...fresh.content.firstChild.children[index].childNodes]; });
    let next = picture.firstChild;
    for (const node of rows.flatMap(([, nodes]) => nodes)) if (node === next) next = next.nextSibling; else picture.insertBefore(node, next);
    stand = new Map();
    for (const [line, nodes] of rows) if (stand.has(line)) stand.get(line).push(nodes); else stand.set(line, [nodes]);
  };
}

export function rowOf(parts, index, {here, later, take}) {
  const row = document.createElement("button");
  row.className = later ? "row later" : "row";
  row.dataset.index = index;
  row.tabIndex = -1;
  row.append(...parts);
  row.title = row.textContent;
  if (here) row.setAttribute("aria-current", "step");
  row.onclick = take;
  return row;
}
