import { Assize, type Domain, defineDomain, generateKeys, issueWrit } from 'assize';
import {
  type CallContext,
  type CompensationResult,
  declareTool,
  type Sink,
  type Tool,
} from 'assize/internal/effects';
import type { Transaction } from 'assize/internal/runtime';
import { openStore, type Store } from 'assize/internal/stores';
import { z } from 'zod';

/** The listener that is notified of a process's progress. */
export type ReportPoint = (
  place: 'do' | 'done' | 'undo' | 'undone' | 'ask' | 'asked',
  tool: 'reserve' | 'send',
) => void;

const AFTER = { do: 'done', undo: 'undone', ask: 'asked' } as const;

/**
 * Milliseconds of silence after which a process on a server counts as dead. The silent processes
 * here are dead.
 */
const LEASE_MS = 1_000;

const SHOP = defineDomain({
  name: 'shop',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ orders: z.record(z.string(), z.int()) }),
  initial: { orders: {} },
  processes: { ordering: { writes: ['/orders/*'] } },
  roles: { clerk: { processes: ['ordering'] } },
  actions: {
    place: {
      process: 'ordering',
      args: z.string(),
      apply: (state, order) => {
        state.orders[order] = (state.orders[order] ?? 0) + 1;
      },
    },
  },
  invariants: () => [],
}) as unknown as Domain;

const TRAJECTORY = 'orders';
const keys = generateKeys(new Uint8Array(32).fill(3));
const WRIT = issueWrit(
  {
    issuer: keys.publicKey,
    subject: 'agent:shop',
    actions: ['**'],
    scopes: ['**'],
    not_before: '2026-01-01T00:00:00.000000Z',
    expires: '2100-01-01T00:00:00.000000Z',
    max_depth: 0,
    nonce: '1',
  },
  keys.privateKey,
);

/**
 * A shop over a file, with tools that act on sinks of another process. The opener must close it.
 */
export class Shop {
  readonly assize: Assize;
  readonly #store: Store;

  constructor(store: Store, tools: readonly Tool[]) {
    this.#store = store;
    this.assize = new Assize({
      store,
      domains: [SHOP],
      anchors: [keys.publicKey],
      tools,
      effects: { leaseMs: LEASE_MS, recoveryKey: 'shared by all processes of the experiment' },
    });
  }

  static async create(url: string): Promise<void> {
    const store = await openStore(url);
    const shop = new Shop(store, []);
    await shop.assize.create(SHOP, { trajectoryId: TRAJECTORY, writs: [WRIT] });
    await shop.close();
  }

  /**
   * Places an order of that name: reserves immediately, and sends a letter with the commit. The
   * same name again is the same order.
   */
  async place(
    order: string,
    end: (tx: Transaction) => void = () => undefined,
    begin = end,
  ): Promise<string> {
    const trajectory = await this.assize.open(TRAJECTORY);
    const { ruling } = await trajectory.transaction(
      { writ: WRIT, name: order, writes: [`shop:${order}`], retries: 0 },
      async (tx) => {
        if (begin !== end) begin(tx);
        await tx.call('shop.reserve', { order });
        await tx.call('shop.send', { order });
        end(tx);
        tx.propose({ action: 'place', role: 'clerk', args: order });
      },
    );
    return ruling.ruling;
  }

  /** How often an order was committed. */
  async committed(order: string): Promise<number> {
    const { orders } = (await this.assize.open(TRAJECTORY)).state() as {
      orders: Record<string, number>;
    };
    return orders[order] ?? 0;
  }

  async close(): Promise<void> {
    await this.assize.close();
    await this.#store.close();
  }
}

export function toolsOf(
  port: number,
  sink: Sink,
  at: ReportPoint = () => undefined,
): readonly Tool[] {
  const ask = async (
    did: 'do' | 'undo' | 'ask',
    tool: 'reserve' | 'send',
    order: string,
    key: string,
  ): Promise<boolean> => {
    at(did, tool);
    const body = JSON.stringify({ did, tool, order, key });
    const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body });
    const { stands } = (await answer.json()) as { stands: boolean };
    at(AFTER[did], tool);
    return stands;
  };
  const input = z.strictObject({ order: z.string() });
  const reconcile = async (tool: 'reserve' | 'send', { key }: CallContext) =>
    (await ask('ask', tool, '', key))
      ? ({ happened: true, result: null } as const)
      : ({ happened: false } as const);
  return [
    declareTool({
      name: 'shop.reserve',
      input,
      class: { reversibility: 'reversible', delivery: 'externalised', sink },
      writes: ['shop:{order}'],
      execute: async ({ order }, { key }) => void (await ask('do', 'reserve', order, key)),
      compensate: async ({ order }, _, { key }): Promise<CompensationResult> => {
        await ask('undo', 'reserve', order, key);
        return { undone: 'all' };
      },
      ...(sink === 'queryable'
        ? { reconcile: (_: unknown, call: CallContext) => reconcile('reserve', call) }
        : {}),
    }),
    declareTool({
      name: 'shop.send',
      input,
      class: { reversibility: 'irreversible', delivery: 'buffered', sink },
      writes: ['shop:{order}'],
      execute: async ({ order }, { key }) => void (await ask('do', 'send', order, key)),
      ...(sink === 'queryable'
        ? { reconcile: (_: unknown, call: CallContext) => reconcile('send', call) }
        : {}),
    }),
  ];
}
