// Watched expressions: their values in the states of a way. A state never changes, so each value is asked for once.
import { LONG, text } from "./elements.js";

const SIGNS_MAX = 400;     // states whose values are known round the one that is shown
const CHANGES_MAX = 40;    // changes that are listed

// `source.values(nodes, expressions)` gives the values: booleans, texts, null where an expression cannot be evaluated.
export function watches(source) {
  const known = new Map();  // expression -> node -> value
  const from = ({way, here}) => Math.max(0, Math.min(here - 100, way.length - SIGNS_MAX));
  return {
    // The values in the states round the one that is shown, for each expression.
    async values(shown, expressions) {
      const first = from(shown), nodes = shown.way.slice(first, first + SIGNS_MAX).map((one) => one.node);
      for (const one of expressions) if (!known.has(one)) known.set(one, new Map());
      const missing = [...new Set(nodes)].filter((node) => node >= 0 && expressions.some((one) => !known.get(one).has(node)));
      if (missing.length) {
        const found = await source.values(missing, expressions);
        expressions.forEach((one, row) => missing.forEach((node, column) => known.get(one).set(node, found[row][column])));
      }
      return expressions.map((one) => ({expression: one, first, values: nodes.map((node) => known.get(one).get(node))}));
    },
  };
}

const told = (value) => value === undefined ? "not in this file" : value === null ? "cannot be evaluated" : String(value);
const short = (value) => value.length > LONG ? `${value.slice(0, LONG - 20)} … ${value.length.toLocaleString("en")} characters` : value;

// An item of the list of watched expressions; `goTo(step)` shows another state, `drop` forgets the expression (null: it stays).
export function watchedItem({expression, first, values}, here, goTo, drop) {
  const item = document.createElement("li"), at = here - first, now = values[at];
  if (drop) {
    const button = text("button", "✕");
    button.title = "watch it no more";
    button.onclick = drop;
    item.append(button, " ");
  }
  const value = text("b", short(told(now)));
  value.title = told(now);
  item.append(text("code", expression), ": ", value);
  if (at > 0 && values[at - 1] !== now) item.append(text("span", `  ● changed, before: ${short(told(values[at - 1]))}`, "note"));
  const signs = values.every((one) => one === null || one === undefined || typeof one === "boolean");
  item.append(signs ? signsOf(values, at) : changesOf(values, first, at, goTo));
  return item;
}

function signsOf(values, at) {
  const line = text("span", "", "line"), sign = (value) => value === true ? "●" : value === false ? "○" : value === null ? "!" : "·";
  line.title = "one sign a state of the way: ● true, ○ false, ! it cannot be evaluated; underlined: here";
  line.append(values.slice(0, at).map(sign).join(""), text("b", sign(values[at])), values.slice(at + 1).map(sign).join(""));
  return line;
}

// The states at which the value changes, each with the value from there on.
function changesOf(values, first, at, goTo) {
  const list = text("ol", "", "changes"), parts = [];
  values.forEach((value, index) => { if (!index || value !== values[index - 1]) parts.push(index); });
  const mine = parts.findLastIndex((index) => index <= at), begin = Math.max(0, Math.min(mine - CHANGES_MAX / 2, parts.length - CHANGES_MAX));
  parts.slice(begin, begin + CHANGES_MAX).forEach((index, place) => {
    const row = document.createElement("li"), last = (parts[begin + place + 1] ?? values.length) - 1, value = told(values[index]);
    const go = text("button", `${first + index}${last > index ? `–${first + last}` : ""}`);
    go.title = `go to step ${first + index}`;
    go.onclick = () => goTo(first + index);
    if (begin + place === mine) row.setAttribute("aria-current", "true");
    const shown = text("span", short(value));
    shown.title = value;
    row.append(go, " ", shown);
    list.append(row);
  });
  const left = parts.length - Math.min(parts.length, CHANGES_MAX);
  if (left) list.append(text("li", `and ${left} more changes`, "note"));
  return list;
}
