/** The scenes of the story: the participants, the days, and the proposals of each day. */

import type { Trajectory } from 'assize/internal/runtime';
import { type UdtActions, type UdtState, udt } from '../domains/udt/index.ts';
import { COMMITTED } from './demo-steps.ts';

export const ROLES = ['LabOrder', 'Billing', 'Clinical'] as const;
export type Role = (typeof ROLES)[number];

export const PRINCIPALS: Readonly<Record<Role, string>> = {
  LabOrder: 'agent:lab',
  Billing: 'agent:billing',
  Clinical: 'agent:clinical',
};

export const DOCTOR = 'md:okafor';
export const PATIENT = 'david';

export type Proposal = {
  readonly [Name in keyof UdtActions]: {
    readonly role: Role;
    readonly action: Name;
    readonly args: UdtActions[Name];
    /** The ruling, or the deciding invariant. */
    readonly becomes: string;
    /** Printed before the proposal. */
    readonly note?: (trajectory: Trajectory) => string;
  };
}[keyof UdtActions];

export interface Scene {
  readonly day: string;
  readonly heading: string;
  readonly steps: readonly (Proposal | 'approval')[];
}

export const ENROLLED = '2025-12-01';

export const SCENES: readonly Scene[] = [
  {
    day: ENROLLED,
    heading:
      'David enrolls. Until there is a positive test, his days of abstinence count from here.',
    steps: [
      {
        role: 'Clinical',
        action: 'enroll',
        args: { program_phase: 'maintenance', enrolled_at: ENROLLED },
        becomes: COMMITTED,
      },
    ],
  },
  {
    day: '2026-03-23',
    heading: 'Day 112, tier 90+: 3 definitive tests in 90 days are covered.',
    steps: [
      ...sampleOf('d1', 'definitive', 'monitoring', '2026-03-23'),
      {
        role: 'Clinical',
        action: 'record_result',
        args: { test: 'd1', result: 'negative' },
        becomes: COMMITTED,
      },
      claimOf('c1', 'd1', '2026-03-23', '90+', COMMITTED),
    ],
  },
  {
    day: '2026-03-26',
    heading:
      'A presumptive test detects opioids: tier 0-30, 1 definitive test in 7 days is covered.',
    steps: [
      ...sampleOf('p1', 'presumptive', 'monitoring', '2026-03-26'),
      {
        role: 'Clinical',
        action: 'record_result',
        args: { test: 'p1', result: 'positive' },
        becomes: COMMITTED,
      },
      {
        role: 'Clinical',
        action: 'respond_to_relapse',
        args: { relapse: 'r1', test: 'p1', response: 'counselling twice a week' },
        becomes: 'RELAPSE_RESPONSE_IS_HUMAN',
      },
      {
        role: 'LabOrder',
        action: 'order_test',
        args: { order: 'd2', type: 'definitive', rationale: 'confirm p1', confirms: 'p1' },
        becomes: COMMITTED,
        note: () => 'A proposal that does not overlap the pending one is adjudicated immediately:',
      },
      'approval',
      {
        role: 'Clinical',
        action: 'collect_sample',
        args: { test: 'd2', collected_at: '2026-03-26' },
        becomes: COMMITTED,
      },
      { ...claimOf('c2', 'd2', '2026-03-26', '90+', 'CLAIM_TIER_CURRENT'), note: seenByBilling },
      claimOf('c2', 'd2', '2026-03-26', '0-30', 'DEFINITIVE_WINDOW'),
    ],
  },
  {
    day: '2026-03-29',
    heading: 'Six days after the covered test: still refused.',
    steps: [
      ...sampleOf('d3', 'definitive', 'still unconfirmed', '2026-03-29'),
      claimOf('c2', 'd3', '2026-03-29', '0-30', 'DEFINITIVE_WINDOW'),
    ],
  },
  {
    day: '2026-03-30',
    heading: 'Seven days after it: covered.',
    steps: [
      ...sampleOf('d4', 'definitive', 'still unconfirmed', '2026-03-30'),
      claimOf('c2', 'd4', '2026-03-30', '0-30', COMMITTED),
    ],
  },
];

function sampleOf(
  test: string,
  type: 'presumptive' | 'definitive',
  rationale: string,
  day: string,
): Proposal[] {
  return [
    {
      role: 'LabOrder',
      action: 'order_test',
      args: { order: test, type, rationale },
      becomes: COMMITTED,
    },
    {
      role: 'Clinical',
      action: 'collect_sample',
      args: { test, collected_at: day },
      becomes: COMMITTED,
    },
  ];
}

function claimOf(
  claim: string,
  test: string,
  date: string,
  tier: UdtActions['submit_claim']['tier'],
  becomes: string,
): Proposal {
  return { role: 'Billing', action: 'submit_claim', args: { claim, test, date, tier }, becomes };
}

function seenByBilling(trajectory: Trajectory): string {
  const { claims } = trajectory.slice('Billing', { patient: PATIENT }) as Pick<UdtState, 'claims'>;
  const seen = Object.entries(claims[PATIENT] ?? {}).map(
    ([id, { test, tier }]) => `${id} for ${test} in tier ${tier}`,
  );
  return `Billing sees only ${seen.join(', ')}, so that d2 looks like the second test of 3:`;
}

export function actionsOf(role: Role): string[] {
  const processes = udt.roles[role]?.processes ?? [];
  return Object.entries(udt.actions).flatMap(([name, { process }]) =>
    processes.includes(process) ? [name] : [],
  );
}
