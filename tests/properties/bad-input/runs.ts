import { MemoryStore } from '@assize/testing/memory';
import { RunCarrier, RunRecords, RunWorker } from '#agents';
import { canonicalize } from '#canon';
import { systemClock, systemRandom } from '#oracle';
import { clerk, errandRuntime, errands, payTool } from '../../support/ledger/errands.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, PORT, takes } from './table.ts';

/** The runtime and the code of the agents are the caller's. */
const TRUSTED = {
  '0.store': PORT,
  '0.assize': PORT,
  '0.agents': PORT,
  '0.clock': PORT,
  '0.random': PORT,
};
const READ = exempt('no arguments');

async function office() {
  const store = new MemoryStore();
  const pay = payTool(() => undefined);
  const domain = errands(pay);
  const assize = errandRuntime(store, pay, domain);
  await assize.create(domain, { trajectoryId: 'e1' });
  assize.release('e1');
  const records = new RunRecords(store);
  await records.begin({ trajectoryId: 'e1', agents: 'clerks' });
  const { trajectoryId: _id, ...open } = await records.get('e1');
  const body = canonicalize({ ...open, status: 'failed' } as never);
  await store.sidePut([{ kind: 'run/ended', key: 'e0', expected: null, body }]);
  const agents = [{ name: 'clerks', version: '1', agents: [clerk('e1')] }];
  return { store, records, options: { store, assize, agents, tools: ['errand.pay'] } };
}

const limits = () => ({
  leaseMs: 1_000,
  attempts: 1,
  backoffMs: 1,
  backoffMaxMs: 1,
  turnsAtOnce: 1,
});

const onOffice = (
  call: (made: Awaited<ReturnType<typeof office>>, ...args: any[]) => unknown,
  args: () => readonly unknown[],
): Case => ({
  trusted: {},
  make: async () => {
    const made = await office();
    return {
      args: args(),
      call: (...given) => call(made, ...given),
      watch: async () => JSON.stringify(await made.store.trajectories()),
    };
  },
});

export const RUNS: Readonly<Record<string, Case | Exempt>> = {
  'new RunRecords': takes(
    (side, clock) => new RunRecords(side as never, clock as never),
    () => [new MemoryStore(), systemClock],
    {
      0: PORT,
      1: PORT,
    },
  ),
  'RunRecords.begin': onOffice(
    ({ records }, terms) => records.begin(terms),
    () => [{ trajectoryId: 'e2', agents: 'clerks', tenant: 't', turnsMax: 5 }],
  ),
  'RunRecords.get': onOffice(
    ({ records }, id) => records.get(id),
    () => ['e1'],
  ),
  'RunRecords.list': onOffice(
    ({ records }, query) => records.list(query).next(),
    () => [{ ended: true }],
  ),
  'RunRecords.cancel': onOffice(
    ({ records }, id) => records.cancel(id),
    () => ['e1'],
  ),
  'RunRecords.retry': onOffice(
    ({ records }, id) => records.retry(id),
    () => ['e0'],
  ),
  'new RunCarrier': {
    trusted: TRUSTED,
    make: async () => ({
      call: (options) => new RunCarrier(options as never),
      args: [
        { ...(await office()).options, ...limits(), clock: systemClock, random: systemRandom },
      ],
    }),
  },
  'RunCarrier.advance': onOffice(
    ({ options }, id, signal) => new RunCarrier(options).advance(id, signal),
    () => ['e1', AbortSignal.abort()],
  ),
  'new RunWorker': {
    trusted: TRUSTED,
    make: async () => ({
      call: (options) => new RunWorker(options as never),
      args: [
        { ...(await office()).options, ...limits(), concurrency: 2, perTenant: 1, pollMs: 10 },
      ],
    }),
  },
  'RunWorker.records': READ,
  'RunWorker.run': onOffice(
    ({ options }, signal) => new RunWorker(options).run(signal),
    () => [AbortSignal.abort()],
  ),
  'RunWorker.runOne': onOffice(
    ({ options }, id, signal) => new RunWorker(options).runOne(id, signal),
    () => ['e1', AbortSignal.abort()],
  ),
};
