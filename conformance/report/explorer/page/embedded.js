// The answers that stand in the file itself: states, steps and reasons, computed when it was written.
function embedded(data) {
  const copy = (value) => JSON.parse(JSON.stringify(value));
  const view = (node, beside) => {
    const found = copy(data.views[node]);
    if (beside !== null && beside !== undefined) {
      const values = Object.fromEntries(data.views[beside].fields.map((field) => [field.where, field.value]));
      for (const field of found.fields) field.before = values[field.where] === field.value ? null : values[field.where];
    }
    return found;
  };
  const label = (node, step) => ({node, step, emits: [], broken: [], branches: 0});
  const take = async (node, choice) => {
    const step = data.views[node].enabled[choice];
    if (step.to === -1) throw new Error("The state after this step is not in this file.");
    const found = view(step.to);
    found.node = step.to;
    found.emits = step.emits;
    found.broken = step.breaks;
    for (const field of found.fields) {
      const before = data.views[node].fields.find((one) => one.where === field.where);
      field.before = before && before.value !== field.value ? before.value : null;
    }
    return found;
  };
  return {
    features: data.about.features,
    about: async () => data.about,
    view: async (node, beside) => view(node, beside),
    take,
    disabled: async (node) => data.disabled[node],
    trace: async (name) => data.traces[name],
    picture: async () => data.picture,
    open: async (address) => {
      let node = data.about.starts[address.start] ?? data.about.starts[0], told = "";
      const way = [label(node, "the start")];
      const same = address.digest === data.about.digest;
      if (!same) told = "The specification has changed since this address was made; its steps were taken by their names.";
      for (let index = 0; index < Math.max(address.choices.length, address.names.length); index += 1) {
        const steps = data.views[node].enabled;
        const at = same && address.choices.length >= address.names.length ? address.choices[index] : steps.findIndex((one) => one.step === address.names[index]);
        if (!steps[at] || steps[at].to === -1) { told = `Step ${index + 1} of this address is not in this file.`; break; }
        way.push({...label(steps[at].to, steps[at].step), emits: steps[at].emits, broken: steps[at].breaks});
        node = steps[at].to;
      }
      return {way, told, numbered: same && !told};
    },
  };
}
