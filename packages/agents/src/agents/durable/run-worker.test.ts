import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/internal/memory';
import { expect, onTestFinished, test } from 'vitest';
import {
  approveAll,
  CLERKS,
  clerk,
  errandRuntime,
  errands,
  payTool,
  workerOver,
} from '../../../../../tests/support/ledger/errands.ts';
import { allOf } from '../../../../../tests/support/process/async-items.ts';
import type { Agent, DurableAgents, DurableRun, RunWorker, WorkerOptions } from '../index.ts';

async function office(options: Partial<WorkerOptions> = {}, names: readonly string[] = ['e1']) {
  const store = new MemoryStore();
  const paid: string[] = [];
  const pay = payTool((_key, what) => paid.push(what));
  const domain = errands(pay);
  const assize = errandRuntime(store, pay, domain);
  const worker = workerOver(store, assize, options);
  for (const name of names) {
    await assize.create(domain, { trajectoryId: name });
    assize.release(name);
    await worker.records.begin({ trajectoryId: name, agents: 'clerks' });
  }
  onTestFinished(() => assize.close());
  return { store, assize, worker, paid, pay, domain };
}

/** Lets a worker work until the test ends. */
function working(worker: RunWorker): AbortController {
  const stop = new AbortController();
  const ends = worker.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ends;
  });
  return stop;
}

const statusOf = ({ records }: RunWorker, name = 'e1') =>
  records.get(name).then(({ status }: DurableRun) => status);

async function until<T>(read: () => Promise<T>, wanted: T): Promise<void> {
  await expect.poll(read, { interval: 20, timeout: 20_000 }).toEqual(wanted);
}

test('a run parks for its approval and its timer, and ends', async () => {
  const { worker, assize, paid } = await office();
  working(worker);
  await until(() => statusOf(worker), 'waiting');
  const parked = await worker.records.get('e1');
  expect(parked).toMatchObject({ turns: 2, pending: [expect.stringMatching(/^[0-9a-f]{64}$/)] });
  expect(parked).not.toHaveProperty('lease');
  expect(await approveAll(assize)).toBe(1);
  await until(() => statusOf(worker), 'done');
  expect(paid).toEqual(['e1']);
  const { versions, lease, head, ...run } = await worker.records.get('e1');
  expect(versions).toEqual([{ turn: 0, agents: '1', domain: 'errands@1' }]);
  expect([lease, head]).toEqual([undefined, undefined]);
  expect(run).toMatchObject({ status: 'done', failures: 0, agents: 'clerks', tenant: 'default' });
});

test('two workers on the same runs make each turn and call once', async () => {
  const names = Array.from({ length: 6 }, (_, n) => `e${n}`);
  // A lease that is over immediately lets both workers advance every run.
  const { store, assize, worker, paid, pay, domain } = await office(
    { leaseMs: 1, concurrency: 6, perTenant: 6 },
    names,
  );
  const beside = errandRuntime(store, pay, domain);
  onTestFinished(() => beside.close());
  for (const one of [
    worker,
    workerOver(store, beside, { leaseMs: 1, concurrency: 6, perTenant: 6 }),
  ])
    working(one);
  const approving = setInterval(() => void approveAll(assize).catch(() => 0), 100);
  onTestFinished(() => clearInterval(approving));
  for (const name of names) await until(() => statusOf(worker, name), 'done');
  expect(paid.toSorted()).toEqual(names);
});

test('a cancelled run that waits ends immediately; its proposal stays open', async () => {
  const { worker, assize, paid } = await office();
  working(worker);
  await until(() => statusOf(worker), 'waiting');
  expect(await worker.records.cancel('e1')).toMatchObject({ status: 'cancelled' });
  await expect(worker.records.cancel('e1')).rejects.toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining('has ended as'),
  });
  expect(await allOf(assize.pending())).toHaveLength(1);
  await approveAll(assize);
  await sleep(200);
  expect(await statusOf(worker)).toBe('cancelled');
  // The approval of a person counts, as without a run.
  expect(paid).toEqual(['e1']);
});

