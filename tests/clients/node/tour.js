// What every tour uses: steps whose findings are printed, and values in one spelling.

// Names of steps are unique within a tour; the runner compares what stands below each.
let failures = 0;

/** Run a step and print what it says; a failure is what the step found out, and the next one goes on. */
export async function step(name, act) {
  console.log(`== ${name}`);
  try {
    const found = await act();
    for (const line of Array.isArray(found) ? found : found === undefined ? [] : [found]) {
      console.log(typeof line === "string" ? line : spell(line));
    }
  } catch (error) {
    failures += 1;
    console.log(`FAILED ${errorOf(error)}`);
    if (process.env.TOUR_STACKS) console.log(error.stack);
  }
}

/** A value as JSON, with what JSON has no spelling for. */
export function spell(value) {
  return JSON.stringify(value, function (key) {
    const raw = this[key];
    if (typeof raw === "bigint") return `${raw}n`;
    if (raw instanceof Date) return `Date ${raw.toISOString()}`;
    if (Buffer.isBuffer(raw)) return `\\x${raw.toString("hex")}`;
    if (raw === undefined) return "undefined";
    if (typeof raw === "number" && !Number.isFinite(raw)) return String(raw);
    return raw;
  });
}

/** The fields of a database's error, wherever the library has put them. */
export function errorOf(error) {
  const from = error.code && error.severity ? error : (error.original ?? error.driverError ?? error.cause ?? error);
  const fields = {};
  for (const field of ["code", "severity", "severity_local", "message", "detail", "hint", "position", "where",
    "schema", "schema_name", "table", "table_name", "column", "column_name", "constraint", "constraint_name", "dataType"]) {
    if (from[field] !== undefined) fields[field] = from[field];
  }
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
