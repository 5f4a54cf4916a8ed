import type { Domain, Ruling, Store, Trajectory } from 'assize';
import { Stage, whose } from '../../../../../tests/support/ledger/domain-stage.ts';
import { type UdtActions, type UdtState, udt } from '../../../src/domains/udt/index.ts';

export interface ClinicOptions {
  readonly initial?: UdtState;
  /** Another domain of the same state, such as one with observed rules. */
  readonly domain?: Domain;
}

/** A clinic on a real runtime. Tests set its clock by day. */
export class Clinic {
  readonly #stage: Stage;

  static async open({ initial, domain = udt }: ClinicOptions = {}): Promise<Clinic> {
    return new Clinic(await Stage.open(domain, initial, instantOf('2025-12-01')));
  }

  private constructor(stage: Stage) {
    this.#stage = stage;
  }

  get store(): Store {
    return this.#stage.store;
  }

  get trajectory(): Trajectory {
    return this.#stage.trajectory;
  }

  /** Sets the clock to that day. */
  on(day: string): void {
    this.#stage.at(instantOf(day));
  }

  propose<Name extends keyof UdtActions>(
    action: Name,
    patient: string,
    args: UdtActions[Name],
  ): Promise<Ruling> {
    return this.#stage.propose(action, whose(udt, action, { patient }), args);
  }

  /** Proposes an action that must be committed for the test to be valid. */
  done<Name extends keyof UdtActions>(
    action: Name,
    patient: string,
    args: UdtActions[Name],
  ): Promise<void> {
    return this.#stage.done(action, whose(udt, action, { patient }), args);
  }

  /** A test that is ordered and collected on one day, with its result if there is one yet. */
  async sample(
    patient: string,
    test: string,
    { type, day, result, confirms }: SampleOptions,
  ): Promise<void> {
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
