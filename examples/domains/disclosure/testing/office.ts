import type { Domain, Ruling, Trajectory } from 'assize';
import { contentHash } from 'assize/internal/canon';
import { Stage, type Whose, whose } from '../../../../tests/support/ledger/domain-stage.ts';
import { type actions, ROLE_OF } from '../actions.ts';
import { commitmentOf } from '../commitment.ts';
import {
  type Artifact,
  type DisclosureState,
  disclosure,
  disclosureInitial,
  type Settings,
} from '../index.ts';
import { addHours } from '../time.ts';

export type ActionName = keyof typeof actions;

/**
 * The place of a vulnerability. Default: the first organisation's kernel maintainer, alone, with
 * one agent.
 */
export interface Place {
  readonly organisation?: string;
  readonly maintainer?: string;
  readonly agent?: string;
  readonly group?: string;
}

export const START = '2026-01-01T12:00:00.000000Z';
export const SETTINGS: Settings = {
  rate_limit: { reports: 2, hours: 48 },
  embargo: {
    reply_days: 7,
    extension_days: 14,
    regimes: { standard: { days: 90 }, exploited: { days: 7 } },
  },
};
export const DIGEST: string = contentHash('a report');
export const SALT = 'a salt that nobody guesses';

/** The commitment to an artifact of a vulnerability, and its opening. */
export function committed(vulnerability: string, artifact: Artifact = 'report') {
  const hash = commitmentOf({ vulnerability, artifact, salt: SALT, digest: DIGEST });
  return { publish: { artifact, hash }, resolve: { hash, salt: SALT, digest: DIGEST }, hash };
}

export interface OfficeOptions {
  readonly settings?: Settings;
  /** Another initial state. */
  readonly initial?: DisclosureState;
  /** Another domain of the same state, such as one without some of the rules. */
  readonly domain?: Domain;
}

/**
 * A disclosing organisation on a real runtime. Tests set its clock. The role of an action proposes
 * it.
 */
export class Office {
  readonly #stage: Stage;

  static async open({
    settings = SETTINGS,
    initial,
    domain = disclosure,
  }: OfficeOptions = {}): Promise<Office> {
    return new Office(await Stage.open(domain, initial ?? disclosureInitial(settings), START));
  }

  private constructor(stage: Stage) {
    this.#stage = stage;
  }

  get trajectory(): Trajectory {
    return this.#stage.trajectory;
  }

  get now(): string {
    return this.#stage.now;
  }

  later({ days = 0, hours = 0 }: { readonly days?: number; readonly hours?: number }): void {
    this.#stage.at(addHours(this.now, days * 24 + hours));
  }

  propose(
    action: ActionName,
    vulnerability: string,
    args: unknown = {},
    place: Place = {},
  ): Promise<Ruling> {
    return this.#stage.propose(action, roleOf(action, vulnerability, place), args);
  }

  /** Proposes an action that must be committed for the test to be valid. */
  done(
    action: ActionName,
    vulnerability: string,
    args: unknown = {},
    place: Place = {},
  ): Promise<void> {
    return this.#stage.done(action, roleOf(action, vulnerability, place), args);
  }

  /** Proposes an action that must escalate, and a coordinator approves it. */
  approved(
    action: ActionName,
    vulnerability: string,
    args: unknown = {},
    place: Place = {},
  ): Promise<Ruling> {
    return this.#stage.approved(
      action,
      roleOf(action, vulnerability, place),
      args,
      'coordinator:grace',
    );
  }

  /** Registered, with an agent for its patches and one for its commitments. */
  async registered(vulnerability: string, place: Place = {}): Promise<void> {
    const { organisation = 'acme' } = place;
    await this.done(
      'register_vulnerability',
      vulnerability,
      { component: 'parser', severity: 'high' },
      place,
    );
    await this.done('assign_agent', vulnerability, { role: 'PatchTracking' }, place);
    const keeper = { agent: `keeper@${organisation}` };
    await this.done('assign_agent', vulnerability, { role: 'CommitmentManagement' }, keeper);
  }

  /** Up to its embargo of 90 days. */
  async embargoed(vulnerability: string, place: Place = {}): Promise<void> {
    await this.registered(vulnerability, place);
    await this.done('submit_report', vulnerability, { digest: DIGEST }, place);
    await this.done('acknowledge_report', vulnerability, { reference: 'ticket 1' }, place);
    await this.done('begin_embargo', vulnerability, { regime: 'standard' }, place);
  }

  /** A patch, reviewed and released. */
  async fixed(vulnerability: string, place: Place = {}): Promise<void> {
    await this.done(
      'observe_patch',
      vulnerability,
      { kind: 'commit', reference: 'https://acme/fix' },
      place,
    );
    await this.done('review_patch', vulnerability, { robust: true, note: 'closes it' }, place);
    await this.done(
      'observe_release',
      vulnerability,
      { kind: 'release', reference: 'acme 1.2' },
      place,
    );
  }

  /** In its group, and ready with a complete record. */
  async ready(vulnerability: string, place: Place = {}, record: object = {}): Promise<void> {
    await this.done('join_group', vulnerability, { planned_at: START }, place);
    await this.done('assert_readiness', vulnerability, { ...RECORD, ...record }, place);
  }

  get state(): DisclosureState {
    return this.trajectory.state() as unknown as DisclosureState;
  }
}

/** A complete record of a vulnerability without identifiers. */
export const RECORD = { patch_link: 'https://acme/fix', cves: [], attribution: ['Ann'] };

function roleOf(action: ActionName, vulnerability: string, place: Place): Whose {
  const { organisation = 'acme' } = place;
  const agent = `${ROLE_OF[action] === 'CommitmentManagement' ? 'keeper' : 'tracker'}@${organisation}`;
  const usual = { organisation, maintainer: 'kernel', agent, group: vulnerability };
  return whose(disclosure, action, { ...usual, ...place, vulnerability });
}
