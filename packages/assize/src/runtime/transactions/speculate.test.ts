import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, type Tool } from '#effects';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  type Outside,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';

const all = { writ: writFor('alice'), writes: ['test:**'], retries: 0 };
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

async function stage(
  fault?: Outside['fault'],
  sort: OutsideSink['sort'] = 'keyed',
  more: readonly Tool[] = [],
) {
  const sink = new OutsideSink(sort);
  const outside = { sink, steps: new Steps(), ...(fault && { fault }) };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    ...more,
  ];
  const assize = runtimeOver(new MemoryStore(), [tally], { tools });
  return { sink, assize, trajectory: await assize.create(tally, { trajectoryId: 't' }) };
}

const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    (value) => value,
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  );

/** A branch that executes a call immediately, plans another, and proposes an action. */
const branch = (what: string) => async (tx: any) => {
  await tx.call('reversible.externalised', { what: `${what} acted`, at: what });
  await tx.call('irreversible.buffered', { what: `${what} held`, at: what });
  tx.propose({ ...COUNT, args: what });
  return what;
};

/** The answers of tools, without the inputs of reads. */
function answersIn(
  observations: readonly { readonly name: string; readonly value: unknown }[],
): unknown[] {
  return observations.filter(({ name }) => !name.endsWith('.input')).map(({ value }) => value);
}

