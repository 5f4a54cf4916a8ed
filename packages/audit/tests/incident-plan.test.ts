import { budget } from '@assize/cli/unstable/domains/budget';
import { MemoryStore } from '@assize/testing/memory';
import { attenuate, writId } from 'assize/internal/authority';
import { generateKeys } from 'assize/internal/canon';
import type { Hash } from 'assize/internal/ledger';
import { listWrits } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import { blastRadius, type IncidentStart } from '#blast';
import { type PlanOptions, planResponse } from '#incidents';
import { type Desk, desk } from '../../../tests/support/domains/gateway/desk.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { Bank, payments } from '../../../tests/support/tools/bank.ts';

const TEAM = generateKeys(new Uint8Array(32).fill(9));
const team = writFor(TEAM.publicKey);
const part = (subject: string) => ({
  writ: attenuate(team, { subject, nonce: subject }, TEAM.privateKey),
  chain: [team],
});
const [bad, good] = [part('agent:bad'), part('agent:good')];
const idOf = (writ: typeof team): string => writId(writ);

/** Two agents of one team have spent. */
async function spent(...by: readonly (typeof bad)[]) {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [budget]);
  const trajectory = await assize.create(budget, { trajectoryId: 't', writs: [team] });
  for (const writ of by) {
    const role = { name: 'spender', params: { agent: writ.writ.subject } } as const;
    await trajectory.propose({ action: 'spend', role, args: { amount: 5 }, writ });
  }
  const planFor = async (start: IncidentStart, options?: PlanOptions) =>
    planResponse(store, await blastRadius(store, start), options);
  return { store, assize, planFor };
}

test('the highest writ of the bad principal is revoked, and none above it', async () => {
  const { planFor } = await spent(good, bad, good);
  const { steps } = await planFor({ principal: 'agent:bad' });
  expect(steps).toEqual([{ kind: 'revoke', trajectory: 't', writ: idOf(bad.writ) }]);
});

test('a grant whose holder is known beside the ledger is revoked as a whole', async () => {
  const { planFor } = await spent(good, bad);
  const holdersIn = async () => new Map([[idOf(team), 'agent:bad']]);
  const { steps } = await planFor({ principal: 'agent:bad' }, { holdersIn });
  expect(steps).toEqual([{ kind: 'revoke', trajectory: 't', writ: idOf(team) }]);
});

test('a bad writ is revoked by itself, also where writs below it were used', async () => {
  const { planFor } = await spent(good, bad);
  const { steps, remains } = await planFor({ writ: idOf(team) as Hash });
  expect(steps).toEqual([{ kind: 'revoke', trajectory: 't', writ: idOf(team) }]);
  expect(remains).toMatchObject([{ what: `the writ ${idOf(team)} names no trajectory` }]);
});

test('writs that a first entry lists are revoked too, also unused ones', async () => {
  const { planFor, assize, store } = await spent(bad);
  const unused = writFor('agent:bad', { nonce: 'unused' });
  const other = writFor('agent:good');
  await assize.create(budget, { trajectoryId: 'u', writs: [unused, other, team] });
  const { steps, remains } = await planFor({ principal: 'agent:bad' });
  expect(steps).toEqual([
    { kind: 'revoke', trajectory: 't', writ: idOf(bad.writ) },
    { kind: 'revoke', trajectory: 'u', writ: idOf(unused) },
  ]);
  expect(remains.map(({ why }) => why)).toContain(
    'the ledger has only writs that were used, and those that a first entry lists',
  );
  const [, ofTeam] = (await planFor({ writ: idOf(team) as Hash })).steps;
  expect(ofTeam).toEqual({ kind: 'revoke', trajectory: 'u', writ: idOf(team) });
  expect(await listWrits(store, 'u')).toHaveLength(3);
});

