// The address of a place: what stands behind # in the address line.
//
// #a1;spec=NAME;o=OPTIONS;h=DIGEST then one of
//   ;t=START.CHOICE.CHOICE;n=STEP~STEP           the steps from an initial state, by their numbers and by their names
//   ;run=NAME;at=NUMBER;n=STEP~STEP              a place of a run, and the steps from there
//   ;line=NUMBER;state=NUMBER                    a line of the log, and a state in which the system may be there

export function readAddress(hash) {
  if (!hash.startsWith("#a1;")) return null;
  const parts = Object.fromEntries(hash.slice(4).split(";").map((part) => {
    const at = part.indexOf("=");
    return [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
  }));
  const numbers = (parts.t || "").split(".").filter(Boolean).map(Number);
  return {
    spec: parts.spec || "", options: parts.o || "", digest: parts.h || "", start: numbers[0] || 0, choices: numbers.slice(1),
    names: parts.n ? parts.n.split("~") : [], run: parts.run || "", at: Number(parts.at || 0),
    line: parts.line === undefined ? null : Number(parts.line), state: Number(parts.state || 0),
  };
}

export function writeAddress(about, place) {
  const names = place.names.length ? `;n=${encodeURIComponent(place.names.join("~"))}` : "";
  const where = place.line !== undefined ? `;line=${place.line};state=${place.state}`
    : place.run ? `;run=${encodeURIComponent(place.run)};at=${place.at}${names}`
      : `;t=${[place.start, ...place.choices].join(".")}${names}`;
  return `#a1;spec=${encodeURIComponent(about.name)};o=${encodeURIComponent(about.options.join(" "))};h=${about.digest}${where}`;
}
