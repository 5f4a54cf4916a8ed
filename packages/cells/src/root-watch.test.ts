import { MemoryStore } from '@assize/testing/memory';
import { generateKeys } from 'assize/internal/canon';
import type { EntryKind } from 'assize/internal/ledger';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ChainWriter,
  commitMembers,
  type Members,
  rejectionMembers,
  rootMembers,
} from '../../../tests/support/ledger/rows.ts';
import { AppliedOrders } from './applied-orders.ts';
import type { DirectoryState } from './directory.ts';
import { CellsError } from './errors.ts';
import { RootWatch } from './root-watch.ts';

const SILENCE_MS = 5_000;
const KEYS = generateKeys(new Uint8Array(32).fill(3));
const EMPTY: DirectoryState = {
  orders: 0,
  cells: {},
  tenants: { acme: { cell: 'one' } },
  halted: {},
  revoked: {},
};
const CELLS = [
  { name: 'one', store: 'memory:' },
  { name: 'two', store: 'memory:', url: 'http://two.example' },
];

/** The code of the error that a call throws. */
function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    const { code, message } = error as CellsError;
    if (code !== 'cell_behind') return code;
    return message.includes('has not heard') ? 'silent' : 'orders';
  }
}

/** A watch of the cell `one`, with the clock and the root log of the test. */
function watched(side = new MemoryStore(), directory: Partial<DirectoryState> = {}) {
  const root = {
    ...{ directory: { ...EMPTY, ...directory }, head: 'first', fails: false, reads: 0 },
    divergence: undefined as CellsError | undefined,
  };
  const applied = new AppliedOrders(side, 'one', KEYS);
  let now = 0;
  const failures: unknown[] = [];
  const answer = async <T>(value: () => T): Promise<T> => {
    if (root.fails) throw new Error('the root store is away');
    return value();
  };
  const watch = new RootWatch({
    log: {
      head: () => answer(() => root.head),
      read: () => answer(() => ({ ...root.directory, reads: ++root.reads })),
    },
    ...{ file: { cells: CELLS, silenceMs: SILENCE_MS }, cell: 'one', applied },
    compare: async () => root.divergence,
    nowMs: () => now,
    onFailure: (error) => failures.push(error),
  });
  return {
    ...{ watch, root, applied, failures },
    pass: (ms: number) => {
      now += ms;
    },
    change: (change: Partial<DirectoryState>) => {
      root.directory = { ...root.directory, ...change };
      root.head += '+';
    },
    /** `open`, or the reason of the refusal of an entry. */
    write: (
      trajectoryId = 'acme:orders',
      kind: EntryKind = 'commit',
      members: Members = commitMembers(),
    ) =>
      codeOf(() => watch.requireWritable([new ChainWriter(trajectoryId).row(kind, members)])) ??
      'open',
  };
}

describe('silence', () => {
  test('before the first read nothing is written or known', () => {
    const { watch, write } = watched();
    expect(write()).toBe('silent');
    expect(watch.silentSeconds).toBeUndefined();
    for (const ask of [
      () => watch.directory,
      () => watch.placeOf('acme'),
      () => watch.requireStanding('agent:a'),
    ])
      expect(codeOf(ask)).toBe('silent');
  });

  test('the last millisecond of the time counts, and the next does not', async () => {
    const { watch, write, pass } = watched();
    await watch.read();
    pass(SILENCE_MS);
    expect(write()).toBe('open');
    expect(watch.silentSeconds).toBe(SILENCE_MS / 1_000);
    pass(1);
    expect(write()).toBe('silent');
    await watch.read();
    expect(write()).toBe('open');
  });

  test('the time runs from the begin of a read, not from its end', async () => {
    const { watch, write, pass } = watched();
    watch.onOrders(async () => pass(SILENCE_MS));
    await watch.read();
    expect(write()).toBe('open');
    pass(1);
    expect(write()).toBe('silent');
  });

  test('a batch without entries waits for the root log too', async () => {
    const { watch, pass } = watched();
    await watch.read();
    pass(SILENCE_MS + 1);
    expect(codeOf(() => watch.requireWritable([]))).toBe('silent');
  });

  test('a failure that lasts is reported once, and again after a success', async () => {
    const { watch, root, failures, pass, write } = watched();
    await watch.read();
    root.fails = true;
    for (let n = 0; n < 3; n++) await watch.read();
    expect(failures).toHaveLength(1);
    pass(SILENCE_MS + 1);
    expect(write()).toBe('silent');
    root.fails = false;
    await watch.read();
    root.fails = true;
    const later: unknown[] = [];
    watch.reportTo((error) => later.push(error));
    await watch.read();
    expect([failures.length, later.length]).toEqual([1, 1]);
  });

  test('the directory is read again after another head only', async () => {
    const { watch, root, change } = watched();
    for (let n = 0; n < 3; n++) await watch.read();
    expect(root.reads).toBe(1);
    change({ tenants: {} });
    await watch.read();
    expect(root.reads).toBe(2);
    expect(watch.placeOf('acme')).toBeUndefined();
  });
});

