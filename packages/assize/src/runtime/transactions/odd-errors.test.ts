import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, NoAnswer, type Tool } from '#effects';
import type { Transaction } from '#runtime';
import { oddErrors } from '../../../../../tests/support/process/errors.ts';
import { COUNT, stage } from '../../../../../tests/support/tools/transaction-stage.ts';

// For any error thrown at any place, the effects are compensated and the next transaction
// continues.

const ODD = oddErrors();

function toolsThrowing(thrown: unknown): readonly Tool[] {
  const fail = (): never => {
    throw thrown;
  };
  const keyed = { reversibility: 'reversible', sink: 'keyed' } as const;
  const input = z.object({});
  const common = { input, writes: ['test:x'], execute: () => null } as const;
  const compensate = () => ({ undone: 'all' }) as const;
  return [
    declareTool({ name: 'fails.read', input, class: 'read', reads: ['test:x'], execute: fail }),
    declareTool({
      ...common,
      name: 'fails.act',
      class: { ...keyed, delivery: 'externalised' },
      execute: fail,
      compensate,
    }),
    declareTool({
      ...common,
      name: 'fails.plan',
      class: { ...keyed, delivery: 'buffered' },
      plan: fail,
      compensate,
    }),
    declareTool({
      ...common,
      name: 'fails.where',
      class: { ...keyed, delivery: 'buffered' },
      writes: fail,
      compensate,
    }),
    declareTool({
      ...common,
      name: 'fails.later',
      class: { ...keyed, delivery: 'buffered' },
      execute: fail,
      compensate,
    }),
    declareTool({
      ...common,
      name: 'fails.held',
      class: { ...keyed, delivery: 'buffered' },
      uncompensated: 'nothing is left',
      batch: {
        at: {},
        part: 1,
        execute: fail,
        stage: () => ({ execute: fail, read: fail, commit: fail, rollback: async () => undefined }),
      },
    }),
    declareTool({
      ...common,
      name: 'fails.undo',
      class: { ...keyed, delivery: 'externalised' },
      compensate: fail,
    }),
  ];
}

type Body = (tx: Transaction, thrown: unknown) => unknown;

const throwing = (thrown: unknown): never => {
  throw thrown;
};

const NO_TEXT = { message: 'the thrown value cannot be read' };

const PLACES: readonly (readonly [string, object, Body])[] = [
  ['by the body', NO_TEXT, (_, thrown) => throwing(thrown)],
  ['by the body later', NO_TEXT, async (_, thrown) => Promise.reject(thrown)],
  ['by a part of it', NO_TEXT, (tx, thrown) => tx.nested(() => throwing(thrown), { retries: 2 })],
  ['by who chooses', NO_TEXT, (tx, thrown) => tx.speculate([() => 1], () => throwing(thrown))],
  [
    'by all branches',
    { code: 'no_branch', cause: NO_TEXT },
    (tx, thrown) => tx.speculate([() => throwing(thrown)], () => 0),
  ],
  ['by a tool that reads', NO_TEXT, (tx) => tx.call('fails.read', {})],
  [
    'by a tool that acts',
    { code: 'outcome_unknown', cause: NO_TEXT },
    (tx) => tx.call('fails.act', {}),
  ],
  [
    'by a tool that plans',
    { code: 'tool_failed', cause: NO_TEXT },
    (tx) => tx.call('fails.plan', {}),
  ],
  [
    'by who says where it acts',
    { code: 'bad_input', cause: NO_TEXT },
    (tx) => tx.call('fails.where', {}),
  ],
  [
    'by who knows its names',
    { reason: 'bad_resolver', cause: NO_TEXT },
    (tx) => tx.expand({ writes: ['named:x'] }),
  ],
  [
    'by a place that holds',
    { code: 'tool_failed', cause: NO_TEXT },
    (tx) => tx.call('fails.held', {}),
  ],
];