describe('speculation', () => {
  test.each([2, 4, 8, 16])(
    'of %i branches one is committed, and the others leave nothing',
    async (k) => {
      for (const winner of [0, k - 1]) {
        const { trajectory, sink } = await stage();
        const outcome = await trajectory.transaction(all, async (tx) => {
          await tx.call('irreversible.buffered', { what: 'before' });
          const value = await tx.speculate(
            Array.from({ length: k }, (_, i) => branch(`b${i}`)),
            (tried) => {
              expect(tried).toEqual(
                Array.from({ length: k }, (_, i) => ({ failed: false, value: `b${i}` })),
              );
              return winner;
            },
          );
          // All effects of discarded branches are compensated by now, and no buffered call has run.
          for (let i = 0; i < k; i++)
            expect(sink.standing(`b${i} acted`)).toBe(i === winner ? 1 : 0);
          expect(sink.log.some(({ what }) => what.includes('held'))).toBe(false);
          return value;
        });
        expect(outcome).toMatchObject({
          ruling: { ruling: 'committed' },
          value: `b${winner}`,
          effects: 'settled',
        });
        expect(trajectory.state()).toEqual({ done: { [`b${winner}`]: 1 } });
        for (let i = 0; i < k; i++)
          expect(sink.times('do', `b${i} held`)).toBe(i === winner ? 1 : 0);
        expect(sink.standing('before')).toBe(1);
        const { delta, observations } = JSON.parse((outcome.ruling as any).entry.payload);
        expect(delta.effects).toHaveLength(3);
        expect(observations).toEqual([
          { name: `reversible.externalised#1.${winner}/0`, value: { did: `b${winner} acted` } },
        ]);
      }
    },
  );

  test.each<[string, (tried: any) => any, string]>([
    ['none is chosen', () => undefined, 'no_branch'],
    ['there is none of that number', () => 7, 'no_branch'],
    ['choosing fails', () => Promise.reject(new Error('cannot say')), 'cannot say'],
    ['what is chosen is a text', () => '0', 'bad_intent'],
    ['what is chosen is a list', () => [1], 'bad_intent'],
  ])('where %s all are undone, and the body may go on', async (_, choose, code) => {
    const { trajectory, sink } = await stage();
    const outcome = await trajectory.transaction(all, async (tx) => {
      expect(await codeOf(tx.speculate([branch('a'), branch('b')], choose))).toBe(code);
      tx.propose(COUNT);
    });
    expect(outcome.ruling.ruling).toBe('committed');
    expect([sink.standing('a acted'), sink.standing('b acted')]).toEqual([0, 0]);
    expect(sink.log.some(({ what }) => what.includes('held'))).toBe(false);
  });

  test('a branch that fails is one that can’t be chosen', async () => {
    const { trajectory, sink } = await stage((of, what) =>
      of === 'do' && what === 'a acted' ? 'fail' : 'none',
    );
    const outcome = await trajectory.transaction(all, (tx) =>
      tx.speculate([branch('a'), branch('b')], (tried) => {
        expect(tried[0]).toMatchObject({ failed: true, error: { code: 'tool_failed' } });
        return tried.findIndex(({ failed }) => !failed);
      }),
    );
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, value: 'b' });
    expect(sink.standing('b acted')).toBe(1);
    const { trajectory: other } = await stage((of, what) =>
      of === 'do' && what === 'a acted' ? 'fail' : 'none',
    );
    const made = other.transaction(all, (tx) => tx.speculate([branch('a'), branch('b')], () => 0));
    expect(await codeOf(made)).toBe('no_branch');
  });

  test('branches do not see each other’s buffered effects, and may be nested', async () => {
    const { trajectory, sink } = await stage();
    const outcome = await trajectory.transaction(all, (tx) =>
      tx.speculate(
        [
          branch('a'),
          (inner) =>
            inner.speculate([branch('b'), branch('c')], (tried) => {
              expect(tried).toHaveLength(2);
              return 1;
            }),
        ],
        () => 1,
      ),
    );
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, value: 'c' });
    expect(['a', 'b', 'c'].map((what) => sink.standing(`${what} acted`))).toEqual([0, 0, 1]);
    expect(['a', 'b', 'c'].map((what) => sink.times('do', `${what} held`))).toEqual([0, 0, 1]);
    // A chosen nested branch is compensated if its parent is not chosen.
    const second = await stage();
    await second.trajectory.transaction(all, (tx) =>
      tx.speculate(
        [(inner) => inner.speculate([branch('b'), branch('c')], () => 0), branch('a')],
        () => 1,
      ),
    );
    expect(['a', 'b', 'c'].map((what) => second.sink.standing(`${what} acted`))).toEqual([1, 0, 0]);
  });

  test('a branch sees effects buffered before; the body also the chosen branch’s', async () => {
    const seen = declareTool({
      name: 'planned.seen',
      input: z.strictObject({}),
      class: 'read',
      reads: ['test:x'],
      execute: (_, __, planned) => planned.map(({ input }) => (input as { what: string }).what),
    });
    const { trajectory } = await stage(undefined, 'keyed', [seen]);
    await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'before' });
      const looking = (what: string) => async (inner: any) => {
        await inner.call('irreversible.buffered', { what });
        return inner.call('planned.seen', {});
      };
      expect(await tx.speculate([looking('a'), looking('b')], () => 1)).toEqual(['before', 'b']);
      expect(await tx.call('planned.seen', {})).toEqual(['before', 'b']);
      tx.propose(COUNT);
    });
  });

  test('effects buffered during branches stay, as do those of the chosen branch', async () => {
    const seen = declareTool({
      name: 'planned.seen',
      input: z.strictObject({}),
      class: 'read',
      reads: ['test:x'],
      execute: (_, __, planned) => planned.map(({ input }) => (input as { what: string }).what),
    });
    const { trajectory, sink } = await stage(undefined, 'keyed', [seen]);
    await trajectory.transaction(all, async (tx) => {
      const { promise: isPlanned, resolve: planned } = Promise.withResolvers<void>();
      const branches = tx.speculate(
        [
          async (inner: any) => {
            await inner.call('irreversible.buffered', { what: 'inside' });
            await isPlanned;
          },
        ],
        () => 0,
      );
      for (const what of ['beside', 'and more']) await tx.call('irreversible.buffered', { what });
      planned();
      await branches;
      expect(await tx.call('planned.seen', {})).toEqual(['beside', 'and more', 'inside']);
      tx.propose(COUNT);
    });
    for (const what of ['beside', 'and more', 'inside']) expect(sink.times('do', what)).toBe(1);
  });

  test('at one place one branch acts at a time', async () => {
    const { trajectory, sink } = await stage();
    await trajectory.transaction(all, async (tx) => {
      const same = (what: string) => async (one: any) => {
        await one.call('reversible.externalised', { what, at: 'same' });
        return what;
      };
      await tx.speculate([same('a'), same('b')], (tried) => {
        expect(tried).toMatchObject([{ value: 'a' }, { error: { reason: 'branch_conflict' } }]);
        return 0;
      });
      tx.propose(COUNT);
    });
    expect([sink.standing('a'), sink.times('do', 'b')]).toEqual([1, 0]);
  });

  test('a changed list of results is refused, so the intended branch commits', async () => {
    const { trajectory, sink } = await stage();
    const outcome = await trajectory.transaction(all, async (tx) => {
      const sorted = tx.speculate([branch('a'), branch('b')], (tried) => {
        (tried as { reverse?(): void }).reverse!();
        return 0;
      });
      await expect(sorted).rejects.toThrow(TypeError);
      const failing = async (inner: any) => {
        await branch('c')(inner);
        throw new Error('no');
      };
      const made = tx.speculate([failing], ([tried]) => {
        (tried as { failed: boolean }).failed = false;
        return 0;
      });
      await expect(made).rejects.toThrow(TypeError);
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    for (const what of ['a', 'b', 'c'])
      expect([sink.standing(`${what} acted`), sink.times('do', `${what} held`)]).toEqual([0, 0]);
  });

  test.each<[string, unknown, unknown]>([
    ['of an invalid form', undefined, () => 0],
    ['with an element that is not a branch', [branch('a'), 'b'], () => 0],
    ['among which nobody chooses', [branch('a')], undefined],
  ])('branches %s are refused before any is tried', async (_, branches, choose) => {
    const { trajectory, sink } = await stage();
    const made = trajectory.transaction(all, (tx) =>
      tx.speculate(branches as never, choose as never),
    );
    await expect(made).rejects.toMatchObject({ code: 'bad_intent' });
    expect(sink.log).toEqual([]);
  });

  describe('where a branch has acted that may be undone yet', () => {
    /** A tool with a place that restores the value that it found there. */
    function shelf(
      more: { readonly parallel?: boolean; readonly cost?: () => { usd: number } } = {},
    ) {
      const places = new Map<string, string>();
      const at = z.strictObject({ at: z.string(), what: z.string().optional() });
      const looks: PromiseWithResolvers<void>[] = [];
      const put = declareTool({
        name: 'shelf.put',
        input: at,
        class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
        writes: ['test:{at}'],
        execute: ({ at, what = '' }) => {
          const before = places.get(at) ?? null;
          places.set(at, what);
          return { before };
        },
        compensate: ({ at }, { before }: { before: string | null }) => {
          if (before === 'stuck') throw new DidNothing('it is stuck', { final: true });
          if (before === null) places.delete(at);
          else places.set(at, before);
          return { undone: 'all' };
        },
      });
      const look = declareTool({
        name: 'shelf.look',
        input: at,
        class: 'read',
        reads: ['test:{at}'],
        ...more,
        execute: async ({ at }) => {
          await looks.shift()?.promise;
          return places.get(at) ?? null;
        },
      });
      return { places, looks, tools: [put, look] };
    }

    const puts = (what: string) => (tx: any) => tx.call('shelf.put', { at: 'x', what });
    const looks = (tx: any) => tx.call('shelf.look', { at: 'x' });
    const holds = (what: string) => (tx: any) =>
      tx.call('irreversible.buffered', { what, at: 'x' });

    test('no other effect runs: the compensation would revert it too', async () => {
      const { places, tools } = shelf();
      const { trajectory } = await stage(undefined, 'keyed', tools);
      await trajectory.transaction(all, async (tx) => {
        await tx.speculate([puts('a'), async () => undefined], async () => {
          expect(await codeOf(puts('chosen')(tx))).toBe('branch_conflict');
          return 1;
        });
        await puts('mine')(tx);
        tx.propose(COUNT);
      });
      expect(places.get('x')).toBe('mine');
    });

    test('no effect runs after a failed compensation that may be retried later', async () => {
      const { places, tools } = shelf();
      places.set('x', 'stuck');
      const { trajectory, assize } = await stage(undefined, 'keyed', tools);
      const { effects } = await trajectory.transaction(all, async (tx) => {
        const part = tx.nested(async (inner) => {
          await puts('a')(inner);
          throw new Error('no');
        });
        await expect(part).rejects.toThrow('no');
        for (const call of [puts('mine'), looks, holds('mine')])
          expect([await codeOf(call(tx)), await codeOf(tx.nested(call))]).toEqual(
            Array(2).fill('resource_in_doubt'),
          );
        await tx.call('shelf.put', { at: 'y', what: 'mine' });
        tx.propose(COUNT);
      });
      expect([effects, places.get('x'), places.get('y')]).toEqual(['needs_human', 'a', 'mine']);
      await assize.close();
    });

    test('a compensated scope is free, even if another was not compensated', async () => {
      const { places, tools } = shelf();
      places.set('x', 'stuck');
      const { trajectory, assize } = await stage(undefined, 'keyed', tools);
      const { effects } = await trajectory.transaction(all, async (tx) => {
        const part = tx.nested(async (inner) => {
          await inner.call('shelf.put', { at: 'y', what: 'a' });
          await puts('a')(inner);
          throw new Error('no');
        });
        await expect(part).rejects.toThrow('no');
        expect(await tx.call('shelf.look', { at: 'y' })).toBe(null);
        await tx.call('shelf.put', { at: 'y', what: 'mine' });
        expect(await codeOf(looks(tx))).toBe('resource_in_doubt');
        tx.propose(COUNT);
      });
      expect([effects, places.get('x'), places.get('y')]).toEqual(['needs_human', 'a', 'mine']);
      await assize.close();
    });

    test('a refused effect has not run, and other branches read and act', async () => {
      const { places, tools } = shelf();
      const { trajectory, sink } = await stage(
        (_, what) => (what === 'a' ? 'fail_for_good' : 'none'),
        'keyed',
        tools,
      );
      await trajectory.transaction(all, async (tx) => {
        const { promise: isRefused, resolve: refused } = Promise.withResolvers<void>();
        const a = async (inner: any) => {
          const code = await codeOf(inner.call('reversible.externalised', { what: 'a', at: 'x' }));
          refused();
          return code;
        };
        const b = async (inner: any) => {
          await isRefused;
          const seen = await looks(inner);
          await puts('b')(inner);
          return seen;
        };
        await tx.speculate([a, b], (tried) => {
          expect(tried).toMatchObject([{ value: 'tool_failed' }, { failed: false, value: null }]);
          return 1;
        });
        tx.propose(COUNT);
      });
      expect([sink.log, places.get('x')]).toEqual([[], 'b']);
    });

    test('a call refused for that reason costs nothing', async () => {
      const { places, tools } = shelf({ cost: () => ({ usd: 3 }) });
      places.set('x', 'stuck');
      const dear = declareTool({
        name: 'shelf.order',
        input: z.strictObject({ at: z.string() }),
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
        writes: ['test:{at}'],
        cost: () => ({ usd: 2 }),
        execute: () => null,
      });
      const planned = declareTool({
        ...dear.spec,
        name: 'shelf.plan',
        reads: ['test:{at}'],
        plan: () => null,
      });
      const { trajectory, assize } = await stage(undefined, 'keyed', [...tools, dear, planned]);
      const writ = writFor('alice', { trajectory: 't', budget: { usd: 10 } });
      const { ruling } = await trajectory.transaction({ ...all, writ }, async (tx) => {
        const part = tx.nested(async (inner) => {
          await puts('a')(inner);
          expect(await codeOf(looks(tx))).toBe('branch_conflict');
          expect(await codeOf(tx.call('shelf.plan', { at: 'x' }))).toBe('branch_conflict');
          throw new Error('no');
        });
        await expect(part).rejects.toThrow('no');
        for (const tool of ['shelf.order', 'shelf.plan', 'shelf.look'])
          expect(await codeOf(tx.call(tool, { at: 'x' }))).toBe('resource_in_doubt');
        await tx.call('shelf.order', { at: 'y' });
        tx.propose(COUNT);
      });
      expect(JSON.parse((ruling as any).entry.payload)).toMatchObject({
        kind: 'commit',
        budget_cost: { usd: 2 },
      });
      await assize.close();
    });

    test('an effect buffered there before does not run either', async () => {
      const { places, tools } = shelf();
      places.set('x', 'stuck');
      const { trajectory, sink, assize } = await stage(undefined, 'keyed', tools);
      const made = trajectory.transaction(all, async (tx) => {
        await holds('mine')(tx);
        const part = tx.nested(async (inner) => {
          await puts('a')(inner);
          throw new Error('no');
        });
        await expect(part).rejects.toThrow('no');
        tx.propose(COUNT);
      });
      expect(await codeOf(made)).toBe('resource_in_doubt');
      expect([sink.log, await assize.recoverEffects()]).toMatchObject([
        [],
        [{ phase: 'unresolved' }],
      ]);
      await assize.close();
    });

    test.each([
      ['another branch', 'b'],
      ['what it is a branch of', 'outer'],
    ])('%s does not look, and the one that has acted does', async (_, who) => {
      const { tools } = shelf();
      const { trajectory } = await stage(undefined, 'keyed', tools);
      const outcome = await trajectory.transaction(all, async (tx) => {
        const { promise: hasActed, resolve: acted } = Promise.withResolvers<void>();
        const a = async (inner: any) => {
          await puts('a')(inner);
          acted();
          return looks(inner);
        };
        const b = (inner: any) =>
          hasActed.then(() => looks(who === 'b' ? inner : tx)).catch(({ reason }) => reason);
        const seen = await tx.speculate([a, b], ([first, second]) => {
          expect([first, second]).toMatchObject([{ value: 'a' }, { value: 'branch_conflict' }]);
          return 1;
        });
        expect(await looks(tx)).toBe(null);
        tx.propose(COUNT);
        return seen;
      });
      expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, value: 'branch_conflict' });
      const { observations } = JSON.parse((outcome.ruling as any).entry.payload);
      expect(answersIn(observations)).toEqual([null]);
    });

    test.each([
      ['another branch', 'b'],
      ['what it is a branch of', 'outer'],
    ])('%s does not read there either if reads are validated at the gate', async (_, who) => {
      const { tools } = shelf();
      const { trajectory } = await stage(undefined, 'keyed', tools);
      const { ruling } = await trajectory.transaction(
        { ...all, reading: 'optimistic' },
        async (tx) => {
          const { promise: hasActed, resolve: acted } = Promise.withResolvers<void>();
          const { promise: hasLooked, resolve: looked } = Promise.withResolvers<void>();
          const a = async (inner: any) => {
            await puts('a')(inner);
            acted();
            await hasLooked;
            // The value is read again before either branch acts there, and is unchanged.
            await puts('a again')(inner);
          };
          const b = async (inner: any) => {
            await hasActed;
            const codes = [
              await codeOf(looks(who === 'b' ? inner : tx)),
              await codeOf(puts('b')(inner)),
            ];
            looked();
            return codes;
          };
          await tx.speculate<unknown>([a, b], ([, second]) => {
            expect(second).toMatchObject({ value: ['branch_conflict', 'branch_conflict'] });
            return 1;
          });
          expect(await looks(tx)).toBe(null);
          tx.propose(COUNT);
        },
      );
      const { kind, observations } = JSON.parse((ruling as any).entry.payload);
      expect([kind, answersIn(observations)]).toEqual(['commit', [null]]);
    });

    test.each(['ordered', 'optimistic'] as const)(
      'a read during an effect that is then compensated is refused: %s',
      async (reading) => {
        const { tools, looks: answers } = shelf();
        const { trajectory } = await stage(undefined, 'keyed', tools);
        const { ruling } = await trajectory.transaction({ ...all, reading }, async (tx) => {
          const answer = Promise.withResolvers<void>();
          answers.push(answer);
          const looking = looks(tx).catch(({ reason }: { reason: string }) => reason);
          const part = tx.nested(async (inner) => {
            await puts('a')(inner);
            throw new Error('no');
          });
          await expect(part).rejects.toThrow('no');
          answer.resolve();
          expect(await looking).toBe('branch_conflict');
          tx.propose(COUNT);
        });
        expect(ruling.ruling).toBe('committed');
      },
    );

    test('no other branch stages a write or reads a staged one there either', async () => {
      const { places, tools } = shelf();
      const at = {};
      const found = async (_: unknown, { input }: { input: { at: string } }) =>
        places.get(input.at) ?? null;
      const held = declareTool({
        name: 'shelf.held',
        input: z.strictObject({ at: z.string() }),
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
        writes: ['test:{at}'],
        execute: () => null,
        batch: {
          at,
          part: undefined,
          execute: async (calls) => calls.map(() => null),
          stage: () => ({
            execute: found,
            read: found,
            commit: async (calls) => calls.map(({ reported }) => reported),
            rollback: async () => undefined,
          }),
        },
      });
      const seen = declareTool({
        name: 'shelf.seen',
        input: z.strictObject({ at: z.string() }),
        class: 'read',
        reads: ['test:{at}'],
        readsStaged: { at, part: undefined },
        execute: () => null,
      });
      const { trajectory } = await stage(undefined, 'keyed', [...tools, held, seen]);
      await trajectory.transaction(all, async (tx) => {
        const { promise: hasActed, resolve: acted } = Promise.withResolvers<void>();
        const a = async (inner: any) => {
          await puts('a')(inner);
          acted();
          return [
            await inner.call('shelf.held', { at: 'x' }),
            await inner.call('shelf.seen', { at: 'x' }),
          ];
        };
        const b = async (inner: any) => {
          await hasActed;
          await inner.call('shelf.held', { at: 'y' });
          return [
            await codeOf(inner.call('shelf.held', { at: 'x' })),
            await codeOf(inner.call('shelf.seen', { at: 'x' })),
          ];
        };
        await tx.speculate([a, b], (tried) => {
          expect(tried).toMatchObject([
            { value: ['a', 'a'] },
            { value: ['branch_conflict', 'branch_conflict'] },
          ]);
          return 1;
        });
        tx.propose(COUNT);
      });
    });

    test('an optimistic read stays valid if another branch acts there afterwards', async () => {
      const { places, tools } = shelf();
      const { trajectory } = await stage(undefined, 'keyed', tools);
      const { ruling } = await trajectory.transaction(
        { ...all, reading: 'optimistic' },
        async (tx) => {
          const { promise: hasLooked, resolve: looked } = Promise.withResolvers<void>();
          const { promise: hasActed, resolve: acted } = Promise.withResolvers<void>();
          const looking = tx.nested(async (inner) => {
            const seen = await looks(inner);
            looked();
            await hasActed;
            return seen;
          });
          const acting = tx.nested(async (inner) => {
            await hasLooked;
            await puts('a')(inner);
            acted();
          });
          expect(await looking).toBe(null);
          await acting;
          tx.propose(COUNT);
        },
      );
      expect([ruling.ruling, places.get('x')]).toEqual(['committed', 'a']);
    });

    test('a tool that says that it can be used in parallel is used', async () => {
      const { tools } = shelf({ parallel: true });
      const { trajectory } = await stage(undefined, 'keyed', tools);
      await trajectory.transaction(all, async (tx) => {
        await tx.speculate([puts('a')], async () => {
          expect(await looks(tx)).toBe('a');
          return 0;
        });
        tx.propose(COUNT);
      });
    });
  });

  test('a loser that can’t be compensated is unresolved, and the winner commits', async () => {
    let isBroken = true;
    const { trajectory, sink, assize } = await stage((of, what) =>
      isBroken && of === 'undo' && what === 'a acted' ? 'fail' : 'none',
    );
    const outcome = await trajectory.transaction(all, (tx) =>
      tx.speculate([branch('a'), branch('b')], () => 1),
    );
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'needs_human' });
    expect(sink.standing('b acted')).toBe(1);
    const [left] = await assize.recoverEffects();
    expect(left).toMatchObject({ tool: 'reversible.externalised', phase: 'unresolved' });
    isBroken = false;
    const { epoch, n } = left!;
    await assize.resolveEffect({
      epoch,
      n,
      as: 'retry',
      by: 'olga',
      writ: operatorWrit('olga'),
      evidence: 'the sink is up again',
    });
    expect([sink.standing('a acted'), sink.standing('b acted')]).toEqual([0, 1]);
    expect(await assize.recoverEffects()).toEqual([]);
  });

  test.each(['keyed', 'queryable'] as const)(
    'a crash at any step leaves one branch or none, with a %s sink',
    async (sort) => {
      const ends = { committed: 0, undone: 0 };
      for (let endAt = 1; ; endAt++) {
        const sink = new OutsideSink(sort);
        const store = new MemoryStore();
        await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
        const process = async (
          at: number | undefined,
          live: (assize: ReturnType<typeof runtimeOver>) => Promise<unknown>,
        ) => {
          const steps = new Steps(at);
          const tools = [
            toolFor({ sink, steps }, 'reversible', 'externalised'),
            toolFor({ sink, steps }, 'irreversible', 'buffered'),
          ];
          const assize = runtimeOver(storeOf(store, steps), [tally], { tools });
          const value = await Promise.race([live(assize), steps.ended]);
          await Promise.race([assize.close(), steps.ended]);
          return { value, isDead: steps.isDead };
        };
        const { isDead } = await process(endAt, async (assize) => {
          const trajectory = await assize.open('t');
          return trajectory.transaction(all, (tx) =>
            tx.speculate([branch('a'), branch('b'), branch('c')], () => 1),
          );
        });
        if (!isDead) break;
        expect((await process(undefined, (assize) => assize.recoverEffects())).value).toEqual([]);
        const committed = (await store.entries('t')).some(({ kind }) => kind === 'commit') ? 1 : 0;
        for (const what of ['a', 'b', 'c']) {
          expect([what, sink.standing(`${what} acted`)]).toEqual([
            what,
            what === 'b' ? committed : 0,
          ]);
          expect([what, sink.times('do', `${what} held`)]).toEqual([
            what,
            what === 'b' ? committed : 0,
          ]);
        }
        ends[committed === 1 ? 'committed' : 'undone']++;
      }
      expect(ends.committed).toBeGreaterThan(0);
      expect(ends.undone).toBeGreaterThan(10);
    },
  );
});
