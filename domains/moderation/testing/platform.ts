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
import type { Json } from 'assize/canon';
import { type Kind, type ModerationActions, type ModerationState, moderation, moderationInitial } from '../index.ts';
import type { Account } from '../schema.ts';
import { daysAfter } from '../time.ts';

type RoleName = keyof typeof moderation.roles;

const START = '2026-01-01T09:00:00.000000Z';

export interface Whom {
  readonly account?: string;
  readonly case?: string;
  readonly officer?: string;
}

/**
 * A platform on a real runtime over the store in memory, whose clock a test sets by day. Each action is proposed by the agent
 * whose work it is, under a writ for that role alone.
 */
export class Platform {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly #writs: ReadonlyMap<string, Writ>;
  readonly #clock: { at: string };

  static async open(domain: Domain = moderation, initial: ModerationState = moderationInitial()): Promise<Platform> {
    const store = await openStore('memory:');
    const clock = { at: START };
    const { publicKey, privateKey } = generateKeys();
    const writs = new Map(
      Object.keys(domain.roles).map((role) => [
        role,
        issueWrit(
          {
            issuer: publicKey,
            subject: `agent:${role.toLowerCase()}`,
            actions: ['**'],
            scopes: [`role:${role}:**`],
            not_before: START,
            expires: daysAfter(START, 3_000),
            max_depth: 0,
            nonce: role,
          },
          privateKey,
        ),
      ]),
    );
    const assize = new Assize({ store, domains: [domain], anchors: [publicKey], clock: { now: () => clock.at } });
    const trajectory = await assize.create(domain, { writs: [...writs.values()], initial });
    return new Platform(store, trajectory, writs, clock);
  }

  private constructor(store: Store, trajectory: Trajectory, writs: ReadonlyMap<string, Writ>, clock: { at: string }) {
    this.store = store;
    this.trajectory = trajectory;
    this.#writs = writs;
    this.#clock = clock;
  }

  /** From here on it is that day, at nine; the first is day 0. */
  on(day: number): void {
    this.#clock.at = dayAt(day);
  }

  propose<Name extends keyof ModerationActions>(
    action: Name,
    args: ModerationActions[Name],
    whom: Whom = {},
  ): Promise<Ruling> {
    const role = roleOf(action, whom);
    const writ = this.#writs.get(role.name) as Writ;
    return this.trajectory.propose({ action, role, args: args as Json, writ });
  }

  /** Proposes what must be committed for a test to mean anything. */
  async done<Name extends keyof ModerationActions>(action: Name, args: ModerationActions[Name], whom: Whom = {}) {
    const ruling = await this.propose(action, args, whom);
    if (ruling.ruling !== 'committed') throw new Error(`${action} was not committed: ${JSON.stringify(ruling)}`);
  }

  /** Proposes what must wait for a person, who then approves it. */
  async approved<Name extends keyof ModerationActions>(
    action: Name,
    args: ModerationActions[Name],
    principal: string,
    whom: Whom = {},
  ) {
    const ruling = await this.propose(action, args, whom);
    if (ruling.ruling !== 'escalated') throw new Error(`${action} does not wait: ${JSON.stringify(ruling)}`);
    await this.trajectory.approve(ruling.pending, { principal, method: 'test' });
  }

  /** A case of its own content that was found to break the policy. */
  async violating(of: string, whom: Whom = {}): Promise<void> {
    await this.done(
      'receive_report',
      { report: `r-${of}`, content: `post-${of}`, clause: 'spam', reporter: 'rita' },
      whom,
    );
    await this.done('triage', { report: `r-${of}`, case: of }, whom);
    await this.done('assess', { violates: true, rationale: 'it is' }, { ...whom, case: of });
  }

  /** The same, with its strike. */
  async struck(of: string, whom: Whom = {}): Promise<void> {
    await this.violating(of, whom);
    await this.done('issue_strike', { strike: `s-${of}` }, { ...whom, case: of });
  }

  /** The same, answered and told. */
  async answered(of: string, kind: Kind, whom: Whom = {}): Promise<void> {
    await this.struck(of, whom);
    if (kind === 'ban') await this.approved('take_action', { case: of, strike: `s-${of}`, kind }, 'mod:mona', whom);
    else await this.done('take_action', { case: of, strike: `s-${of}`, kind }, whom);
    await this.done('notify', { case: of, text: 'you may appeal' }, whom);
  }

  account(name = 'ana'): Account {
    const account = this.state.accounts[name];
    if (account === undefined) throw new Error(`there is no record of ${name}`);
    return account;
  }

  get state(): ModerationState {
    return this.trajectory.state() as unknown as ModerationState;
  }
}

/** The role whose work an action is. */
export function roleOf(
  action: keyof ModerationActions,
  { account = 'ana', case: of = 'c1', officer = 'otto' }: Whom = {},
) {
  const process = (moderation.actions as Record<string, { process: string }>)[action]?.process as string;
  const name = Object.keys(moderation.roles).find((role) =>
    moderation.roles[role]?.processes.includes(process),
  ) as RoleName & string;
  const known: Record<string, string> = { account, case: of, officer };
  const params = Object.fromEntries(
    (moderation.roles[name]?.params ?? []).map((param) => [param, known[param] as string]),
  );
  return { name, params };
}

export function dayAt(day: number): string {
  return daysAfter(START, day);
}
