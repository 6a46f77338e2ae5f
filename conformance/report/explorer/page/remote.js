// The answers of the server, for a page that it has sent.
import { start } from "./explorer.js";

async function ask(question, given = {}) {
  const answer = await fetch(`ask/${question}`, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(given)});
  const content = await answer.json().catch(() => ({error: `the server answers ${answer.status}`}));
  if (!answer.ok) throw new Error(content.error);
  return content;
}

start({
  features: ["find", "watch", "picture", "check"],
  about: () => ask("about"),
  view: (node, before, others) => ask("view", {node, before, others}),
  take: (node, choice) => ask("take", {node, choice}),
  disabled: (node) => ask("disabled", {node}),
  trace: (name) => ask("trace", {name}),
  open: (address) => ask("open", address),
  watch: (expression) => ask("watch", {expression}),
  forget: (expression) => ask("forget", {expression}),
  truths: (way, expressions) => ask("truths", {way, expressions}),
  find: (node, expression) => ask("find", {node, expression}),
  check: () => ask("check"),
  place: (line) => ask("place", {line}),
  enter: (line, state) => ask("enter", {line, state}),
  picture: (way, {first, last, loop}) => ask("picture", {node: way[last].node, first, loop}),
}).catch((error) => { document.getElementById("notice").textContent = error.message; });
