// The answers of the server, for a page that it has sent.
import { start } from "./explorer.js";

async function send(question, given) {
  const answer = await fetch(`ask/${question}`, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(given)});
  const content = await answer.json().catch(() => ({error: `the server answers ${answer.status}`}));
  if (!answer.ok) throw new Error(content.error);
  return content;
}

// Questions that are asked at once go in one request.
let waiting = null;
function ask(question, given = {}) {
  if (!waiting) { waiting = []; queueMicrotask(sendWaiting); }
  return new Promise((resolve, reject) => { waiting.push({question, given, resolve, reject}); });
}

function sendWaiting() {
  const asked = waiting;
  waiting = null;
  if (asked.length === 1) { send(asked[0].question, asked[0].given).then(asked[0].resolve, asked[0].reject); return; }
  send("several", {questions: asked.map(({question, given}) => ({question, given}))}).then(
    (answers) => asked.forEach((one, index) => { const found = answers[index]; if (found.error === undefined) one.resolve(found.answer); else one.reject(new Error(found.error)); }),
    (error) => asked.forEach((one) => one.reject(error)),
  );
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
  values: (nodes, expressions) => ask("values", {nodes, expressions}),
  find: (node, expression) => ask("find", {node, expression}),
  check: () => ask("check"),
  place: (line) => ask("place", {line}),
  enter: (line, state) => ask("enter", {line, state}),
  picture: (way, {first, last, loop}) => ask("picture", {node: way[last].node, first, loop}),
}).catch((error) => { document.getElementById("notice").textContent = error.message; });
