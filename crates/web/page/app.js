// The page: it asks in SQL, as the user, and draws what comes. Everything that comes is written as text, never as markup.

const main = document.getElementById("main");
let about = {};

/** An element with properties, attributes (`aria-label`) and children; texts become text nodes. */
function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

class Refused extends Error {
  constructor(status, error) {
    super(error.message);
    Object.assign(this, { status, ...error });
  }
}

// What this page says with each request: no other site has it, not even one on another port of this host.
const KEY = "rowferry key";

async function call(path, body = {}) {
  const answer = await fetch(path, {
    method: "POST", credentials: "same-origin", cache: "no-store",
    headers: { "Content-Type": "application/json", "X-Rowferry": localStorage.getItem(KEY) ?? "none" }, body: JSON.stringify(body),
  });
  const said = await answer.json().catch(() => ({ error: { message: `the server answered ${answer.status}` } }));
  if (answer.ok) return said;
  if (answer.status === 401 && path !== "/api/login") {
    about.user = null;
    show();
  }
  throw new Refused(answer.status, said.error);
}

// The page's own questions that are under way: whoever goes elsewhere does not wait for them.
let looking = 0;
async function look(question) {
  looking += 1;
  try { return await call("/api/query", { ...question, on: "look" }); } finally { looking -= 1; }
}

/** Rows of one of the page's own questions, as objects. */
async function ask(sql, parameters = [], rows = 1000) {
  const said = await look({ sql, parameters: parameters.map((value) => (value === null ? null : String(value))), rows });
  return said.rows.map((row) => Object.fromEntries(said.columns.map((column, at) => [column.name, row[at]])));
}

const identifier = (name) => `"${name.replaceAll('"', '""')}"`;
const number = (text) => (text === null || text === undefined ? "" : Number(text).toLocaleString("en"));
function size(bytes) {
  let value = Number(bytes);
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 1024) return `${value.toFixed(value < 10 && unit !== "B" ? 1 : 0)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} TB`;
}
const NUMBERS = new Set([20, 21, 23, 26, 700, 701, 790, 1700]);

function failure(error, sql) {
  const lines = [el("strong", {}, error.sqlstate ? `${error.sqlstate}: ` : "", error.message)];
  const position = Number(error.position);
  if (sql && position) {
    const letters = [...sql];
    const before = letters.slice(0, position - 1).join("");
    const start = before.lastIndexOf("\n") + 1;
    const line = letters.join("").slice(start).split("\n")[0];
    lines.push("\n", el("code", {}, `${line}\n${" ".repeat([...before.slice(start)].length)}^`));
  }
  for (const more of [error.detail, error.hint && `Hint: ${error.hint}`]) if (more) lines.push("\n", more);
  return el("div", { className: "box bad", role: "alert" }, lines);
}

/** A value in a cell. */
function cell(value) {
  if (value === null) return el("span", { className: "null" }, "NULL");
  if (typeof value === "object") return el("span", { className: "text" }, `${value.start}… (${number(value.length)} bytes)`);
  const text = value;
  if (text === "") return el("span", { className: "soft" }, "(empty)");
  if (text.length <= 200) return el("span", { className: "text" }, text);
  const shown = el("span", { className: "text" }, `${text.slice(0, 160)}…`);
  const more = el("button", { className: "more", type: "button", onclick: () => { shown.textContent = text; more.remove(); } }, "all");
  return el("span", {}, shown, " ", more);
}

// What types are called, by their object ids: of those that answers have had.
const typeNames = new Map();
async function nameTypes(columns) {
  const unknown = [...new Set(columns.map((column) => column.type))].filter((type) => !typeNames.has(type));
  if (!unknown.length) return;
  const rows = await ask("select t.oid, format_type(t.oid, null) as name from unnest($1::oid[]) as t(oid)", [`{${unknown.join(",")}}`]);
  for (const row of rows) typeNames.set(Number(row.oid), row.name);
}
const typed = (column) => [column.name, el("small", { className: "soft" }, typeNames.get(column.type) ?? "")];

/** A table of an answer; `heading` makes what stands in a column's head. */
function grid(said, heading = (column) => column.name) {
  const numeric = said.columns.map((column) => NUMBERS.has(column.type));
  const head = said.columns.map((column, at) => el("th", { className: numeric[at] ? "number" : "", scope: "col" }, heading(column, at)));
  const rows = said.rows.map((row) => el("tr", {}, row.map((value, at) =>
    el("td", { className: numeric[at] ? "number" : "" }, cell(value)))));
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Rows" },
    el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
}

