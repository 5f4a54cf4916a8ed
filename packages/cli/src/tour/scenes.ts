/**
 * The scenes of the story: the record of David, from Agentic Redux §3.1. The tour plays them in its
 * world `udt`. `assize demo` tells them, and then pays the covered claims.
 */
import type { Writ } from 'assize/internal/authority';
import type { RootKey } from 'assize/internal/config';
import { Assize, type Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { type UdtActions, type UdtState, udt } from '../domains/udt/index.ts';
import { type Move, nineOClock, openOrCreate, playScenes, roleWrit, type Scene } from './play.ts';

/** The world of a tour with these scenes. */
export const UDT_WORLD = 'udt';
export const COMMITTED = 'committed';
export const PATIENT = 'david';
export const DOCTOR = 'md:okafor';
export const ENROLLED = '2025-12-01';

const ROLES = ['LabOrder', 'Billing', 'Clinical'] as const;
type Role = (typeof ROLES)[number];

/** The agents of David's record, each with its role. */
export const AGENTS: Readonly<Record<Role, string>> = {
  LabOrder: 'agent:lab',
  Billing: 'agent:billing',
  Clinical: 'agent:clinical',
};

export const SCENES: readonly Scene[] = [
  {
    day: ENROLLED,
    heading:
      'David enrolls. Until there is a positive test, his days of abstinence count from here.',
    moves: [move('Clinical', 'enroll', { program_phase: 'maintenance', enrolled_at: ENROLLED })],
  },
  {
    day: '2026-03-23',
    heading: 'Day 112, tier 90+: 3 definitive tests in 90 days are covered.',
    moves: [
      ...sampleOf('d1', 'definitive', 'monitoring', '2026-03-23'),
      move('Clinical', 'record_result', { test: 'd1', result: 'negative' }),
      claimOf('c1', 'd1', '2026-03-23', '90+'),
    ],
  },
  {
    day: '2026-03-26',
    heading:
      'A presumptive test detects opioids: tier 0-30, 1 definitive test in 7 days is covered.',
    moves: [
      ...sampleOf('p1', 'presumptive', 'monitoring', '2026-03-26'),
      move('Clinical', 'record_result', { test: 'p1', result: 'positive' }),
      move(
        'Clinical',
        'respond_to_relapse',
        { relapse: 'r1', test: 'p1', response: 'counselling twice a week' },
        { becomes: 'RELAPSE_RESPONSE_IS_HUMAN' },
      ),
      move(
        'LabOrder',
        'order_test',
        { order: 'd2', type: 'definitive', rationale: 'confirm p1', confirms: 'p1' },
        {
          note: () =>
            'A proposal that does not overlap the pending one is adjudicated immediately:',
        },
      ),
      'approval',
      move('Clinical', 'collect_sample', { test: 'd2', collected_at: '2026-03-26' }),
      claimOf('c2', 'd2', '2026-03-26', '90+', {
        becomes: 'CLAIM_TIER_CURRENT',
        note: seenByBilling,
      }),
      claimOf('c2', 'd2', '2026-03-26', '0-30', { becomes: 'DEFINITIVE_WINDOW' }),
    ],
  },
  {
    day: '2026-03-29',
    heading: 'Six days after the covered test: still refused.',
    moves: [
      ...sampleOf('d3', 'definitive', 'still unconfirmed', '2026-03-29'),
      claimOf('c2', 'd3', '2026-03-29', '0-30', { becomes: 'DEFINITIVE_WINDOW' }),
    ],
  },
  {
    day: '2026-03-30',
    heading: 'Seven days after it: covered.',
    moves: [
      ...sampleOf('d4', 'definitive', 'still unconfirmed', '2026-03-30'),
      claimOf('c2', 'd4', '2026-03-30', '0-30'),
    ],
  },
];

/** The writs of the agents in one trajectory. */
export function writsOf(
  root: Pick<RootKey, 'publicKey' | 'privateKey'>,
  trajectory: string,
): Map<string, Writ> {
  return new Map(
    ROLES.map((role) => [
      role,
      roleWrit(root, {
        ...{ subject: AGENTS[role], trajectory, actions: actionsOf(role) },
        scopes: [`role:${role}:${PATIENT}`],
      }),
    ]),
  );
}

function actionsOf(role: Role): string[] {
  const processes = udt.roles[role]?.processes ?? [];
  return Object.entries(udt.actions).flatMap(([name, { process }]) =>
    processes.includes(process) ? [name] : [],
  );
}

function move<Name extends keyof UdtActions>(
  role: Role,
  action: Name,
  args: UdtActions[Name],
  more: Partial<Pick<Move, 'becomes' | 'note'>> = {},
): Move {
  return { role, params: { patient: PATIENT }, action, args, becomes: COMMITTED, ...more };
}

function sampleOf(
  test: string,
  type: 'presumptive' | 'definitive',
  rationale: string,
  day: string,
): Move[] {
  return [
    move('LabOrder', 'order_test', { order: test, type, rationale }),
    move('Clinical', 'collect_sample', { test, collected_at: day }),
  ];
}

function claimOf(
  claim: string,
  test: string,
  date: string,
  tier: UdtActions['submit_claim']['tier'],
  more: Partial<Pick<Move, 'becomes' | 'note'>> = {},
): Move {
  return move('Billing', 'submit_claim', { claim, test, date, tier }, more);
}

function seenByBilling(trajectory: Trajectory): string {
  const { claims } = trajectory.slice('Billing', { patient: PATIENT }) as Pick<UdtState, 'claims'>;
  const seen = Object.entries(claims[PATIENT] ?? {}).map(
    ([id, { test, tier }]) => `${id} for ${test} in tier ${tier}`,
  );
  return `Billing sees only ${seen.join(', ')}, so that d2 looks like the second test of 3:`;
}

/** Plays the scenes in the world `udt` of a tour. */
export async function playUdt(store: Store, root: RootKey): Promise<void> {
  const clock = { at: nineOClock(ENROLLED) };
  const assize = new Assize({
    ...{ store, domains: [udt], anchors: [root.publicKey] },
    ports: { clock: { now: () => clock.at } },
  });
  try {
    const beginning = { trajectoryId: UDT_WORLD, note: 'drug tests of a patient' };
    const trajectory = await openOrCreate(assize, udt, beginning);
    await playScenes(SCENES, {
      trajectory,
      writs: writsOf(root, UDT_WORLD),
      clock,
      person: DOCTOR,
    });
  } finally {
    await assize.close();
  }
}