test('a run that is cancelled during a step ends after it', async () => {
  const asked = Promise.withResolvers<void>();
  const agents: DurableAgents = {
    ...CLERKS,
    agents: ({ trajectory, signal }) => [
      {
        ...clerk(trajectory.id),
        decide: async (_: unknown, oracle) =>
          (await oracle.ask({
            request: 'slow',
            call: () => {
              asked.resolve();
              return new Promise((_resolve, reject) =>
                signal.addEventListener('abort', () => reject(new Error('cut'))),
              );
            },
          })) as never,
      },
    ],
  };
  const { worker } = await office({ agents: [agents], leaseMs: 90 });
  working(worker);
  await asked.promise;
  expect(await worker.records.cancel('e1')).toMatchObject({ status: 'ready', cancelled: true });
  await until(() => statusOf(worker), 'cancelled');
  expect(await worker.records.get('e1')).not.toHaveProperty('error');
});

test('a run fails after several failures, and can be retried', async () => {
  let calls = 0;
  let isUp = false;
  const agents: DurableAgents = {
    ...CLERKS,
    agents: ({ trajectory }) => {
      calls++;
      if (!isUp) throw new Error('the model is down');
      return [clerk(trajectory.id)];
    },
  };
  const failures: unknown[] = [];
  const { worker, assize } = await office({
    agents: [agents],
    attempts: 3,
    onFailure: (error) => failures.push(error),
  });
  working(worker);
  await until(() => statusOf(worker), 'failed');
  expect(calls).toBe(3);
  expect(failures).toHaveLength(3);
  const failed = await worker.records.get('e1');
  // The message of an agent can quote data, so the record has none.
  expect(failed).toMatchObject({ failures: 3, error: { code: 'failed', name: 'Error' } });
  expect(JSON.stringify(failed)).not.toContain('model is down');
  await expect(worker.records.retry('e2')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('The store has no durable run of'),
  });
  isUp = true;
  await worker.records.retry('e1');
  await until(() => statusOf(worker), 'waiting');
  await approveAll(assize);
  await until(() => statusOf(worker), 'done');
  await expect(worker.records.retry('e1')).rejects.toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining(', and only a failed run can be'),
  });
});

test('an error that no repetition can fix fails the run immediately', async () => {
  const agents: DurableAgents = {
    ...CLERKS,
    agents: [{ ...clerk('e1'), decide: () => 'perhaps' as never }],
  };
  const { worker } = await office({ agents: [agents] });
  working(worker);
  await until(() => statusOf(worker), 'failed');
  expect(await worker.records.get('e1')).toMatchObject({
    failures: 1,
    error: {
      code: 'function_failed',
      name: 'AgentError',
      message: expect.stringContaining('clerk'),
    },
  });
});

test('a run without an end fails after its turns, and a retry doubles them', async () => {
  const restless: DurableAgents = {
    ...CLERKS,
    agents: [{ ...clerk('e1'), decide: () => ({ waitUntil: '2026-01-01' }) }],
  };
  const { worker, assize, domain } = await office({ agents: [restless], turnsAtOnce: 3 }, []);
  await assize.create(domain, { trajectoryId: 'e1' });
  const begin = (turnsMax: number) =>
    worker.records.begin({ trajectoryId: 'e1', agents: 'clerks', turnsMax });
  await expect(begin(0)).rejects.toMatchObject({ code: 'bad_argument' });
  await begin(5);
  working(worker);
  await until(() => statusOf(worker), 'failed');
  expect(await worker.records.get('e1')).toMatchObject({
    turns: 5,
    failures: 1,
    error: { code: 'turns_used' },
  });
  await worker.records.retry('e1');
  await until(
    () => worker.records.get('e1').then(({ status, turns }) => [status, turns]),
    ['failed', 10],
  );
});

test('a trajectory has one run, of one list of agents and one tenant', async () => {
  const { worker } = await office();
  const { records } = worker;
  expect(await records.begin({ trajectoryId: 'e1', agents: 'clerks' })).toEqual(
    await records.get('e1'),
  );
  const other = {
    code: 'wrong_state',
    message: expect.stringContaining('has a run of the agents clerks'),
    evidence: { trajectory: 'e1', agents: 'clerks', tenant: 'default' },
  };
  await expect(records.begin({ trajectoryId: 'e1', agents: 'others' })).rejects.toMatchObject(
    other,
  );
  await expect(
    records.begin({ trajectoryId: 'e1', agents: 'clerks', tenant: 't' }),
  ).rejects.toMatchObject(other);
  await records.cancel('e1');
  await expect(records.begin({ trajectoryId: 'e1', agents: 'others' })).rejects.toMatchObject(
    other,
  );
  expect(await allOf(records.list())).toEqual([]);
  expect(await allOf(records.list({ ended: true }))).toMatchObject([{ trajectoryId: 'e1' }]);
});