/** A table of objects, with columns `[heading, what of a row, is a number]`. */
function list(rows, columns) {
  const head = columns.map(([name, , right]) => el("th", { className: right ? "number" : "", scope: "col" }, name));
  const body = rows.map((row) => el("tr", {}, columns.map(([, of, right]) => el("td", { className: right ? "number" : "" }, of(row) ?? ""))));
  return el("div", { className: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}

function login() {
  document.getElementById("top").hidden = true;
  const said = el("div", { role: "status" });
  const user = el("input", { name: "user", required: true, autocomplete: "username", value: about.trusts ? "rowferry" : "" });
  const password = el("input", { name: "password", type: "password", autocomplete: "current-password" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      const answer = await call("/api/login", { user: user.value, password: password.value });
      localStorage.setItem(KEY, answer.key);
      about.user = answer.user;
      show();
    } catch (error) {
      said.replaceChildren(failure(error));
      password.value = "";
    }
  };
  main.replaceChildren(el("form", { className: "login", onsubmit: submit },
    el("h1", {}, about.database ?? "Rowferry"),
    about.trusts ? el("p", { className: "soft" }, "No passwords are asked for on this machine.") : null,
    el("label", {}, "User", user), el("label", {}, "Password", password),
    el("button", { className: "main", type: "submit" }, "Log in"), said));
  user.focus();
}

const KINDS = { r: "table", p: "partitioned table", v: "view", m: "materialized view" };

async function tables() {
  const found = (pattern) => ask(`
    select n.nspname as schema, c.relname as name, c.relkind as kind, greatest(c.reltuples, 0)::bigint as rows,
           case when c.relkind in ('r', 'm') then pg_relation_size(c.oid) end as bytes, obj_description(c.oid, 'pg_class') as comment
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and position(lower($1) in lower(n.nspname || '.' || c.relname)) > 0 order by 1, 2`, [pattern]);
  const place = el("div");
  let wanted = "";
  const draw = async (pattern) => {
    wanted = pattern;
    let rows;
    try { rows = await found(pattern); } catch (error) { place.replaceChildren(failure(error)); return; }
    // Another letter has been typed meanwhile.
    if (wanted !== pattern) return;
    place.replaceChildren(rows.length === 1000 ? el("p", { className: "soft" }, "The first 1,000; the search looks through all.") : "", rows.length ? list(rows, [
      ["Name", (row) => el("a", { href: `#/table/${encodeURIComponent(row.schema)}/${encodeURIComponent(row.name)}` },
        row.schema === "public" ? row.name : `${row.schema}.${row.name}`)],
      ["Kind", (row) => KINDS[row.kind]],
      ["Rows, by the last ANALYZE", (row) => (row.kind === "v" || row.rows === "0" ? "" : number(row.rows)), true],
      ["Size", (row) => (row.bytes === null ? "" : size(row.bytes)), true],
      ["Comment", (row) => row.comment],
    ]) : el("p", { className: "soft" }, pattern ? "No name fits." : "There are no tables."));
  };
  await draw("");
  return [el("div", { className: "bar" }, el("h1", {}, about.database), el("span", { className: "room" }),
    el("input", { type: "search", placeholder: "Search", "aria-label": "Search tables", oninput: (event) => draw(event.target.value) })), place];
}

const PAGE = 50;

async function table(schema, name) {
  const [relation] = await ask(`select c.oid, c.relkind as kind, obj_description(c.oid, 'pg_class') as comment
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2`, [schema, name]);
  if (!relation) return [el("p", { className: "bad" }, "There is no such table.")];
  const columns = await ask(`select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
      pg_get_expr(d.adbin, d.adrelid) as fallback, col_description(a.attrelid, a.attnum) as comment
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped order by a.attnum`, [relation.oid]);
  const keys = await ask(`select c.conname as name, pg_get_constraintdef(c.oid) as words, n.nspname as schema, r.relname as other
    from pg_constraint c left join pg_class r on r.oid = c.confrelid left join pg_namespace n on n.oid = r.relnamespace
    where c.conrelid = $1::oid order by c.contype <> 'p', c.conname`, [relation.oid]);
  const indexes = await ask("select pg_get_indexdef(indexrelid) as words from pg_index where indrelid = $1::oid order by indexrelid", [relation.oid]);
  const view = relation.kind === "v" || relation.kind === "m" ? (await ask("select pg_get_viewdef($1::oid, true) as words", [relation.oid]))[0].words : null;

  const place = el("div");
  const state = { order: null, down: false, page: 0, filter: "", column: columns[0]?.name };
  const rows = async () => {
    const parameters = [];
    let sql = `select * from ${identifier(schema)}.${identifier(name)}`;
    if (state.filter) {
      parameters.push(state.filter);
      sql += ` where position(lower($1) in lower(${identifier(state.column)}::text)) > 0`;
    }
    if (state.order) sql += ` order by ${identifier(state.order)}${state.down ? " desc" : ""}`;
    sql += ` limit ${PAGE + 1} offset ${state.page * PAGE}`;
    let said;
    try {
      said = await look({ sql, parameters, rows: PAGE + 1 });
    } catch (error) {
      place.replaceChildren(failure(error));
      return;
    }
    const more = said.rows.length > PAGE;
    said.rows = said.rows.slice(0, PAGE);
    const heading = (column) => el("button", {
      type: "button", title: "Sort", onclick: () => {
        state.down = state.order === column.name && !state.down;
        Object.assign(state, { order: column.name, page: 0 });
        rows();
      },
    }, column.name, state.order === column.name ? (state.down ? " ▼" : " ▲") : "");
    const turn = (by) => { state.page += by; rows(); };
    place.replaceChildren(grid(said, heading), el("div", { className: "bar" },
      el("button", { type: "button", disabled: state.page === 0, onclick: () => turn(-1) }, "Before"),
      el("button", { type: "button", disabled: !more, onclick: () => turn(1) }, "Next"),
      el("span", { className: "soft" }, said.rows.length ? `Rows ${number(state.page * PAGE + 1)} to ${number(state.page * PAGE + said.rows.length)}` : "No rows")));
  };
  await rows();
  const filter = el("form", { className: "bar", onsubmit: (event) => { event.preventDefault(); state.page = 0; rows(); } },
    el("select", { "aria-label": "Column to search", onchange: (event) => { state.column = event.target.value; } },
      columns.map((column) => el("option", {}, column.name))),
    el("input", { type: "search", placeholder: "contains", "aria-label": "Text to search", oninput: (event) => { state.filter = event.target.value; } }),
    el("button", { type: "submit" }, "Search"), el("span", { className: "room" }),
    el("a", { href: `#/query/${encodeURIComponent(`select * from ${identifier(schema)}.${identifier(name)}`)}` }, "Query it"));
  return [el("h1", {}, `${schema === "public" ? "" : `${schema}.`}${name}`), relation.comment ? el("p", {}, relation.comment) : null, filter, place,
    el("h2", {}, "Columns"), list(columns, [
      ["Name", (row) => row.name], ["Type", (row) => el("code", {}, row.type)], ["NOT NULL", (row) => (row.required === "t" ? "yes" : "")],
      ["Default", (row) => (row.fallback ? el("code", {}, row.fallback) : "")], ["Comment", (row) => row.comment]]),
    keys.length ? [el("h2", {}, "Keys and checks"), list(keys, [["Name", (row) => row.name], ["Definition", (row) => el("code", {}, row.words)],
      ["", (row) => (row.other ? el("a", { href: `#/table/${encodeURIComponent(row.schema)}/${encodeURIComponent(row.other)}` }, row.other) : "")]])] : null,
    indexes.length ? [el("h2", {}, "Indexes"), list(indexes, [["Definition", (row) => el("code", {}, row.words)]])] : null,
    view ? [el("h2", {}, "Definition"), el("pre", {}, view)] : null].flat();
}

const HISTORY = "rowferry history";
const past = () => { try { return JSON.parse(localStorage.getItem(HISTORY)) ?? []; } catch { return []; } };

function download(name, type, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
/** Names of columns, each another one, as `rowferry query --json` has them. */
function names(columns) {
  const seen = new Map();
  return columns.map(({ name }) => { seen.set(name, (seen.get(name) ?? 0) + 1); return seen.get(name) > 1 ? `${name}_${seen.get(name)}` : name; });
}
function csv(said) {
  const field = (value) => (value === null ? "" : /[",\n\r]/.test(value) || value === "" ? `"${value.replaceAll('"', '""')}"` : value);
  return [said.columns.map((column) => field(column.name)), ...said.rows.map((row) => row.map((value) => field(value)))].map((row) => row.join(",")).join("\r\n");
}

function query(given) {
  const box = el("textarea", { value: given ?? past()[0] ?? "", spellcheck: false, "aria-label": "SQL" });
  const place = el("div", { "aria-live": "polite" });
  const changes = el("input", { type: "checkbox" });
  const limit = el("select", { "aria-label": "Most rows" }, ["100", "1000"].map((value) => el("option", {}, value)));
  const run = el("button", { className: "main", type: "button" }, "Run");
  const explain = el("button", { type: "button" }, "Explain");
  const cancel = el("button", { type: "button", disabled: true, onclick: () => call("/api/cancel").catch(() => {}) }, "Cancel");
  const recent = el("select", { "aria-label": "Earlier statements", onchange: () => { if (recent.value) box.value = recent.value; } });
  const remember = () => recent.replaceChildren(el("option", { value: "" }, "Earlier…"),
    ...past().map((sql) => el("option", { value: sql }, sql.length > 80 ? `${sql.slice(0, 80)}…` : sql)));
  remember();
  const go = async (sql, mayChange) => {
    if (!sql.trim()) return;
    for (const button of [run, explain]) button.disabled = true;
    cancel.disabled = false;
    place.replaceChildren(el("p", { className: "soft" }, "Running…"));
    try {
      const said = await call("/api/query", { sql, rows: Number(limit.value), changes: mayChange, on: "work" });
      const count = said.rows.length;
      // Without them the rows are shown all the same.
      await nameTypes(said.columns).catch(() => {});
      const cut = said.rows.some((row) => row.some((value) => value !== null && typeof value === "object"));
      const words = said.columns.length ? `${number(count)} row${count === 1 ? "" : "s"}${said.more ? " of more" : ""}` : said.tag || "done";
      place.replaceChildren(
        el("div", { className: "bar" }, el("strong", { id: "words" }, words), el("span", { className: "soft" }, `${number(said.milliseconds)} ms`),
          el("span", { className: "room" }),
          cut ? el("span", { className: "soft" }, "Values beyond 64 kB are shown by their beginning; there is no file of these rows.") : null,
          said.columns.length && !cut ? el("button", { type: "button", onclick: () => download("rows.csv", "text/csv", csv(said)) }, "CSV") : null,
          said.columns.length && !cut ? el("button", { type: "button", onclick: () => download("rows.json", "application/json", JSON.stringify(said.rows.map((row) =>
            Object.fromEntries(names(said.columns).map((name, at) => [name, row[at]]))), null, 1)) }, "JSON") : null),
        ...said.notices.map((notice) => el("p", { className: "soft" }, notice)),
        ...(said.columns.length ? [grid(said, typed)] : []));
      // What may hold a password is not kept.
      if (!/password|encrypt/i.test(box.value)) localStorage.setItem(HISTORY, JSON.stringify([box.value, ...past().filter((known) => known !== box.value)].slice(0, 50)));
      remember();
    } catch (error) {
      place.replaceChildren(failure(error, sql));
    } finally {
      for (const button of [run, explain]) button.disabled = false;
      cancel.disabled = true;
    }
  };
  run.addEventListener("click", () => go(box.value, changes.checked));
  explain.addEventListener("click", () => go(`explain ${box.value}`, false));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); go(box.value, changes.checked); } });
  setTimeout(() => box.focus());
  return [el("h1", {}, "Query"), box, el("div", { className: "bar" }, run, explain, cancel, limit, recent,
    about.writes ? el("label", {}, changes, " allow changes") : el("span", { className: "soft" }, "Reads only."),
    el("span", { className: "soft" }, "Ctrl-Enter runs; one statement, 30 s at most.")), place];
}

/** What `draw` gives, again and again as long as the page is there. */
function live(draw, seconds) {
  const place = el("div");
  const turn = async () => {
    try { place.replaceChildren(...(await draw()).flat().filter(Boolean)); } catch (error) { place.replaceChildren(failure(error)); }
    setTimeout(() => { if (place.isConnected) turn(); }, seconds * 1000);
  };
  turn();
  return place;
}

const activity = () => [el("h1", {}, "Activity"), live(async () => {
  const sessions = await ask(`select pid, usename as "user", application_name as program, host(client_addr) as address, state, wait_event_type as kind, wait_event as waits,
      extract(epoch from now() - coalesce(case when state = 'active' then query_start else state_change end, backend_start))::bigint as seconds,
      left(query, 500) as query, pid = pg_backend_pid() as mine, pg_blocking_pids(pid)::text as blockers
    from pg_stat_activity where backend_type = 'client backend' order by state <> 'active', query_start desc nulls last`);
  const locks = await ask(`select l.pid, l.locktype as kind, coalesce(l.relation::regclass::text, l.locktype) as what, l.mode, l.granted
    from pg_locks l where l.pid <> pg_backend_pid() order by l.granted, l.pid limit 200`);
  const act = (name, row) => el("button", { type: "button", onclick: async (event) => {
    event.target.disabled = true;
    try { await ask(`select pg_${name}_backend($1::int)`, [row.pid]); } catch (error) { event.target.replaceWith(el("span", { className: "bad" }, error.message)); }
  } }, name === "cancel" ? "Cancel" : "End");
  return [list(sessions, [
    ["Session", (row) => row.pid, true], ["User", (row) => row.user], ["Program", (row) => row.program], ["From", (row) => row.address],
    ["State", (row) => row.state], ["Since", (row) => `${number(row.seconds)} s`, true],
    ["Waits for", (row) => (row.blockers !== "{}" ? `session ${row.blockers.slice(1, -1)}` : row.state === "active" ? [row.kind, row.waits].filter(Boolean).join(": ") : "")],
    ["Statement", (row) => el("code", {}, row.query ?? "")],
    ["", (row) => (row.mine === "t" ? el("span", { className: "soft" }, "this page") : el("span", {}, act("cancel", row), " ", act("terminate", row)))],
  ]),
  el("h2", {}, "Locks"), locks.length ? list(locks, [["Session", (row) => row.pid, true], ["What", (row) => row.what], ["Mode", (row) => row.mode],
    ["", (row) => (row.granted === "t" ? "held" : el("strong", {}, "waited for"))]]) : el("p", { className: "soft" }, "None is held.")];
}, 3)];

const statements = () => [el("h1", {}, "Statements"), live(async () => {
  const [known] = await ask("select to_regclass('pg_stat_statements') is not null as there");
  if (known.there !== "t") {
    return [el("div", { className: "box" }, "Statements are counted and timed once the extension is there: ", el("code", {}, "CREATE EXTENSION pg_stat_statements"))];
  }
  const rows = await ask(`select query, calls, rows, round(total_exec_time::numeric, 1) as total, round(mean_exec_time::numeric, 3) as mean, round(max_exec_time::numeric, 1) as most
    from pg_stat_statements order by total_exec_time desc limit 50`);
  return [list(rows, [["Statement", (row) => el("code", {}, row.query)], ["Calls", (row) => number(row.calls), true], ["Rows", (row) => number(row.rows), true],
    ["ms in all", (row) => number(row.total), true], ["ms each", (row) => row.mean, true], ["ms at most", (row) => number(row.most), true]])];
}, 10)];

// Figures are kept while the page is open, whichever part of it is shown: a quarter of an hour of them.
const samples = [];
const EVERY = 3;
async function sample() {
  if (!about.user) return;
  try {
    const [row] = await ask(`select extract(epoch from clock_timestamp()) as at, numbackends as sessions, xact_commit + xact_rollback as transactions,
        tup_returned as read, tup_inserted + tup_updated + tup_deleted as changed, blks_hit as hit, blks_read as missed, deadlocks,
        pg_database_size(current_database()) as bytes from pg_stat_database where datname = current_database()`);
    samples.push(Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)])));
    samples.splice(0, samples.length - (15 * 60) / EVERY);
    document.dispatchEvent(new Event("sampled"));
  } catch { /* The next one may come. */ }
}
setInterval(sample, EVERY * 1000);

