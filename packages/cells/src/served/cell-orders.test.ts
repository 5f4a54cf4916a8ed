import { SystemWrits } from '@assize/command/operation';
import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize/internal/canon';
import { GrantIssuer } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { HALT_ACTION } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import { Assize, verifyStore } from 'assize/internal/runtime';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { till } from '../../../../tests/support/server/till.ts';
import { type Cell, type DirectoryState, RootWatch } from '../index.ts';
import { CellOrders } from './cell-orders.ts';

const ROOT = generateKeys(new Uint8Array(32).fill(3));
const NAMES = ['acme:orders', 'acme:returns', 'beta'];
const PERSON = 'admin:ann';
const EMPTY: DirectoryState = { orders: 0, cells: {}, tenants: {}, halted: {}, revoked: {} };
const systemWrits = new SystemWrits(ROOT, 60);

/** A cell with three trajectories, whose directory the test sets. */
async function cellOf() {
  const store = new MemoryStore();
  let directory = EMPTY;
  let recorded = 0;
  const watch = new RootWatch({
    log: { head: async () => JSON.stringify(directory), read: async () => directory },
    file: { cells: [{ name: 'one', store: 'memory:' }], silenceMs: 5_000 },
    ...{ cell: 'one', compare: async () => undefined, nowMs: () => performance.now() },
    applied: {
      read: async () => recorded,
      record: async (orders) => {
        recorded = orders;
      },
    },
    onFailure: (error) => {
      throw error;
    },
  });
  const people = new Assize({ store, domains: [till], anchors: [ROOT.publicKey] });
  for (const trajectoryId of NAMES) await people.create(till as Domain, { trajectoryId });
  /** The work of a server that starts now. */
  const server = (): CellOrders =>
    new CellOrders({ own: store, watch } as unknown as Cell, {
      runtimeOver: () => new Assize({ store, domains: [till], anchors: [ROOT.publicKey] }),
      writFor: (...terms) => systemWrits.forBuiltIn(...terms),
      grants: new GrantIssuer(ROOT, store, { principals: new Map() }),
      clock: systemClock,
      onFailure: (error) => {
        throw error;
      },
    });
  return {
    ...{ store, people, server },
    apply: async (orders: CellOrders, next: DirectoryState): Promise<void> => {
      directory = next;
      await orders.apply(next);
      expect(recorded).toBe(next.orders);
      await orders.resumed();
    },
    haltedBy: async (id: string): Promise<string | undefined> => {
      people.release(id);
      return (await people.open(id)).halted?.principal;
    },
    person: async (id: string, does: 'halt' | 'resume'): Promise<void> => {
      const trajectory = await people.open(id);
      const writ = systemWrits.forBuiltIn(PERSON, HALT_ACTION, id, systemClock.now());
      await trajectory[does]({ reason: 'mine', writ, principal: PERSON });
    },
  };
}

const place = fc.constantFrom(
  { cell: 'one' },
  { cell: 'two' },
  { cell: 'one', to: 'two' },
  { cell: 'two', to: 'one' },
);
const tenantNames = fc.subarray(['acme', 'beta', '*', '__proto__']);
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ acme: place, beta: place, halted: tenantNames }) },
    { weight: 1, arbitrary: fc.record({ person: fc.constantFrom(...NAMES) }) },
    { weight: 1, arbitrary: fc.constant('restart' as const) },
  ),
  { minLength: 1, maxLength: 12 },
);

test('after any orders and restarts a trajectory is halted if an order says so', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const { store, server, apply, haltedBy, person } = await cellOf();
      let orders = server();
      let directory = EMPTY;
      const stopped = (id: string): boolean => {
        const tenant = id.split(':')[0]!;
        const { cell, to } = directory.tenants[tenant] ?? { cell: 'one' };
        return (
          cell !== 'one' ||
          to !== undefined ||
          ['*', tenant].some((name) => Object.hasOwn(directory.halted, name))
        );
      };
      const ofPerson = new Set<string>();
      await apply(orders, directory);
      for (const step of given) {
        if (step === 'restart') {
          await orders.close();
          // The new process knows no order that was carried out.
          orders = server();
        } else if ('person' in step) {
          // A person halts what no order has halted, and ends the own halt the next time.
          const id = step.person;
          if (stopped(id)) continue;
          await person(id, ofPerson.has(id) ? 'resume' : 'halt');
          if (!ofPerson.delete(id)) ofPerson.add(id);
        } else {
          const halted = Object.fromEntries(step.halted.map((name) => [name, 'why']));
          const tenants = { acme: step.acme, beta: step.beta };
          directory = { ...EMPTY, orders: directory.orders + 1, tenants, halted };
          await apply(orders, directory);
        }
        const expected = NAMES.map((id) => {
          if (ofPerson.has(id)) return PERSON;
          return stopped(id) ? 'assize:cells' : undefined;
        });
        expect(await Promise.all(NAMES.map(haltedBy))).toEqual(expected);
      }
      await orders.close();
      expect((await verifyStore(store)).flatMap(({ fault }) => fault ?? [])).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('two servers that carry out one order write it once', async () => {
  const { store, server, apply } = await cellOf();
  const [first, second] = [server(), server()];
  const halted: DirectoryState = { ...EMPTY, orders: 1, halted: { '*': 'why' } };
  await Promise.all([apply(first, halted), apply(second, halted)]);
  expect(await Promise.all(NAMES.map(async (id) => (await store.head(id))!.seq))).toEqual([
    1, 1, 1,
  ]);
  const resumed: DirectoryState = { ...EMPTY, orders: 2 };
  await Promise.all([apply(first, resumed), apply(second, resumed)]);
  expect(await Promise.all(NAMES.map(async (id) => (await store.head(id))!.seq))).toEqual([
    2, 2, 2,
  ]);
  await Promise.all([first.close(), second.close()]);
});

test('a resume that takes long holds up no order', async () => {
  const { store, server, apply, haltedBy } = await cellOf();
  const before = server();
  await apply(before, { ...EMPTY, orders: 1, halted: { acme: 'why' } });
  await before.close();
  const free = Promise.withResolvers<void>();
  const { commit } = store;
  let isHeld = true;
  store.commit = async (batch) => {
    if (isHeld && batch.entries.some(({ trajectory_id }) => trajectory_id === 'acme:orders'))
      await free.promise;
    return commit.call(store, batch);
  };
  const orders = server();
  // The orders count as applied while the first resume hangs.
  await orders.apply({ ...EMPTY, orders: 2 });
  isHeld = false;
  free.resolve();
  await orders.resumed();
  expect(await Promise.all(NAMES.map(haltedBy))).toEqual([undefined, undefined, undefined]);
  await orders.close();
});

test('a halt that follows immediately ends a resume that waits', async () => {
  const { server, apply, haltedBy } = await cellOf();
  const orders = server();
  await apply(orders, { ...EMPTY, orders: 1, halted: { '*': 'why' } });
  const resumed = orders.apply({ ...EMPTY, orders: 2 });
  const halted = orders.apply({ ...EMPTY, orders: 3, halted: { '*': 'again' } });
  await Promise.all([resumed, halted]);
  await orders.resumed();
  expect(await Promise.all(NAMES.map(haltedBy))).toEqual(NAMES.map(() => 'assize:cells'));
  await orders.close();
});
