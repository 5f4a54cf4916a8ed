import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, type Tool } from '#effects';
import type { Lease } from '#ledger';
import type { Transaction, TransactionOptions } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Outside,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

// Parts of a transaction that are compensated alone, released claims, optimistic reads, and late
// epochs.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

async function stage(fault?: Outside['fault']) {
  const sink = new OutsideSink('keyed');
  const outside = { sink, steps: new Steps(), ...(fault && { fault }) };
  const cells = new Map<string, number>();
  const name = z.strictObject({ name: z.string() });
  const tools: Tool[] = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    declareTool({
      name: 'cell.get',
      input: name,
      class: 'read',
      reads: ['cell:{name}'],
      execute: (input) => {
        if (input.name === 'broken') throw new Error('it can not be read');
        return cells.get(input.name) ?? 0;
      },
    }),
    declareTool({
      name: 'cell.all',
      input: z.strictObject({}),
      class: 'read',
      reads: ['cell:*'],
      execute: () => [...cells.values()],
    }),
    declareTool({
      name: 'cell.put',
      input: z.strictObject({ name: z.string(), to: z.number() }),
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      writes: ['cell:{name}'],
      execute: (input) => {
        const before = cells.get(input.name) ?? 0;
        cells.set(input.name, input.to);
        return before;
      },
      compensate: ({ name }, before) => {
        cells.set(name, before as number);
        return { undone: 'all' as const };
      },
    }),
    declareTool({
      name: 'cell.set',
      input: z.strictObject({ name: z.string(), to: z.number() }),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['cell:{name}'],
      execute: (input) => void cells.set(input.name, input.to),
    }),
  ];
  const store = new HeldStore();
  const runtime = () => runtimeOver(store, [tally], { tools });
  const assize = runtime();
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const all: TransactionOptions = {
    writ: writFor('alice'),
    writes: ['test:**', 'cell:**'],
    retries: 0,
  };
  return { store, sink, cells, runtime, assize, trajectory, all };
}

/** Keeps the last lease, so that a test can end it. */
class HeldStore extends MemoryStore {
  tenure: Lease | undefined;

  override async leaseEffects(signal?: AbortSignal): Promise<Lease> {
    this.tenure = await super.leaseEffects(signal);
    return this.tenure;
  }
}

describe('a nested part', () => {
  test('that throws has done nothing, and the rest is committed', async () => {
    const { trajectory, sink, all } = await stage();
    const { ruling } = await trajectory.transaction(all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'before' });
      const part = tx.nested(async (inner) => {
        expect(inner.epoch).toBe(tx.epoch);
        await inner.call('reversible.externalised', { what: 'inside' });
        await inner.call('irreversible.buffered', { what: 'held inside' });
        throw new Error('it is not to be');
      });
      await expect(part).rejects.toThrow('it is not to be');
      expect([sink.standing('inside'), sink.standing('before')]).toEqual([0, 1]);
      await tx.call('irreversible.buffered', { what: 'after' });
      tx.propose(COUNT);
    });
    expect(ruling.ruling).toBe('committed');
    const stands = ['before', 'inside', 'held inside', 'after'].map((what) => sink.standing(what));
    expect(stands).toEqual([1, 0, 0, 1]);
  });

  test('is retried at its index if a tool did nothing, and joins the transaction', async () => {
    let failures = 2;
    const { trajectory, sink, all } = await stage((of, what) =>
      of === 'do' && what === 'shaky' && failures-- > 0 ? 'fail' : 'none',
    );
    await trajectory.transaction(all, async (tx) => {
      const value = await tx.nested(
        async (inner) => {
          await inner.call('reversible.externalised', { what: 'first' });
          await inner.call('reversible.externalised', { what: 'shaky' });
          return 'done';
        },
        { retries: 2 },
      );
      expect(value).toBe('done');
      tx.propose(COUNT);
    });
    expect([sink.times('do', 'first'), sink.standing('first'), sink.standing('shaky')]).toEqual([
      3, 1, 1,
    ]);
    expect(
      new Set(sink.log.filter(({ what }) => what === 'first').map(({ key }) => key)).size,
    ).toBe(3);
  });

  test('is not retried for permanent errors, nor more often than configured', async () => {
    const { trajectory, sink, all } = await stage((_, what) =>
      what === 'never' ? 'fail_for_good' : what === 'shaky' ? 'fail' : 'none',
    );
    const calls = async (what: string): Promise<number> => {
      let bodies = 0;
      const done = trajectory.transaction(all, (tx) =>
        tx.nested(
          async (inner) => {
            bodies++;
            await inner.call('reversible.externalised', { what });
          },
          { retries: 2 },
        ),
      );
      await expect(done).rejects.toMatchObject({ code: 'tool_failed' });
      return bodies;
    };
    expect([await calls('never'), await calls('shaky')]).toEqual([1, 3]);
    expect(sink.log).toEqual([]);
  });

  test('may act where a branch acted that was not chosen', async () => {
    const { trajectory, sink, all } = await stage();
    await trajectory.transaction(all, async (tx) => {
      await tx.speculate(
        [
          (branch) => branch.call('reversible.externalised', { what: 'lost' }),
          (branch) => branch.call('reversible.externalised', { what: 'won', at: 'q' }),
        ],
        () => 1,
      );
      await tx.nested((inner) => inner.call('reversible.externalised', { what: 'nested' }));
      await tx.speculate(
        [(branch) => branch.call('reversible.externalised', { what: 'last', at: 'q' })],
        () => 0,
      );
      tx.propose(COUNT);
    });
    expect(['lost', 'won', 'nested', 'last'].map((what) => sink.standing(what))).toEqual([
      0, 1, 1, 1,
    ]);
  });
});

