import type { Transaction } from 'assize/internal/runtime';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { withPostgres } from '../../../../tests/support/postgres/index.ts';
import { expectEffectLogMatches } from '../../../../tests/support/tools/check-effect-log.ts';
import { PostgresStage, SqliteStage, type StagedDatabase } from '../../tests/support/sql-stage.ts';
import { NAMES, type Name, NOTHING, said, World } from '../../tests/support/sql-world.ts';

// Buffered calls execute while the body runs, and no outside reader sees them. The reader inspects
// every step of the process.

const LONG = 300_000;
/** Longer than the first statement of a transaction takes on a busy machine. */
const SHORT = 1_500;

/**
 * The same on every database; where that takes long, the process ends at every so many of its
 * steps.
 */
function tests(open: () => Promise<StagedDatabase>, every = 1): void {
  let databases: Readonly<Record<Name, StagedDatabase>>;
  beforeAll(async () => {
    databases = { a: await open(), b: await open() };
  });
  afterAll(async () => {
    for (const name of NAMES) await databases[name][Symbol.asyncDispose]();
  });
  const opened = (stagedTimeoutMs = LONG) => World.over(databases, stagedTimeoutMs);
  /** A committed write of another client. */
  const meanwhile = (name: Name, what: string) =>
    databases[name].run(`INSERT INTO log (what, size) VALUES ('${what}', 0)`);

  /** When what is held there by now was let go. */
  const letGo = async (name: Name): Promise<void> => {
    const before = databases[name].rollbacks;
    await vi.waitFor(() => expect(databases[name].rollbacks).toBeGreaterThan(before), {
      interval: 5,
      timeout: LONG,
    });
  };

  test('only the body sees staged answers; the commit shows all of them together', async () => {
    const world = await opened();
    await meanwhile('a', 'first');
    const { value } = await world.transact(async (tx) => {
      expect(await tx.call('a.look', {})).toBe('first');
      expect(await tx.call('a.note', { what: '1' })).toEqual({ n: 2 });
      expect(await tx.call('b.note', { what: '2' })).toEqual({ n: 1 });
      expect(await tx.call('a.post', { what: '3' })).toEqual({ n: 3 });
      expect([await tx.call('a.look', {}), await tx.call('b.look', {})]).toEqual([
        'first 1 3',
        '2',
      ]);
    });
    expect(value).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect([[...world.seen.a], [...world.seen.b]]).toEqual([
      ['first / 0', 'first 1 3 / 2'],
      [NOTHING, '2 / 1'],
    ]);
  });

  test.each(['throws', 'is rejected', 'is submitted for approval'])(
    'a body that %s leaves nothing',
    async (ends) => {
      const world = await opened();
      await world.transact(
        async (tx) => {
          await tx.call('a.note', { what: '1' });
          expect(await tx.call('a.look', {})).toBe('1');
          if (ends === 'throws') throw new Error('no');
        },
        { args: ends === 'is rejected' ? 'forbidden' : ends === 'throws' ? 'order' : 'asked' },
      );
      expect([...world.seen.a]).toEqual([NOTHING]);
      // Nor does it lock anything.
      await meanwhile('a', 'next');
      if (ends !== 'is submitted for approval') return;
      // An approved call is executed again, and must give the same answer that the body received.
      const [left] = (await approved(world)).value ?? [];
      expect(left).toMatchObject({ tool: 'a.note', phase: 'unresolved' });
      expect(said(await databases.a.look())).toBe('next / 0');
    },
  );

  function approved(world: World) {
    return world.process(undefined, async (assize) => {
      const trajectory = await assize.open('t');
      for await (const { id } of assize.pending())
        await trajectory.approvals.approve(id, {
          principal: 'boss',
          method: 'test',
          override: true,
        });
      return assize.recoverEffects();
    });
  }

  test('a refused statement is reported, and the transaction continues', async () => {
    const world = await opened();
    await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1' });
      await expect(tx.call('a.note', { what: 'bad', size: -1 })).rejects.toMatchObject({
        code: 'tool_failed',
        retryable: false,
      });
      await tx.call('a.note', { what: '2' });
    });
    expect([...world.seen.a]).toEqual([NOTHING, '1 2 / 2']);
  });

  test('branches see earlier calls, not each other; the chosen branch remains', async () => {
    const world = await opened();
    const saw: string[] = [];
    await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1' });
      await tx.speculate(
        ['x', 'y', 'z'].map((what) => async (branch: Transaction) => {
          await branch.call('b.note', { what: `b${what}` });
          saw.push(await branch.call('a.look', {}));
          // A server's sequence never returns a value twice. There, a branch that restarts after
          // another branch gets a different answer.
          if (every === 1) saw.push(await branch.call('b.look', {}));
        }),
        () => 2,
      );
      saw.push(await tx.call('b.look', {}));
    });
    expect(saw.sort()).toEqual(['1', '1', '1', ...(every === 1 ? ['bx', 'by', 'bz'] : []), 'bz']);
    expect([[...world.seen.a], [...world.seen.b]]).toEqual([
      [NOTHING, '1 / 1'],
      [NOTHING, 'bz / 1'],
    ]);
  });

  test('a part that comes to nothing is taken back', async () => {
    const world = await opened();
    await world.transact(async (tx) => {
      await tx.call('a.note', { what: '1' });
      await tx
        .nested(async (part) => {
          await part.call('a.note', { what: 'lost' });
          throw new Error('no');
        })
        .catch(() => undefined);
      expect(await tx.call('a.look', {})).toBe('1');
    });
    expect([...world.seen.a]).toEqual([NOTHING, '1 / 1']);
  });

  test('a crash at any step leaves all calls once or none, never a visible part', async () => {
    const DONE = { a: '1 3 / 2', b: '2 / 1' };
    const ends = new Set<boolean>();
    for (let endAt = 1; ; endAt += every) {
      const world = await opened();
      const { isDead } = await world.transact(
        async (tx) => {
          await tx.call('a.note', { what: '1' });
          await tx.call('b.note', { what: '2' });
          await tx.call('a.post', { what: '3' });
        },
        { endAt },
      );
      const left = await world.recovered();
      const isCommitted = await world.isCommitted();
      await expectEffectLogMatches(world.store, 't', left);
      for (const name of NAMES) {
        // A sequence of a server goes on where what took a number of it is rolled back: then it
        // answers otherwise, and nothing is done.
        const isOther = left.some(({ tool }) => tool.startsWith(name));
        for (const seen of world.seen[name]) expect([NOTHING, DONE[name]]).toContain(seen);
        expect(said(await databases[name].look())).toBe(
          isCommitted && !isOther ? DONE[name] : NOTHING,
        );
      }
      if (every === 1) expect(left).toEqual([]);
      ends.add(isCommitted);
      if (!isDead) break;
    }
    expect(ends.size).toBe(2);
  });

  test('a commit with a lost answer is found by its keys', async () => {
    const world = await opened();
    databases.a.commits.push('lose');
    const { value } = await world.transact(async (tx) => {
      for (const what of ['1', '2']) await tx.call('a.note', { what });
    });
    expect(value).toMatchObject({ effects: 'settled' });
    expect([...world.seen.a]).toEqual([NOTHING, '1 2 / 2']);
  });

  test('a changed answer after a staging timeout does nothing; a human sees both', async () => {
    const world = await opened(SHORT);
    const { value } = await world.transact(async (tx) => {
      expect(await tx.call('a.note', { what: '1' })).toEqual({ n: 1 });
      await letGo('a');
      await meanwhile('a', 'other');
    });
    expect(value).toMatchObject({ effects: 'needs_human' });
    expect([...world.seen.a]).toEqual([NOTHING, 'other / 0']);
    const { value: listed } = await world.process(undefined, (assize) => assize.effects());
    const text = await world.store.blob(listed![0]!.effects[0]!.differs!.$blob);
    expect(JSON.parse(text!).value).toMatchObject({
      told: { n: 1 },
      answer: { n: expect.any(Number) },
    });
    expect(JSON.parse(text!).value.answer).not.toEqual({ n: 1 });
  });

  test('after a staging timeout the next call repeats it, or restarts if changed', async () => {
    const world = await opened(SHORT);
    let times = 0;
    await world.transact(
      async (tx) => {
        await tx.call('a.note', { what: '1' });
        await letGo('a');
        if (times++ === 0) await meanwhile('a', 'other');
        await tx.call('a.note', { what: '2' }).catch((error: unknown) => {
          // On a server a sequence has gone on in any case.
          if (times > 1) throw new Error('enough', { cause: error });
          throw error;
        });
      },
      { retries: 1 },
    );
    expect(times).toBe(2);
    expect([...world.seen.a]).toEqual(
      every === 1 ? [NOTHING, 'other / 0', 'other 1 2 / 2'] : [NOTHING, 'other / 0'],
    );
  });

  test('transactions that stage on the same databases in other orders all end', async () => {
    const world = await opened(20_000);
    const { value } = await world.process(undefined, (assize) =>
      Promise.all(
        [0, 1, 2, 3].map((i) =>
          world.within(
            assize,
            async (tx) => {
              const both = i % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
              for (const name of both) await tx.call(`${name}.note`, { what: `${i}` });
            },
            // They claim the same, so they read the state when it is their turn.
            { name: `${i}`, writes: ['db:**'] },
          ),
        ),
      ),
    );
    expect(value!.map((each) => each?.effects)).toEqual([
      'settled',
      'settled',
      'settled',
      'settled',
    ]);
    expect([said(await databases.a.look()), said(await databases.b.look())]).toEqual([
      '0 1 2 3 / 4',
      '0 1 2 3 / 4',
    ]);
  });
}

describe('sqlite', () => tests(async () => new SqliteStage()));
withPostgres('postgres', (postgres) => tests(() => PostgresStage.open(postgres), 4));
