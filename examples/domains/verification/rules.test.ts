import { World } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { verification } from './index.ts';
import type { Finding, VerificationState } from './schema.ts';
import { dayAt, hashOf, Lab } from './testing/lab.ts';

/** The invariants that a state breaks. */
function broken(state: VerificationState): string[] {
  return new World(verification, structuredClone(state) as never).failing.map(
    ({ rule }) => rule.id,
  );
}

/**
 * f1 is verified and reported. f2 is verified and changed since, and its report is retracted. f3 is
 * submitted, by Ben too, and assigned to Ada.
 */
async function threeFindings(): Promise<VerificationState> {
  const lab = await Lab.open();
  for (const finding of ['f1', 'f2']) {
    await lab.verified(finding);
    await lab.done('report', { report: 'p1', verdict: 'v1' }, { finding });
    await lab.done('release', { assignment: 'a1' }, { finding });
  }
  await lab.done('attach_evidence', { hash: hashOf('input'), kind: 'input' }, { finding: 'f2' });
  await lab.done('retract', { report: 'p1', reason: 'new evidence' }, { finding: 'f2' });
  await lab.done('assign', { assignment: 'a2', expert: 'ben' }, { finding: 'f2' });
  await lab.submitted('f3');
  const candidate = { component: 'parser', title: 'the same', fingerprint: hashOf('f3') };
  await lab.done('submit', { submission: 's2', ...candidate }, { finding: 'f3', analyser: 'ben' });
  await lab.done('assign', { assignment: 'a1', expert: 'ada' }, { finding: 'f3' });
  return lab.state;
}

const base = await threeFindings();
const now = { at: dayAt(1), n: 100 };
const [trace, input] = [hashOf('trace'), hashOf('input')];
const both = [trace, input].sort();
const again = {
  genuine: true,
  reason: 'still',
  rating: 'high',
  evidence: both,
  by: 'expert:ben',
  ...now,
};

type Three = Readonly<Record<'f1' | 'f2' | 'f3', Finding>> & {
  readonly experts: VerificationState['experts'];
};

/** The base with something changed. */
function but(change: (three: Three) => void): VerificationState {
  const state = structuredClone(base);
  const { f1, f2, f3 } = state.findings as Record<string, Finding>;
  change({ f1: f1!, f2: f2!, f3: f3!, experts: state.experts });
  return state;
}

test('the base breaks nothing', () => expect(broken(base)).toEqual([]));

