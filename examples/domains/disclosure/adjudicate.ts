/**
 * The main job: the kernel adjudicates a vulnerability database as one portfolio. Each advisory
 * becomes a vulnerability. Its agents propose its phases from its record, until a proposal is
 * refused. Then the whole store is verified.
 *
 * Time is the portfolio's own, day by day from `START`, because most records have none. Reports go
 * out in the order of the advisories, as fast as the limit per maintainer allows; every embargo
 * lasts its full time.
 */

import { Assize, issueWrit, type KeyPair, type Ruling, type Trajectory, type Writ } from 'assize';
import { arg, checkArgument } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import { byCause, finished, type JobOptions, type JobReport } from '../job/index.ts';
import { type Advisory, receiverOf } from './adjudicate-advisory.ts';
import { Pace, type Plan, planOf, type Step } from './adjudicate-plan.ts';
import { disclosure } from './index.ts';
import { DISCLOSURE_SETTINGS, disclosureInitial } from './initial.ts';
import { roles } from './processes.ts';
import type { DisclosureState, Phase } from './schema.ts';
import { addDays } from './time.ts';

export { type Advisory, advisory } from './adjudicate-advisory.ts';

/** The portfolio's first day. */
const START: Instant = '2026-01-01T12:00:00.000000Z';
const WRITS = { not_before: '2026-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z' };
/** New advisories a day. */
const PER_DAY = 16;

/** `signal` stops before the next day of the portfolio. */
export interface AdjudicateDisclosureOptions extends JobOptions {
  readonly advisories: readonly Advisory[];
}

/** The result of one advisory. */
export interface AdvisoryReport {
  readonly id: string;
  readonly phase: Phase | 'none';
  readonly outcome: 'disclosed' | 'refused';
  /** For a refusal: the action, the invariant or else the reason, and the detail. */
  readonly action?: string;
  readonly invariant_id?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface DisclosureReport extends JobReport {
  readonly trajectory_id: string;
  readonly advisories: number;
  readonly disclosed: number;
  /** Advisories by the invariant that refused them, or else by reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly proposals: number;
  readonly committed: number;
  /** Days of the portfolio's time. */
  readonly days: number;
  /** In the order of the advisories. */
  readonly results: readonly AdvisoryReport[];
}

const OPTIONS = arg.members({
  store: arg.object,
  advisories: arg.list(arg.object),
  keys: arg.members({ publicKey: arg.text, privateKey: arg.text }),
});

/**
 * @throws the reason of `signal`; the errors of the runtime and the store; ArgumentError
 *   `bad_argument`
 */
export async function adjudicateDisclosure(
  options: AdjudicateDisclosureOptions,
): Promise<DisclosureReport> {
  checkArgument(OPTIONS, options, 'options');
  const { store, keys, advisories, onProgress } = options;
  const started = performance.now();
  const clock = { at: START };
  const assize = new Assize({
    store,
    domains: [disclosure],
    anchors: [keys.publicKey],
    ports: { clock: { now: () => clock.at } },
  });
  // The key is new for every job, so jobs on one store never meet.
  const trajectoryId = `disclosure-${keys.publicKey.slice(0, 8)}`;
  const writs = writsFor(keys, trajectoryId);
  const trajectory = (await assize.create(disclosure, {
    trajectoryId,
    initial: disclosureInitial(),
    note: 'a portfolio of advisories',
    writs: [...writs.values()],
  })) as Trajectory;
  const portfolio = new Portfolio(trajectory, writs, advisories);
  for (const day of portfolio.days()) {
    options.signal?.throwIfAborted();
    clock.at = addDays(START, day);
    await portfolio.live(day);
    onProgress?.('adjudicating', portfolio.done, advisories.length);
  }
  return {
    trajectory_id: trajectoryId,
    ...portfolio.report(),
    ...(await finished(options, started)),
    results: portfolio.results(),
  };
}

/** One writ a role: no agent can propose what is another's work. */
function writsFor({ publicKey, privateKey }: KeyPair, trajectory: string): Map<string, Writ> {
  const writFor = (role: string) =>
    issueWrit(
      {
        issuer: publicKey,
        subject: `agent:${role}`,
        trajectory,
        actions: ['**'],
        scopes: [`role:${role}:**`],
        ...WRITS,
        max_depth: 0,
        nonce: role,
      },
      privateKey,
    );
  return new Map(Object.keys(roles).map((role) => [role, writFor(role)]));
}

type Refusal = Omit<AdvisoryReport, 'id' | 'phase' | 'outcome'>;

/** An advisory on its way. */
interface Case {
  readonly record: Advisory;
  readonly reportedOn: number;
  readonly plan: Plan;
  readonly lastDay: number;
  refused?: Refusal;
}

class Portfolio {
  readonly #trajectory: Trajectory;
  readonly #writs: ReadonlyMap<string, Writ>;
  readonly #cases: readonly Case[];
  readonly #onDay: Map<number, Case[]> = new Map();
  #proposals = 0;
  #committed = 0;
  #done = 0;

