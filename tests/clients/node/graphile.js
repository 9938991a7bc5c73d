// graphile-worker, a job queue: its schema in migrations, jobs by SQL and by code, workers that LISTEN, retries, cron.
import { Logger, makeWorkerUtils, parseCronItems, run, runMigrations, runOnce } from "graphile-worker";
import pg from "pg";
import { step, url } from "./tour.js";

const pool = new pg.Pool({ connectionString: url, max: 6 });
const logger = new Logger(() => () => {});
const noHandleSignals = true;
const options = { pgPool: pool, logger, noHandleSignals };
const rows = async (text, values) => (await pool.query(text, values)).rows;

const done = [];
let failsUntil = 0;
const taskList = {
  add: (payload) => void done.push(`add ${payload.a + payload.b}`),
  flaky: (payload, helpers) => {
    done.push(`flaky ${helpers.job.attempts}`);
    if (helpers.job.attempts < failsUntil) throw new Error("not yet");
  },
  batch: (payload) => payload.map((part) => (part.bad ? Promise.reject(new Error("bad")) : done.push(`part ${part.n}`))),
  query: async (payload, { withPgClient }) => {
    const { rows: found } = await withPgClient((client) => client.query("select $1::int * 2 as twice", [payload.n]));
    done.push(`query ${found[0].twice}`);
  },
};
const taken = () => done.splice(0);
const jobs = () =>
  rows(`select task_identifier, queue_name, priority, attempts, max_attempts, last_error, key, flags, locked_by is null as free
    from graphile_worker.jobs order by id`);

await step("migrations", async () => {
  await runMigrations(options);
  await runMigrations(options);
  return rows("select id, breaking from graphile_worker.migrations order by 1");
});

await step("what they have made", async () => [
  ...(await rows(`select table_name, column_name, data_type, is_generated from information_schema.columns
    where table_schema = 'graphile_worker' order by 1, 2`)),
  ...(await rows(`select proname, provolatile, prosecdef from pg_proc where pronamespace = 'graphile_worker'::regnamespace
    order by 1, 2`)),
  ...(await rows(`select tgname, tgtype from pg_trigger where not tgisinternal order by 1`)),
  ...(await rows(`select typname, typtype from pg_type where typnamespace = 'graphile_worker'::regnamespace and typtype <> 'b'
    order by 1`)),
  ...(await rows(`select relname, relrowsecurity from pg_class where relnamespace = 'graphile_worker'::regnamespace
    and relkind = 'r' order by 1`)),
]);

const utils = await makeWorkerUtils(options);

await step("jobs by SQL", async () => {
  await rows("select graphile_worker.add_job('add', json_build_object('a', 1, 'b', 2))");
  await rows("select graphile_worker.add_job('add', payload := '{\"a\": 5, \"b\": 6}', queue_name := 'q', priority := -3)");
  await rows("select graphile_worker.add_job('query', '{\"n\": 21}', run_at := now() - interval '1 hour', flags := array['x'])");
  await rows("select graphile_worker.add_job('add', '{\"a\": 0, \"b\": 0}', run_at := now() + interval '1 hour', max_attempts := 2)");
  return jobs();
});

await step("worked off", async () => {
  await runOnce({ ...options, taskList, concurrency: 1 });
  return [...taken(), ...(await jobs())];
});

await step("jobs by code, replaced by their keys", async () => {
  const seen = [];
  for (const jobKeyMode of ["replace", "preserve_run_at", "unsafe_dedupe"]) {
    for (const a of [1, 2]) {
      const job = await utils.addJob("add", { a, b: 10 }, { jobKey: `k ${jobKeyMode}`, jobKeyMode, priority: a });
      seen.push([job.task_identifier, job.payload, job.priority, job.key, job.revision]);
    }
  }
  const many = await rows(`select id from graphile_worker.add_jobs(array(select row('query', json_build_object('n', n),
    'q' || n % 2, null, null, null, null, null)::graphile_worker.job_spec from generate_series(1, 3) n))`);
  await rows("select graphile_worker.remove_job('k replace')");
  await runOnce({ ...options, taskList, concurrency: 1 });
  return [...seen, many.length, ...taken().sort()];
});

await step("retries", async () => {
  failsUntil = 3;
  await utils.addJob("flaky", {}, { maxAttempts: 5 });
  for (let n = 0; n < 4; n++) {
    await runOnce({ ...options, taskList });
    await rows("update graphile_worker._private_jobs set run_at = now() where last_error is not null");
  }
  return [...taken(), ...(await rows("select count(*)::int from graphile_worker.jobs where task_identifier = 'flaky'"))];
});