describe('a released claim', () => {
  test.each([{ reading: 'optimistic' }, { epoch: 'late' }] as const)(
    'is kept if an optimistic read there is validated at the gate: %o',
    async (how) => {
      const { trajectory, all } = await stage();
      const codes: unknown[] = [];
      const [put, tried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const old = trajectory.transaction(all, async (tx) => {
        await tx.call('cell.put', { name: 'a', to: 1 });
        put.resolve();
        await tried.promise;
        throw new Error('it is not to be');
      });
      await put.promise;
      const young = trajectory.transaction({ ...all, ...how, retries: 3 }, async (tx) => {
        await expect(tx.call('cell.get', { name: 'broken' })).rejects.toThrow();
        await tx.release({ writes: ['test:**'] });
        const value = await tx.call('cell.get', { name: 'a' });
        await tx.release({ writes: ['cell:**'] }).catch(({ reason }) => codes.push(reason));
        tried.resolve();
        tx.propose(COUNT);
        return value;
      });
      await expect(old).rejects.toThrow('it is not to be');
      expect(await young).toMatchObject({ value: 0, ruling: { ruling: 'committed' } });
      expect(codes).toEqual(['scope_exceeded', 'scope_exceeded']);
    },
  );

  test('is, where all that was read there without waiting could not be', async () => {
    const { trajectory, all } = await stage();
    await trajectory.transaction({ ...all, reading: 'optimistic' }, async (tx) => {
      await expect(tx.call('cell.get', { name: 'broken' })).rejects.toThrow();
      await tx.release({ writes: ['cell:**'] });
      tx.propose(COUNT);
    });
  });

  test('lets waiting transactions continue before the transaction ends', async () => {
    const { trajectory, all } = await stage();
    const order: string[] = [];
    const old = trajectory.transaction(all, async (tx) => {
      await tx.release({ writes: ['cell:**'] });
      await young;
      order.push('old');
      tx.propose(COUNT);
    });
    const young: Promise<unknown> = trajectory.transaction(
      { ...all, writes: ['cell:x'] },
      async (tx) => {
        await tx.call('cell.set', { name: 'x', to: 1 });
        order.push('young');
        tx.propose(COUNT);
      },
    );
    await old;
    expect(order).toEqual(['young', 'old']);
  });

  test('is released by any holder of `tx`, advancing the frontier only there', async () => {
    const { trajectory, cells, all } = await stage();
    const inHand = Promise.withResolvers<Transaction>();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const old = trajectory.transaction(all, async (tx) => {
      inHand.resolve(tx);
      await over;
      tx.propose(COUNT);
    });
    const tx = await inHand.promise;
    const set = (name: string) =>
      trajectory.transaction({ ...all, writes: [`cell:${name}`] }, async (young) => {
        await young.call('cell.set', { name, to: 1 });
        young.propose(COUNT);
      });
    await tx.expand({ writes: ['cell:y'] });
    const waiting = set('y');
    // The caller knows more than the claims state: it needs only one cell.
    await tx.release({ writes: ['cell:**'] });
    expect(await set('x')).toMatchObject({ ruling: { ruling: 'committed' } });
    expect([...cells.keys()]).toEqual(['x']);
    await expect(tx.expand({ writes: ['cell:x'] })).rejects.toMatchObject({ code: 'stale' });
    end();
    await old;
    await waiting;
    expect([...cells.keys()]).toEqual(['x', 'y']);
  });

  test('is reclaimed in recovery from the log, and aborts no younger transaction', async () => {
    const { store, sink, trajectory, cells, all, runtime, assize } = await stage();
    const { promise: over, reject: fail } = Promise.withResolvers<void>();
    const given = Promise.withResolvers<void>();
    const old = trajectory.transaction(all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'old' });
      await tx.release({ writes: ['cell:**'] });
      given.resolve();
      await over;
    });
    await given.promise;
    const set = (by: typeof trajectory, name: string) =>
      by.transaction({ ...all, writes: [`cell:${name}`] }, async (young) => {
        await young.call('cell.put', { name, to: 1 });
        young.propose(COUNT);
      });
    expect(await set(trajectory, 'x')).toMatchObject({ effects: 'settled' });
    // The process has lost its lease, and another one finds the transaction open.
    await store.tenure!.release();
    const other = runtime();
    expect(await other.recoverEffects()).toEqual([]);
    expect([sink.standing('old'), sink.times('undo', 'old'), cells.get('x')]).toEqual([0, 1, 1]);
    expect(await set(await other.open('t'), 'y')).toMatchObject({ effects: 'settled' });
    await other.close();
    fail(new Error('it is not to be'));
    await expect(old).rejects.toThrow();
    await assize.close().catch(() => undefined);
  });

  test('can not be used any more', async () => {
    const { trajectory, all } = await stage();
    await trajectory.transaction(all, async (tx) => {
      await tx.release({ writes: ['cell:**'] });
      await expect(tx.call('cell.get', { name: 'x' })).rejects.toMatchObject({
        reason: 'scope_exceeded',
      });
      tx.propose(COUNT);
    });
  });

  test('is kept if an effect needs it or if it is not a claim', async () => {
    const { trajectory, cells, all } = await stage();
    await trajectory.transaction(all, async (tx) => {
      await tx.call('cell.set', { name: 'x', to: 7 });
      for (const writes of [['cell:**'], ['test:**', 'cell:**'], ['cell:x'], ['none:x']])
        await expect(tx.release({ writes })).rejects.toMatchObject({ reason: 'scope_exceeded' });
      await tx.call('reversible.externalised', { what: 'still' });
      await tx.expand({ writes: ['cell:x'] });
      // Now the transaction has its scope under two claims.
      await tx.release({ writes: ['cell:**'] });
      tx.propose(COUNT);
    });
    expect(cells.get('x')).toBe(7);
  });
});

