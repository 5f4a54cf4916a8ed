/** A shop whose tool pays, with rules, a ledger, and a file with every payment. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gate, type HeldCall, openGate } from '@assize/gate/internal/calls';

const RULES = `
id: shop
tools:
  shop/pay: { class: irreversible }
rules:
  - { id: small, allow: shop/pay, where: [{ path: /cents, max: 100 }] }
  - { id: large, ask: shop/pay, where: [{ path: /cents, min: 101 }] }
  - { id: never, deny: shop/pay, where: [{ path: /to, is: mallory }] }
`;

/** The files of a shop, for programs in other processes. */
export interface ShopFiles {
  readonly store: string;
  readonly rules: string;
  /** The payments that reached the shop, each in a line. */
  readonly sink: string;
}

export interface Payment {
  readonly to: string;
  readonly cents: number;
  readonly key: string;
}

export class Shop {
  readonly folder: string;
  readonly files: ShopFiles;
  readonly #gates: Gate[] = [];

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'assize-engines-'));
    const rules = join(this.folder, 'assize.yaml');
    writeFileSync(rules, RULES);
    this.files = {
      store: `sqlite:${join(this.folder, 'calls.db')}`,
      rules,
      sink: join(this.folder, 'sink'),
    };
  }

  /** Another gate over the ledger of the shop, as another process has it. */
  async gate(): Promise<Gate> {
    const gate = await gateOf(this.files);
    this.#gates.push(gate);
    return gate;
  }

  /** Every request that reached the shop. */
  requests(): Payment[] {
    const { sink } = this.files;
    if (!existsSync(sink)) return [];
    return readFileSync(sink, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Payment);
  }

  /** The keys that the shop has seen. It takes each key once, as banks do. */
  keys(): string[] {
    return [...new Set(this.requests().map(({ key }) => key))];
  }

  /** Records the decision of a person who was shown the call. */
  async decide(
    { approval, digest }: HeldCall,
    decision: 'approve' | 'reject' = 'approve',
  ): Promise<void> {
    const gate = await this.gate();
    await gate.port.decide(approval, {
      decision,
      by: 'manager:grace',
      method: 'test',
      digest: digest!,
    });
  }

  /** Records what a person found out about a call in doubt, without a result. */
  async settle(call: string, outcome: 'done' | 'failed'): Promise<void> {
    const gate = await this.gate();
    await gate.port.report(call, { outcome });
  }

  async close(): Promise<void> {
    for (const gate of this.#gates) await gate.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function gateOf({ store, rules }: ShopFiles): Promise<Gate> {
  return openGate({ store, rules, agent: 'ada', server: 'shop', inFlightMs: 50, env: {} });
}
