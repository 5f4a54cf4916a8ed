/** A walk over the life of one incident, compared with an independent statement of the policy. */

import {
  domainWithout,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  walkLifeCycle,
} from '@assize/testing/internal';
import { expect, test } from 'vitest';
import { type Incident, type IncidentState, incident } from './index.ts';

const WRIT = 'a'.repeat(64);
const STEPS = [
  { kind: 'revoke', trajectory: 't', writ: WRIT },
  { kind: 'halt', trajectory: 't' },
] as const;
const ITEM = {
  what: 'a letter was sent',
  why: 'no call takes it back',
  advice: 'call the addressee',
};

function proposals(): LifeCycleProposal[] {
  const by = (
    name: string,
    action: string,
    args: LifeCycleProposal['args'],
  ): LifeCycleProposal => ({
    ...{ action, args },
    role: { name, params: { incident: 'i' } },
  });
  const plan = {
    start: { writ: WRIT },
    because: 'the key leaked',
    openedBy: 'ops',
    remains: [ITEM],
  };
  return [
    by('opener', 'open', { ...plan, steps: [...STEPS] }),
    by('opener', 'open', { ...plan, steps: [STEPS[0], STEPS[0]] }),
    ...[0, 1, 2].flatMap((step) => [
      by('carrier', 'record', { step, outcome: 'done' }),
      by('carrier', 'record', { step, outcome: 'already' }),
      by('carrier', 'record', { step, outcome: 'failed', reason: 'no domain' }),
    ]),
    by('carrier', 'close', {}),
  ];
}

const LIFE: LifeCycle<IncidentState> = {
  domain: incident,
  initial: { incidents: {} },
  at: '2026-01-01T00:00:00.000000Z',
  depth: 6,
  proposals,
  counselors: { responder: ['human:ida'] },
  allowed,
};

function allowed(
  before: IncidentState,
  step: LifeCycleStep,
  after: IncidentState,
): string | undefined {
  const [was, is] = [before.incidents['i'], after.incidents['i'] as Incident];
  if (step.action === 'open') {
    if (was !== undefined) return 'opened twice';
    if (new Set(is.steps.map((each) => JSON.stringify(each))).size < is.steps.length)
      return 'a step twice';
    return step.approvedBy === undefined || is.approvedBy !== step.approvedBy
      ? 'not approved'
      : undefined;
  }
  if (was?.approvedBy === undefined) return 'acted on before the approval';
  if (was.closedAt !== undefined) return 'changed after its end';
  if (step.action === 'close') {
    const failed = Object.values(is.outcomes).filter(({ outcome }) => outcome === 'failed').length;
    if (Object.keys(is.outcomes).length !== is.steps.length) return 'closed without all outcomes';
    return is.remains.length === was.remains.length + failed
      ? undefined
      : 'a failed step does not remain';
  }
  const { step: index } = step.args as { readonly step: number };
  if (is.steps[index] === undefined) return 'an outcome of no step';
  const known = was.outcomes[index]?.outcome;
  return known === undefined || known === 'failed' ? undefined : 'an outcome twice';
}

test('the approval comes first, and each step has one outcome before the end', () => {
  const { counterexample, committed } = walkLifeCycle(LIFE);
  expect(counterexample).toBeUndefined();
  expect(Object.keys(committed).sort()).toEqual(['close', 'open', 'record']);
  expect(committed['record']).toBeGreaterThan(20);
});

test('without the rule of the approval an incident opens by itself', () => {
  const domain = domainWithout(incident, 'NEEDS_APPROVAL', 'UNAPPROVED_IS_UNTOUCHED');
  expect(walkLifeCycle({ ...LIFE, domain }).counterexample).toMatchObject({
    why: 'not approved',
    path: { length: 1 },
  });
});

test('without the rule of the steps a plan has one twice', () => {
  const { counterexample } = walkLifeCycle({
    ...LIFE,
    domain: domainWithout(incident, 'EACH_STEP_ONCE'),
  });
  expect(counterexample).toMatchObject({ why: 'a step twice' });
});