describe('an optimistic read', () => {
  test('is validated at the gate: a change restarts the body, no update is lost', async () => {
    const { trajectory, cells, all } = await stage();
    const bodies = { count: 0 };
    const add = (options: Partial<TransactionOptions>): Promise<unknown> =>
      trajectory.transaction(
        { ...all, writes: ['cell:x'], retries: 50, ...options },
        async (tx) => {
          bodies.count++;
          const value = (await tx.call('cell.get', { name: 'x' })) as number;
          await new Promise(setImmediate);
          await tx.call('cell.set', { name: 'x', to: value + 1 });
          tx.propose(COUNT);
        },
      );
    for (const options of [{ reading: 'optimistic' }, { epoch: 'late' }] as const) {
      cells.set('x', 0);
      bodies.count = 0;
      await Promise.all(Array.from({ length: 12 }, () => add(options)));
      expect(cells.get('x')).toBe(12);
      expect(bodies.count).toBeGreaterThan(12);
    }
  });

  test('does not wait for an older writer, and stands where that writes nothing', async () => {
    const { trajectory, all } = await stage();
    const hold = Promise.withResolvers<void>();
    const old = trajectory.transaction(all, async (tx) => {
      await hold.promise;
      tx.propose(COUNT);
    });
    const read = Promise.withResolvers<number>();
    let bodies = 0;
    const young = trajectory.transaction({ ...all, reading: 'optimistic' }, async (tx) => {
      bodies++;
      read.resolve((await tx.call('cell.get', { name: 'x' })) as number);
      tx.propose(COUNT);
    });
    expect(await read.promise).toBe(0);
    hold.resolve();
    await Promise.all([old, young]);
    expect(bodies).toBe(1);
  });

  test.each<[string, (tx: Transaction, add: (tx: Transaction) => Promise<void>) => Promise<void>]>([
    ['in the body', (tx, add) => add(tx)],
    ['twice', async (tx, add) => [await add(tx), await add(tx)].at(-1)],
    ['of all cells', async (tx, add) => [await tx.call('cell.all', {}), await add(tx)].at(-1)],
    ['in a part', (tx, add) => tx.nested(add)],
    [
      'in the body, and acted on in a part',
      async (tx) => {
        const to = (await tx.call('cell.get', { name: 'x' })) + 1;
        await tx.nested((part) => part.call('cell.put', { name: 'x', to }));
      },
    ],
  ])('and acted on by the same transaction is not a stale read: %s', async (_, body) => {
    const { trajectory, cells, all } = await stage();
    const add = async (tx: Transaction): Promise<void> => {
      const to = (await tx.call('cell.get', { name: 'x' })) + 1;
      await tx.call('cell.put', { name: 'x', to });
    };
    let bodies = 0;
    let added = 0;
    const one = () =>
      trajectory.transaction({ ...all, reading: 'optimistic', retries: 9 }, async (tx) => {
        bodies++;
        const before = await tx.call('cell.get', { name: 'x' });
        await body(tx, add);
        added = (await tx.call('cell.get', { name: 'x' })) - before;
        tx.propose(COUNT);
      });
    await one();
    expect([bodies, cells.get('x')]).toEqual([1, added]);
    // Concurrent transactions lose no update: a transaction that read too early restarts.
    await Promise.all([one(), one(), one()]);
    expect(cells.get('x')).toBe(4 * added);
    expect(bodies).toBeGreaterThan(4);
  });

  test('waits before acting for older transactions in every scope that it read', async () => {
    const { trajectory, cells, all } = await stage();
    const { promise: go, resolve: goOn } = Promise.withResolvers<void>();
    const seen: number[] = [];
    const sum = (values: readonly number[]): number =>
      values.reduce((total, each) => total + each, 0);
    const older = trajectory.transaction({ ...all, writes: ['cell:y'] }, async (tx) => {
      await go;
      await tx.call('cell.put', { name: 'y', to: 5 });
      tx.propose(COUNT);
    });
    const optimistic = {
      ...all,
      writes: ['cell:x'],
      reads: ['cell:*'],
      reading: 'optimistic',
      retries: 1,
    } as const;
    const younger = trajectory.transaction(optimistic, async (tx) => {
      seen.push(sum(await tx.call('cell.all', {})));
      const put = tx.call('cell.put', { name: 'x', to: seen.at(-1)! });
      goOn();
      await put;
      tx.propose(COUNT);
    });
    await Promise.all([older, younger]);
    expect([seen, [...cells].sort()]).toEqual([
      [0, 5],
      [
        ['x', 5],
        ['y', 5],
      ],
    ]);
  });

  test('is read again also where the branch that was chosen read it', async () => {
    const { trajectory, cells, all } = await stage();
    const read = trajectory.transaction({ ...all, reading: 'optimistic' }, async (tx) => {
      await tx.speculate([(branch) => branch.call('cell.get', { name: 'x' })], () => 0);
      cells.set('x', 5);
      tx.propose(COUNT);
    });
    await expect(read).rejects.toMatchObject({ code: 'stale' });
  });

  test('is stale if the body is not restarted', async () => {
    const { trajectory, cells, all } = await stage();
    const late = trajectory.transaction({ ...all, epoch: 'late' }, async (tx) => {
      await tx.call('cell.get', { name: 'x' });
      // Also detects a change by a client outside this runtime.
      cells.set('x', 5);
      tx.propose(COUNT);
    });
    await expect(late).rejects.toMatchObject({ code: 'stale' });
  });
});