describe.each(ODD)('where %s is thrown', (_, thrown) => {
  test.each(PLACES)(
    '%s, it is an error, all is compensated, and the next one continues',
    async (_place, error, body) => {
      const resolvers = { named: () => throwing(thrown) };
      const { sink, trajectory, all } = await stage({
        tools: toolsThrowing(thrown),
        around: { effects: { resolvers } },
      });
      const made = trajectory.transaction(all, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await body(tx, thrown);
        tx.propose(COUNT);
      });
      await expect(made).rejects.toMatchObject(error);
      expect(sink.standing('a')).toBe(0);
      // On another scope: an effect that a tool has lost needs a human decision.
      const next = await trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
        await tx.call('reversible.buffered', { what: 'b' });
        tx.propose(COUNT);
      });
      expect(next).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
      expect(sink.standing('b')).toBe(1);
    },
  );

  test.each([['fails.later'], ['fails.undo']])(
    'by %s, it is an answer that was lost',
    async (name) => {
      const { assize, trajectory, all } = await stage({ tools: toolsThrowing(thrown) });
      const made = trajectory.transaction(all, async (tx) => {
        await tx.call(name, {});
        tx.propose({ ...COUNT, args: name === 'fails.undo' ? 'forbidden' : 'order' });
      });
      expect(await made).toMatchObject({ effects: 'needs_human' });
      expect(await assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
    },
  );

  test('as the reason to stop, it is a deadline', async () => {
    const { sink, trajectory, all } = await stage();
    const stop = new AbortController();
    const made = trajectory.transaction({ ...all, signal: stop.signal }, async (tx) => {
      await tx.call('reversible.externalised', { what: 'a' });
      stop.abort(thrown);
      await tx.call('reversible.externalised', { what: 'b' });
    });
    await expect(made).rejects.toMatchObject({ code: 'deadline', cause: NO_TEXT });
    expect([sink.standing('a'), sink.standing('b')]).toEqual([0, 0]);
  });
});

/** Errors of tools with a member that throws a revoked Proxy when it is read for the nth time. */
const MEMBERS = ['isFinal', 'key', 'afterMs', 'why', 'answer', 'message', 'cause'].flatMap(
  (member) => [1, 2, 3].map((readable): [string, number] => [member, readable]),
);

describe.each(MEMBERS)('a DidNothing whose %s cannot be read at read %i', (member, readable) => {
  const failing = (error: Error): never => {
    let reads = 0;
    const get = (): unknown => {
      if (++reads >= readable) throw oddErrors()[0]![1];
      return undefined;
    };
    throw Object.defineProperty(error, member, { get });
  };
  const common = { input: z.object({}), writes: ['test:x'] } as const;
  const irreversible = {
    reversibility: 'irreversible',
    delivery: 'buffered',
    sink: 'blind',
  } as const;

  test.each([new DidNothing('it refused'), new NoAnswer('it is silent', { why: 'silent' })])(
    'leaves an outcome after the commit: %s',
    async (error) => {
      const execute = (): never => failing(Object.create(error) as Error);
      const tool = declareTool({ ...common, name: 'fails.late', class: irreversible, execute });
      const { assize, trajectory, all } = await stage({
        tools: [tool],
        around: { effects: { maxAttempts: 1 } },
      });
      const made = await trajectory.transaction(all, async (tx) => {
        await tx.call('fails.late', {});
        tx.propose(COUNT);
      });
      expect(made).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'needs_human' });
      expect(await assize.recoverEffects()).toHaveLength(1);
    },
  );

  test('is an error with a code before the commit', async () => {
    const fail = (): never => failing(new DidNothing('it refused'));
    const buffered = { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' } as const;
    const compensate = () => ({ undone: 'all' }) as const;
    const { trajectory, all } = await stage({
      tools: [
        declareTool({
          ...common,
          name: 'fails.plan',
          class: buffered,
          plan: fail,
          execute: () => null,
          compensate,
        }),
        declareTool({
          ...common,
          name: 'fails.now',
          class: { ...buffered, delivery: 'externalised' },
          execute: fail,
          compensate,
        }),
      ],
      around: { effects: { maxAttempts: 1 } },
    });
    for (const name of ['fails.plan', 'fails.now']) {
      const made = trajectory.transaction({ ...all, retries: 0 }, (tx) => tx.call(name, {}));
      const code = expect.stringMatching(/^(tool_failed|outcome_unknown|resource_in_doubt)$/);
      await expect(made).rejects.toMatchObject({ code });
    }
  });
});

test.each([
  ['a revoked Proxy', oddErrors()[0]![1]],
  ['a function', () => 1],
  ['a Date', new Date(0)],
])('a plan that answers %s fails with a code', async (_, answer) => {
  const tool = declareTool({
    ...{
      name: 'odd.plan',
      input: z.object({}),
      writes: ['test:x'],
      execute: () => null,
      plan: () => answer,
    },
    ...{ class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' } as const },
    compensate: () => ({ undone: 'all' }) as const,
  });
  const { trajectory, all } = await stage({ tools: [tool] });
  const made = trajectory.transaction(all, (tx) => tx.call('odd.plan', {}));
  await expect(made).rejects.toMatchObject({ code: 'tool_failed', evidence: { tool: 'odd.plan' } });
});
