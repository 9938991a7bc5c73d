// pg-boss, a job queue: its schema with functions and partitions, queues and their policies, retries, dead letters.
import pg from "pg";
import PgBoss from "pg-boss";
import { refused, spell, step, url } from "./tour.js";

const pool = new pg.Pool({ connectionString: url, max: 4 });
const rows = async (text, values) => (await pool.query(text, values)).rows;
const boss = new PgBoss({ connectionString: url, max: 4, schedule: false, supervise: false });
boss.on("error", (error) => console.log(`error: ${error.message}`));
const queues = async () => (await boss.getQueues()).sort((a, b) => (a.name < b.name ? -1 : 1));
const pick = (job, ...names) => Object.fromEntries(names.map((name) => [name, job[name]]));

await step("start", async () => {
  await boss.start();
  return [await boss.isInstalled(), await boss.schemaVersion()];
});

await step("what it has made", async () => [
  ...(await rows(`select table_name, column_name, data_type, column_default from information_schema.columns
    where table_schema = 'pgboss' order by 1, ordinal_position`)),
  ...(await rows("select relname, relkind, relispartition from pg_class where relnamespace = 'pgboss'::regnamespace and relkind in ('r', 'p') order by 1")),
  ...(await rows("select proname from pg_proc where pronamespace = 'pgboss'::regnamespace order by 1")),
  ...(await rows("select enumlabel from pg_enum e join pg_type t on t.oid = enumtypid where typname = 'job_state' order by enumsortorder")),
  ...(await rows("select conname, contype, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'pgboss'::regnamespace and contype in ('p', 'u', 'f', 'c') and conrelid::regclass::text not like '%j%' order by 1")),
]);

await step("queues", async () => {
  await boss.createQueue("plain");
  await boss.createQueue("dead");
  await boss.createQueue("kept", { retryLimit: 1, deadLetter: "dead", retryDelay: 0, expireInSeconds: 30 });
  for (const policy of ["short", "singleton", "stately"]) await boss.createQueue(policy, { policy });
  await boss.updateQueue("plain", { retryLimit: 0 });
  return [
    ...(await queues()).map((queue) => pick(queue, "name", "policy", "retryLimit", "deadLetter", "expireInSeconds")),
    ...(await rows("select count(*)::int from pg_class where relnamespace = 'pgboss'::regnamespace and relispartition and relkind = 'r'")),
  ];
});

await step("jobs are sent and fetched", async () => {
  for (let n = 1; n <= 3; n++) await boss.send("plain", { n }, { priority: n });
  await boss.send("plain", { later: true }, { startAfter: 3600 });
  await boss.insert([{ name: "plain", data: { bulk: 1 } }, { name: "plain", data: { bulk: 2 }, priority: 9 }]);
  const found = [await boss.getQueueSize("plain")];
  // A change returns its rows in no order.
  const fetched = (await boss.fetch("plain", { batchSize: 4 })).sort((a, b) => (spell(a.data) < spell(b.data) ? -1 : 1));
  found.push(...fetched.map((job) => job.data));
  await boss.complete("plain", fetched.slice(0, 2).map((job) => job.id), { ok: 1 });
  await boss.fail("plain", fetched[2].id, new Error("broken"));
  await boss.cancel("plain", fetched[3].id);
  for (const job of fetched) {
    const kept = await boss.getJobById("plain", job.id);
    found.push([kept.state, kept.retryCount, kept.output?.message ?? kept.output]);
  }
  await boss.resume("plain", fetched[3].id);
  found.push((await boss.getJobById("plain", fetched[3].id)).state, await boss.getQueueSize("plain"));
  return found;
});

await step("retries end in the queue of the dead", async () => {
  await boss.send("kept", { doomed: true });
  const found = [];
  for (let n = 0; n < 2; n++) {
    const [job] = await boss.fetch("kept", { includeMetadata: true });
    found.push(pick(job, "data", "state", "retryCount", "retryLimit"));
    await boss.fail("kept", job.id, { why: n });
  }
  found.push(await boss.fetch("kept"));
  found.push((await boss.fetch("dead")).map((job) => job.data));
  return found;
});

await step("policies", async () => {
  const found = [];
  for (const name of ["short", "singleton", "stately"]) {
    const sent = [];
    for (let n = 0; n < 3; n++) sent.push((await boss.send(name, { n }, { singletonKey: n === 2 ? "other" : undefined })) !== null);
    const fetched = [(await boss.fetch(name)).length, (await boss.fetch(name)).length];
    sent.push((await boss.send(name, { n: 9 })) !== null);
    found.push([name, sent, fetched]);
  }
  return found;
});

await step("once in a while", async () => {
  const found = [];
  for (let n = 0; n < 3; n++) found.push((await boss.sendThrottled("plain", { n }, {}, 3600, "k")) !== null);
  for (let n = 0; n < 3; n++) found.push((await boss.sendDebounced("plain", { n }, {}, 3600, "d")) !== null);
  return [found];
});

await step("published to those who subscribe", async () => {
  await boss.subscribe("event", "plain");
  await boss.subscribe("event", "short");
  await boss.subscribe("event", "short");
  await boss.unsubscribe("event", "plain");
  await boss.publish("event", { told: 1 });
  return rows("select event, name from pgboss.subscription order by 1, 2");
});

await step("workers", async () => {
  await boss.createQueue("work");
  const done = [];
  const id = await boss.work("work", { batchSize: 2, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    for (const job of jobs) {
      if (job.data.n === 4) throw new Error("four");
      done.push(job.data.n);
    }
  });
  for (let n = 0; n < 8; n++) await boss.send("work", { n }, { retryLimit: 0 });
  boss.notifyWorker(id);
  for (let n = 0; (await rows("select 1 from pgboss.job where name = 'work' and state < 'completed'")).length; n++) {
    if (n > 3_000) throw new Error("not done");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await boss.offWork("work");
  return [
    ...(await rows("select state, count(*)::int from pgboss.job where name = 'work' group by 1 order by 1")),
    ...(await rows("select data, output->>'message' as message from pgboss.job where name = 'work' and state = 'failed' order by data->>'n'")),
  ];
});

await step("in a transaction of the caller", async () => {
  const client = await pool.connect();
  const db = { executeSql: (text, values) => client.query(text, values) };
  await client.query("begin");
  await boss.send("plain", { undone: true }, { db });
  const inside = (await client.query("select count(*)::int from pgboss.job where data ? 'undone'")).rows;
  await client.query("rollback");
  client.release();
  return [...inside, ...(await rows("select count(*)::int from pgboss.job where data ? 'undone'"))];
});

await step("maintenance", async () => {
  await rows("update pgboss.job set started_on = now() - interval '1 day' where state = 'active'");
  await boss.maintain();
  await rows("update pgboss.job set completed_on = now() - interval '30 days' where state in ('completed', 'failed', 'cancelled')");
  await boss.maintain();
  return [
    ...(await rows("select name, state, count(*)::int from pgboss.job group by 1, 2 order by 1, 2")),
    ...(await rows("select count(*) > 0 as archived from pgboss.archive")),
  ];
});

await step("purging and dropping", async () => {
  await boss.purgeQueue("plain");
  await boss.deleteQueue("work");
  await boss.clearStorage();
  return [
    ...(await queues()).map((queue) => queue.name),
    ...(await rows("select count(*)::int from pgboss.job")),
    await refused(() => rows("insert into pgboss.job (name) values ('work')")),
  ];
});

await boss.stop({ graceful: false, wait: true });
await pool.end();
