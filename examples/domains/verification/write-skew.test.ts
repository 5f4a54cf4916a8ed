import { expect, test } from 'vitest';
import { skewOf } from '../../../tests/support/models/write-skew.ts';
import { verification } from './index.ts';
import { dayAt, hashOf, Lab } from './testing/lab.ts';

test('two findings are assigned concurrently to an expert with one free slot', async () => {
  const lab = await Lab.open();
  for (const finding of ['f1', 'f2']) await lab.submitted(finding);
  const dispatcher = (finding: string) => ({
    role: { name: 'Verification', params: { finding } },
    // Nothing of other findings is in its slice, and so nothing of Ben's queue.
    decide: (slice: any) =>
      Object.keys(slice.findings[finding].assignments).length === 0
        ? { action: 'assign', args: { assignment: 'a1', expert: 'ben' } }
        : undefined,
  });
  expect(skewOf(verification, lab.state, dayAt(0), [dispatcher('f1'), dispatcher('f2')])).toEqual({
    alone: [[], []],
    withoutKernel: [['EXPERT_QUEUE'], ['EXPERT_QUEUE']],
    withKernel: [
      ['approved', 'EXPERT_QUEUE'],
      ['approved', 'EXPERT_QUEUE'],
    ],
    broken: [],
  });
});

test('a finding is reported while the evidence of its verdict is taken back', async () => {
  const lab = await Lab.open();
  await lab.verified();
  const analysis = {
    role: { name: 'Analysis', params: { finding: 'f1', analyser: 'fuzz' } },
    // It sees no verdict, and no report.
    decide: () => ({ action: 'withdraw_evidence', args: { hash: hashOf('trace') } }),
  };
  const reporting = {
    role: { name: 'Reporting', params: { finding: 'f1' } },
    // It sees a verdict, and no evidence.
    decide: (slice: any) =>
      slice.findings.f1.verdicts.v1.genuine
        ? { action: 'report', args: { report: 'p1', verdict: 'v1' } }
        : undefined,
  };
  expect(skewOf(verification, lab.state, dayAt(0), [analysis, reporting])).toEqual({
    alone: [[], []],
    // A report from before the change of the evidence is right.
    withoutKernel: [['REPORT_ON_VERDICT'], []],
    withKernel: [
      ['approved', 'REPORT_ON_VERDICT'],
      ['approved', 'approved'],
    ],
    broken: [],
  });
});

test('two analysers concurrently submit one candidate as separate findings', async () => {
  const lab = await Lab.open();
  for (const finding of ['f1', 'f2']) await lab.done('open_finding', {}, { finding });
  const analyser = (finding: string) => ({
    role: { name: 'Analysis', params: { finding, analyser: finding } },
    decide: () => ({
      action: 'submit',
      args: {
        submission: 's1',
        component: 'parser',
        title: 'out of bounds',
        fingerprint: hashOf('the same'),
      },
    }),
  });
  expect(skewOf(verification, lab.state, dayAt(0), [analyser('f1'), analyser('f2')])).toMatchObject(
    {
      alone: [[], []],
      withoutKernel: [['ONE_FINDING_PER_FINGERPRINT'], ['ONE_FINDING_PER_FINGERPRINT']],
      withKernel: [
        ['approved', 'ONE_FINDING_PER_FINGERPRINT'],
        ['approved', 'ONE_FINDING_PER_FINGERPRINT'],
      ],
      broken: [],
    },
  );
});