  constructor(
    trajectory: Trajectory,
    writs: ReadonlyMap<string, Writ>,
    advisories: readonly Advisory[],
  ) {
    this.#trajectory = trajectory;
    this.#writs = writs;
    const pace = new Pace(DISCLOSURE_SETTINGS);
    this.#cases = advisories.map((record, i) => caseOf(record, pace, Math.floor(i / PER_DAY)));
    for (const one of this.#cases) {
      for (const offset of one.plan.keys()) {
        const day = one.reportedOn + offset;
        this.#onDay.set(day, [...(this.#onDay.get(day) ?? []), one]);
      }
    }
  }

  /** The days on which there is something to do, in order. */
  days(): number[] {
    return [...this.#onDay.keys()].sort((a, b) => a - b);
  }

  /** Advisories that were refused or are done. */
  get done(): number {
    return this.#done;
  }

  /**
   * Proposes the work of all agents for a day in one batch. Rulings have the order of the
   * proposals, and one write records all of them.
   */
  async live(day: number): Promise<void> {
    await Promise.all((this.#onDay.get(day) ?? []).map((one) => this.#goOn(one, day)));
  }

  async #goOn(one: Case, day: number): Promise<void> {
    if (one.refused !== undefined) return;
    const steps = one.plan.get(day - one.reportedOn) ?? [];
    const rulings = await Promise.all(steps.map((step) => this.#propose(step)));
    this.#proposals += rulings.length;
    for (const [i, ruling] of rulings.entries()) {
      if (ruling.ruling === 'committed') this.#committed++;
      else one.refused ??= refusalOf(steps[i] as Step, ruling);
    }
    if (one.refused !== undefined || day === one.lastDay) this.#done++;
  }

  #propose({ action, role, args, observations = [] }: Step): Promise<Ruling> {
    const writ = this.#writs.get(role.name) as Writ;
    return this.#trajectory.propose({ action, role, args, writ, observations: [...observations] });
  }

  report(): Omit<DisclosureReport, 'trajectory_id' | 'results' | keyof JobReport> {
    const days = this.days();
    return {
      advisories: this.#cases.length,
      disclosed: this.#cases.filter((one) => one.refused === undefined).length,
      refused: byCause(this.#cases.flatMap(({ refused }) => refused ?? [])),
      proposals: this.#proposals,
      committed: this.#committed,
      days: days.length === 0 ? 0 : (days.at(-1) as number) + 1,
    };
  }

  results(): AdvisoryReport[] {
    const { queue } = this.#trajectory.state() as unknown as DisclosureState;
    return this.#cases.map(({ record, refused }) => {
      const { organisation, maintainer } = receiverOf(record);
      return {
        id: record.id,
        phase: queue[organisation]?.[maintainer]?.[record.id]?.phase ?? 'none',
        outcome: refused === undefined ? 'disclosed' : 'refused',
        ...refused,
      };
    });
  }
}

function caseOf(record: Advisory, pace: Pace, day: number): Case {
  const { organisation, maintainer } = receiverOf(record);
  const reportedOn = pace.next(`${organisation} ${maintainer}`, day);
  const plan = planOf(record, DISCLOSURE_SETTINGS, (offset) => addDays(START, reportedOn + offset));
  return { record, reportedOn, plan, lastDay: reportedOn + Math.max(...plan.keys()) };
}

function refusalOf({ action }: Step, ruling: Exclude<Ruling, { ruling: 'committed' }>): Refusal {
  if (ruling.ruling !== 'rejected') return { action, reason: ruling.ruling };
  const { reason, detail, invariantId } = ruling;
  return {
    action,
    reason,
    message: detail,
    ...(invariantId === undefined ? {} : { invariant_id: invariantId }),
  };
}