test('a delegation to the bad principal is revoked in its trajectory', async () => {
  const { planFor, assize, store } = await spent(good);
  const trajectory = await assize.open('t');
  await trajectory.delegations.delegate({
    ...{ task: 'count', writ: team, childTrajectoryId: 'c' },
    ...{ subject: 'agent:bad', privateKey: TEAM.privateKey },
  });
  const child = await assize.open('c');
  const id = (await listWrits(store, 'c')).find(({ delegated }) => delegated)?.id as Hash;
  expect((await planFor({ principal: 'agent:bad' })).steps).toEqual([
    { kind: 'revoke', trajectory: 'c', writ: id },
  ]);
  const by = writFor('ops', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  expect((await child.writs.revoke({ writ: id, reason: 'leaked', by })).ruling.ruling).toBe(
    'committed',
  );
});

test('a writ that is revoked already has no step', async () => {
  const { planFor, assize } = await spent(bad);
  const by = writFor('ops', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  await (await assize.open('t')).writs.revoke({ writ: bad, reason: 'leaked', by });
  expect((await planFor({ principal: 'agent:bad' })).steps).toEqual([]);
});

test('a start from which nothing derives has no response', async () => {
  const { planFor } = await spent(good);
  await expect(planFor({ principal: 'agent:bad' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('No entry derives from the start'),
  });
});

const RULES = `
id: bank
tools:
  bank/pay: { class: reversible, undo: { tool: bank/refund, args: { id: /result/id } } }
  bank/refund: { class: reversible }
  bank/mail: { class: irreversible }
  bank/look: { class: read }
rules:
  - { id: all, allow: [bank/pay, bank/look, bank/refund, bank/mail] }
  - { id: ask, ask: bank/wire }
`;

async function remaining({ store }: Desk, options?: PlanOptions) {
  return planResponse(store, await blastRadius(store, { principal: 'agent:ada' }), options);
}

const done = (made: Desk, call: string, result: object = {}) =>
  made.act('report', { call, outcome: 'done', result }, 'ada');

test('a made call of the gateway remains with the exact call that undoes it', async () => {
  const made = await desk(RULES);
  await made.call('ada', 'bank/pay', { cents: 5 });
  await done(made, 'c1', { id: 7 });
  await made.call('ada', 'bank/mail', { to: 'ben' });
  await done(made, 'c2');
  await made.call('ada', 'bank/mail', { to: 'eve' });
  const { remains } = await remaining(made);
  const calls = remains.filter(({ what }) => what.startsWith('the call'));
  expect(calls.map(({ what, advice }) => `${what}: ${advice}`)).toEqual([
    'the call c1 of bank/pay in desk: make the call bank/refund {"id":7}: assize mcp --undo c1',
    'the call c2 of bank/mail in desk: repair its consequences by hand',
    'the call c3 of bank/mail in desk: look whether it took effect, and settle it: assize effects calls settle',
  ]);
});

test('calls that read, failed, never started or are undone do not remain', async () => {
  const made = await desk(RULES);
  await made.call('ada', 'bank/look');
  await done(made, 'c1');
  await made.call('ada', 'bank/mail', { to: 'ben' });
  await made.act('report', { call: 'c2', outcome: 'failed' }, 'ada');
  await made.call('ada', 'bank/mail', { to: 'eve' }, { once: true, later: true });
  await made.call('ada', 'bank/pay', { cents: 5 });
  await done(made, 'c4', { id: 7 });
  await made.call('ada', 'bank/refund', { id: 7 }, { undoes: 'c4' });
  await done(made, 'c5');
  const { remains } = await remaining(made);
  expect(remains.filter(({ what }) => /call c[1-4]/.test(what))).toEqual([]);
});

test('calls of a gateway are in the radius with tool, entry and outcome', async () => {
  const made = await desk(RULES);
  await made.call('ada', 'bank/look');
  await done(made, 'c1');
  const paid = await made.call('ada', 'bank/pay', { cents: 5 });
  await done(made, 'c2', { id: 7 });
  await made.call('ada', 'bank/mail', { to: 'ben' });
  await made.act('report', { call: 'c3', outcome: 'failed' }, 'ada');
  await made.call('ada', 'bank/mail', { to: 'eve' });
  const callsOf = async () => (await blastRadius(made.store, { principal: 'agent:ada' })).calls;
  const outcomes = (calls: readonly { tool?: string; outcome: string }[]) =>
    calls.map(({ tool, outcome }) => `${tool} ${outcome}`);
  expect(outcomes(await callsOf())).toEqual([
    'bank/pay applied',
    'bank/mail failed',
    'bank/mail open',
  ]);
  expect((await callsOf())[0]).toMatchObject({
    id: 'c2',
    via: 'gateway',
    entry: 'entry' in paid && paid.entry.id,
  });
  // An open call of another server halts nothing, and remains once.
  const { steps, remains } = await remaining(made);
  expect(steps.map(({ kind }) => kind)).toEqual(['revoke']);
  expect(remains.filter(({ what }) => what.includes('call c2 of'))).toHaveLength(1);
  await made.call('ada', 'bank/refund', { id: 7 }, { undoes: 'c2' });
  await done(made, 'c5');
  expect(outcomes(await callsOf())).toContain('bank/pay undone');
});

test('a pending proposal halts its trajectory, and ends with its writ', async () => {
  const made = await desk(RULES);
  const asked = await made.call('ada', 'bank/wire', { cents: 5 });
  const pending = { entry: 'entry' in asked ? asked.entry.id : '' };
  const { steps, remains } = await remaining(made);
  expect(steps.map(({ kind }) => kind)).toEqual(['revoke', 'halt']);
  expect(remains).toContainEqual(
    expect.objectContaining({ ...pending, why: expect.stringContaining('is refused') }),
  );
  const without = await remaining(made, { halts: 'none' });
  expect(without.steps.map(({ kind }) => kind)).toEqual(['revoke']);
  const byEntry = await planResponse(
    made.store,
    await blastRadius(made.store, pending as { entry: Hash }),
  );
  expect(byEntry.remains).toContainEqual(
    expect.objectContaining({ ...pending, advice: 'reject it' }),
  );
});

test('the approval of a pending proposal under a revoked writ is refused', async () => {
  const made = await desk(RULES);
  const asked = await made.call('ada', 'bank/wire', { cents: 5 });
  const [step] = (await remaining(made)).steps;
  const by = writFor('ops', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  await made.trajectory.writs.revoke({ writ: (step as { writ: Hash }).writ, reason: 'leaked', by });
  await expect(made.approve(asked)).rejects.toThrow(/revoked/);
});

test('an applied effect of a registered tool remains with its class', async () => {
  const store = new MemoryStore();
  const bank = new Bank();
  const domain = payments(bank);
  const assize = runtimeOver(store, [domain], { tools: [bank.pay, bank.wire] });
  const writ = writFor('agent:bad');
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const ruling = await trajectory.propose({
    action: 'pay',
    role: 'clerk',
    args: { to: 'bob', cents: 5 },
    writ,
  });
  expect(ruling.ruling).toBe('committed');
  await assize.close();
  const { steps, remains } = await planResponse(
    store,
    await blastRadius(store, { principal: 'agent:bad' }),
  );
  expect(steps.map(({ kind }) => kind)).toEqual(['revoke']);
  expect(remains).toContainEqual(
    expect.objectContaining({
      entry: 'entry' in ruling ? ruling.entry.id : '',
      what: expect.stringContaining('of bank.pay in t'),
      why: expect.stringContaining('the call was made (reversible)'),
      advice: 'propose an action that undoes bank.pay',
    }),
  );
});
