import {
  Assize,
  type Domain,
  generateKeys,
  issueWrit,
  openStore,
  type Ruling,
  type Store,
  type Trajectory,
  type Writ,
} from 'assize';
import { contentHash } from 'assize/canon';
import { type actions, ROLE_OF } from '../actions.ts';
import { commitmentOf } from '../commitment.ts';
import { type Artifact, type DisclosureState, disclosure, disclosureInitial, type Settings } from '../index.ts';
import { roles } from '../processes.ts';
import { addHours } from '../time.ts';

export type ActionName = keyof typeof actions;
type RoleName = keyof typeof roles;

/** Where a vulnerability belongs; what is not said is the first organisation's kernel maintainer, alone, with one agent. */
export interface Place {
  readonly organisation?: string;
  readonly maintainer?: string;
  readonly agent?: string;
  readonly group?: string;
}

export const START = '2026-01-01T12:00:00.000000Z';
export const SETTINGS: Settings = {
  rate_limit: { reports: 2, hours: 48 },
  embargo: { reply_days: 7, extension_days: 14, regimes: { standard: { days: 90 }, exploited: { days: 7 } } },
};
export const DIGEST: string = contentHash('a report');
export const SALT = 'a salt that nobody guesses';

/** The commitment to an artifact of a vulnerability, and what opens it. */
export function committed(vulnerability: string, artifact: Artifact = 'report') {
  const hash = commitmentOf({ vulnerability, artifact, salt: SALT, digest: DIGEST });
  return { publish: { artifact, hash }, resolve: { hash, salt: SALT, digest: DIGEST }, hash };
}

export interface OfficeOptions {
  readonly settings?: Settings;
  /** Another state to begin with. */
  readonly initial?: DisclosureState;
  /** Another domain of the same state, such as one without some of the rules. */
  readonly domain?: Domain;
}

/** A disclosing organisation on a real runtime over the store in memory, whose clock a test sets. Each role has its own writ. */
export class Office {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly #writs: ReadonlyMap<string, Writ>;
  readonly #clock: { at: string };

  static async open({ settings = SETTINGS, initial, domain = disclosure }: OfficeOptions = {}): Promise<Office> {
    const store = await openStore('memory:');
    const clock = { at: START };
    const { publicKey, privateKey } = generateKeys();
    const writFor = (role: string) =>
      issueWrit(
        {
          issuer: publicKey,
          subject: `agent:${role}`,
          actions: ['**'],
          scopes: [`role:${role}:**`],
          not_before: '2020-01-01T00:00:00.000000Z',
          expires: '2090-01-01T00:00:00.000000Z',
          max_depth: 0,
          nonce: role,
        },
        privateKey,
      );
    const writs = new Map(Object.keys(roles).map((role) => [role, writFor(role)]));
    const assize = new Assize({ store, domains: [domain], anchors: [publicKey], clock: { now: () => clock.at } });
    const trajectory = (await assize.create(domain, {
      initial: initial ?? disclosureInitial(settings),
      writs: [...writs.values()],
    })) as Trajectory;
    return new Office(store, trajectory, writs, clock);
  }

  private constructor(store: Store, trajectory: Trajectory, writs: ReadonlyMap<string, Writ>, clock: { at: string }) {
    this.store = store;
    this.trajectory = trajectory;
    this.#writs = writs;
    this.#clock = clock;
  }

  get now(): string {
    return this.#clock.at;
  }

  later({ days = 0, hours = 0 }: { readonly days?: number; readonly hours?: number }): void {
    this.#clock.at = addHours(this.#clock.at, days * 24 + hours);
  }

  /** Whoever's work an action is proposes it. */
  propose(action: ActionName, vulnerability: string, args: unknown = {}, place: Place = {}): Promise<Ruling> {
    const name: RoleName = ROLE_OF[action];
    const { organisation = 'acme' } = place;
    const agent = `${name === 'CommitmentManagement' ? 'keeper' : 'tracker'}@${organisation}`;
    const all: Readonly<Record<string, string>> = {
      organisation,
      maintainer: 'kernel',
      agent,
      group: vulnerability,
      ...place,
      vulnerability,
    };
    const params = Object.fromEntries(roles[name].params.map((param) => [param, all[param] as string]));
    return this.trajectory.propose({ action, role: { name, params }, args, writ: this.#writs.get(name) as Writ });
  }

  /** Proposes what must be committed for a test to mean anything. */
  async done(action: ActionName, vulnerability: string, args: unknown = {}, place: Place = {}): Promise<void> {
    const ruling = await this.propose(action, vulnerability, args, place);
    if (ruling.ruling !== 'committed') throw new Error(`${action} was not committed: ${JSON.stringify(ruling)}`);
  }

  /** Proposes what must escalate, and a coordinator approves it. */
  async approved(action: ActionName, vulnerability: string, args: unknown = {}, place: Place = {}): Promise<Ruling> {
    const ruling = await this.propose(action, vulnerability, args, place);
    if (ruling.ruling !== 'escalated') throw new Error(`${action} did not escalate: ${JSON.stringify(ruling)}`);
    return this.trajectory.approve(ruling.pending, { principal: 'coordinator:grace', method: 'test' });
  }

  /** Registered, with an agent for its patches and one for its commitments. */
  async registered(vulnerability: string, place: Place = {}): Promise<void> {
    const { organisation = 'acme' } = place;
    await this.done('register_vulnerability', vulnerability, { component: 'parser', severity: 'high' }, place);
    await this.done('assign_agent', vulnerability, { role: 'PatchTracking' }, place);
    const keeper = { agent: `keeper@${organisation}` };
    await this.done('assign_agent', vulnerability, { role: 'CommitmentManagement' }, keeper);
  }

  /** As far as its embargo of 90 days. */
  async embargoed(vulnerability: string, place: Place = {}): Promise<void> {
    await this.registered(vulnerability, place);
    await this.done('submit_report', vulnerability, { digest: DIGEST }, place);
    await this.done('acknowledge_report', vulnerability, { reference: 'ticket 1' }, place);
    await this.done('begin_embargo', vulnerability, { regime: 'standard' }, place);
  }

  /** A patch, reviewed and released. */
  async fixed(vulnerability: string, place: Place = {}): Promise<void> {
    await this.done('observe_patch', vulnerability, { kind: 'commit', reference: 'https://acme/fix' }, place);
    await this.done('review_patch', vulnerability, { robust: true, note: 'closes it' }, place);
    await this.done('observe_release', vulnerability, { kind: 'release', reference: 'acme 1.2' }, place);
  }

  /** In its group, and ready with a record that lacks nothing. */
  async ready(vulnerability: string, place: Place = {}, record: object = {}): Promise<void> {
    await this.done('join_group', vulnerability, { planned_at: START }, place);
    await this.done('assert_readiness', vulnerability, { ...RECORD, ...record }, place);
  }

  get state(): DisclosureState {
    return this.trajectory.state() as unknown as DisclosureState;
  }
}

/** A record that lacks nothing, of a vulnerability with no identifiers. */
export const RECORD = { patch_link: 'https://acme/fix', cves: [], attribution: ['Ann'] };
