/** A gate over an own store, with rules for a tool that pays. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Gate, openGate } from '#calls';
import type { AssizeSuspension } from '#integrations/mastra';

const RULES = `
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

/** @param timeoutMs - how long a question waits for a person */
export async function openShop({ timeoutMs }: { readonly timeoutMs?: number } = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-mastra-'));
  const rules = join(folder, 'assize.yaml');
  writeFileSync(rules, RULES);
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

/** Records the decision of a person in the ledger, as the console does. */
export async function decide(
  gate: Gate,
  { assize }: AssizeSuspension,
  decision: 'approve' | 'reject',
  reason?: string,
): Promise<void> {
  const { approval, digest } = assize;
  const by = { by: 'manager:grace', method: 'console', digest };
  await gate.port.decide(approval, { decision, ...by, ...(reason !== undefined && { reason }) });
}
