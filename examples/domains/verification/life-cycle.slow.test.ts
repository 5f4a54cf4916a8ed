/**
 * A walk over the life of a finding (seed 000 §2.3). The test checks it against this file's reading
 * of the policy, without the domain's code.
 */

import {
  domainWithout,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  walkLifeCycle,
} from '@assize/testing';
import { describe, expect, test } from 'vitest';
import { someFinds } from '../../../tests/support/models/some-finds.ts';
import { someOf } from '../../../tests/support/some-of.ts';
import { verification } from './index.ts';
import type { Finding, VerificationState } from './schema.ts';
import { dayAt, hashOf, Lab, roleOf } from './testing/lab.ts';

const [TRACE, INPUT] = [hashOf('trace'), hashOf('input')];
const EXPERTS = ['ada', 'ben'];

type Phase = 'none' | 'submitted' | 'verified' | 'refuted' | 'changed' | 'reported';

/** Where a finding is. `changed`: there is a verdict, and evidence came or went since. */
function phaseOf(finding: Finding): Phase {
  const { submissions, verdicts, reports } = finding;
  if (Object.values(reports).some(({ retracted }) => retracted === undefined)) return 'reported';
  const current = currentOf(finding);
  if (current !== undefined) return current.genuine ? 'verified' : 'refuted';
  if (Object.keys(verdicts).length > 0) return 'changed';
  return Object.keys(submissions).length === 0 ? 'none' : 'submitted';
}

/** The verdict that was given since evidence came or went for the last time. */
function currentOf({ evidence, verdicts }: Finding): Finding['verdicts'][string] | undefined {
  const changed = Math.max(
    0,
    ...Object.values(evidence).flatMap(({ n, withdrawn = 0 }) => [n, withdrawn]),
  );
  return Object.values(verdicts).find(({ n }) => n > changed);
}

/** The steps that a finding takes, and all of them. */
const STEPS = new Set([
  'submit: none to submitted',
  ...['submitted', 'changed'].flatMap((from) => [
    `judge: ${from} to verified`,
    `judge: ${from} to refuted`,
  ]),
  ...['attach_evidence', 'withdraw_evidence'].flatMap((by) =>
    ['verified', 'refuted'].map((from) => `${by}: ${from} to changed`),
  ),
  'report: verified to reported',
  // Of the second the report stood on the verdict before.
  ...['retract: reported to changed', 'retract: reported to verified'],
]);

function allowed(
  before: VerificationState,
  step: LifeCycleStep,
  after: VerificationState,
): string | undefined {
  for (const id of Object.keys(before.findings)) {
    const [from, to] = [phaseOf(before.findings[id]!), phaseOf(after.findings[id]!)];
    if (from !== to && !STEPS.has(`${step.action}: ${from} to ${to}`))
      return `${step.action}: ${from} to ${to}`;
  }
  const finding = step.role.params['finding'] ?? '';
  return forbidden(before, before.findings[finding]!, step);
}

/** The policy's objection to a step, apart from the order of a finding. */
function forbidden(
  all: VerificationState,
  record: Finding,
  { action, args, role, approvedBy }: LifeCycleStep,
): string | undefined {
  const given = args as Record<string, string> & {
    readonly reproduced?: boolean;
    readonly genuine?: boolean;
  };
  const { submissions, evidence, attempts, ratings, assignments, verdicts, reports } = record;
  const submitters = Object.values(submissions).map(({ submitter }) => submitter);
  const holder = Object.values(assignments).find(({ released }) => released === undefined)?.expert;
  const current = currentOf(record);
  const there = Object.keys(evidence).filter((hash) => evidence[hash]?.withdrawn === undefined);
  switch (action) {
    case 'submit': {
      const others = Object.entries(all.findings).filter(([id]) => id !== role.params['finding']);
      const known = others.some(([, it]) =>
        Object.values(it.submissions).some((row) => row.fingerprint === given['fingerprint']),
      );
      if (known) return 'one candidate as two findings';
      const odd = Object.values(submissions).some(
        (row) => row.fingerprint !== given['fingerprint'],
      );
      return odd ? 'two candidates as one finding' : undefined;
    }
    case 'reproduce':
      return given.reproduced === true && !there.includes(given['evidence'] ?? 'nothing')
        ? 'reproduced without evidence'
        : undefined;
    case 'rate':
      return Object.values(attempts).some(({ reproduced }) => reproduced)
        ? undefined
        : 'rated before it was reproduced';
    case 'assign': {
      const expert = given['expert'] ?? '';
      const queue = Object.values(all.findings).flatMap((it) =>
        Object.values(it.assignments).filter(
          (row) => row.expert === expert && row.released === undefined,
        ),
      );
      if (queue.length >= (all.experts[expert]?.queue ?? 0)) return 'more than the expert takes';
      if (submitters.length === 0) return 'assigned before it was submitted';
      if (holder !== undefined) return 'assigned to two';
      return submitters.includes(expert) ? 'assigned to who submitted it' : undefined;
    }
    case 'judge': {
      if (approvedBy === undefined) return 'a verdict without a person';
      if (approvedBy !== `expert:${holder}`) return 'a verdict by another than who has it';
      if (submitters.includes(holder ?? '')) return 'verified by who submitted it';
      if (there.length === 0) return 'a verdict on nothing';
      if (current !== undefined) return 'judged twice';
      const stands = Object.values(reports).some(({ retracted }) => retracted === undefined);
      if (given.genuine !== true) return stands ? 'refuted while it is reported' : undefined;
      const isShown = Object.values(attempts).some(
        (it) => it.reproduced && there.includes(it.evidence ?? 'nothing'),
      );
      return isShown && ratings[given['rating'] ?? ''] !== undefined
        ? undefined
        : 'genuine, and nothing shows it';
    }
    case 'report': {
      const isCurrent = current !== undefined && current === verdicts[given['verdict'] ?? ''];
      if (!isCurrent || !current.genuine) return 'reported without verification';
      return Object.values(reports).some(({ retracted }) => retracted === undefined)
        ? 'reported twice'
        : undefined;
    }
    case 'retract': {
      const about = verdicts[reports[given['report'] ?? '']?.verdict ?? ''];
      return about === current ? 'retracted though the verdict stands' : undefined;
    }
    default:
      return undefined;
  }
}

