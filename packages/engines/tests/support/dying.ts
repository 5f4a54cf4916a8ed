import { appendFileSync } from 'node:fs';
import type { Gate } from '@assize/gate/internal/calls';
import { gateOf, type Payment, type ShopFiles } from './shop.ts';

/** Where a program is killed: after the payment, or after the ledger has recorded its result. */
export type Death = 'paid' | 'recorded';

/** Pays at the sink of a shop, and dies there if its test says so. */
export function pay(
  files: ShopFiles,
  payment: Payment,
  death: Death | undefined,
): { readonly receipt: string } {
  appendFileSync(files.sink, `${JSON.stringify(payment)}\n`);
  if (death === 'paid') process.kill(process.pid, 'SIGKILL');
  return { receipt: `paid ${payment.to}` };
}

/** A gate whose program dies when a result is recorded. */
export async function dyingGate(files: ShopFiles, death: Death | undefined): Promise<Gate> {
  const gate = await gateOf(files);
  if (death !== 'recorded') return gate;
  const report = gate.port.report.bind(gate.port);
  gate.port.report = async (...args) => {
    await report(...args);
    process.kill(process.pid, 'SIGKILL');
    return true;
  };
  return gate;
}
