/**
 * A story of one account, on a ledger in memory: `npx node examples/domains/moderation/example.ts`
 * prints it.
 */

import { Replayer, verifyTrajectory } from '@assize/audit';
import { Assize, generateKeys, issueWrit, openStore, type Ruling } from 'assize';
import { type ModerationState, moderation } from './index.ts';
import { daysAfter } from './time.ts';

const START = '2026-01-01T09:00:00.000000Z';
const clock = { at: START };
const { publicKey, privateKey } = generateKeys();
const writ = issueWrit(
  {
    issuer: publicKey,
    subject: 'agent:platform',
    actions: ['**'],
    scopes: ['role:**'],
    not_before: START,
    expires: daysAfter(START, 365),
    max_depth: 0,
    nonce: 'example',
  },
  privateKey,
);
const store = await openStore('memory:');
const assize = new Assize({
  store,
  domains: [moderation],
  anchors: [publicKey],
  ports: { clock: { now: () => clock.at } },
});
const trajectory = await assize.create(moderation, { writs: [writ] });

const ana = { account: 'ana' };
const registry = { name: 'Registry', params: ana } as const;
const intake = { name: 'Intake', params: ana } as const;
const enforcement = { name: 'Enforcement', params: { ...ana, officer: 'otto' } } as const;
const appeals = { name: 'Appeals', params: ana } as const;
const assessor = (of: string) => ({ name: 'Assessor', params: { ...ana, case: of } }) as const;

function day(n: number, heading: string): void {
  clock.at = daysAfter(START, n);
  console.log(`\nDay ${n}. ${heading}`);
}

type Role =
  | typeof registry
  | typeof intake
  | typeof enforcement
  | typeof appeals
  | ReturnType<typeof assessor>;

async function propose(role: Role, action: string, args: object): Promise<Ruling> {
  const ruling = await trajectory.propose({ action, role, args, writ } as Parameters<
    typeof trajectory.propose
  >[0]);
  tell(`${role.name} ${action} ${JSON.stringify(args)}`, ruling);
  return ruling;
}

async function approve(ruling: Ruling, principal: string): Promise<void> {
  if (ruling.ruling !== 'escalated') throw new Error('nothing is pending');
  const approval = trajectory.approvals.approve(ruling.pending, { principal, method: 'example' });
  await approval.then(
    (approved) => tell(`${principal} approves`, approved),
    (error) => console.log(`  ${principal} approves\n    not so: ${vectorOf(error)}`),
  );
}

function tell(what: string, ruling: Ruling): void {
  const why = 'invariantId' in ruling ? ` ${ruling.invariantId}: ${ruling.detail}` : '';
  console.log(`  ${what}\n    ${ruling.ruling}${why}`);
}

function vectorOf(error: {
  readonly evidence?: { readonly vector?: readonly { invariant_id: string; detail: string }[] };
}) {
  return error.evidence?.vector
    ?.map(({ invariant_id, detail }) => `${invariant_id}: ${detail}`)
    .join('; ');
}

async function struck(of: string): Promise<void> {
  const report = { report: `r-${of}`, content: `post-${of}`, clause: 'spam', reporter: 'rita' };
  await propose(intake, 'receive_report', report);
  await propose(intake, 'triage', { report: report.report, case: of });
  await propose(assessor(of), 'assess', { violates: true, rationale: 'an advertisement' });
  await propose(assessor(of), 'issue_strike', { strike: `s-${of}` });
}

day(0, 'The first strike of Ana is answered by a warning.');
await propose(registry, 'open_record', {});
await struck('c1');
await propose(enforcement, 'take_action', { case: 'c1', strike: 's-c1', kind: 'suspend' });
await propose(enforcement, 'take_action', { case: 'c1', strike: 's-c1', kind: 'warn' });
await propose(enforcement, 'notify', { case: 'c1', text: 'you may appeal for 14 days' });

day(10, 'The second one by a limit of seven days; a third one has to wait until it is.');
await struck('c2');
await struck('c3');
await propose(enforcement, 'take_action', { case: 'c2', strike: 's-c2', kind: 'limit' });
await propose(enforcement, 'enforce', { case: 'c2', until: daysAfter(clock.at, 7) });
await propose(enforcement, 'notify', { case: 'c2', text: 'you may appeal for 14 days' });
await propose(enforcement, 'enforce', { case: 'c2', until: daysAfter(clock.at, 7) });

day(12, 'It is not lifted before its time, but by an appeal that somebody else than Otto grants.');
await propose(enforcement, 'lift', { case: 'c2' });
await propose(appeals, 'file_appeal', { appeal: 'a2', case: 'c2', statement: 'it was a joke' });
const decision = await propose(appeals, 'decide_appeal', {
  appeal: 'a2',
  granted: true,
  reason: 'it was a joke',
});
await approve(decision, 'mod:otto');
await approve(decision, 'mod:mona');
await propose(appeals, 'reinstate', { appeal: 'a2' });

const { valid, entries } = await verifyTrajectory(new Replayer(store), trajectory.id);
const { accounts } = trajectory.state() as unknown as ModerationState;
console.log(`\nAna's standing: ${accounts['ana']?.standing.level}`);
console.log(`The ledger is ${valid ? 'valid' : 'not valid'}: ${entries} entries.`);