const FIGURES = [
  ["Sessions", "", (now) => now.sessions],
  ["Transactions", "per second", (now, then) => (now.transactions - then.transactions) / (now.at - then.at)],
  ["Rows read in scans", "per second", (now, then) => (now.read - then.read) / (now.at - then.at)],
  ["Rows changed", "per second", (now, then) => (now.changed - then.changed) / (now.at - then.at)],
  ["Pages found in the cache", "%", (now, then) => { const all = now.hit + now.missed - then.hit - then.missed; return all > 0 ? (100 * (now.hit - then.hit)) / all : 100; }],
  ["Deadlocks", "in all", (now) => now.deadlocks],
  ["Size of the file", "MB", (now) => now.bytes / 1048576],
];

function chart(title, unit, of) {
  const points = [];
  for (let at = 1; at < samples.length; at += 1) points.push([samples[at].at, Math.max(0, of(samples[at], samples[at - 1]))]);
  const most = Math.max(...points.map((point) => point[1]), 0) || 1;
  const [wide, high, left, bottom] = [300, 120, 34, 14];
  const end = points.at(-1)?.[0] ?? 0;
  const start = Math.min(points[0]?.[0] ?? 0, end - 60);
  const x = (at) => left + ((wide - left) * (at - start)) / (end - start || 1);
  const y = (value) => 6 + (high - bottom - 6) * (1 - value / most);
  const shown = (value) => value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
  // There is room for five letters beside the line.
  const short = (value) => value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });
  const now = el("span", { className: "soft" }, points.length ? `${shown(points.at(-1)[1])} ${unit}` : "…");
  const line = svg("line", { class: "at", y1: 6, y2: high - bottom, x1: left, x2: left, visibility: "hidden" });
  const last = points.at(-1);
  const label = (text, atX, atY, anchor) => { const made = svg("text", { class: "tick", x: atX, y: atY, "text-anchor": anchor }); made.textContent = text; return made; };
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "img", tabindex: 0, "aria-label": `${title}, ${now.textContent}` },
    svg("line", { class: "axis", x1: left, x2: wide, y1: high - bottom, y2: high - bottom }), svg("line", { class: "axis", x1: left, x2: wide, y1: 6, y2: 6 }),
    label(short(most), left - 4, 10, "end"), label("0", left - 4, high - bottom, "end"), label(`${Math.round((end - start) / 60)} min ago`, left, high - 2, "start"), label("now", wide, high - 2, "end"),
    ...(last ? [svg("circle", { class: "dot", cx: x(last[0]), cy: y(last[1]), r: 2.5 })] : []),
    svg("polyline", { class: "curve", points: points.map((point) => `${x(point[0])},${y(point[1])}`).join(" ") }), line);
  let chosen = points.length;
  const choose = (at) => {
    if (!points.length) return;
    chosen = Math.min(Math.max(at, 0), points.length - 1);
    const [when, value] = points[chosen];
    line.setAttribute("visibility", "visible");
    for (const side of ["x1", "x2"]) line.setAttribute(side, x(when));
    now.textContent = `${new Date(when * 1000).toLocaleTimeString()}: ${shown(value)} ${unit}`;
    picture.setAttribute("aria-label", `${title}, ${now.textContent}`);
  };
  picture.addEventListener("pointermove", (event) => {
    const at = start + ((event.offsetX / picture.clientWidth) * wide - left) * ((end - start) / (wide - left));
    choose(points.reduce((best, point, place) => (Math.abs(point[0] - at) < Math.abs(points[best][0] - at) ? place : best), 0));
  });
  const keys = { ArrowLeft: () => chosen - 1, ArrowRight: () => chosen + 1, Home: () => 0, End: () => points.length - 1 };
  picture.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    choose(keys[event.key]());
  });
  return el("figure", {}, el("figcaption", {}, el("strong", {}, title), now), picture);
}

