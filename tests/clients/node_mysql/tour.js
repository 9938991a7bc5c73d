// What every tour uses: steps whose findings are printed, and values in one spelling.

/** Run a step and print what it says; a failure is what the step found out, and the next one goes on. */
export async function step(name, act) {
  console.log(`== ${name}`);
  try {
    const found = await act();
    for (const line of Array.isArray(found) ? found : found === undefined ? [] : [found]) {
      console.log(typeof line === "string" ? line : spell(line));
    }
  } catch (error) {
    console.log(`FAILED ${errorOf(error)}`);
    if (process.env.TOUR_STACKS) console.log(error.stack);
  }
}

/** A value as JSON, with what JSON has no spelling for. */
export function spell(value) {
  return JSON.stringify(value, function (key) {
    const raw = this[key];
    if (typeof raw === "bigint") return `${raw}n`;
    if (raw instanceof Date) return `Date ${Number.isNaN(raw.getTime()) ? "invalid" : raw.toISOString()}`;
    if (Buffer.isBuffer(raw)) return `\\x${raw.toString("hex")}`;
    if (raw === undefined) return "undefined";
    if (typeof raw === "number" && !Number.isFinite(raw)) return String(raw);
    return raw;
  });
}

/** The fields of a database's error, wherever the library has put them. */
export function errorOf(error) {
  const from = error.errno !== undefined && error.sqlState !== undefined ? error : (error.original ?? error.driverError ?? error.cause ?? error);
  const fields = {};
  for (const field of ["code", "errno", "sqlState", "sqlMessage", "fatal"]) {
    if (from[field] !== undefined) fields[field] = from[field];
  }
  if (fields.sqlMessage === undefined) fields.message = from.message;
  return `${error.constructor.name} ${spell(fields)}`;
}

/** Act, and say how it was refused; what is not refused is a failure. */
export async function refused(act) {
  try {
    await act();
  } catch (error) {
    return errorOf(error);
  }
  throw new Error("was not refused");
}

export const url = process.argv[2];
/** The URL in parts, as drivers take them. */
const parts = new URL(url);
export const place = {
  host: parts.hostname, port: Number(parts.port), user: decodeURIComponent(parts.username), password: decodeURIComponent(parts.password), database: parts.pathname.slice(1),
};
