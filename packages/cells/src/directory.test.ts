import { isAssizeError } from 'assize/internal/base';
import { generateKeys } from 'assize/internal/canon';
import { verifyStore } from 'assize/internal/runtime';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { NaiveTree } from '../../../tests/support/models/naive-tree.ts';
import type { DirectoryState } from './directory.ts';
import { RootLog } from './root-log.ts';

const ROOT = generateKeys(new Uint8Array(32).fill(3));
const TENANTS = ['acme', 'beta', '__proto__', 'constructor'];
const CELLS = ['one', 'two', 'three'];
const REASON = 'because';

type Order = Parameters<RootLog['order']>[0];

async function rootLog(): Promise<RootLog> {
  const log = await RootLog.open({ url: 'memory:', root: ROOT });
  onTestFinished(() => log.close());
  return log;
}

/** The root log as maps. It refuses by returning false. */
class NaiveDirectory {
  orders = 0;
  readonly places = new Map<string, { cell: string; to?: string }>();
  readonly halted = new Set<string>();
  readonly revoked = new Set<string>();

  take(order: Order, name: string, cell: string): boolean {
    const place = this.places.get(name);
    if (order === 'place') {
      if (place !== undefined || name === '*') return false;
      this.places.set(name, { cell });
      return true;
    }
    const allowed = {
      beginMove: () => place !== undefined && place.to === undefined && place.cell !== cell,
      endMove: () => place?.to !== undefined && [place.cell, place.to].includes(cell),
      halt: () => !this.halted.has(name),
      resume: () => this.halted.has(name),
      revoke: () => !this.revoked.has(name),
    };
    if (!allowed[order]()) return false;
    this.orders += 1;
    if (order === 'beginMove') place!.to = cell;
    if (order === 'endMove') this.places.set(name, { cell });
    if (order === 'halt') this.halted.add(name);
    if (order === 'resume') this.halted.delete(name);
    if (order === 'revoke') this.revoked.add(name);
    return true;
  }
}

/** The state without prototypes, so that a name such as `__proto__` is a member as others are. */
function listed({ orders, tenants, halted, revoked }: DirectoryState) {
  return {
    orders,
    places: Object.entries(tenants).toSorted(),
    halted: Object.keys(halted).toSorted(),
    revoked: Object.keys(revoked).toSorted(),
  };
}

function listedModel({ orders, places, halted, revoked }: NaiveDirectory) {
  const sorted = (names: ReadonlySet<string>) => [...names].toSorted();
  return {
    orders,
    places: [...places].toSorted(),
    halted: sorted(halted),
    revoked: sorted(revoked),
  };
}

async function isTaken(log: RootLog, order: Order, name: string, cell: string): Promise<boolean> {
  const tenant = { tenant: name };
  const args = {
    place: { ...tenant, cell },
    beginMove: { ...tenant, to: cell },
    endMove: { ...tenant, cell },
    halt: { ...tenant, reason: REASON },
    resume: { ...tenant, reason: REASON },
    revoke: { principal: name, reason: REASON },
  }[order];
  try {
    await log.order(order, args, 'operator:test');
    return true;
  } catch (error) {
    if (!isAssizeError(error, 'wrong_state')) throw error;
    return false;
  }
}

const orders = fc.array(
  fc.record({
    order: fc.constantFrom<Order>('place', 'beginMove', 'endMove', 'halt', 'resume', 'revoke'),
    name: fc.constantFrom(...TENANTS, '*'),
    cell: fc.constantFrom(...CELLS),
  }),
  { minLength: 1, maxLength: 40 },
);

test('any orders have the result of a model, and each refusal changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(orders, async (given) => {
      const log = await RootLog.open({ url: 'memory:', root: ROOT });
      const model = new NaiveDirectory();
      for (const { order, name, cell } of given) {
        expect(await isTaken(log, order, name, cell)).toBe(model.take(order, name, cell));
        expect(listed(await log.read())).toEqual(listedModel(model));
      }
      expect((await verifyStore(log.store)).flatMap(({ fault }) => fault ?? [])).toEqual([]);
      await log.close();
    }),
    { numRuns: 40 },
  );
});

const trees = fc
  .record({
    texts: fc.array(fc.string(), { minLength: 2, maxLength: 40 }),
    at: fc.nat(),
    other: fc.nat(),
  })
  .map(({ texts, at, other }) => ({
    leaves: texts.map((text, i) => `${i} ${text}`),
    before: 1 + (at % (texts.length - 1)),
    changed: other,
  }));

const hex = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');

/** The report of a tree's head that continues its head of `before` entries. */
function reportOf(tree: NaiveTree, size: number, before?: number) {
  const proof = before === undefined ? [] : tree.proof(before, size).map(hex);
  return { size, root: hex(tree.mth(0, size)), proof };
}

test('a checkpoint counts if and only if it continues the last one', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async ({ leaves, before, changed }) => {
      const log = await RootLog.open({ url: 'memory:', root: ROOT });
      const size = leaves.length;
      const tree = new NaiveTree(leaves);
      const forged = leaves.map((leaf, i) => (i === changed % before ? 'forged' : leaf));
      const other = new NaiveTree(forged);
      const ruling = async (report: ReturnType<typeof reportOf>) =>
        (await log.report('one', report)).ruling;
      expect(await ruling(reportOf(tree, before))).toBe('committed');
      const kept = (await log.read()).cells;
      const honest = reportOf(tree, size, before);
      // Another history, with its own proof and with that of the honest one.
      expect(await ruling(reportOf(other, size, before))).toBe('rejected');
      expect(await ruling({ ...reportOf(other, size), proof: honest.proof })).toBe('rejected');
      expect(await ruling({ ...honest, proof: [...honest.proof, 'a'.repeat(64)] })).toBe(
        'rejected',
      );
      expect(await ruling(reportOf(tree, before, before))).toBe('rejected');
      if (before > 1) expect(await ruling(reportOf(tree, before - 1))).toBe('rejected');
      expect((await log.read()).cells).toEqual(kept);
      expect(await ruling(honest)).toBe('committed');
      expect((await log.read()).cells).toEqual({ one: { size, root: honest.root } });
      await log.close();
    }),
    { numRuns: 40 },
  );
});

test('the checkpoints of two cells are apart', async () => {
  const log = await rootLog();
  const [one, two] = ['a', 'b'].map((name) => new NaiveTree([0, 1, 2].map((n) => `${name}${n}`)));
  await log.report('one', reportOf(one!, 2));
  await log.report('two', reportOf(two!, 1));
  expect((await log.report('one', reportOf(two!, 3, 2))).ruling).toBe('rejected');
  expect((await log.report('two', reportOf(two!, 3, 1))).ruling).toBe('committed');
  expect(Object.entries((await log.read()).cells).map(([name, { size }]) => [name, size])).toEqual([
    ['one', 2],
    ['two', 3],
  ]);
});

test('a process without the private key reads, and gives no orders', async () => {
  const { publicKey } = ROOT;
  const log = await RootLog.open({ url: 'memory:', root: { publicKey } });
  onTestFinished(() => log.close());
  const order = log.order('place', { tenant: 'acme', cell: 'one' }, 'operator:test');
  await expect(order).rejects.toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining('of the root key only'),
  });
  expect((await log.read()).tenants).toEqual({});
});
