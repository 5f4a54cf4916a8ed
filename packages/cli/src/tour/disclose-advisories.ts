/** The world `disclosure`: 20 public advisories on their way from a report to their disclosure. */
import type { Writ } from 'assize/internal/authority';
import { addMicros, contentHash, hashText, type Instant } from 'assize/internal/canon';
import type { RootKey } from 'assize/internal/config';
import { commitmentOf, DISCLOSURE_SETTINGS, disclosure, disclosureInitial } from 'assize/internal/domains/disclosure';
import { Assize, type Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { ADVISORIES, type AdvisoryFacts } from './advisories.ts';
import { roleWrit } from './role-writ.ts';
import { openOrCreate } from './worlds.ts';

export const DISCLOSURE_WORLD = 'disclosure';

/** The first day of the world. Its clock is its own, because an embargo lasts 90 days. */
const START: Instant = '2026-01-05T12:00:00.000000Z';
const DAY_MICROS = 86_400_000_000;
const EMBARGO_DAYS = DISCLOSURE_SETTINGS.embargo.regimes['standard']?.days ?? 0;

interface Step {
  readonly action: string;
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args: unknown;
}

/**
 * Proposes the steps of all advisories, day by day. A step that was ruled before gets its ruling
 * again, so an interrupted run is continued.
 */
export async function discloseAdvisories(store: Store, root: RootKey): Promise<void> {
  const clock = { at: START };
  const assize = new Assize({
    ...{ store, domains: [disclosure], anchors: [root.publicKey] },
    ports: { clock: { now: () => clock.at } },
  });
  try {
    const trajectory = await openOrCreate(assize, disclosure, {
      trajectoryId: DISCLOSURE_WORLD,
      initial: disclosureInitial(),
      note: '20 advisories of the Go vulnerability database',
    });
    const writs = writsOf(root);
    const plans = ADVISORIES.map((facts) => ({ facts, days: planOf(facts) }));
    // An advisory ends at its first day with a step that is not committed.
    const ended = new Set<string>();
    for (const day of [0, 1, 2, EMBARGO_DAYS]) {
      clock.at = onDay(day);
      await Promise.all(
        plans
          .filter(({ facts }) => !ended.has(facts.id))
          .map(async ({ facts, days }) => {
            const areCommitted = await proposeAll(trajectory, writs, facts.id, days.get(day) ?? []);
            if (!areCommitted) ended.add(facts.id);
          }),
      );
    }
  } finally {
    await assize.close();
  }
}

/** Proposes the steps of one day. Returns whether every step is committed. */
async function proposeAll(
  trajectory: Trajectory,
  writs: ReadonlyMap<string, Writ>,
  id: string,
  steps: readonly Step[],
): Promise<boolean> {
  const rulings = await Promise.all(
    steps.map(({ action, role, args }) =>
      trajectory.propose({
        ...{ action, role, args, writ: writs.get(role.name) as Writ },
        idempotencyKey: contentHash([id, action, args as never]),
      }),
    ),
  );
  return rulings.every(({ ruling }) => ruling === 'committed');
}

/** The steps of an advisory, by the number of their day. */
function planOf({ id: vulnerability, module, cves, fix, fixed, credits }: AdvisoryFacts): ReadonlyMap<number, Step[]> {
  const { organisation, maintainer } = ownerOf(module);
  const entry = { organisation, maintainer, vulnerability };
  const intake = stepsOf('Intake', entry);
  const reporter = stepsOf('ReporterCoordination', entry);
  const tracking = { agent: `tracker@${organisation}`, vulnerability };
  const keeping = { agent: `keeper@${organisation}`, vulnerability };
  const tracker = stepsOf('PatchTracking', tracking);
  const keeper = stepsOf('CommitmentManagement', keeping);
  const desk = stepsOf('Disclosure', { ...entry, group: vulnerability });
  const digest = contentHash({ module, cves: [...cves], credits: [...credits] });
  // A tour has no secret, and a second run must make the same commitment.
  const salt = hashText(`tour ${vulnerability}`);
  const hash = commitmentOf({ vulnerability, artifact: 'report', salt, digest });
  const isReleased = fixed !== undefined;
  const patch = fix ?? (isReleased ? `${module}@${fixed}` : undefined);
  return new Map([
    [
      0,
      [
        intake('register_vulnerability', { component: module, severity: 'unrated' }),
        stepsOf('Staffing', tracking)('assign_agent', { role: 'PatchTracking' }),
        stepsOf('Staffing', keeping)('assign_agent', { role: 'CommitmentManagement' }),
        keeper('publish_commitment', { artifact: 'report', hash }),
        reporter('submit_report', { digest }),
      ],
    ],
    [
      1,
      [
        reporter('acknowledge_report', { reference: `receipt for ${vulnerability}` }),
        reporter('begin_embargo', { regime: 'standard' }),
        ...cves.map((cve) => tracker('observe_cve', { cve, source: 'assigned' })),
      ],
    ],
    [
      2,
      patch === undefined
        ? []
        : [
            tracker('observe_patch', { kind: fix === undefined ? 'release' : 'commit', reference: patch }),
            tracker('review_patch', { robust: true, note: 'the advisory has been reviewed' }),
            ...(isReleased ? [tracker('observe_release', { kind: 'release', reference: `${module}@${fixed}` })] : []),
          ],
    ],
    [
      EMBARGO_DAYS,
      [
        desk('join_group', { planned_at: onDay(EMBARGO_DAYS) }),
        desk('assert_readiness', { ...(isReleased && { patch_link: patch }), cves, attribution: credits }),
        keeper('resolve_commitment', { hash, salt, digest }),
        desk('execute_disclosure', { resolved: [hash] }),
      ],
    ],
  ]);
}

/** Makes the steps of one role. */
function stepsOf(name: string, params: Step['role']['params']) {
  return (action: string, args: unknown): Step => ({ action, role: { name, params }, args });
}

/** The owner of a module as the organisation, and the module as the maintainer. */
function ownerOf(module: string): { readonly organisation: string; readonly maintainer: string } {
  const names = module.split('/');
  return { organisation: names.slice(0, names.length > 2 ? 2 : 1).join(':'), maintainer: names.join(':') };
}

function onDay(day: number): Instant {
  return addMicros(START, day * DAY_MICROS);
}

/** One writ for each role, so no agent can propose the work of another. */
function writsOf(root: RootKey): ReadonlyMap<string, Writ> {
  return new Map(
    Object.keys(disclosure.roles).map((role) => [
      role,
      roleWrit(root, {
        subject: `agent:${role}`,
        trajectory: DISCLOSURE_WORLD,
        actions: ['**'],
        scopes: [`role:${role}:**`],
      }),
    ]),
  );
}