await step("a job that fails for good", async () => {
  failsUntil = 99;
  await utils.addJob("flaky", { why: "never" }, { maxAttempts: 1 });
  await runOnce({ ...options, taskList });
  const [job] = await rows("select id, attempts, max_attempts, last_error, is_available from graphile_worker._private_jobs where last_error is not null");
  const { id, last_error: error, ...rest } = job;
  const found = [taken(), rest, error.split("\n")[0]];
  found.push((await utils.rescheduleJobs([id], { runAt: new Date(), attempts: 0, maxAttempts: 2 })).map((j) => [j.attempts, j.max_attempts]));
  found.push((await utils.permanentlyFailJobs([id], "given up")).map((j) => [j.attempts, j.last_error]));
  found.push((await utils.completeJobs([id])).length);
  return found;
});

await step("batches", async () => {
  await utils.addJob("batch", [{ n: 1 }, { n: 2, bad: true }, { n: 3 }]);
  await runOnce({ ...options, taskList });
  const left = await rows("select payload, last_error from graphile_worker._private_jobs where last_error like '%bad%'");
  await rows("delete from graphile_worker._private_jobs where last_error is not null");
  return [taken(), ...left.map((job) => [job.payload, job.last_error.split("\n")[0]])];
});

await step("a worker that hears of new jobs", async () => {
  const runner = await run({ ...options, taskList, concurrency: 3, pollInterval: 600_000 });
  const until = async (count) => {
    for (let n = 0; done.length < count; n++) {
      if (n > 6_000) throw new Error(`only ${done.length} of ${count}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  // It says that it listens before it does, and what comes in between would wait for ten minutes.
  const listening = `select 1 from pg_stat_activity where state = 'idle' and query like '%LISTEN "worker:migrate"%'`;
  for (let n = 0; (await rows(listening)).length < 1; n++) {
    if (n > 6_000) throw new Error("nobody listens");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  for (let n = 1; n <= 5; n++) {
    await runner.addJob("add", { a: n, b: 0 });
    await until(n);
  }
  await Promise.all(Array.from({ length: 30 }, (_, n) => utils.addJob("query", { n }, { queueName: n % 3 ? `q${n % 3}` : undefined })));
  await until(35);
  await runner.stop();
  return [...taken().sort(), ...(await rows("select count(*)::int as locked from graphile_worker._private_jobs where locked_at is not null"))];
});

await step("many workers", async () => {
  await rows("select graphile_worker.add_job('add', json_build_object('a', n, 'b', 0)) from generate_series(1, 60) n");
  await Promise.all(Array.from({ length: 4 }, () => runOnce({ ...options, taskList, concurrency: 3 })));
  const all = taken();
  return [all.length, new Set(all).size];
});

await step("schedules", async () => {
  const parsedCronItems = parseCronItems([{ task: "add", match: "* * * * *", identifier: "each", options: { backfillPeriod: 180_000 }, payload: { a: 1, b: 1 } }]);
  await rows("insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution) values ('each', now() - interval '1 day', date_trunc('minute', now()) - interval '2 minutes')");
  const runner = await run({ ...options, taskList: {}, parsedCronItems });
  for (let n = 0; (await rows("select 1 from graphile_worker.jobs where task_identifier = 'add' and queue_name is null and run_at < now()")).length < 1; n++) {
    if (n > 6_000) throw new Error("nothing was scheduled");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await runner.stop();
  return rows("select identifier, last_execution > now() - interval '5 minutes' as lately from graphile_worker._private_known_crontabs");
});

// The row that fails has the time in it.
const why = (text) => rows(text).then(() => "was not refused", (error) => [error.code, error.constraint ?? error.message]);

await step("what cannot be", async () => [
  await why("select graphile_worker.add_job(repeat('x', 200))"),
  await why("select graphile_worker.add_job('add', max_attempts := 0)"),
  await why("select graphile_worker.add_job('add', job_key := 'k', job_key_mode := 'nonsense')"),
]);

await step("cleaning up", async () => {
  await utils.cleanup();
  await rows("select graphile_worker.force_unlock_workers(array['nobody'])");
  return rows("select identifier from graphile_worker._private_tasks order by 1");
});

await utils.release();
await pool.end();
