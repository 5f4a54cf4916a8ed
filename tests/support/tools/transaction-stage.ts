import { MemoryStore } from '@assize/testing/memory';
import type { Sink, Tool } from '#effects';
import type { AssizeOptions, TransactionOptions } from '#runtime';
import { runtimeOver, writFor } from '../ledger/runtime.ts';
import { type Fault, type Outside, OutsideSink, Steps, tally, toolFor } from './effect-sink.ts';

export const writ = writFor('alice');
export const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

/** A runtime with the tools of one sink, and how their calls go. */
export async function stage(
  options: {
    sort?: Sink;
    fault?: Outside['fault'];
    tools?: readonly Tool[];
    callTimeoutMs?: number;
    domain?: typeof tally;
    around?: Partial<AssizeOptions>;
  } = {},
) {
  const { sort = 'keyed', fault, domain = tally } = options;
  const sink = new OutsideSink(sort);
  const outside = { sink, steps: new Steps(), ...(fault && { fault }) };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
    toolFor(outside, 'with_cost', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    ...(options.tools ?? []),
  ];
  const store = new MemoryStore();
  const assize = runtimeOver(store, [domain], {
    tools,
    ...options.around,
    effects: { callTimeoutMs: options.callTimeoutMs ?? 1_000, ...options.around?.effects },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const all: TransactionOptions = { writ, writes: ['test:**'], retries: 0 };
  return { sink, store, assize, trajectory, all };
}

/** The result of a promise, or the reason of its error. */
export const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    (value) => value,
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  );

/** The first call of something goes so, all others well. */
export function once(which: Fault, of: 'do' | 'undo' = 'do'): NonNullable<Outside['fault']> {
  let gone = false;
  return (kind) => {
    if (gone || kind !== of) return 'none';
    gone = true;
    return which;
  };
}
