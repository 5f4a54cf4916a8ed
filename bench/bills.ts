/** A ledger of payments that wait for a person, for the inbox of the console. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assize, type Domain, defineDomain, escalate, generateKeys } from 'assize';
import { z } from 'zod';
import { openStore } from '#stores';
import type { LedgerFile } from './ledger.ts';
import { benchWrit } from './shop.ts';

export const bills = defineDomain({
  name: 'bench-bills',
  version: '1',
  state: z.object({ paid: z.record(z.string(), z.int()) }),
  initial: { paid: {} },
  processes: { paying: { writes: ['/paid/*'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ bill: z.string(), to: z.string(), cents: z.int() }),
      present: {
        title: 'Pay {to} {cents}',
        fields: { to: { label: 'Payee' }, cents: { money: 'EUR' } },
      },
      apply: (state, { bill, cents }) => {
        state.paid[bill] = cents;
      },
    },
  },
  invariants: ({ each }) => [
    each('ALL', '/paid/*', { channel: 'boss' }, (cents) => escalate(`payments of ${cents} cents`)),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
}) as unknown as Domain;

/** Writes one trajectory with that many payments that wait. */
export async function writeWaiting(count: number): Promise<LedgerFile> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  const path = join(folder, 'ledger.db');
  const url = `sqlite:${path}`;
  const store = await openStore(url, { durability: 'off' });
  const keys = generateKeys();
  const assize = new Assize({ store, domains: [bills], anchors: [keys.publicKey] });
  const trajectoryId = 'bills';
  const writ = benchWrit(keys, trajectoryId, ['pay'], ['**']);
  const trajectory = await assize.create(bills, { trajectoryId, writs: [writ] });
  for (let n = 0; n < count; n++) {
    const args = { bill: `b${n}`, to: `Supplier ${n % 20}`, cents: 10_000 + n };
    const role = { name: 'clerk', params: {} };
    const { ruling } = await trajectory.propose({ action: 'pay', role, args, writ });
    if (ruling !== 'escalated') throw new Error(`unexpected: ${ruling}`);
  }
  await store.close();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { url, path, trajectoryId, entries: trajectory.length, remove };
}
