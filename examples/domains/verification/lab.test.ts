import { Replayer, verifyTrajectory } from '@assize/audit';
import { describe, expect, test } from 'vitest';
import { watchedDomain } from '../../../tests/support/models/watched-domain.ts';
import { verification, verificationInitial } from './index.ts';
import { hashOf, Lab } from './testing/lab.ts';

const genuine = { verdict: 'v1', genuine: true, reason: 'it crashes', rating: 'high' };

describe('a verdict', () => {
  test('always needs its assigned expert, and freezes only its own finding', async () => {
    const lab = await Lab.open();
    await lab.assigned('f1');
    await lab.assigned('f2');
    expect(await lab.propose('judge', genuine)).toMatchObject({
      ruling: 'escalated',
      channel: 'expert',
      invariantId: 'VERDICT_IS_HUMAN',
    });
    const more = { hash: hashOf('input'), kind: 'input' } as const;
    expect(await lab.propose('attach_evidence', more)).toMatchObject({ ruling: 'frozen' });
    await lab.done('attach_evidence', more, { finding: 'f2' });
    await lab.done('release', { assignment: 'a1' }, { finding: 'f2' });
    await lab.done('assign', { assignment: 'a2', expert: 'ben' }, { finding: 'f2' });
    await lab.submitted('f3');
    await lab.done('assign', { assignment: 'a1', expert: 'ada' }, { finding: 'f3' });
    expect(await lab.propose('judge', genuine, { finding: 'f2' })).toMatchObject({
      ruling: 'escalated',
    });
  });

  test('is approved by the assigned expert and by no other principal', async () => {
    const lab = await Lab.open();
    await lab.assigned();
    const ruling = await lab.propose('judge', genuine);
    if (ruling.ruling !== 'escalated') throw new Error('it must wait');
    const approve = (principal: string) =>
      lab.stage.trajectory.approvals.approve(ruling.pending, { principal, method: 'test' });
    await expect(approve('agent:verification')).rejects.toMatchObject({
      code: 'unauthorised_counselor',
    });
    await expect(approve('expert:ben')).rejects.toMatchObject({
      code: 'final_rule',
      evidence: { vector: [{ invariant_id: 'VERDICT_BY_ASSIGNED' }] },
    });
    expect(await approve('expert:ada')).toMatchObject({ ruling: 'committed' });
    expect(lab.finding().verdicts['v1']).toMatchObject({
      by: 'expert:ada',
      evidence: [hashOf('trace')],
    });
  });

  test('that the expert refuses does not count', async () => {
    const lab = await Lab.open();
    await lab.assigned();
    const ruling = await lab.propose('judge', genuine);
    if (ruling.ruling !== 'escalated') throw new Error('it must wait');
    const refusal = { principal: 'expert:ada', method: 'test', reason: 'it does not crash here' };
    expect(await lab.stage.trajectory.approvals.reject(ruling.pending, refusal)).toMatchObject({
      reason: 'counselor_rejected',
    });
    expect(await lab.propose('report', { report: 'p1', verdict: 'v1' })).toMatchObject({
      invariantId: 'REPORT_ON_VERDICT',
    });
    await lab.approved(
      'judge',
      { verdict: 'v1', genuine: false, reason: 'it does not crash here' },
      'expert:ada',
    );
  });
});

test('new evidence voids a verdict: report, retract, verify and report again', async () => {
  const lab = await Lab.open();
  await lab.verified();
  await lab.done('report', { report: 'p1', verdict: 'v1' });
  expect(await lab.propose('retract', { report: 'p1', reason: 'nerves' })).toMatchObject({
    invariantId: 'RETRACTION_HAS_GROUND',
  });
  await lab.done('attach_evidence', { hash: hashOf('input'), kind: 'input' });
  const refuted = { verdict: 'v2', genuine: false, reason: 'a fault of the harness' };
  expect(await lab.propose('judge', refuted)).toMatchObject({
    invariantId: 'REFUTED_IS_RETRACTED',
  });
  await lab.done('retract', { report: 'p1', reason: 'new evidence' });
  expect(await lab.propose('report', { report: 'p2', verdict: 'v1' })).toMatchObject({
    invariantId: 'REPORT_ON_VERDICT',
  });
  await lab.approved('judge', { ...genuine, verdict: 'v2' }, 'expert:ada');
  await lab.done('report', { report: 'p2', verdict: 'v2' });
  const { store, trajectory } = lab.stage;
  expect(await verifyTrajectory(new Replayer(store), trajectory.id)).toMatchObject({ valid: true });
});

