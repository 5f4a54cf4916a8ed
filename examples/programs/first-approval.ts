// An agent proposes refunds. Small refunds are committed immediately; a large refund is pending
// until a manager approves it.
import {
  Assize,
  defineDomain,
  escalate,
  generateKeys,
  issueWrit,
  openStore,
  pass,
  verifyStore,
} from 'assize';
import { z } from 'zod';

const refunds = defineDomain({
  name: 'refunds',
  version: '1',
  // The typed state that every commit of this domain changes.
  state: z.object({
    refunds: z.record(
      z.string(),
      z.object({ euros: z.number(), approvedBy: z.string().optional() }),
    ),
  }),
  initial: { refunds: {} },
  // A process declares what its actions may write; a write elsewhere is refused.
  processes: { refunding: { writes: ['/refunds/*'] } },
  roles: { clerk: { processes: ['refunding'] } },
  actions: {
    refund: {
      process: 'refunding',
      args: z.object({ order: z.string(), euros: z.number().positive() }),
      apply: (state, { order, euros }) => {
        state.refunds[order] = { euros };
      },
    },
  },
  // The approvers of the channel `manager`. A login proves the principal; the domain only compares
  // names.
  counselors: { manager: (principal) => principal.startsWith('manager:') },
  // The rule is judged on the state as the refund would leave it, for each refund that changes.
  invariants: ({ each }) => [
    each(
      'LARGE_REFUNDS_ARE_APPROVED',
      '/refunds/*',
      {
        channel: 'manager',
        // An approval leaves its mark in the state, so that the same rule passes from then on.
        onApprove: (state, { counselor, keys: [order] }) => {
          state.refunds[order!]!.approvedBy = counselor;
        },
      },
      ({ euros, approvedBy }) =>
        euros <= 100 || approvedBy ? pass : escalate(`${euros} euros are above 100`),
    ),
  ],
});

const store = await openStore('memory:'); // sqlite:./refunds.db keeps the ledger in a file.
const root = generateKeys(); // The root key decides which writs count.
const assize = new Assize({ store, domains: [refunds], anchors: [root.publicKey] });

// The writ grants the agent one action, in one role, until one day.
const terms = {
  subject: 'agent:ada',
  actions: ['refund'],
  scopes: ['role:clerk'],
  max_depth: 0,
  nonce: 'ada-1',
};
const period = {
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
};
const writ = issueWrit({ issuer: root.publicKey, ...terms, ...period }, root.privateKey);

const trajectory = await assize.create(refunds, { writs: [writ] });
const refund = (order: string, euros: number) =>
  trajectory.propose({ action: 'refund', role: 'clerk', args: { order, euros }, writ });

console.log('refund of 40:', (await refund('order-1', 40)).ruling);

const large = await refund('order-2', 900);
if (large.ruling !== 'escalated') throw new Error(`The ruling is ${large.ruling}.`);
console.log('refund of 900:', large.ruling, 'because', large.detail);

// The agent can't approve its own proposal, and no principal outside the channel can approve it.
const approval = (principal: string) =>
  trajectory.approvals.approve(large.pending, { principal, method: 'single sign-on' });
console.log('agent:ada approves:', await approval('agent:ada').catch(({ code }) => code));
console.log('manager:grace approves:', (await approval('manager:grace')).ruling);

console.log(JSON.stringify(trajectory.state(), null, 2));

// Every ruling is one entry of a hash chain: the root, two commits, and the escalation between
// them.
const [report] = await verifyStore(store);
console.log('entries:', report?.entries, 'valid:', report?.valid);
await store.close();