test('a row that is not a run is an error with its trajectory', async () => {
  const { worker, store } = await office({}, []);
  await store.sidePut([
    { kind: 'run/open', key: 'e1', expected: null, body: '{"agents":"clerks"}' },
  ]);
  const bad = {
    code: 'damaged',
    message: expect.stringContaining('Remove the row, or update this'),
    evidence: { trajectory: 'e1' },
  };
  await expect(worker.records.get('e1')).rejects.toMatchObject(bad);
  await expect(worker.records.cancel('e1')).rejects.toMatchObject(bad);
});

/** A worker that ends after its first advance. */
async function advancedOnce(options: Partial<WorkerOptions>) {
  const stop = new AbortController();
  const made = await office({ ...options, onAdvance: () => stop.abort() });
  await made.worker.run(stop.signal);
  return made;
}

const versioned = (version: string, ...decide: Agent['decide'][]): DurableAgents => ({
  name: 'clerks',
  version,
  agents: ({ trajectory }) =>
    decide.map((one, n) => ({ ...clerk(trajectory.id), name: `c${n}`, decide: one })),
});

const CLOSE = { action: 'close', args: {} };

test('changed agents continue after a ruled turn; the record lists versions', async () => {
  const { store, assize } = await advancedOnce({
    agents: [versioned('1', () => CLOSE)],
    turnsAtOnce: 1,
  });
  const changed = versioned('2', () => 'done');
  const next = workerOver(store, assize, { agents: [changed] });
  const ended = await next.runOne('e1', new AbortController().signal);
  expect(ended).toMatchObject({ status: 'done', turns: 2 });
  expect(ended!.versions.map(({ turn, agents }) => [turn, agents])).toEqual([
    [0, '1'],
    [1, '2'],
  ]);
});

test('changed agents that decide otherwise about an open turn fail the run', async () => {
  const pay = { action: 'pay', args: { errand: 'e1', due: '2026-12-01' } };
  // The first proposal waits for a manager and freezes the second, which so has no entry.
  const { store, assize } = await advancedOnce({
    agents: [
      versioned(
        '1',
        () => pay,
        () => pay,
      ),
    ],
    turnsAtOnce: 2,
  });
  const next = workerOver(store, assize, {
    agents: [
      versioned(
        '2',
        () => pay,
        () => CLOSE,
      ),
    ],
  });
  expect(await next.runOne('e1', new AbortController().signal)).toMatchObject({
    status: 'failed',
    error: {
      code: 'nondeterministic_agent',
      message: expect.stringMatching(/Turn 1 .* c1 .*changed since turn 0, from version 1 to 2\.$/),
    },
  });
});

test('a step that a stopping worker cuts is not a failure', async () => {
  const asked = Promise.withResolvers<void>();
  const slow: DurableAgents = {
    ...CLERKS,
    agents: async ({ signal }) => {
      asked.resolve();
      await sleep(60_000, undefined, { signal });
      return [];
    },
  };
  const { worker } = await office({ agents: [slow] });
  const stop = working(worker);
  await asked.promise;
  expect(await worker.records.get('e1')).toHaveProperty('lease');
  stop.abort();
  await until(() => worker.records.get('e1').then(({ lease }) => lease), undefined);
  expect(await worker.records.get('e1')).toMatchObject({ status: 'ready', failures: 0 });
});

test('a worker leaves runs of agents that it does not have', async () => {
  const { worker, store } = await office({ agents: [{ ...CLERKS, name: 'others' }] });
  working(worker);
  await sleep(200);
  expect(await worker.records.get('e1')).toMatchObject({ status: 'ready', turns: 0 });
  await expect(worker.runOne('e1', new AbortController().signal)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('Name the file that has them'),
  });
  await expect(worker.runOne('e9', new AbortController().signal)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('The store has no durable run of'),
  });
  expect(await store.sideList('run/open', { limit: 10 })).toHaveLength(1);
});

test('an abort leaves the run without a lease to the next worker', async () => {
  const { worker, store, assize } = await office();
  const stop = working(worker);
  await until(() => statusOf(worker), 'waiting');
  stop.abort();
  const next = workerOver(store, assize);
  const ending = next.runOne('e1', new AbortController().signal);
  await approveAll(assize);
  expect(await ending).toMatchObject({ status: 'done' });
});