/** All that is tried of these findings. */
function proposals(findings: readonly string[]) {
  return (state: VerificationState): LifeCycleProposal[] =>
    findings.flatMap((finding) => {
      const { submissions, attempts, assignments, verdicts, reports } = state.findings[finding]!;
      const next = (rows: object): string => `x${Object.keys(rows).length}`;
      const by = (
        action: Parameters<typeof roleOf>[0],
        args: LifeCycleProposal['args'],
        analyser = 'fuzz',
      ): LifeCycleProposal => ({
        ...{ action, args },
        role: roleOf(action, { finding, analyser }),
      });
      const candidate = {
        submission: next(submissions),
        component: 'parser',
        title: 'out of bounds',
      };
      const verdict = { verdict: next(verdicts), reason: 'so it is' };
      return [
        by('submit', { ...candidate, fingerprint: hashOf('f1') }),
        by('submit', { ...candidate, fingerprint: hashOf('other') }, 'ada'),
        ...[TRACE, INPUT].flatMap((hash) => [
          by('attach_evidence', { hash, kind: 'trace' }),
          by('withdraw_evidence', { hash }),
          by('reproduce', {
            attempt: next(attempts),
            environment: 'linux',
            reproduced: true,
            evidence: hash,
          }),
        ]),
        by('rate', { rating: 'high', level: 'high', rationale: 'remote' }),
        ...EXPERTS.map((expert) => by('assign', { assignment: next(assignments), expert })),
        ...Object.keys(assignments).map((assignment) => by('release', { assignment })),
        by('judge', { ...verdict, genuine: true, rating: 'high' }),
        by('judge', { ...verdict, genuine: true }),
        by('judge', { ...verdict, genuine: false }),
        ...Object.keys(verdicts).map((of) => by('report', { report: next(reports), verdict: of })),
        ...Object.keys(reports).map((report) => by('retract', { report, reason: 'so it is' })),
      ];
    });
}

const LIFE = {
  domain: verification,
  allowed,
  at: dayAt(0),
  counselors: { expert: EXPERTS.map((expert) => `expert:${expert}`) },
};

async function lab(begin: (lab: Lab) => Promise<void>): Promise<VerificationState> {
  const made = await Lab.open();
  await begin(made);
  return made.state;
}

const WALKS: Readonly<Record<string, LifeCycle<VerificationState>>> = {
  'two findings, from the beginning': {
    ...LIFE,
    initial: await lab(async (made) => {
      for (const finding of ['f1', 'f2', 'f3']) await made.done('open_finding', {}, { finding });
      const candidate = {
        submission: 's',
        component: 'linker',
        title: 'loop',
        fingerprint: hashOf('f3'),
      };
      await made.done('submit', candidate, { finding: 'f3' });
      await made.done('assign', { assignment: 'a', expert: 'ben' }, { finding: 'f3' });
    }),
    proposals: proposals(['f1', 'f2']),
    depth: 4,
  },
  'from a reproduced finding': {
    ...LIFE,
    initial: await lab((made) => made.reproduced()),
    proposals: proposals(['f1']),
    depth: 4,
  },
  'from a verified finding': {
    ...LIFE,
    initial: await lab((made) => made.verified()),
    proposals: proposals(['f1']),
    depth: 5,
  },
  'from a reported finding': {
    ...LIFE,
    initial: await lab(async (made) => {
      await made.verified();
      await made.done('report', { report: 'p1', verdict: 'v1' });
    }),
    proposals: proposals(['f1']),
    depth: 4,
  },
};

const seen = new Map<string, ReturnType<typeof walkLifeCycle>>();

test.each(Object.entries(WALKS))('no step that the policy forbids: %s', (name, life) => {
  const walked = walkLifeCycle(life, someOf);
  seen.set(name, walked);
  expect(walked.counterexample).toBeUndefined();
});

test('every action is taken, and every rule has stopped something', () => {
  const names = (part: 'committed' | 'stopped') =>
    [...new Set([...seen.values()].flatMap((walked) => Object.keys(walked[part])))].sort();
  const actions = Object.keys(verification.actions).filter((name) => name !== 'open_finding');
  expect(names('committed')).toEqual(actions.sort());
  expect(names('stopped')).toEqual(verification.rules.map(({ id }) => id).sort());
});

describe('without a rule there is such a step', () => {
  test.each(verification.rules.map(({ id }) => id))('%s', (id) => {
    const domain = domainWithout(verification, id);
    expect(someFinds(Object.values(WALKS).map((life) => ({ ...life, domain })))).toBe(true);
  });
});