describe('orders', () => {
  test('orders that no server has applied stop the writes after the time', async () => {
    const { watch, write, change, pass, failures } = watched();
    await watch.read();
    change({ orders: 1, halted: { beta: 'audit' } });
    await watch.read();
    expect(write()).toBe('open');
    pass(SILENCE_MS + 1);
    expect(write()).toBe('orders');
    expect(failures).toEqual([]);
  });

  test('a new process writes nothing before the orders are applied', async () => {
    const { watch, write } = watched(undefined, { orders: 2 });
    await watch.read();
    expect(write()).toBe('orders');
  });

  test('a server writes when its listener has applied the orders', async () => {
    const { watch, write, applied } = watched(undefined, { orders: 2 });
    const given: number[] = [];
    watch.onOrders(async ({ orders }) => {
      given.push(orders);
      await watch.recordApplied(orders);
    });
    await watch.read();
    expect(write()).toBe('open');
    expect(given).toEqual([2]);
    expect(await applied.read()).toBe(2);
  });

  test('a server that has ended applies no more orders', async () => {
    const { watch, write, change, pass } = watched();
    const given: number[] = [];
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    watch.onOrders(async ({ orders }) => {
      begun.resolve();
      await gate.promise;
      given.push(orders);
      await watch.recordApplied(orders);
    });
    void watch.read();
    await begun.promise;
    const ended = watch.endOrders();
    gate.resolve();
    await ended;
    expect(given).toEqual([0]);
    change({ orders: 1 });
    await watch.read();
    pass(SILENCE_MS + 1);
    expect([given, write()]).toEqual([[0], 'orders']);
  });

  test('orders that a listener could not apply keep the cell from writing', async () => {
    const { watch, write, failures } = watched(undefined, { orders: 1 });
    watch.onOrders(() => Promise.reject(new Error('a policy refused')));
    await watch.read();
    expect(write()).toBe('orders');
    expect(failures).toHaveLength(1);
  });

  test('another process writes when the row of a server says so', async () => {
    const side = new MemoryStore();
    const server = watched(side, { orders: 3 });
    const command = watched(side, { orders: 3 });
    await command.watch.read();
    expect(command.write()).toBe('orders');
    await server.watch.read();
    await server.watch.recordApplied(2);
    await command.watch.read();
    expect(command.write()).toBe('orders');
    await server.watch.recordApplied(3);
    await command.watch.read();
    expect(command.write()).toBe('open');
  });

  test('the row of applied orders never falls, in any order of servers', async () => {
    const counts = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(counts, async (recorded) => {
        const side = new MemoryStore();
        await Promise.all(recorded.map((orders) => watched(side).watch.recordApplied(orders)));
        expect(await watched(side).applied.read()).toBe(Math.max(...recorded));
      }),
    );
  });
});

describe('places', () => {
  test('each state of a tenant has its refusal', async () => {
    const tenants = {
      acme: { cell: 'one' },
      leaving: { cell: 'one', to: 'two' },
      coming: { cell: 'two', to: 'one' },
      away: { cell: 'two' },
      lost: { cell: 'gone' },
    };
    const { watch, write } = watched(undefined, { tenants });
    await watch.read();
    const refusals = [
      'acme',
      'leaving',
      'coming',
      'away',
      'lost',
      'none',
      '__proto__',
      'constructor',
    ].map((name) => [name, write(name), watch.isHere(name), watch.placeOf(name)?.name]);
    expect(refusals).toEqual([
      ['acme', 'open', true, 'one'],
      ['leaving', 'tenant_moves', false, 'one'],
      ['coming', 'tenant_moves', false, 'two'],
      ['away', 'other_cell', false, 'two'],
      ['lost', 'other_cell', false, undefined],
      ['none', 'tenant_not_placed', false, undefined],
      ['__proto__', 'tenant_not_placed', false, undefined],
      ['constructor', 'tenant_not_placed', false, undefined],
    ]);
    expect(() => watch.requireHere('away')).toThrow('http://two.example');
  });

  test('one entry of another tenant refuses its batch', async () => {
    const { watch } = watched();
    await watch.read();
    const entries = ['acme', 'beta'].map((name) =>
      new ChainWriter(name).row('commit', commitMembers()),
    );
    expect(codeOf(() => watch.requireWritable(entries))).toBe('tenant_not_placed');
  });

  test('every process proposes the same cell for a new tenant', () => {
    fc.assert(
      fc.property(fc.string(), (tenant) => {
        const [first, second] = [
          watched().watch.proposedFor(tenant),
          watched().watch.proposedFor(tenant),
        ];
        expect(first).toBe(second);
        expect(CELLS).toContain(first);
      }),
    );
  });
});

const actionOf = (name: string, args: object = {}): Members =>
  commitMembers([], { action: { name, role: { name: 'assize', params: {} }, args } });