describe('an epoch that is taken at the gate', () => {
  test('is not set before, and blocks no transaction until then', async () => {
    const { trajectory, all } = await stage();
    const hold = Promise.withResolvers<void>();
    const late = trajectory.transaction({ ...all, epoch: 'late' }, async (tx) => {
      expect(tx.epoch).toBe(0);
      await tx.call('irreversible.buffered', { what: 'late' });
      await hold.promise;
      tx.propose(COUNT);
      return tx;
    });
    const early = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'early' });
      tx.propose(COUNT);
    });
    hold.resolve();
    expect([early.epoch, (await late).epoch]).toEqual([1, 2]);
    expect((await late).value?.epoch).toBe(2);
  });

  test('is for buffered effects: immediate ones are refused, branches allowed', async () => {
    const { trajectory, sink, all } = await stage();
    const { ruling } = await trajectory.transaction(
      { ...all, writes: ['test:a'], epoch: 'late' },
      async (tx) => {
        await expect(
          tx.call('reversible.externalised', { what: 'now', at: 'a' }),
        ).rejects.toMatchObject({
          reason: 'no_epoch',
        });
        await tx.expand({ writes: ['test:b'] });
        await tx.release({ writes: ['test:a'] });
        const won = await tx.speculate(
          [
            (branch) => branch.call('irreversible.buffered', { what: 'lost', at: 'b' }),
            async (branch) => {
              await branch.call('irreversible.buffered', { what: 'won', at: 'b' });
              return 'won';
            },
          ],
          () => 1,
        );
        expect(won).toBe('won');
        tx.propose(COUNT);
      },
    );
    expect(ruling.ruling).toBe('committed');
    expect([sink.standing('won'), sink.standing('lost'), sink.standing('now')]).toEqual([1, 0, 0]);
  });

  test('of a name is given once', async () => {
    const { trajectory, sink, all } = await stage();
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () =>
        trajectory.transaction({ ...all, epoch: 'late', name: 'order' }, async (tx) => {
          await new Promise(setImmediate);
          await tx.call('irreversible.buffered', { what: 'mail' });
          tx.propose(COUNT);
        }),
      ),
    );
    expect(sink.times('do', 'mail')).toBe(1);
    const entries = outcomes.map(({ ruling }) =>
      ruling.ruling === 'committed' ? ruling.entry.id : undefined,
    );
    expect(new Set(entries).size).toBe(1);
    expect(outcomes.filter(({ epoch }) => epoch !== undefined)).toHaveLength(1);
  });
});

