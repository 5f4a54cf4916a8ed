import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import {
  type AtomicBatch,
  type BatchedCall,
  DidNothing,
  declareTool,
  readTransaction,
  type StagedCall,
  type Tool,
} from '#effects';
import { defineDomain } from '#kernel';
import type { Transaction, TransactionOptions } from '#runtime';
import { codeOf, stage } from '../../../../../tests/support/tools/transaction-stage.ts';
import { readSalted } from './settle/quarantine.ts';

type Change = (value: unknown) => void;
type Body = (tx: Transaction, change: Change) => Promise<void>;

/** Changes a value as host code may: sorts its lists, fills in missing fields, and more. */
const spoil: Change = (value) => {
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) spoil(inner);
  if (Array.isArray(value)) value.reverse();
  else for (const name of Object.keys(value)) (value as Record<string, unknown>)[name] = 'spoilt';
  (value as { more?: number }).more = 1;
};

const sum = defineDomain<any, any>({
  name: 'sum',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ of: z.array(z.number()) }),
  initial: { of: [] },
  processes: { fill: { writes: ['/of'] } },
  roles: { clerk: { processes: ['fill'] } },
  actions: {
    fill: {
      process: 'fill',
      args: z.object({ of: z.array(z.number()) }),
      apply: (state: any, { of }: any) => {
        state.of = of;
      },
      onFailure: () => ({ action: 'fill', args: { of: [9] } }),
    },
  } as never,
  invariants: () => [],
});

/** The calls that are retried after a lost answer. */
const MAY_FAIL: ReadonlySet<string> = new Set([
  'act',
  'ask',
  'later',
  'reconcile',
  'together',
  'undo',
  'undo together',
  'mitigate',
]);

const input = z.object({ at: z.string(), of: z.array(z.number()) });
const class_ = { sink: 'keyed' } as const;

/**
 * Tools that record their arguments, change them and their own results, and fail at their first
 * call.
 */
function toolsOf(change: Change): { readonly tools: readonly Tool[]; readonly given: unknown[] } {
  const given: unknown[] = [];
  const failed = new Set<string>();
  const note = (what: string, ...values: readonly unknown[]): void => {
    given.push(structuredClone([what, ...values]));
    values.forEach(change);
    if (failed.has(what)) return;
    failed.add(what);
    if (MAY_FAIL.has(what)) throw new Error('its answer is lost');
  };
  const answers: unknown[] = [];
  const answerAll = (values: readonly object[]): readonly object[] => {
    answers.forEach(change);
    answers.push(...values);
    return values;
  };
  const answer = (value: object): object => answerAll([value])[0]!;
  const common = {
    input,
    compensate: (given: unknown, result: unknown) => {
      note('undo', given, result);
      return { undone: 'partly', residue: answer({ of: [1, 2] }) as Json } as const;
    },
    mitigate: (given: unknown, residue: unknown) => {
      note('mitigate', given, residue);
      return answer({ mailed: [1, 2] });
    },
  };
  const at = {};
  const held = (calls: readonly StagedCall[]) =>
    calls.map(({ input: of, reported }) => ({ of, told: reported }));
  const doAll = (calls: readonly BatchedCall[]) => {
    for (const { input: of, reported } of calls) note('together', of, reported);
    return answerAll(calls.map(() => ({ of: [3, 4] })));
  };
  const holding =
    (what: string) =>
    async (before: readonly StagedCall[], { input: of }: BatchedCall) => {
      given.push(structuredClone([what, held(before)]));
      for (const { input: of, reported } of before)
        for (const kept of [of, of.of, reported, (reported as any).of])
          expect(Object.isFrozen(kept)).toBe(true);
      note(what, of);
      return answer({ of: [3, 4] });
    };
  const together: AtomicBatch = {
    at,
    part: 1,
    execute: async (calls) => doAll(calls),
    compensate: async (calls) => {
      for (const { input: of, result } of calls) note('undo together', of, result);
      return calls.map(() => ({ undone: 'all' }));
    },
    stage: () => ({
      execute: holding('hold'),
      read: holding('see'),
      commit: async (calls) => doAll(calls),
      rollback: async () => undefined,
    }),
  };
  const tools = [
    declareTool({
      name: 'look',
      input,
      class: 'read',
      reads: ['test:{at}'],
      execute: (of, _call, planned) => {
        given.push(structuredClone(planned));
        note('look', of);
        return answer({ rows: [3, 1, 2] });
      },
    }),
    declareTool({
      name: 'act',
      class: { ...class_, reversibility: 'reversible', delivery: 'externalised' },
      writes: ['test:{at}'],
      execute: (of) => {
        note('act', of);
        return answer({ did: [1, 2] });
      },
      ...common,
    }),
    declareTool({
      name: 'dear',
      class: { ...class_, reversibility: 'with_cost', delivery: 'externalised' },
      writes: (of) => {
        note('where', of);
        return ['test:dear'];
      },
      cost: (of) => {
        note('cost', of);
        return { calls: 0 };
      },
      undoCost: (of) => {
        note('undo cost', of);
        return { calls: 0 };
      },
      execute: (of) => {
        note('dear', of);
        return null;
      },
      ...common,
    }),
    declareTool({
      name: 'asked',
      class: { sink: 'queryable', reversibility: 'reversible', delivery: 'externalised' },
      writes: ['test:{at}'],
      execute: (of) => {
        note('ask', of);
        return answer({ did: [1, 2] });
      },
      reconcile: (of) => {
        note('reconcile', of);
        return { happened: true, result: answer({ did: [1, 2] }) as Json };
      },
      ...common,
    }),
    declareTool({
      name: 'later',
      class: { ...class_, reversibility: 'reversible', delivery: 'buffered' },
      reads: ['test:other'],
      // A list that is sorted in place must stay sortable.
      writes: ({ at, of }) => [`test:${at}`, ...of.sort().map((n) => `test:${at}/${n}`)],
      plan: (of) => {
        note('plan', of);
        return { planned: [1, 2] };
      },
      execute: (of) => {
        note('later', of);
        return answer({ did: [1, 2] });
      },
      ...common,
    }),
    declareTool({
      name: 'held',
      class: { ...class_, reversibility: 'reversible', delivery: 'buffered' },
      writes: ['test:{at}'],
      batch: together,
      input,
      execute: () => null,
      compensate: () => ({ undone: 'all' }),
    }),
    declareTool({
      name: 'never',
      input,
      class: { sink: 'keyed', reversibility: 'reversible', delivery: 'buffered' },
      writes: ['test:{at}'],
      execute: () => {
        throw new DidNothing('nobody does that', { final: true });
      },
      compensate: () => ({ undone: 'all' }),
    }),
    declareTool({
      name: 'seen',
      input,
      class: 'read',
      reads: ['test:{at}'],
      readsStaged: { at, part: 1 },
      execute: () => answer({ rows: [7, 8] }),
    }),
  ];
  return { tools, given };
}

