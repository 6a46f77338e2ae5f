// The answers that stand in the file itself: states, steps and reasons, computed when it was written.
// Strings stand in a table, and the keys of objects too: [-1, ...] is a list, [shape, ...] an object.
function unpacked(packed) {
  const part = (value) => {
    if (typeof value === "number") return packed.strings[value];
    if (typeof value === "string") return Number(value);
    if (!Array.isArray(value)) return value;
    const parts = value.slice(1).map(part);
    return value[0] === -1 ? parts : Object.fromEntries(packed.shapes[value[0]].map((key, index) => [key, parts[index]]));
  };
  return part;
}

function embedded(stored) {
  const part = unpacked(stored.packed), known = new Map();
  const lazily = (kind, key) => {
    const name = `${kind} ${key}`;
    if (!known.has(name)) known.set(name, part(stored[kind][key]));
    return known.get(name);
  };
  const each = (kind) => new Proxy({}, {get: (_, key) => lazily(kind, key)});
  const data = {...stored, views: each("views"), disabled: each("disabled"), places: each("places"), tree: each("tree"), values: each("values")};
  const copy = (value) => JSON.parse(JSON.stringify(value));
  const fields = (node) => Object.fromEntries(data.views[node].fields.map((field) => [field.where, field.value]));
  const view = (node, before, others) => {
    const found = copy(data.views[node]);
    if (before !== null && before !== undefined) {
      const old = fields(before);
      for (const field of found.fields) field.before = old[field.where] === undefined || old[field.where] === field.value ? null : old[field.where];
    }
    found.others = (others || []).map(fields);
    return found;
  };
  const label = (node, step, choice) => ({node, step, choice, emits: [], broken: [], branches: 0});
  return {
    features: data.about.features,
    about: async () => ({...data.about, log: data.log}),
    view: async (node, before, others) => view(node, before, others),
    take: async (node, choice) => {
      const step = data.views[node].enabled[choice];
      if (step.to === -1) throw new Error("The state after this step is not in this file.");
      return {node: step.to, emits: step.emits, broken: step.breaks};
    },
    disabled: async (node) => data.disabled[node],
    trace: async (name) => data.traces[name],
    picture: async (way, {here, block}) => {
      const same = (one, other) => other && other.step === one.step && other.node === one.node;
      const run = Object.keys(data.pictures).find((name) => way.slice(0, here + 1).every((one, index) => same(one, data.traces[name][index])));
      if (run === undefined) return {told: "The diagrams in this file show its runs. This way is none of them."};
      const pictures = data.pictures[run], picture = pictures[Math.min(block, pictures.length) - 1], there = pictures.find(Boolean);
      if (!picture) return {told: there ? `This file has the diagram of this run from step ${there.first.toLocaleString("en")} on.` : "This file has no room for the diagram of this run."};
      return {...picture, svg: await inflated(picture.svg)};
    },
    values: async (nodes, expressions) => expressions.map((one) => nodes.map((node) => data.values[one][node])),
    place: async (line) => data.places[line],
    enter: async (line, state) => {
      const way = [];
      for (let at = data.places[line].states[state].end; at >= 0; at = data.tree[at].parent) way.unshift({...data.tree[at]});
      return way;
    },
    open: async (address) => {
      const same = address.digest === data.about.digest, named = data.about.beginnings.indexOf(address.begins);
      const start = same || named < 0 ? address.start : named, way = [];
      let node = data.about.starts[start] ?? -1, told = same ? "" : "All steps of the address were taken by their names.";
      if (node < 0) throw new Error(`Initial state ${start + 1}, with which this address begins, is not in this file.`);
      way.push(label(node, "the start", -1));
      for (let index = 0; index < Math.max(address.choices.length, address.names.length); index += 1) {
        const steps = data.views[node].enabled;
        const at = same && address.choices.length >= address.names.length ? address.choices[index] : steps.findIndex((one) => one.step === address.names[index]);
        if (!steps[at] || steps[at].to === -1) { told = `Step ${index + 1} of this address is not in this file: the walk ends before it.`; break; }
        way.push({...label(steps[at].to, steps[at].step, at), emits: steps[at].emits, broken: steps[at].breaks});
        node = steps[at].to;
      }
      return {way, told, left: 0};
    },
  };
}
