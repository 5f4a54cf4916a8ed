/**
 * Two agents with one budget propose at the same time. Run it in a clone:
 * `npx node packages/cli/src/domains/budget/example.ts`.
 */

import { type BudgetState, budget } from '@assize/cli/unstable/domains/budget';
import { Assize, generateKeys, issueWrit, openStore, verifyStore } from 'assize';

const root = generateKeys();
const store = await openStore('memory:');
const assize = new Assize({ store, domains: [budget], anchors: [root.publicKey] });
const writOf = (agent: string) =>
  issueWrit(
    {
      issuer: root.publicKey,
      subject: `agent:${agent}`,
      actions: ['spend'],
      scopes: [`role:spender:${agent}`],
      not_before: '2026-01-01T00:00:00.000000Z',
      expires: '2100-01-01T00:00:00.000000Z',
      max_depth: 0,
      nonce: agent,
    },
    root.privateKey,
  );

const writs = { ada: writOf('ada'), bob: writOf('bob') };
const trajectory = await assize.create(budget, { writs: Object.values(writs) });
const spend = async (agent: keyof typeof writs, amount: number): Promise<void> => {
  const role = { name: 'spender', params: { agent } } as const;
  const ruling = await trajectory.propose({
    action: 'spend',
    role,
    args: { amount },
    writ: writs[agent],
  });
  console.log(
    `${agent} ${amount}: ${ruling.ruling === 'rejected' ? `${ruling.invariantId}, ${ruling.detail}` : ruling.ruling}`,
  );
};
await Promise.all([spend('ada', 45_000), spend('bob', 60_000)]);
await spend('bob', 55_000);
console.log((trajectory.state() as BudgetState).spent);
const [report] = await verifyStore(store);
console.log(`${report?.entries} entries, ${report?.valid ? 'verified' : 'broken'}`);
