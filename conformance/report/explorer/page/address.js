// The address of a place: what stands behind # in the address line.
//
// #a1;spec=NAME;o=OPTIONS;h=DIGEST then one of
//   ;t=START.CHOICE.CHOICE;b=BEGIN;n=STEP~STEP   the steps from an initial state, by their numbers and by their names
//   ;run=NAME;r=DIGEST;at=NUMBER;n=STEP~STEP     a place of a run, the digest of the run, and the steps from there
//   ;line=NUMBER;x=DIGEST;state=NUMBER;v=DIGEST;n=STEP~STEP;f=STEP~STEP
//                                                a line of the log and the digest of its text, a state in which the system may be
//                                                there and its digest, the steps that lead to it, and the steps from there
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
    run_digest: parts.r || "", line: parts.line === undefined ? null : Number(parts.line), line_digest: parts.x || "",
    state: Number(parts.state || 0), state_digest: parts.v || "", further: parts.f ? parts.f.split("~") : [],
  };
}

export async function writeAddress(about, place) {
  const steps = (letter, names) => names && names.length ? `;${letter}=${encodeURIComponent(names.join("~"))}` : "";
  const begins = place.begins ? `;b=${encodeURIComponent(place.begins)}` : "";
  const names = steps("n", place.names);
  const where = place.line !== undefined
    ? `;line=${place.line};x=${place.line_digest};state=${place.state};v=${place.state_digest}${names}${steps("f", place.further)}`
    : place.run ? `;run=${encodeURIComponent(place.run)};r=${place.run_digest};at=${place.at}${names}`
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