test('an expert takes so many at a time, over all findings', async () => {
  const lab = await Lab.open();
  for (const finding of ['f1', 'f2', 'f3']) await lab.submitted(finding);
  const assign = { assignment: 'a1', expert: 'ada' };
  await lab.done('assign', assign, { finding: 'f1' });
  await lab.done('assign', assign, { finding: 'f2' });
  expect(await lab.propose('assign', assign, { finding: 'f3' })).toMatchObject({
    invariantId: 'EXPERT_QUEUE',
    detail: 'ada would have 3 findings, but takes 2 at a time',
  });
  expect(
    await lab.propose('assign', { ...assign, expert: 'eve' }, { finding: 'f3' }),
  ).toMatchObject({
    invariantId: 'EXPERT_QUEUE',
  });
  await lab.done('release', { assignment: 'a1' }, { finding: 'f1' });
  await lab.done('assign', assign, { finding: 'f3' });
});

test('each role sees its own finding, and of it only the parts it needs', async () => {
  const lab = await Lab.open();
  await lab.verified('f1');
  await lab.assigned('f2');
  const seen = (name: string, more = {}) => {
    const { findings } = lab.stage.trajectory.slice(name, { finding: 'f1', ...more }) as {
      findings: object;
    };
    expect(Object.keys(findings)).toEqual(['f1']);
    return Object.keys(Object.values(findings)[0]);
  };
  expect(seen('Analysis', { analyser: 'fuzz' })).toEqual([
    'events',
    'evidence',
    'identity',
    'submissions',
  ]);
  expect(seen('Reproduction')).toEqual(['attempts', 'events', 'evidence', 'ratings']);
  expect(seen('Verification')).toEqual([
    'assignments',
    'events',
    'evidence',
    'ratings',
    'verdicts',
  ]);
  expect(seen('Reporting')).toEqual(['events', 'reports', 'verdicts']);
});

test('a proposal about one finding judges no record of any other', async () => {
  const { domain, judged } = watchedDomain(verification);
  const lab = await Lab.open(domain, verificationInitial({ ada: 100 }));
  for (let i = 0; i < 30; i++) await lab.assigned(`f${i}`);
  judged.clear();
  await lab.approved('judge', genuine, 'expert:ada', { finding: 'f7' });
  // An approval checks all findings, for the record. Any other proposal checks only the findings
  // that it changes.
  judged.clear();
  await lab.done('report', { report: 'p1', verdict: 'v1' }, { finding: 'f7' });
  expect([...judged]).toEqual(['f7']);
});

describe('a record that makes no sense', () => {
  test.each([
    ['open_finding', {}],
    [
      'submit',
      { submission: 's1', component: 'parser', title: 'again', fingerprint: hashOf('f1') },
    ],
    ['attach_evidence', { hash: hashOf('trace'), kind: 'trace' }],
    ['withdraw_evidence', { hash: hashOf('none') }],
    ['reproduce', { attempt: 'r1', environment: 'linux', reproduced: false }],
    ['rate', { rating: 'high', level: 'low', rationale: 'after all' }],
    ['assign', { assignment: 'a1', expert: 'ben' }],
    ['release', { assignment: 'none' }],
    ['judge', { verdict: 'v1', genuine: false, reason: 'no' }],
    ['retract', { report: 'none', reason: 'no' }],
  ] as const)('%s %j is refused', async (action, args) => {
    const lab = await Lab.open();
    await lab.verified();
    expect(await lab.propose(action, args as never)).toMatchObject({
      reason: 'precondition_failed',
    });
  });

  test('an unopened finding accepts no records', async () => {
    const lab = await Lab.open();
    const candidate = {
      submission: 's1',
      component: 'parser',
      title: 'loop',
      fingerprint: hashOf('f1'),
    };
    expect(await lab.propose('submit', candidate)).toMatchObject({ reason: 'precondition_failed' });
  });
});