function figures() {
  const place = el("div", { className: "charts" });
  const draw = () => {
    if (!place.isConnected) document.removeEventListener("sampled", draw);
    else if (!place.matches(":hover, :focus-within")) place.replaceChildren(...FIGURES.map((figure) => chart(...figure)));
  };
  document.addEventListener("sampled", draw);
  setTimeout(draw);
  return [el("h1", {}, "Figures"), el("p", { className: "soft" }, `Every ${EVERY} seconds, as long as this page is open, for a quarter of an hour. The pointer, or the arrow keys, show what was when.`), place];
}

const PAGES = { tables, table, query, activity, statements, figures };

async function show() {
  if (!about.user) {
    login();
    return;
  }
  const [name, ...rest] = location.hash.replace(/^#\//, "").split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  const draw = Object.hasOwn(PAGES, name) ? PAGES[name] : tables;
  document.getElementById("top").hidden = false;
  document.getElementById("who").textContent = about.user;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.hash === `#/${name === "table" ? "tables" : name || "tables"}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${about.database}: ${rest.at(-1) && name === "table" ? rest.at(-1) : name || "tables"}`;
  const asked = location.hash;
  try {
    const made = await draw(...rest);
    if (location.hash === asked) main.replaceChildren(...made.flat().filter(Boolean));
  } catch (error) {
    if (about.user) main.replaceChildren(failure(error));
  }
}

document.getElementById("leave").addEventListener("click", async () => {
  await call("/api/logout").catch(() => {});
  localStorage.removeItem(KEY);
  about.user = null;
  samples.length = 0;
  show();
});
addEventListener("hashchange", async () => {
  if (looking) await call("/api/cancel", { on: "look" }).catch(() => {});
  show();
});
about = await call("/api/about").catch(() => ({}));
await show();
sample();
