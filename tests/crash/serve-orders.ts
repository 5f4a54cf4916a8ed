import { z } from 'zod';
import { generateKeys, type KeyPair } from '#canon';
import { type CallContext, declareTool, type Sink, type Tool } from '#effects';
import { call, defineDomain, pass, reject } from '#kernel';
import { seededNumbers } from '../../packages/testing/src/faults.ts';

// Definitions that the served processes share with the test that kills them.

export const ROOT: KeyPair = generateKeys(new Uint8Array(32).fill(42));
export const WORLDS = ['w0', 'w1', 'w2'];
export const COUNSELORS = ['human:grace', 'human:olga'];
/** Counters of one world, so that its state stays small however many orders there are. */
export const SLOTS = 50;
/** A count that a rule rejects. */
const TOO_MANY = 1_000;

export type Kind = 'count' | 'ask' | 'pay' | 'book' | 'refuse';
const KINDS: readonly Kind[] = ['count', 'count', 'count', 'count', 'ask', 'pay', 'book', 'refuse'];

/** The calls reach sinks in another process, at that port. */
export function toolsAt(port: string): readonly [pay: Tool, book: Tool] {
  return [toolAt(port, 'pay', 'keyed'), toolAt(port, 'book', 'queryable')];
}

function toolAt(port: string, name: string, sink: Sink): Tool {
  const ask = async (does: 'do' | 'undo' | 'has', body: object): Promise<{ has: boolean }> => {
    const answer = await fetch(`http://127.0.0.1:${port}/${sink}/${does}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`the sink said ${answer.status}`);
    return (await answer.json()) as { has: boolean };
  };
  return declareTool({
    name,
    input: z.strictObject({ order: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink },
    writes: ['order:{order}'],
    execute: async ({ order }, { key }) => {
      await ask('do', { key, what: order });
      return { order };
    },
    compensate: async ({ order }: { order: string }, _: unknown, { key }: CallContext) => {
      await ask('undo', { key, what: order });
      return { undone: 'all' as const };
    },
    ...(sink === 'queryable' && {
      reconcile: async ({ order }: { order: string }, { key }: CallContext) =>
        (await ask('has', { key })).has
          ? { happened: true as const, result: { order } }
          : { happened: false as const },
    }),
  });
}

/** A world of counters: orders count, ask a person, call a tool, or break a rule. */
export function countersWith([pay, book]: readonly [Tool, Tool]) {
  const args = z.strictObject({ order: z.string() });
  const counted =
    (by: number) =>
    (state: { done: Record<string, number> }, _: unknown, { role }: any) => {
      state.done[role.slot] = (state.done[role.slot] ?? 0) + by;
    };
  return defineDomain<any, any>({
    name: 'counters',
    version: '1',
    freeze: 'footprint',
    unjudgedCalls: 'allow',
    state: z.object({
      done: z.record(z.string(), z.number()),
      asked: z.record(z.string(), z.number()),
    }),
    initial: { done: {}, asked: {} },
    processes: { counting: { writes: ['/done/{slot}'] }, asking: { writes: ['/asked/{order}'] } },
    roles: {
      counter: { params: ['slot'], processes: ['counting'] },
      asker: { params: ['order'], processes: ['asking'] },
    },
    actions: {
      count: { process: 'counting', args, apply: counted(1) },
      refuse: { process: 'counting', args, apply: counted(TOO_MANY * TOO_MANY) },
      pay: {
        process: 'counting',
        args,
        apply: counted(1),
        calls: (_: unknown, { order }: { order: string }) => [call(pay, { order })],
      },
      book: {
        process: 'counting',
        args,
        apply: counted(1),
        calls: (_: unknown, { order }: { order: string }) => [call(book, { order })],
      },
      ask: {
        process: 'asking',
        args,
        apply: (state: any, { order }: { order: string }) => {
          state.asked[order] = (state.asked[order] ?? 0) + 1;
        },
      },
    },
    invariants: ({ each }: any) => [
      each('BOUNDED', '/done/*', {}, (n: number) =>
        n < TOO_MANY * TOO_MANY ? pass : reject('too many'),
      ),
    ],
    counselors: { boss: (principal: string) => COUNSELORS.includes(principal) },
  });
}

/** One order: the proposal under one idempotency key. */
export interface Order {
  readonly number: number;
  readonly key: string;
  readonly kind: Kind;
  readonly world: string;
  readonly slot: string;
  readonly body: object;
}

export function orderOf(seed: number, number: number): Order {
  const next = seededNumbers(seed + number * 7_919);
  const kind = KINDS[next(KINDS.length)]!;
  const key = `order-${number}`;
  const slot = `s${next(SLOTS)}`;
  const role =
    kind === 'ask'
      ? { name: 'asker', params: { order: key } }
      : { name: 'counter', params: { slot } };
  return {
    number,
    key,
    kind,
    world: WORLDS[next(WORLDS.length)]!,
    slot,
    body: { action: kind, role, args: { order: key } },
  };
}

export function agentName(n: number): string {
  return `agent:a${n}`;
}
