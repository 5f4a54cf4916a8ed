import { randomBytes } from 'node:crypto';
import { contentHash } from 'assize/internal/canon';
import type { ObservationInput } from 'assize/internal/runtime';
import {
  type Advisory,
  cvesOf,
  developedAt,
  receiverOf,
  releasedAs,
} from './adjudicate-advisory.ts';
import { commitmentOf } from './commitment.ts';
import type { roles } from './processes.ts';
import type { Settings } from './schema.ts';

/** One proposal on the way of a vulnerability. */
export interface Step {
  readonly action: string;
  readonly role: {
    readonly name: keyof typeof roles;
    readonly params: Readonly<Record<string, string>>;
  };
  readonly args: unknown;
  readonly observations?: readonly ObservationInput[];
}

/** The proposals for an advisory, by day. Day 0 is the day of its report. */
export type Plan = ReadonlyMap<number, readonly Step[]>;

/** The regime of every embargo of the portfolio. */
const REGIME = 'standard';

/** An advisory's way through the phases, with nothing in it that its record does not say. */
export function planOf(
  record: Advisory,
  settings: Settings,
  planned: (day: number) => string,
): Plan {
  const vulnerability = record.id;
  const { organisation, maintainer } = receiverOf(record);
  const entry = { organisation, maintainer, vulnerability };
  const tracking = { agent: `patch-tracking@${organisation}`, vulnerability };
  const keeping = { agent: `commitments@${organisation}`, vulnerability };
  const opening = {
    vulnerability,
    artifact: 'report',
    salt: randomBytes(32).toString('hex'),
  } as const;
  const digest = contentHash(record);
  const hash = commitmentOf({ ...opening, digest });
  const cves = cvesOf(record);
  const developed = developedAt(record);
  const released = releasedAs(record);
  const last = settings.embargo.regimes[REGIME]?.days ?? 0;
  const group = { ...entry, group: vulnerability };

  const intake = step('Intake', entry);
  const staffing = (params: typeof tracking) => step('Staffing', params);
  const reporter = step('ReporterCoordination', entry);
  const tracker = step('PatchTracking', tracking);
  const keeper = step('CommitmentManagement', keeping);
  const disclosure = step('Disclosure', group);
  return new Map([
    [
      0,
      [
        {
          ...intake('register_vulnerability', {
            component: record.affected[0]?.module,
            severity: 'unrated',
          }),
          observations: [{ name: 'advisory', value: record }],
        },
        staffing(tracking)('assign_agent', { role: 'PatchTracking' }),
        staffing(keeping)('assign_agent', { role: 'CommitmentManagement' }),
        keeper('publish_commitment', { artifact: 'report', hash }),
        reporter('submit_report', { digest }),
      ],
    ],
    [
      1,
      [
        reporter('acknowledge_report', { reference: `receipt for ${vulnerability}` }),
        reporter('begin_embargo', { regime: REGIME }),
      ],
    ],
    [2, cves.map((cve) => tracker('observe_cve', { cve, source: 'assigned' }))],
    [
      3,
      [
        ...(developed === undefined ? [] : [tracker('observe_patch', developed)]),
        ...(developed === undefined || record.review_status !== 'REVIEWED'
          ? []
          : [tracker('review_patch', { robust: true, note: 'the advisory has been reviewed' })]),
        ...(released === undefined
          ? []
          : [tracker('observe_release', { kind: 'release', reference: released })]),
      ],
    ],
    [
      last,
      [
        disclosure('join_group', { planned_at: planned(last) }),
        disclosure('assert_readiness', {
          ...(released === undefined ? {} : { patch_link: developed?.reference }),
          cves,
          attribution: record.credits,
        }),
        keeper('resolve_commitment', { hash, salt: opening.salt, digest }),
        disclosure('execute_disclosure', { resolved: [hash] }),
      ],
    ],
  ]);
}

function step(name: Step['role']['name'], params: Step['role']['params']) {
  return (action: string, args: unknown): Step => ({ action, role: { name, params }, args });
}

/** The days on which reports go out, so that no maintainer is sent more than the limit allows. */
export class Pace {
  readonly #limit: Settings['rate_limit'];
  readonly #daysOf: Map<string, number[]> = new Map();

  constructor({ rate_limit }: Settings) {
    this.#limit = rate_limit;
  }

  /** The first day from `day` on; one report a day to a maintainer counts like several on it. */
  next(maintainer: string, day: number): number {
    const days = this.#daysOf.get(maintainer) ?? [];
    this.#daysOf.set(maintainer, days);
    const full = days.at(-this.#limit.reports);
    const free = Math.max(
      day,
      days.at(-1) ?? 0,
      full === undefined ? 0 : full + Math.ceil(this.#limit.hours / 24),
    );
    days.push(free);
    return free;
  }
}