const halt = (does: 'halt' | 'resume') =>
  actionOf('assize.halt', { does, reason: 'why', principal: 'admin:ann' });

test('a halted tenant takes the entries of a halted chain, and no resume', async () => {
  const { watch, write, change } = watched();
  watch.onOrders(({ orders }) => watch.recordApplied(orders));
  await watch.read();
  change({ orders: 1, halted: { acme: 'audit' } });
  await watch.read();
  expect(watch.haltOf('acme')).toEqual({
    reason: 'audit',
    remedy: 'Resume it with: assize cells resume acme',
  });
  const entries = {
    root: write('acme:new', 'root', rootMembers()),
    commit: write(),
    rejection: write('acme', 'rejection', rejectionMembers()),
    resume: write('acme', 'commit', halt('resume')),
    halt: write('acme', 'commit', halt('halt')),
    revocation: write('acme', 'commit', actionOf('assize.revoke')),
    settlement: write('acme', 'commit', actionOf('assize.settle')),
  };
  const refused = ['root', 'commit', 'rejection', 'resume'];
  for (const [name, result] of Object.entries(entries))
    expect([name, result]).toEqual([name, refused.includes(name) ? 'tenant_halted' : 'open']);
  change({ orders: 3, halted: { '*': 'all' } });
  await watch.read();
  expect(['acme', 'beta', '__proto__'].map((name) => watch.haltOf(name)?.reason)).toEqual([
    'all',
    'all',
    'all',
  ]);
  change({ orders: 4, halted: {} });
  await watch.read();
  expect(['acme', '__proto__'].map((name) => watch.haltOf(name))).toEqual([undefined, undefined]);
  for (const entry of [write(), write('acme', 'commit', halt('resume'))])
    expect(entry).toBe('open');
});

test('calls in progress end in the cell that a tenant leaves, and there alone', async () => {
  const tenants = {
    leaving: { cell: 'one', to: 'two' },
    coming: { cell: 'two', to: 'one' },
    away: { cell: 'two' },
  };
  const { watch, write } = watched(undefined, { tenants });
  await watch.read();
  const settle = actionOf('assize.settle');
  expect(write('leaving:a', 'commit', settle)).toBe('open');
  expect(write('leaving:a', 'commit', halt('halt'))).toBe('tenant_moves');
  expect(write('coming:a', 'commit', settle)).toBe('tenant_moves');
  expect(write('away:a', 'commit', settle)).toBe('other_cell');
});

test('a revoked principal has no standing, whatever its name', async () => {
  const { watch } = watched(undefined, { revoked: { 'agent:scout': 'leak' } });
  await watch.read();
  expect(codeOf(() => watch.requireStanding('agent:scout'))).toBe('principal_revoked');
  for (const name of ['agent:other', '__proto__', 'constructor', '*'])
    expect(() => watch.requireStanding(name)).not.toThrow();
});

test('a cell that diverged writes nothing, and reads on', async () => {
  const { watch, write } = watched();
  await watch.read();
  watch.diverge(new CellsError('cell_diverged', 'entries are missing'));
  await watch.read();
  expect(write()).toBe('cell_diverged');
  expect(watch.isDiverged).toBe(true);
  expect(watch.isHere('acme')).toBe(true);
});

test('a log that does not continue its checkpoint is found by the first read', async () => {
  const { watch, root, write, failures } = watched();
  root.fails = true;
  await watch.read();
  root.fails = false;
  root.divergence = new CellsError('cell_diverged', 'entries are missing');
  await watch.read();
  expect(write()).toBe('cell_diverged');
  expect(failures).toHaveLength(2);
});

test('reads at one time are one read, and a later one follows', async () => {
  const { watch, root, change } = watched();
  const first = Promise.all([watch.read(), watch.read()]);
  await first;
  expect(root.reads).toBe(1);
  const before = watch.read();
  change({ orders: 0, tenants: {} });
  await watch.readAgain();
  await before;
  expect(watch.placeOf('acme')).toBeUndefined();
});

test('a cell is open unless every entry would be refused', async () => {
  const { watch, pass, change } = watched();
  const closed = () => codeOf(() => watch.requireOpen());
  expect(closed()).toBe('silent');
  await watch.read();
  expect(closed()).toBeUndefined();
  pass(SILENCE_MS + 1);
  expect(closed()).toBe('silent');
  change({ orders: 1, halted: { acme: 'audit' } });
  await watch.read();
  expect(closed()).toBe('orders');
  watch.onOrders(({ orders }) => watch.recordApplied(orders));
  await watch.read();
  // The halt of one tenant leaves the others open.
  expect(closed()).toBeUndefined();
  change({ orders: 2, halted: { '*': 'all' } });
  await watch.read();
  expect(closed()).toBe('cell_halted');
  expect(() => watch.requireOpen()).toThrow(/: all\. Resume it with: assize cells resume '\*'$/);
  watch.diverge(new CellsError('cell_diverged', 'entries are missing'));
  expect(closed()).toBe('cell_diverged');
});
