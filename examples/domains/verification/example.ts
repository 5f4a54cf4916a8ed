/**
 * A story of one finding, on a real ledger in memory, printed by
 * `npx node examples/domains/verification/example.ts`.
 */

import { Replayer, verifyTrajectory } from '@assize/audit';
import { Assize, generateKeys, issueWrit, openStore, type Ruling } from 'assize';
import { contentHash } from 'assize/internal/canon';
import { verification, verificationInitial } from './index.ts';

const { publicKey, privateKey } = generateKeys();
const writ = issueWrit(
  {
    issuer: publicKey,
    subject: 'agent:lab',
    actions: ['**'],
    scopes: ['role:**'],
    not_before: '2020-01-01T00:00:00.000000Z',
    expires: '2100-01-01T00:00:00.000000Z',
    max_depth: 0,
    nonce: 'example',
  },
  privateKey,
);
const store = await openStore('memory:');
const assize = new Assize({ store, domains: [verification], anchors: [publicKey] });
// Ada takes one finding at a time.
const trajectory = await assize.create(verification, {
  writs: [writ],
  initial: verificationInitial({ ada: 1, ben: 1 }),
});

const hash = contentHash('a trace of the crash');
const input = contentHash('the input that leads to it');
const candidate = {
  component: 'parser',
  title: 'out of bounds',
  fingerprint: contentHash('parser: out of bounds'),
};

async function propose(
  finding: string,
  name: string,
  action: string,
  args: object,
): Promise<Ruling> {
  const role = { name, params: name === 'Analysis' ? { finding, analyser: 'ben' } : { finding } };
  const ruling = await trajectory.propose({ action, role, args, writ } as Parameters<
    typeof trajectory.propose
  >[0]);
  tell(`${finding} ${name} ${action} ${JSON.stringify(args)}`, ruling);
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
  console.log(`  ${short(what)}\n    ${ruling.ruling}${short(why)}`);
}

function vectorOf(error: {
  readonly evidence?: { readonly vector?: readonly { invariant_id: string; detail: string }[] };
}) {
  return error.evidence?.vector
    ?.map(({ invariant_id, detail }) => `${invariant_id}: ${detail}`)
    .join('; ');
}

function short(text: string): string {
  return text.replaceAll(/[0-9a-f]{64}/g, (whole) => whole.slice(0, 8));
}

console.log('Ben finds something, twice; the second time it is the same.');
await propose('f1', 'Registry', 'open_finding', {});
await propose('f2', 'Registry', 'open_finding', {});
await propose('f1', 'Analysis', 'submit', { submission: 's1', ...candidate });
await propose('f2', 'Analysis', 'submit', { submission: 's1', ...candidate });

console.log(
  '\nIt is reproduced and rated. Ben, who found it, does not verify it, and nothing is reported before.',
);
await propose('f1', 'Analysis', 'attach_evidence', { hash, kind: 'trace' });
await propose('f1', 'Reproduction', 'reproduce', {
  attempt: 'r1',
  environment: 'linux',
  reproduced: true,
  evidence: hash,
});
await propose('f1', 'Reproduction', 'rate', { rating: 'high', level: 'high', rationale: 'remote' });
await propose('f1', 'Verification', 'assign', { assignment: 'a1', expert: 'ben' });
await propose('f1', 'Verification', 'assign', { assignment: 'a1', expert: 'ada' });
await propose('f1', 'Reporting', 'report', { report: 'p1', verdict: 'v1' });

console.log('\nThe verdict is Ada’s. While she decides, the other finding goes on.');
const asked = await propose('f1', 'Verification', 'judge', {
  ...{ verdict: 'v1', genuine: true, reason: 'it crashes' },
  rating: 'high',
});
await propose('f1', 'Analysis', 'attach_evidence', { hash: input, kind: 'input' });
const other = { component: 'linker', title: 'loop', fingerprint: contentHash('linker: loop') };
await propose('f2', 'Analysis', 'submit', { submission: 's1', ...other });
await propose('f2', 'Verification', 'assign', { assignment: 'a1', expert: 'ada' });
await approve(asked, 'expert:ben');
await approve(asked, 'expert:ada');
await propose('f1', 'Reporting', 'report', { report: 'p1', verdict: 'v1' });

console.log('\nNew evidence: the verdict stands no more.');
await propose('f1', 'Analysis', 'attach_evidence', { hash: input, kind: 'input' });
await propose('f1', 'Reporting', 'retract', { report: 'p1', reason: 'new evidence' });
await propose('f1', 'Reporting', 'report', { report: 'p2', verdict: 'v1' });

const { valid, entries } = await verifyTrajectory(new Replayer(store), trajectory.id);
console.log(`\nThe ledger is ${valid ? 'valid' : 'not valid'}: ${entries} entries.`);
