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

// A list of `count()` rows; `row(index)` makes one.
export function longList(box, count, row) {
  const space = text("div", ""), rows = text("div", "", "rows");
  box.append(space, rows);
  function draw() {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 5);
    const last = Math.min(count(), first + Math.ceil(box.clientHeight / ROW) + 10);
    rows.style.top = `${first * ROW}px`;
    const made = [];
    for (let index = first; index < last; index += 1) made.push(row(index));
    rows.replaceChildren(...made);
  }
  box.addEventListener("scroll", draw);
  new ResizeObserver(draw).observe(box);
  return (here) => {
    space.style.height = `${count() * ROW}px`;
    const top = here * ROW;
    if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
    draw();
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
