import { hashText } from '#canon';
import type { BlobRow } from '#ledger';
import type { ErasureCase } from './erasure-cases.ts';
import {
  ChainWriter,
  COUNSELOR,
  commitMembers,
  type Members,
  pendingMembers,
  rootMembers,
  salted,
  VECTOR,
} from './rows.ts';

const ROLE = { name: 'worker', params: {} };
const action = (amount: number, rest: Members = {}): Members => ({
  name: 'pay',
  role: ROLE,
  args: { amount },
  ...rest,
});
const FIRST = action(4_000);
const DIFFERENCE = [{ op: 'replace', path: '/args/amount', value: 40 }];

/** A commit that amends a pending proposal, with a member or two that differ. */
function amendedWith(
  rest: Members,
  pending: Members = {},
  proposal: Members = {},
): ErasureCase['ledger'] {
  const blobs: BlobRow[] = [];
  const effectOf = (call: string) => ({ id: hashText(call), effect: salted(call, blobs) });
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  const delta = { state: [], effects: [effectOf('pay 4000')], beliefs: [] };
  writer.add(
    'pending_approval',
    pendingMembers(pending, { action: FIRST, budget_cost: { usd: 9 }, delta, ...proposal }),
  );
  const members = {
    action: action(40),
    amended: { action: FIRST, difference: DIFFERENCE },
    budget_cost: { usd: 1 },
    counselor: COUNSELOR,
    delta: { state: [], effects: [effectOf('pay 40')], beliefs: [] },
    detection_vector: VECTOR,
    resolves: writer.head.id,
    ...rest,
  };
  writer.add('commit', commitMembers([], members));
  return { rows: writer.rows, blobs, erased: [] };
}

/** Amended proposals: lawful ones, and each rule broken. */
export function amendmentCases(): ErasureCase[] {
  const valid = (name: string, rest: Members = {}): ErasureCase => ({
    name,
    verdict: 'valid',
    ledger: amendedWith(rest),
  });
  const broken = (
    name: string,
    rest: Members,
    pending: Members = {},
    proposal: Members = {},
  ): ErasureCase => ({
    name,
    verdict: '2 rule_broken',
    ledger: amendedWith(rest, pending, proposal),
  });
  const of = (first: Members): Members => ({ amended: { action: first, difference: [] } });
  return [
    valid('other arguments, another cost and another call'),
    valid('another role', { action: action(4_000, { role: { name: 'boss', params: {} } }) }),
    valid('no call any more', { delta: { state: [], effects: [], beliefs: [] } }),
    broken('the first action is not the pending one', of(action(3_999))),
    broken('another action', { action: action(40, { name: 'refund' }) }),
    broken('nothing differs', { action: FIRST }),
    broken('the call of the pending proposal', {
      delta: { state: [], effects: [{ id: hashText('pay 4000'), effect: 1 }], beliefs: [] },
    }),
    broken('other observations', { observations: [{ name: 'x', value: 1 }] }),
    broken('another writ', { writ_id: hashText('writ') }),
    broken('another proposal', { proposal_id: hashText('other') }),
    broken('a key', { key_hash: hashText('key') }),
    broken('without a pending proposal', { resolves: undefined, counselor: undefined }),
    broken('several have to approve', {}, { approvals: 2 }),
    broken('other arguments without an amendment', { amended: undefined }),
    broken(
      'a built-in action',
      {
        action: action(40, { name: 'assize.believe' }),
        ...of(action(4_000, { name: 'assize.believe' })),
      },
      {},
      { action: action(4_000, { name: 'assize.believe' }) },
    ),
    {
      name: 'no first action',
      verdict: '2 malformed',
      ledger: amendedWith({ amended: { difference: [] } }),
    },
    {
      name: 'no difference',
      verdict: '2 malformed',
      ledger: amendedWith({ amended: { action: FIRST } }),
    },
  ];
}
