/** A gate over an own store, with rules for a tool that pays. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Gate, openGate } from '#calls';

export const SHOP_RULES = `
id: shop
tools:
  shop/look: { class: read }
  shop/pay: { class: irreversible }
rules:
  - { id: look, allow: shop/look }
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }] }
`;

export interface Shop {
  readonly folder: string;
  /** The URL of the store. */
  readonly store: string;
  readonly gate: Gate;
  /** Another gate over the same store, as another process has it. */
  open(): Promise<Gate>;
}

export interface ShopOptions {
  /** The text of the rules. */
  readonly rules?: string | undefined;
  /** How long a question waits for a person. */
  readonly timeoutMs?: number | undefined;
}

export async function openShop({
  rules: text = SHOP_RULES,
  timeoutMs,
}: ShopOptions = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-gated-'));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, text);
  const gates: Gate[] = [];
  const store = `sqlite:${join(folder, 'calls.db')}`;
  const open = async (): Promise<Gate> => {
    const gate = await openGate({
      ...{ store, rules, agent: 'ada', server: 'shop', inFlightMs: 50, env: {} },
      ...(timeoutMs !== undefined && { approvals: { timeoutMs } }),
    });
    gates.push(gate);
    return gate;
  };
  onTestFinished(async () => {
    for (const gate of gates) await gate.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, store, gate: await open(), open };
}
