import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { attenuate, type Policy, writId } from '#authority';
import { generateKeys } from '#canon';
import { type CounselorPredicate, type Domain, defineDomain } from '#kernel';
import type { Assize, EffectResolution } from '#runtime';
import {
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';

const holder = generateKeys(new Uint8Array(32).fill(5));
/** The writ of a transaction of `alice`, who had it from a holder. */
const granted = writFor(holder.publicKey);
const writ = {
  writ: attenuate(granted, { subject: 'alice', nonce: 'alice', max_depth: 0 }, holder.privateKey),
  chain: [granted],
};
const OFFICE = { actions: ['assize.resolve_effect'], scopes: ['effect:**'] };
const held = writFor(holder.publicKey, { ...OFFICE, nonce: 'office' });
const DECISION = {
  epoch: 1,
  n: 0,
  as: 'applied',
  by: 'ops',
  evidence: 'seen at the sink',
} as const;

/** `tally` with counselors. */
function counseled(counselors: Record<string, CounselorPredicate>): Domain {
  const { declared } = tally as unknown as { readonly declared: object };
  return defineDomain<any, any>({ ...(declared as any), name: 'counseled', counselors });
}

/** A runtime with one effect in doubt: effect 0 of transaction 1. */
async function inDoubt(domain: Domain, options: { readonly policy?: Policy } = {}) {
  const store = new MemoryStore();
  const outside = {
    sink: new OutsideSink('blind'),
    steps: new Steps(),
    fault: () => 'lose' as const,
  };
  const tools = [toolFor(outside, 'irreversible', 'buffered')];
  const assize = runtimeOver(store, [domain], { tools, effects: { maxAttempts: 1 }, ...options });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  await trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'a', at: 'r' });
    tx.propose({ action: 'count', role: 'counter', args: 'order' } as never);
  });
  return { store, assize, trajectory };
}

async function refusal(assize: Assize, given: Partial<EffectResolution>): Promise<string> {
  const error = await assize
    .resolveEffect({ ...DECISION, ...given })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'unauthorised_operator',
    evidence: { tool: 'irreversible.buffered' },
  });
  const [open] = await assize.effects();
  expect(open!.effects[0]).toMatchObject({ phase: 'in_doubt' });
  return (error as Error).message;
}

test('a counselor of the kind operator decides, and sees tool and decision', async () => {
  const seen: unknown[] = [];
  const domain = counseled({
    operator: (principal, { proposal, requester }) => {
      seen.push({ ...proposal, requester });
      return principal === 'ops';
    },
  });
  const { assize } = await inDoubt(domain);
  expect(await refusal(assize, { by: 'eve' })).toBe(
    'eve cannot decide about the effect of irreversible.buffered. Let a counselor of the kind operator decide, or pass a writ that names assize.resolve_effect and effect:irreversible.buffered.',
  );
  expect(await assize.resolveEffect(DECISION)).toMatchObject({
    phase: 'applied',
    transaction: 'settled',
  });
  const args = { epoch: 1, n: 0, as: 'applied', tool: 'irreversible.buffered' };
  const role = { name: 'assize', params: {} };
  const proposal = { action: 'assize.resolve_effect', role, args, requester: 'alice' };
  expect(seen).toEqual([proposal, proposal]);
});

test.each(['alice', 'Alice', holder.publicKey])(
  '%s made the transaction possible and cannot decide',
  async (by) => {
    const { assize } = await inDoubt(counseled({ operator: () => true }));
    const refused =
      /^\S+ cannot decide .*: .* requested this transaction or granted its writ\. Let another principal decide\.$/;
    expect(await refusal(assize, { by })).toMatch(refused);
    // A writ of the operator does not change that.
    expect(await refusal(assize, { by, writ: operatorWrit(by) })).toMatch(refused);
  },
);

test('a failed predicate is named once, with its correction', async () => {
  const { assize } = await inDoubt(
    counseled({
      operator: () => {
        throw new Error('no list');
      },
    }),
  );
  expect(await refusal(assize, {})).toBe(
    'ops cannot decide about the effect of irreversible.buffered: The counselor predicate operator failed for ops: no list. Correct the predicate in the domain.',
  );
});

test('a writ of another principal is named with both names', async () => {
  const { assize } = await inDoubt(tally as unknown as Domain);
  expect(await refusal(assize, { by: 'jim', writ: operatorWrit('joe') })).toBe(
    'jim cannot decide about the effect of irreversible.buffered: the writ is for joe, and `by` says jim. Pass a writ for jim, or let joe decide.',
  );
});