test('a stale transaction restarts with all claims that it had acquired', async () => {
  const { trajectory, all } = await stage();
  const acted = Promise.withResolvers<void>();
  const claimed: string[][] = [];
  const late = trajectory.transaction({ ...all, writes: ['test:mine'], retries: 1 }, async (tx) => {
    claimed.push(tx.claims.map(({ scope }) => scope.text));
    await acted.promise;
    await tx.expand({ writes: ['test:r'] });
    tx.propose(COUNT);
  });
  await trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'young' });
    tx.propose(COUNT);
  });
  acted.resolve();
  await late;
  expect(claimed).toEqual([['test:mine'], ['test:mine', 'test:r']]);
});

test('an unknown option is refused with the list of options', async () => {
  const { trajectory, all } = await stage();
  await expect(
    trajectory.transaction({ ...all, write: [] } as never, () => undefined),
  ).rejects.toMatchObject({
    message: expect.stringMatching(/no option write; the options are .*\bwrites\b/),
  });
});

test.each([{ epoch: 'soon' }, { reading: 'fast' }, { epoch: 'late', reading: 'ordered' }])(
  'options that mean nothing are refused: %o',
  async (wrong) => {
    const { trajectory, all } = await stage();
    await expect(
      trajectory.transaction({ ...all, ...wrong } as never, () => undefined),
    ).rejects.toMatchObject({
      code: 'bad_intent',
    });
  },
);

test('a tool that certainly did nothing reports it to a nested part’s caller', async () => {
  const { trajectory, all } = await stage((_, what) => (what === 'no' ? 'fail' : 'none'));
  await trajectory.transaction(all, async (tx) => {
    const part = tx.nested((inner) => inner.call('reversible.externalised', { what: 'no' }));
    const error = (await part.catch((thrown: unknown) => thrown)) as Error;
    expect(error.cause).toBeInstanceOf(DidNothing);
    tx.propose(COUNT);
  });
});
