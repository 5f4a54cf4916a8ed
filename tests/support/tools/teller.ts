import { z } from 'zod';
import type { Agent } from '#agents';
import type { Json } from '#base';
import { DidNothing, declareTool, type Tool } from '#effects';
import { call, type Domain, defineDomain, escalate, pass, reject } from '#kernel';
import { writFor } from '../ledger/runtime.ts';

// A teller pays, wires and books by chance, so that equal calls repeat. The till records each call
// of a real tool. After `close` every function of a tool throws.

export interface TillCall {
  readonly tool: string;
  readonly input: Json;
  /** Absent: the call did nothing. */
  readonly answer?: Json;
}

const input = z.strictObject({ to: z.string(), cents: z.int().positive() });

export class Till {
  readonly calls: TillCall[] = [];
  /** Calls after the closing. */
  touched = 0;
  #isClosed = false;

  close(): void {
    this.#isClosed = true;
  }

  readonly tools: readonly Tool[] = [
    declareTool({
      name: 'till.pay',
      input,
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['till:{to}'],
      plan: () => this.#touch(null),
      execute: (given) => this.#take('till.pay', given),
      compensate: () => this.#touch({ undone: 'all' as const }),
      mitigate: () => this.#touch(null),
    }),
    declareTool({
      name: 'till.wire',
      input,
      class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' },
      writes: ['till:{to}'],
      channel: 'manager',
      execute: (given) => this.#take('till.wire', given),
    }),
    declareTool({
      name: 'till.book',
      input,
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'queryable' },
      writes: ['book:{to}'],
      cost: ({ cents }) => ({ cents }),
      execute: (given) => this.#take('till.book', given),
      compensate: () => this.#touch({ undone: 'all' as const }),
      reconcile: () => this.#touch({ happened: false as const }),
    }),
  ];

  #take(tool: string, given: z.infer<typeof input>): Json {
    this.#touch(null);
    const record = { tool, input: { ...given } };
    if (tool === 'till.book' && given.cents === 3) {
      this.calls.push(record);
      throw new DidNothing('three cents are not booked', { final: true });
    }
    const answer = { receipt: this.calls.length };
    this.calls.push({ ...record, answer });
    return answer;
  }

  #touch<T>(answer: T): T {
    if (!this.#isClosed) return answer;
    this.touched++;
    throw new Error('the real tool was called');
  }
}

/** `most`: the largest amount of a payment. */
export function tellerDomain({ tools }: Till, version = '1', most = 5): Domain {
  const [pay, wire, book] = tools as [Tool, Tool, Tool];
  const action = (...tools: readonly Tool[]) => ({
    process: 'pay',
    args: input,
    cost: () => ({ proposals: 1 }),
    apply: (state: any, { to, cents }: any) => {
      state.spent[to] = (state.spent[to] ?? 0) + cents;
    },
    calls: (_: unknown, given: any) => tools.map((tool) => call(tool, given)),
  });
  return defineDomain({
    name: 'teller',
    version,
    state: z.object({ spent: z.record(z.string(), z.int()) }),
    initial: { spent: {} },
    processes: { pay: { writes: ['/spent/*'] } },
    roles: { teller: { processes: ['pay'] } },
    counselors: { manager: (principal: string) => principal.startsWith('manager:') },
    actions: {
      ...{ pay: action(pay), wire: action(wire), book: action(book) },
      both: { ...action(pay, book), onFailure: (args: Json) => ({ action: 'back', args }) },
      back: {
        process: 'pay',
        args: input,
        apply: (state: any, { to, cents }: any) => {
          state.spent[to] -= cents;
        },
      },
    },
    invariants: (rules: any) =>
      [pay, wire, book].flatMap(({ name }) => [
        rules.eachCall(`MOST_${name}`, name, {}, ({ input: { cents } }: any) =>
          cents <= most ? pass : reject(`${cents} is too much`),
        ),
        rules.eachCall(`ASK_${name}`, name, {}, ({ input: { cents } }: any) =>
          cents === 4 ? escalate('four cents need a manager') : pass,
        ),
      ]),
    unjudgedCalls: 'refuse',
  } as never);
}

const ACTIONS = ['pay', 'wire', 'book', 'both'];

/** Proposes by chance, `turns` times. `shift` changes each amount. */
export function teller(name: string, turns: number, shift = 0): Agent {
  return {
    name,
    role: { name: 'teller', params: {} },
    writ: writFor(name, { trajectory: 't', budget: { proposals: 1_000, cents: 1_000 } }),
    async decide(_, oracle) {
      const count = await oracle.ask({
        name: 'count',
        request: { model: 'counter' },
        call: () => 'next',
      });
      const [what = 0, to = 0, cents = 0] = await oracle.random(3);
      if (count !== 'next' || what % turns === 0) return 'done';
      if (what % 5 === 0) await oracle.calls();
      if (what % 7 === 0) await oracle.ruling();
      const args = { to: to % 2 === 0 ? 'ann' : 'bob', cents: 1 + ((cents + shift) % 6) };
      return { action: ACTIONS[what % 4] as string, args };
    },
  };
}
