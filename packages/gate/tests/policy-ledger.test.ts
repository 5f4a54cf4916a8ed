/**
 * A policy in Cedar over a ledger on disk: the recorded decisions, and that no reader evaluates the
 * policy again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Replayer, verifyTrajectory } from '@assize/audit';
import { backtest, deepReplay } from '@assize/audit/internal/replay';
import { cedarPolicy } from '@assize/cedar';
import { openStore, type Policy, type Store, verifyStore } from 'assize';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deskOf, payloads } from '../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';

const desk = deskOf('footprint');
const worker = writFor('agent:ada');
const DOCTOR = { principal: 'dr-who', method: 'test' };

const SCHEMA = `
  entity Role; entity Principal in [Role]; entity Trajectory;
  action add appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { by: Long } } };
  action ask appliesTo { principal: [Principal], resource: [Trajectory], context: { args: { amount: Long } } };
  action fail appliesTo { principal: [Principal], resource: [Trajectory], context: {} };
`;
const POLICIES = `
  @id("work") permit(principal in Role::"worker", action, resource);
  @id("large") @approval("required") @because("Large amounts need a doctor.")
  permit(principal, action == Action::"add", resource) when { context.args.by >= 5 };
  @id("asking") @approval("required") permit(principal, action == Action::"ask", resource);
  @id("never") forbid(principal, action == Action::"add", resource) when { context.args.by < 0 };
`;

let folder: string;
let store: Store;
let policy: Policy;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-policy-'));
  store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
  policy = await cedarPolicy({ policies: POLICIES, schema: SCHEMA });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/**
 * 1 committed; 2 pending, 3 approved; 4 rejected all the same; 5 pending for two reasons, 6
 * rejected by the doctor; 7 and 8 denied.
 */
async function story(): Promise<void> {
  const t = await runtimeOver(store, [desk], { policy }).create(desk, {
    trajectoryId: 't',
    writs: [worker],
  });
  const propose = (action: string, args: object) => t.propose(intent(action, args, worker));
  const pending = async (action: string, args: object): Promise<string> => {
    const ruling = await propose(action, args);
    if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
    return ruling.pending;
  };
  expect(await propose('add', { by: 1 })).toMatchObject({ ruling: 'committed' });
  await t.approvals.approve(await pending('add', { by: 6 }), DOCTOR);
  expect(await propose('add', { by: 9 })).toMatchObject({
    ruling: 'rejected',
    invariantId: 'TEN_AT_MOST',
  });
  await t.approvals.reject(await pending('ask', { amount: 3 }), { ...DOCTOR, reason: 'no' });
  expect(await propose('add', { by: -1 })).toMatchObject({
    ruling: 'rejected',
    reason: 'policy_denied',
  });
  expect(await propose('keep', { value: 1 })).toMatchObject({
    ruling: 'rejected',
    reason: 'policy_denied',
  });
  expect(t.state()).toMatchObject({ n: 7, asked: 0 });
}

test('the digest is in the root, and the decision in each ruling based on it', async () => {
  await story();
  const { digest } = policy;
  const [root, ...rest] = (await payloads(store, 't')) as any[];
  expect(root.policy_hash).toBe(digest);
  const by = (decision: string, rule?: string) => ({
    digest,
    decision,
    ...(rule === undefined ? {} : { rule }),
  });
  expect(rest.map((payload) => [payload.kind, payload.reason, payload.policy])).toEqual([
    ['commit', undefined, by('allow', 'work')],
    ['pending_approval', 'policy_needs_approval', by('needs_approval', 'large')],
    ['commit', undefined, by('needs_approval', 'large')],
    // A rule that rejects wins over a policy that would ask a person.
    ['rejection', 'invariant_rejected', by('needs_approval', 'large')],
    ['pending_approval', 'invariant_escalated', by('needs_approval', 'asking')],
    ['rejection', 'counselor_rejected', undefined],
    ['rejection', 'policy_denied', by('deny', 'never')],
    ['rejection', 'policy_denied', by('deny')],
  ]);
  expect(rest[1].detail).toBe('Large amounts need a doctor.');
  expect(rest[2].counselor).toMatchObject({ principal: 'dr-who', as: 'md' });
  expect(rest[4].detail).toBe('3 is asked for; The policy asking applies.');
  expect(rest[7].detail).toContain('the schema declares no action "keep"');
});

test('no reader of the ledger evaluates a policy, not even a failing one', async () => {
  await story();
  await store.close();
  store = await openStore(`sqlite:${join(folder, 'ledger.db')}`);
  let asked = 0;
  const failing: Policy = {
    id: 'failing',
    digest: 'f'.repeat(64),
    evaluate: () => {
      asked++;
      throw new Error('asked');
    },
  };
  const reopened = await runtimeOver(store, [desk], { policy: failing }).open('t');
  expect(reopened.state()).toMatchObject({ n: 7 });
  expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({
    valid: true,
    entries: 9,
  });
  expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  for (const options of [{}, { policy: failing }]) {
    const report = await deepReplay(store, 't', { domains: [desk], ...options });
    expect(report).toMatchObject({ same: true, preserved: true, differences: [] });
    expect(report.taken_as_recorded.policy).toBe(6);
  }
  expect((await backtest(store, 't', { domains: [desk] })).differences).toEqual([]);
  expect(asked).toBe(0);
  // The runtime itself asks, and is denied.
  expect(await reopened.propose(intent('add', { by: 1 }, worker))).toMatchObject({
    reason: 'policy_denied',
  });
  expect(asked).toBe(1);
});

test('deep replay and backtest with the recorded policy give the same rulings', async () => {
  await story();
  const again = await cedarPolicy({ policies: POLICIES, schema: SCHEMA, id: 'again' });
  const report = await deepReplay(store, 't', { domains: [desk], policy: again });
  expect(report).toMatchObject({ same: true, preserved: true, differences: [] });
  expect(report.taken_as_recorded.policy).toBeUndefined();
  const tried = await backtest(store, 't', { domains: [desk], policy: again });
  expect(tried).toMatchObject({
    judged: 6,
    same: 6,
    differences: [],
    policy: { id: 'again', digest: policy.digest },
  });
  const stricter = await cedarPolicy({
    policies: POLICIES.replace('>= 5', '>= 1'),
    schema: SCHEMA,
  });
  const { differences } = await backtest(store, 't', { domains: [desk], policy: stricter });
  expect(differences).toMatchObject([
    {
      seq: 1,
      recorded: { ruling: 'committed' },
      now: { ruling: 'escalated', reason: 'policy_needs_approval', rule: 'large' },
    },
  ]);
});
