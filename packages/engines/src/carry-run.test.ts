import { type DurableRun, RunCarrier } from '@assize/agents/internal/agents';
import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test } from 'vitest';
import {
  approveAll,
  CLERKS,
  errandRuntime,
  errands,
  payTool,
} from '../../../tests/support/ledger/errands.ts';
import { limitedAdvancer } from './carry-run.ts';
import { type DbosSdk, dbosRuns, type RestateContext, restateRuns } from './index.ts';

class TerminalError extends Error {
  readonly errorCode: number | undefined;

  constructor(message: string, { errorCode }: { errorCode?: number } = {}) {
    super(message);
    this.errorCode = errorCode;
  }
}
class TimeoutError extends Error {}
class Died extends Error {}

/** A process that dies before the engine has kept the result of a step. */
class Journal {
  readonly kept = new Map<string, string>();
  readonly waits: number[] = [];
  losses = 0;

  async step<T>(name: string, action: () => Promise<T>): Promise<T> {
    if (!this.kept.has(name)) {
      const result = JSON.stringify(await action());
      if (this.losses-- > 0) throw new Died();
      this.kept.set(name, result);
    }
    return JSON.parse(this.kept.get(name)!) as T;
  }
}

type Work = (
  journal: Journal,
  wait: (ms: number) => Promise<void>,
  trajectoryId: string,
) => Promise<unknown>;

async function office() {
  const store = new MemoryStore();
  const paid: string[] = [];
  const pay = payTool((_key, what) => paid.push(what));
  const domain = errands(pay);
  const assize = errandRuntime(store, pay, domain);
  onTestFinished(() => assize.close());
  await assize.create(domain, { trajectoryId: 'e1' });
  assize.release('e1');
  const carrier = new RunCarrier({ store, assize, agents: [CLERKS], tools: ['errand.pay'] });
  await carrier.records.begin({ trajectoryId: 'e1', agents: 'clerks', tenant: 'north' });
  return { store, assize, carrier, paid };
}

const ENGINES: readonly (readonly [string, (carrier: RunCarrier) => Work])[] = [
  [
    'DBOS',
    (carrier) => (journal, wait, trajectoryId) => {
      const dbos = {
        ...{
          workflowID: 'w',
          stepID: 1,
          isInWorkflow: () => true,
          setEvent: async () => undefined,
        },
        getWorkflowStatus: async () => null,
        runStep: (action: () => Promise<unknown>, { name }: { name: string }) =>
          journal.step(name, action),
        recv: async (_topic: string, seconds: number) => wait(seconds * 1_000),
      } as unknown as DbosSdk;
      return dbosRuns(carrier, dbos, { askAgainMs: 40 })(trajectoryId);
    },
  ],
  [
    'Restate',
    (carrier) => (journal, wait, trajectoryId) => {
      const ctx: RestateContext = {
        request: () => ({ id: 'i' }),
        run: (name, action) => journal.step(name, action),
        signal: () => ({
          orTimeout: async (ms) => {
            await wait(ms);
            throw new TimeoutError();
          },
        }),
      };
      return restateRuns(
        carrier,
        { TerminalError, TimeoutError },
        { askAgainMs: 40 },
      )(ctx, trajectoryId);
    },
  ],
];

test.each(ENGINES)(
  '%s carries a run through lost steps, and waits by its own means',
  async (_, workOf) => {
    const { assize, carrier, paid } = await office();
    const journal = new Journal();
    journal.losses = 2;
    const wait = async (ms: number): Promise<void> => {
      journal.waits.push(ms);
      await approveAll(assize);
      await new Promise((resolve) => setTimeout(resolve, ms));
    };
    const carry = () => workOf(carrier)(journal, wait, 'e1');
    await expect(carry()).rejects.toBeInstanceOf(Died);
    await expect(carry()).rejects.toBeInstanceOf(Died);
    const run = await carry();
    expect(run).toMatchObject({ status: 'done', tenant: 'north', turns: expect.any(Number) });
    expect(paid).toEqual(['e1']);
    // A wait for a person asks again after a while, and a wait for a time ends at that time.
    expect(journal.waits[0]).toBe(40);
    expect(journal.waits.at(-1)).toBeLessThanOrEqual(201);
    const steps = journal.kept.size;
    expect(await carry(), 'a replay').toEqual(run);
    expect(journal.kept.size).toBe(steps);
  },
);

test.each(ENGINES)('%s gets the errors of a run that does not exist', async (name, workOf) => {
  const { carrier } = await office();
  const error =
    name === 'DBOS'
      ? { code: 'not_found', message: expect.stringContaining('The store has no durable run of') }
      : { errorCode: 404 };
  await expect(workOf(carrier)(new Journal(), async () => undefined, 'e9')).rejects.toMatchObject(
    error,
  );
});

test.each(ENGINES)('%s waits for the end of the lease of another process', async (_, workOf) => {
  const { store, assize, carrier } = await office();
  const other = new RunCarrier({
    ...{ store, assize, leaseMs: 300, tools: [] },
    agents: [
      {
        ...CLERKS,
        agents: ({ signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', reject)),
      },
    ],
  });
  const held = new AbortController();
  const holds = other.advance('e1', held.signal);
  onTestFinished(async () => {
    held.abort();
    await holds;
  });
  await expect.poll(() => carrier.records.get('e1')).toHaveProperty('lease');
  const journal = new Journal();
  const stop = new Error('the test has seen the wait');
  const wait = async (ms: number): Promise<void> => {
    journal.waits.push(ms);
    throw stop;
  };
  await expect(workOf(carrier)(journal, wait, 'e1')).rejects.toBe(stop);
  expect(journal.waits[0]).toBeGreaterThan(0);
  expect(journal.waits[0]).toBeLessThanOrEqual(301);
});

test('a process advances so many runs together, and the others in their order', async () => {
  const [began, ends]: [string[], Map<string, (error?: Error) => void>] = [[], new Map()];
  const advance = (id: string) =>
    new Promise<DurableRun>((resolve, reject) => {
      began.push(id);
      ends.set(id, (error) => (error === undefined ? resolve({} as DurableRun) : reject(error)));
    });
  const limited = limitedAdvancer({ advance }, { concurrency: 2 });
  const all = ['a', 'b', 'c', 'd', 'e'].map((id) =>
    limited.advance(id).then(
      () => id,
      ({ message }) => message,
    ),
  );
  await expect.poll(() => began).toEqual(['a', 'b']);
  // A failure frees its place too.
  ends.get('b')!(new Error('b failed'));
  await expect.poll(() => began).toEqual(['a', 'b', 'c']);
  ends.get('a')!();
  ends.get('c')!();
  await expect.poll(() => began).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (const id of ['d', 'e']) ends.get(id)!();
  expect(await Promise.all(all)).toEqual(['a', 'b failed', 'c', 'd', 'e']);
  void limited.advance('f');
  void limited.advance('g');
  expect(began.slice(5)).toEqual(['f', 'g']);
});