// Each row breaks its rule alone, so the neighbouring rules pass. The line after it is as close as
// possible and breaks no rule.
const table: readonly (readonly [
  id: string,
  what: string,
  wrong: (_: Three) => void,
  right: (_: Three) => void,
])[] = [
  [
    'ONE_FINDING_PER_FINGERPRINT',
    'one candidate as two findings; as two submissions of one',
    ({ f2, f3 }) => {
      f3.identity = { ...f2.identity };
      for (const row of Object.values(f3.submissions)) row.fingerprint = hashOf('f2');
    },
    ({ f3 }) =>
      Object.assign(f3.submissions, { s3: { ...f3.submissions['s1'], submitter: 'grep', ...now } }),
  ],
  [
    'SUBMISSIONS_AGREE',
    'a submission about something else; about the same',
    ({ f3 }) =>
      Object.assign(f3.submissions, {
        s3: { ...f3.submissions['s1'], ...now, fingerprint: hashOf('f4') },
      }),
    ({ f3 }) => Object.assign(f3.submissions, { s3: { ...f3.submissions['s1'], ...now } }),
  ],
  [
    'SUBMISSIONS_AGREE',
    'of another component; with another title',
    ({ f3 }) => Object.assign(f3.submissions['s2']!, { component: 'linker' }),
    ({ f3 }) => Object.assign(f3.submissions['s2']!, { title: 'as it were' }),
  ],
  [
    'REPRODUCED_WITH_EVIDENCE',
    'reproduced with nothing to show; not reproduced, with nothing',
    ({ f3 }) =>
      Object.assign(f3.attempts, { r1: { environment: 'linux', reproduced: true, ...now } }),
    ({ f3 }) =>
      Object.assign(f3.attempts, { r1: { environment: 'linux', reproduced: false, ...now } }),
  ],
  [
    'REPRODUCED_WITH_EVIDENCE',
    'by evidence that was taken back; that was taken back after',
    ({ f1 }) =>
      Object.assign(f1.evidence[trace]!, { withdrawn: f1.attempts['r1']!.n - 1, n: 1 }) &&
      dropVerdict(f1),
    ({ f1 }) => Object.assign(f1.evidence[trace]!, { withdrawn: 101 }),
  ],
  [
    'RATED_ON_REPRODUCTION',
    'rated before it was reproduced; right after',
    ({ f1 }) => Object.assign(f1.ratings['high']!, { n: f1.attempts['r1']!.n }),
    ({ f1 }) => Object.assign(f1.ratings['high']!, { n: f1.attempts['r1']!.n + 1 }),
  ],
  [
    'EXPERT_QUEUE',
    'one more than the expert takes; as many',
    ({ experts }) => Object.assign(experts, { ada: { queue: 0 } }),
    ({ experts }) => Object.assign(experts, { ada: { queue: 1 } }),
  ],
  [
    'EXPERT_QUEUE',
    'assigned to somebody who is not an expert; released',
    ({ f3 }) => Object.assign(f3.assignments['a1']!, { expert: 'eve' }),
    ({ f3 }) => Object.assign(f3.assignments['a1']!, { expert: 'eve', released: 100 }),
  ],
  [
    'ASSIGNED_ONCE',
    'a second expert; a second one when the first is done',
    ({ f3 }) => Object.assign(f3.assignments, { a2: { expert: 'ada', ...now } }),
    ({ f3 }) => {
      f3.assignments['a1']!.released = 99;
      f3.assignments['a2'] = { expert: 'ada', ...now };
    },
  ],
  [
    'ASSIGNED_ONCE',
    'before anything was submitted; after',
    ({ f3 }) => Object.assign(f3.assignments['a1']!, { n: 1 }),
    ({ f3 }) => Object.assign(f3.assignments['a1']!, { n: 2 }),
  ],
  [
    'VERDICT_ON_EVIDENCE',
    'about half of the evidence; about all of it',
    ({ f2 }) =>
      Object.assign(f2.verdicts, {
        v2: { ...again, evidence: [input], genuine: false },
        v3: undefined,
      }) && tidy(f2),
    ({ f2 }) => Object.assign(f2.verdicts, { v2: again }),
  ],
  [
    'VERDICT_ON_EVIDENCE',
    'about nothing; not genuine, about what there is',
    ({ f3 }) =>
      Object.assign(f3.verdicts, {
        v1: { genuine: false, reason: 'no', evidence: [], by: 'expert:ada', ...now },
      }),
    ({ f3 }) => {
      f3.evidence[input] = { kind: 'input', ...now, n: 99 };
      f3.verdicts['v1'] = {
        genuine: false,
        reason: 'no',
        evidence: [input],
        by: 'expert:ada',
        ...now,
      };
    },
  ],
  [
    'ONE_VERDICT',
    'a second verdict while the first stands; when evidence has come since',
    ({ f2 }) => {
      f2.verdicts['v2'] = again;
      f2.verdicts['v3'] = { ...again, n: 101 };
    },
    ({ f2 }) => {
      f2.verdicts['v2'] = again;
      f2.evidence[hashOf('patch')] = { kind: 'patch', ...now, n: 101 };
      f2.verdicts['v3'] = { ...again, evidence: [...both, hashOf('patch')].sort(), n: 102 };
    },
  ],
  [
    'REPORT_ON_VERDICT',
    'reported on a verdict that was refuted on evidence since taken back; on a new one',
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = { ...bare, genuine: false };
      f2.evidence[input]!.withdrawn = 101;
      f2.reports['p2'] = { verdict: 'v1', ...now, n: 102 };
    },
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = { ...bare, genuine: false };
      f2.evidence[input]!.withdrawn = 101;
      f2.verdicts['v3'] = { ...again, evidence: [trace], n: 102 };
      f2.reports['p2'] = { verdict: 'v3', ...now, n: 103 };
    },
  ],
  [
    'GENUINE_IS_REPRODUCED',
    'genuine by evidence that shows nothing; that shows it',
    ({ f2 }) => {
      f2.attempts['r1']!.reproduced = true;
      f2.evidence[trace]!.withdrawn = 99;
      f2.verdicts['v2'] = { ...again, evidence: [input] };
    },
    ({ f2 }) => {
      f2.evidence[trace]!.withdrawn = 99;
      f2.attempts['r2'] = {
        environment: 'linux',
        reproduced: true,
        evidence: input,
        ...now,
        n: 98,
      };
      f2.verdicts['v2'] = { ...again, evidence: [input] };
    },
  ],
  [
    'GENUINE_IS_REPRODUCED',
    'genuine without a severity; not genuine, without one',
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = bare;
    },
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = { ...bare, genuine: false };
    },
  ],
  [
    'VERDICT_BY_ASSIGNED',
    'by an expert who does not have it; by the one who does',
    ({ f2 }) => Object.assign(f2.verdicts, { v2: { ...again, by: 'expert:ada' } }),
    ({ f2 }) => Object.assign(f2.verdicts, { v2: again }),
  ],
  [
    'VERIFIER_IS_NOT_SUBMITTER',
    'assigned to who has submitted it; to somebody else',
    ({ f3, f2 }) => {
      f2.assignments['a2']!.released = 100;
      f3.assignments['a1']!.expert = 'ben';
    },
    ({ f3 }) => Object.assign(f3.submissions['s2']!, { submitter: 'cat' }),
  ],
  [
    'VERIFIER_IS_NOT_SUBMITTER',
    'verified by who has submitted it since it was assigned; who submits it afterwards',
    ({ f2 }) => {
      f2.submissions['s2'] = { ...f2.submissions['s1']!, submitter: 'ben', ...now, n: 99 };
      f2.verdicts['v2'] = again;
    },
    ({ f2 }) => {
      f2.verdicts['v2'] = again;
      f2.submissions['s2'] = { ...f2.submissions['s1']!, submitter: 'ben', ...now, n: 101 };
    },
  ],
  [
    'REPORT_ON_VERDICT',
    'reported on a verdict whose evidence has changed; on the one after it',
    ({ f2 }) => Object.assign(f2.reports, { p2: { verdict: 'v1', ...now } }),
    ({ f2 }) => {
      f2.verdicts['v2'] = again;
      f2.reports['p2'] = { verdict: 'v2', ...now, n: 101 };
    },
  ],
  [
    'REPORT_ON_VERDICT',
    'reported on no verdict; retracted, on one',
    ({ f3 }) => Object.assign(f3.reports, { p1: { verdict: 'v1', ...now } }),
    ({ f1 }) => Object.assign(f1.evidence, { [input]: { kind: 'input', ...now } }),
  ],
  [
    'REPORT_ON_VERDICT',
    'reported what is not genuine; what is',
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = { ...bare, genuine: false };
      f2.reports['p2'] = { verdict: 'v2', ...now, n: 101 };
    },
    ({ f2 }) => {
      f2.verdicts['v2'] = again;
      f2.reports['p2'] = { verdict: 'v2', ...now, n: 101 };
    },
  ],
  [
    'ONE_REPORT',
    'reported twice; again after a retraction',
    ({ f1 }) => Object.assign(f1.reports, { p2: { verdict: 'v1', ...now } }),
    ({ f2 }) => {
      f2.verdicts['v2'] = again;
      f2.reports['p2'] = { verdict: 'v2', ...now, n: 101 };
    },
  ],
  [
    'RETRACTION_HAS_GROUND',
    'retracted while the verdict stands; when the evidence has changed',
    ({ f1 }) => Object.assign(f1.reports['p1']!, { retracted: { reason: 'nerves', n: 100 } }),
    ({ f1 }) => {
      f1.evidence[input] = { kind: 'input', ...now, n: 99 };
      f1.reports['p1']!.retracted = { reason: 'new evidence', n: 100 };
    },
  ],
  [
    'REFUTED_IS_RETRACTED',
    'refuted while the report stands; when it was retracted',
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = { ...bare, genuine: false };
      f2.reports['p1']!.retracted!.n = 101;
    },
    ({ f2 }) => {
      const { rating: _, ...bare } = again;
      f2.verdicts['v2'] = { ...bare, genuine: false };
      f2.reports['p1']!.retracted!.n = 99;
    },
  ],
  [
    'VERDICT_IS_HUMAN',
    'a verdict that no expert gave; that one gave',
    ({ f2 }) => Object.assign(f2.verdicts, { v2: { ...again, by: 'agent:ben' } }),
    ({ f2 }) => Object.assign(f2.verdicts, { v2: again }),
  ],
];

function dropVerdict(finding: Finding): void {
  for (const rows of [finding.verdicts, finding.reports])
    for (const key of Object.keys(rows)) delete rows[key];
}

function tidy(finding: Finding): void {
  delete finding.verdicts['v3'];
  delete finding.verdicts['v2']!.rating;
}

describe('each rule is broken alone, and passes on the nearest case that it should', () => {
  test.each(table)('%s: %s', (id, _, wrong, right) => {
    expect(broken(but(wrong))).toEqual([id]);
    expect(broken(but(right))).toEqual([]);
  });

  test('all of them', () => {
    expect([...new Set(table.map(([id]) => id))].sort()).toEqual(
      verification.rules.map(({ id }) => id).sort(),
    );
  });
});