/**
 * The arguments of the tools and the content of the ledger. Each tool changes all its arguments and
 * results, or none.
 */
async function outcomeOf(
  change: Change,
  body: Body,
  more: Partial<TransactionOptions>,
): Promise<Json> {
  const { tools, given } = toolsOf(change);
  const { trajectory, all, store } = await stage({
    tools,
    domain: sum,
    around: { effects: { resolvers: { test: (name) => [name] } } },
  });
  const made = await codeOf(trajectory.transaction({ ...all, ...more }, (tx) => body(tx, change)));
  const { action, observations } =
    typeof made === 'string' ? ({} as never) : JSON.parse((made as any).ruling.entry.payload);
  const residues: (Json | undefined)[] = [];
  for (const { residue } of readTransaction((await store.effectsOf(1))!).effects)
    if (residue !== undefined) residues.push(await readSalted((hash) => store.blob(hash), residue));
  return {
    given,
    action,
    observations,
    residues,
    failed: typeof made === 'string' ? made : null,
  } as Json;
}

const at = (name: string) => ({ at: name, of: [1, 2, 3] });

function propose(tx: Transaction, change: Change): void {
  const intent = { action: 'fill', role: { name: 'clerk', params: {} }, args: { of: [1, 2] } };
  tx.propose(intent);
  change(intent);
}

async function look(tx: Transaction, change: Change): Promise<void> {
  for (const name of ['look', 'later']) change(await tx.call(name, at(name)));
  propose(tx, change);
}

async function work(tx: Transaction, change: Change): Promise<void> {
  for (const name of ['later', 'look', 'act', 'dear', 'asked', 'held', 'held', 'seen', 'look']) {
    const of = at(name);
    const told = tx.call(name, of);
    change(of);
    change(await told);
  }
  await tx.nested(async (inner) => {
    change(await inner.call('act', at('inner')));
    change(await inner.call('look', at('inner')));
  });
  propose(tx, change);
}

const COMMITTED = { action: { args: { of: [1, 2] } }, failed: null };

test.each<[string, object, Body, Partial<TransactionOptions>?]>([
  ['is committed', COMMITTED, work],
  [
    'is committed, and reads again',
    COMMITTED,
    (tx, change) => look(tx, change),
    { reading: 'optimistic' },
  ],
  [
    'is undone',
    { failed: 'as planned' },
    async (tx, change) => {
      await work(tx, change);
      throw new Error('as planned');
    },
  ],
  [
    'is undone after the commit',
    COMMITTED,
    async (tx, change) => {
      await work(tx, change);
      await tx.call('never', at('never'));
    },
  ],
])(
  'changes of values by a body or tool stay local if the transaction %s',
  async (_, tidyOf, body, more = {}) => {
    const tidy = await outcomeOf(() => undefined, body, more);
    expect(tidy).toMatchObject(tidyOf);
    expect(await outcomeOf(spoil, body, more)).toEqual(tidy);
  },
);

test('a tool stays as declared, even if its declaration object is reused', async () => {
  const did: string[] = [];
  const does = (what: string) => () => void did.push(what);
  const class_ = { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' };
  const all = { undone: 'all' } as const;
  const spec = {
    name: 'test.one',
    input: z.object({}),
    class: class_,
    writes: ['test:one'],
    execute: does('one'),
    compensate: (): typeof all | undefined => {
      did.push('one is undone');
      return all;
    },
  };
  const one = declareTool(spec as never);
  const next = { name: 'test.two', input: z.string(), writes: ['test:two'], execute: does('two') };
  Object.assign(spec, next, { compensate: undefined, uncompensated: 'it is a note' });
  class_.reversibility = 'with_cost';
  const two = declareTool(spec as never);
  expect([one, two].map((tool) => tool.spec.name)).toEqual(['test.one', 'test.two']);
  expect(one.spec.class).toEqual({ ...class_, reversibility: 'reversible' });

  const { trajectory, all: options } = await stage({ tools: [one, two] });
  const thrown = trajectory.transaction(options, async (tx) => {
    await tx.call('test.one', {});
    await tx.call('test.two', 'it');
    throw new Error('as planned');
  });
  expect([await codeOf(thrown), did]).toEqual(['as planned', ['one', 'two', 'one is undone']]);
});
