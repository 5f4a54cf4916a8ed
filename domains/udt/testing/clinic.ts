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
import { type UdtActions, type UdtState, udt } from '../index.ts';

type RoleName = 'LabOrder' | 'Billing' | 'Clinical';

const ROLE_OF: { readonly [Name in keyof UdtActions]: RoleName } = {
  enroll: 'Clinical',
  order_test: 'LabOrder',
  collect_sample: 'Clinical',
  record_result: 'Clinical',
  track_tier: 'Clinical',
  submit_claim: 'Billing',
  respond_to_relapse: 'Clinical',
  set_aside_positive: 'Clinical',
};

export interface ClinicOptions {
  readonly initial?: UdtState;
  /** Another domain of the same state, such as one whose rules are watched. */
  readonly domain?: Domain;
}

/**
 * A clinic on a real runtime over the store in memory, whose clock a test sets by day. Each action is proposed by the
 * agent whose work it is, under a writ for that role alone.
 */
export class Clinic {
  readonly store: Store;
  readonly trajectory: Trajectory;
  readonly #writs: Readonly<Record<RoleName, Writ>>;
  readonly #clock: { at: string };

  static async open({ initial, domain = udt }: ClinicOptions = {}): Promise<Clinic> {
    const store = await openStore('memory:');
    const clock = { at: instantOf('2025-12-01') };
    const { publicKey, privateKey } = generateKeys();
    const writOf = (role: RoleName, subject: string) =>
      issueWrit(
        {
          issuer: publicKey,
          subject,
          actions: (Object.keys(ROLE_OF) as (keyof UdtActions)[]).filter((name) => ROLE_OF[name] === role),
          scopes: [`role:${role}:*`],
          not_before: instantOf('2020-01-01'),
          expires: instantOf('2040-01-01'),
          max_depth: 0,
          nonce: role,
        },
        privateKey,
      );
    const writs = {
      LabOrder: writOf('LabOrder', 'agent:lab'),
      Billing: writOf('Billing', 'agent:billing'),
      Clinical: writOf('Clinical', 'agent:clinical'),
    };
    const assize = new Assize({ store, domains: [domain], anchors: [publicKey], clock: { now: () => clock.at } });
    const trajectory = await assize.create(domain, {
      writs: Object.values(writs),
      ...(initial === undefined ? {} : { initial }),
    });
    return new Clinic(store, trajectory, writs, clock);
  }

  private constructor(store: Store, trajectory: Trajectory, writs: Record<RoleName, Writ>, clock: { at: string }) {
    this.store = store;
    this.trajectory = trajectory;
    this.#writs = writs;
    this.#clock = clock;
  }

  /** From here on it is that day. */
  on(day: string): void {
    this.#clock.at = instantOf(day);
  }

  propose<Name extends keyof UdtActions>(action: Name, patient: string, args: UdtActions[Name]): Promise<Ruling> {
    const role = ROLE_OF[action];
    return this.trajectory.propose({
      action,
      role: { name: role, params: { patient } },
      args,
      writ: this.#writs[role],
    });
  }

  /** Proposes what must be committed for a test to mean anything. */
  async done<Name extends keyof UdtActions>(action: Name, patient: string, args: UdtActions[Name]): Promise<void> {
    const ruling = await this.propose(action, patient, args);
    if (ruling.ruling !== 'committed') throw new Error(`${action} was not committed: ${JSON.stringify(ruling)}`);
  }

  /** A test that is ordered and collected on one day, with its result if there is one yet. */
  async sample(patient: string, test: string, { type, day, result, confirms }: SampleOptions): Promise<void> {
    this.on(day);
    await this.done('order_test', patient, {
      order: test,
      type,
      rationale: 'monitoring',
      ...(confirms === undefined ? {} : { confirms }),
    });
    await this.done('collect_sample', patient, { test, collected_at: day });
    if (result !== undefined) await this.done('record_result', patient, { test, result });
  }

  get state(): UdtState {
    return this.trajectory.state() as unknown as UdtState;
  }
}

export interface SampleOptions {
  readonly type: 'presumptive' | 'definitive';
  readonly day: string;
  readonly result?: 'positive' | 'negative';
  readonly confirms?: string;
}

/** Nine in the morning in Arizona. */
function instantOf(day: string): string {
  return `${day}T16:00:00.000000Z`;
}
