// The address of a place: what stands behind # in the address line.
//
// #a1;spec=NAME;o=OPTIONS;h=DIGEST then one of
//   ;t=START.CHOICE.CHOICE;b=BEGIN;n=STEP~STEP   the steps from an initial state, by their numbers and by their names
//   ;run=NAME;at=NUMBER;n=STEP~STEP              a place of a run, and the steps from there
//   ;line=NUMBER;state=NUMBER                    a line of the log, and a state in which the system may be there
//   ;z=PACKED                                    one of these, where it is long: deflated, in the letters of base64url
//
// b has the values that distinguish the initial state, where there are several. Where a number is not known, t has the start alone.

const PACKED_FROM = 2000;  // characters

export async function readAddress(hash) {
  if (!hash.startsWith("#a1;")) return null;
  const parts = partsOf(hash.slice(4));
  if (parts.z) Object.assign(parts, partsOf(`;${await inflated(parts.z)}`));
  const numbers = (parts.t || "").split(".").filter(Boolean).map(Number);
  return {
    spec: parts.spec || "", options: parts.o || "", digest: parts.h || "", start: numbers[0] || 0, choices: numbers.slice(1),
    begins: parts.b || "", names: parts.n ? parts.n.split("~") : [], run: parts.run || "", at: Number(parts.at || 0),
    line: parts.line === undefined ? null : Number(parts.line), state: Number(parts.state || 0),
  };
}

export async function writeAddress(about, place) {
  const begins = place.begins ? `;b=${encodeURIComponent(place.begins)}` : "";
  const names = place.names.length ? `;n=${encodeURIComponent(place.names.join("~"))}` : "";
  const where = place.line !== undefined ? `;line=${place.line};state=${place.state}`
    : place.run ? `;run=${encodeURIComponent(place.run)};at=${place.at}${names}`
      : `;t=${[place.start, ...place.choices].join(".")}${begins}${names}`;
  const program = `#a1;spec=${encodeURIComponent(about.name)};o=${encodeURIComponent(about.options.join(" "))};h=${about.digest}`;
  return program + (where.length > PACKED_FROM ? `;z=${await deflated(where.slice(1))}` : where);
}

function partsOf(text) {
  return Object.fromEntries(text.split(";").filter(Boolean).map((part) => {
    const at = part.indexOf("=");
    return [part.slice(0, at), decodeURIComponent(part.slice(at + 1))];
  }));
}

function through(stream, bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(stream));
}

async function deflated(text) {
  const bytes = new Uint8Array(await through(new CompressionStream("deflate-raw"), text).arrayBuffer());
  return btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function inflated(letters) {
  const bytes = Uint8Array.from(atob(letters.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  return through(new DecompressionStream("deflate-raw"), bytes).text();
}
