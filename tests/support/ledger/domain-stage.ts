import {
  Assize,
  type Domain,
  generateKeys,
  issueWrit,
  openStore,
  type ProposalInput,
  type Ruling,
  type Store,
  type Trajectory,
  type Writ,
} from 'assize';
import type { Json } from '#base';
import { addMicros, type Instant } from '#canon';

const START = '2026-01-01T09:00:00.000000Z';
const MICROS_A_DAY = 86_400_000_000;

/** Nine o'clock, so many days after a stage was opened. */
export function dayAt(day: number): string {
  return addMicros(START, day * MICROS_A_DAY);
}

const WRITS = { not_before: '2020-01-01T00:00:00.000000Z', expires: '2090-01-01T00:00:00.000000Z' };

/** The role that performs an action, and its parameters. */
export interface Whose {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * A domain on a real runtime over the store in memory, with a clock that a test sets. The agent of
 * the action's role proposes it, under a writ for that role alone.
 */
export class Stage {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly #writs: ReadonlyMap<string, Writ>;
  readonly #clock: { at: string };

  /** Without `initial`, the domain's own state. `at` is the first time of the clock. */
  static async open(domain: Domain, initial?: unknown, at: Instant = START): Promise<Stage> {
    const store = await openStore('memory:');
    const clock = { at };
    const { publicKey, privateKey } = generateKeys();
    const writOf = (role: string): Writ =>
      issueWrit(
        {
          issuer: publicKey,
          subject: `agent:${role.toLowerCase()}`,
          actions: ['**'],
          scopes: [`role:${role}:**`],
          ...WRITS,
          max_depth: 0,
          nonce: role,
        },
        privateKey,
      );
    const writs = new Map(Object.keys(domain.roles).map((role) => [role, writOf(role)]));
    const assize = new Assize({
      store,
      domains: [domain],
      anchors: [publicKey],
      // A test may be years ahead of the clock of its store.
      maxClockAheadMs: 'unlimited',
      ports: { clock: { now: () => clock.at } },
    });
    const trajectory = await assize.create(domain, {
      writs: [...writs.values()],
      ...(initial === undefined ? {} : { initial }),
    });
    return new Stage(store, trajectory, writs, clock);
  }

  private constructor(
    store: Store,
    trajectory: Trajectory,
    writs: ReadonlyMap<string, Writ>,
    clock: { at: string },
  ) {
    this.store = store;
    this.trajectory = trajectory;
    this.#writs = writs;
    this.#clock = clock;
  }

  get now(): Instant {
    return this.#clock.at;
  }

  /** From here on it is then. */
  at(now: Instant): void {
    this.#clock.at = now;
  }

  /** From here on it is that day, at nine; the first is day 0. */
  on(day: number): void {
    this.at(dayAt(day));
  }

  propose(action: string, role: Whose, args: unknown): Promise<Ruling> {
    const writ = this.#writs.get(role.name) as ProposalInput['writ'];
    return this.trajectory.propose({ action, role, args: args as Json, writ });
  }

  /** Proposes what must be committed for a test to mean anything. */
  async done(action: string, role: Whose, args: unknown): Promise<void> {
    const ruling = await this.propose(action, role, args);
    if (ruling.ruling !== 'committed')
      throw new Error(`${action} was not committed: ${JSON.stringify(ruling)}`);
  }

  /** Proposes an action that must escalate, and then approves it. */
  async approved(action: string, role: Whose, args: unknown, principal: string): Promise<Ruling> {
    const ruling = await this.propose(action, role, args);
    if (ruling.ruling !== 'escalated')
      throw new Error(`${action} does not wait: ${JSON.stringify(ruling)}`);
    return this.trajectory.approvals.approve(ruling.pending, { principal, method: 'test' });
  }
}

/**
 * A stage in a domain's own words: actions with their arguments, and role parameters that differ
 * from the usual ones.
 */
export abstract class Cast<Actions extends object, State, Whom extends object> {
  readonly stage: Stage;

  protected constructor(stage: Stage) {
    this.stage = stage;
  }

  protected abstract roleOf(action: keyof Actions, whom: Partial<Whom>): Whose;

  propose<Name extends keyof Actions & string>(
    action: Name,
    args: Actions[Name],
    whom: Partial<Whom> = {},
  ): Promise<Ruling> {
    return this.stage.propose(action, this.roleOf(action, whom), args);
  }

  /** Proposes what must be committed for a test to mean anything. */
  done<Name extends keyof Actions & string>(
    action: Name,
    args: Actions[Name],
    whom: Partial<Whom> = {},
  ): Promise<void> {
    return this.stage.done(action, this.roleOf(action, whom), args);
  }

  /** Proposes an action that must escalate, and then approves it. */
  approved<Name extends keyof Actions & string>(
    action: Name,
    args: Actions[Name],
    principal: string,
    whom: Partial<Whom> = {},
  ): Promise<Ruling> {
    return this.stage.approved(action, this.roleOf(action, whom), args, principal);
  }

  on(day: number): void {
    this.stage.on(day);
  }

  get state(): State {
    return this.stage.trajectory.state() as unknown as State;
  }
}

/** The role that performs the process of an action, with those of its parameters. */
export function whose(
  domain: Domain,
  action: string,
  params: Readonly<Record<string, string>>,
): Whose {
  const process = (domain.actions as Record<string, { process: string }>)[action]?.process ?? '';
  const [name, role] =
    Object.entries(domain.roles).find(([, { processes }]) => processes.includes(process)) ?? [];
  if (name === undefined) throw new Error(`${action} is nobody's work`);
  return {
    name,
    params: Object.fromEntries((role?.params ?? []).map((param) => [param, params[param] ?? ''])),
  };
}