test('each refusal of a writ ends with one full stop', async () => {
  const { assize } = await inDoubt(tally as unknown as Domain);
  const ended = writFor('ops', {
    ...OFFICE,
    nonce: 'ended',
    expires: '2026-01-02T00:00:00.000000Z',
  });
  expect(await refusal(assize, { writ: ended })).toMatch(/[^.]\. Let a counselor/);
});

test('an approver of another kind cannot decide', async () => {
  const { assize } = await inDoubt(counseled({ manager: () => true }));
  expect(await refusal(assize, {})).toContain(
    'the domain counseled@1 has no counselors of the kind operator',
  );
  const both = await inDoubt(counseled({ manager: () => true, operator: () => false }));
  expect(await refusal(both.assize, {})).toContain('Let a counselor of the kind operator decide');
});

test('without a writ the domain is needed, with one it is not', async () => {
  const { store, assize } = await inDoubt(counseled({ operator: () => true }));
  await assize.close();
  const bare = runtimeOver(store, [], { tools: [] });
  await expect(bare.resolveEffect(DECISION)).rejects.toMatchObject({ code: 'domain_mismatch' });
  const resolved = await bare.resolveEffect({ ...DECISION, writ: operatorWrit() });
  expect(resolved).toMatchObject({ transaction: 'settled' });
});

test('a derived writ that names the right in every link gives it', async () => {
  const { assize } = await inDoubt(tally as unknown as Domain);
  const below = attenuate(
    held,
    { subject: 'ops', nonce: 'below', max_depth: 0 },
    holder.privateKey,
  );
  const resolved = await assize.resolveEffect({
    ...DECISION,
    writ: { writ: below, chain: [held] },
  });
  expect(resolved).toMatchObject({ transaction: 'settled' });
});

test.each([
  ['for everything', { actions: ['**'], scopes: ['**'] }, 'do not all name assize.resolve_effect'],
  [
    'with the action for every scope',
    { ...OFFICE, scopes: ['**'] },
    'do not all name assize.resolve_effect',
  ],
  ['for another tool', { ...OFFICE, scopes: ['effect:bank.pay'] }, 'effect:irreversible.buffered'],
  ['of another principal', { ...OFFICE, subject: 'eve' }, 'eve'],
  ['of another trajectory', { ...OFFICE, trajectory: 'u' }, 'u'],
  ['that has ended', { ...OFFICE, expires: '2026-01-02T00:00:00.000000Z' }, '2026-01-02'],
  [
    'that needs an approval',
    { ...OFFICE, require_approval: ['**'] },
    'cannot wait for an approval',
  ],
])('a writ %s gives no right', async (_, grant, says) => {
  const { assize } = await inDoubt(counseled({ operator: () => true }));
  const given = { writ: { ...writFor('ops', { nonce: 'given', ...grant }) } };
  expect(await refusal(assize, given)).toContain(says);
});

test('a revoked writ gives no right, nor one made from a writ for all', async () => {
  const { assize, trajectory } = await inDoubt(tally as unknown as Domain);
  const made = attenuate(granted, { subject: 'ops', nonce: 'made', ...OFFICE }, holder.privateKey);
  expect(await refusal(assize, { writ: { writ: made, chain: [granted] } })).toContain(
    'do not all name',
  );
  const by = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  const revoked = operatorWrit();
  await trajectory.writs.revoke({ by, writ: revoked, reason: 'left' });
  expect(await refusal(assize, { writ: revoked })).toContain(writId(revoked));
});

test('a policy is asked, and may refuse', async () => {
  const asked: unknown[] = [];
  const policy: Policy = {
    id: 'p',
    digest: 'a'.repeat(64),
    evaluate: ({ action, scopes, args }) => {
      if (action !== 'assize.resolve_effect') return { decision: 'allow', reasons: [], errors: [] };
      asked.push({ scopes, args });
      return { decision: 'deny', reasons: ['not at night'], errors: [] };
    },
  };
  const { assize } = await inDoubt(tally as unknown as Domain, { policy });
  expect(await refusal(assize, { writ: operatorWrit() })).toContain('not at night');
  expect(asked).toMatchObject([
    { scopes: expect.arrayContaining(['effect:irreversible.buffered']), args: { n: 0 } },
  ]);
});
