/**
 * A process that runs orders with tools, until it is killed: `URL PORT FROM TO`. The sinks of the
 * tools are at the port, in a process that survives.
 */
import { z } from 'zod';
import { type CallContext, declareTool, type Sink, type Tool } from '#effects';
import { openStore } from '#stores';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { tally } from '../support/tools/effect-sink.ts';
import { ORDERS_AT_ONCE, orderScope, type ProcessLine } from './tools-orders.ts';

const [url = '', port = '', from = '', to = ''] = process.argv.slice(2);

async function ask(sort: Sink, what: 'do' | 'undo' | 'has', body: object): Promise<any> {
  const answer = await fetch(`http://127.0.0.1:${port}/${sort}/${what}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the sink said ${answer.status}`);
  return answer.json();
}

function tool(
  name: string,
  sort: Sink,
  reversibility: 'reversible' | 'irreversible',
  delivery: 'buffered' | 'externalised',
): Tool {
  const input = z.strictObject({ order: z.string() });
  return declareTool({
    name,
    input,
    class: { reversibility, delivery, sink: sort },
    writes: (given: { order: string }) => [orderScope(given.order)],
    execute: ({ order }, { key }) => ask(sort, 'do', { key, what: order }),
    ...(reversibility === 'reversible'
      ? {
          compensate: async ({ order }: { order: string }, _: unknown, { key }: CallContext) => {
            await ask(sort, 'undo', { key, what: order });
            return { undone: 'all' as const };
          },
        }
      : {}),
    ...(sort === 'queryable'
      ? {
          reconcile: async (_: unknown, { key }: CallContext) =>
            (await ask(sort, 'has', { key })).has
              ? { happened: true as const, result: null }
              : { happened: false as const },
        }
      : {}),
  });
}

const tell = (told: ProcessLine): void => void process.stdout.write(`${JSON.stringify(told)}\n`);
const store = await openStore(url);
const assize = runtimeOver(store, [tally], {
  ports: { clock: { now: () => new Date().toISOString().replace('Z', '000Z') } },
  tools: [
    tool('reserve', 'keyed', 'reversible', 'externalised'),
    tool('book', 'queryable', 'reversible', 'buffered'),
    tool('mail', 'blind', 'irreversible', 'buffered'),
  ],
});
const trajectory = await assize.open('t');
tell({
  left: (await assize.recoverEffects()).map(({ epoch, key, tool: name }) => ({
    epoch,
    key,
    tool: name,
  })),
});
let next = Number(from);
await Promise.all(
  Array.from({ length: ORDERS_AT_ONCE }, async () => {
    while (next < Number(to)) {
      const order = `order-${next++}`;
      const { ruling } = await trajectory.transaction(
        { writ: writFor('alice'), name: order, writes: [orderScope(order)] },
        async (tx) => {
          await tx.call('reserve', { order });
          await tx.call('book', { order });
          await tx.call('mail', { order });
          tx.propose({ action: 'count', role: 'counter', args: order });
        },
      );
      tell({ order, ruling: ruling.ruling });
    }
  }),
);
await assize.close();
await store.close();
tell({ closed: true });
