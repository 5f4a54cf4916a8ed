/** Gates over a shop that takes payments: over a store of this process, and at a server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Json } from '#base';
import { type CallEnd, connectGate, type Gate, openGate } from '#calls';
import { gateway, readRules } from '#domains/gateway';
import type { Domain } from '#kernel';
import { readRow, traceparentIn } from '#ledger';
import { openStore, type Store } from '#stores';
import { start } from './server/serving.ts';

const RULES = `
id: shop
tools:
  shop/pay: { class: irreversible }
rules:
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }] }
`;

export interface PayingShop {
  /** Pays in the run `t1`. */
  pay(id: string, cents: number, to?: string, make?: () => Promise<Json>): Promise<CallEnd<Json>>;
  /** `manager:grace` approves a pending call. */
  approve(approval: string): Promise<void>;
  /** Goes on with another gate, as another process would. */
  another(): Promise<void>;
  /** The trace that each proposal of the ledger has recorded. */
  traceparents(): Promise<readonly (string | undefined)[]>;
}

interface Opening {
  readonly open: () => Promise<Gate>;
  readonly store: () => Promise<Store>;
}

/** A gate that opens the store itself. */
export async function here(): Promise<PayingShop> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-shop-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
  const url = `sqlite:${join(folder, 'calls.db')}`;
  const open = (): Promise<Gate> =>
    openGate({ store: url, rules, agent: 'ada', server: 'shop', inFlightMs: 50, env: {} });
  return shopOf({ open, store: () => openStore(url, { mode: 'readonly' } as never) });
}

/** A gate whose calls a server in this process judges. */
export async function atServer(): Promise<PayingShop> {
  const { rules } = readRules(RULES);
  const server = await start({
    ...{ rules, domains: [gateway({ rules }) as unknown as Domain] },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: {
      'agent:ada': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'begin', 'report', 'session'] }],
      },
      'manager:grace': { kinds: ['counselor'] },
    },
  });
  const people = { 'manager:grace': await server.tokenFor('manager:grace') };
  const token = await server.tokenFor('agent:ada');
  const open = async (): Promise<Gate> =>
    connectGate({ url: server.url, token, server: 'shop', inFlightMs: 50, people });
  return shopOf({ open, store: async () => server.store });
}

async function shopOf({ open, store }: Opening): Promise<PayingShop> {
  const gates: Gate[] = [await open()];
  onTestFinished(async () => {
    for (const gate of gates) await gate.close();
  });
  const gate = (): Gate => gates.at(-1) as Gate;
  return {
    pay: (id, cents, to = 'bob', make = async () => ({ receipt: 1 })) =>
      gate().run<Json>({ run: 't1', id, tool: 'pay', args: { to, cents } }, make),
    approve: async (approval) => {
      const { digest } = (await gate().port.shown(approval))!;
      await gate().port.decide(approval, {
        decision: 'approve',
        by: 'manager:grace',
        method: 'test',
        digest,
      });
    },
    another: async () => void gates.push(await open()),
    traceparents: async () => {
      const entries = await (await store()).entries('calls');
      const own = entries
        .map((row) => readRow(row).payload)
        .filter((one) => ACTIONS.includes(actionOf(one)));
      return own.map(traceparentIn);
    },
  };
}

const ACTIONS = ['session', 'call', 'begin', 'report'];

function actionOf(payload: ReturnType<typeof readRow>['payload']): string {
  return payload.kind === 'commit' ? payload.action.name : '';
}
