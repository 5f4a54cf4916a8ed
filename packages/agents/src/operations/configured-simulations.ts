import { ServerError } from '@assize/command/operation';
import type { Policy } from 'assize/internal/authority';
import { isAssizeError, unlessAborted } from 'assize/internal/base';
import type { GrantIssuer, ResolvedConfig, ResolvedSimulation } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import type { DomainRef } from 'assize/internal/ledger';
import type { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { badSimulation, configuredVariants, type Simulation, simulate } from '#agents';

export interface SimulationsOptions {
  readonly config: ResolvedConfig;
  readonly store: Store;
  readonly assize: Assize;
  /** The domain that runs a recorded version. @throws RuntimeError `domain_mismatch` */
  readonly domainToRun: (recorded: DomainRef) => Domain;
  readonly policy: Policy | undefined;
  /** The trusted root keys. */
  readonly anchors: readonly string[];
  readonly grants: GrantIssuer;
  /** Receives the errors of the project's code, whose texts no answer has. */
  readonly onFailure: (error: unknown) => void;
}

/** The terms of one simulation. The bounds of the config were checked. */
export interface SimulationTerms {
  readonly trajectoryId: string;
  /** The seq of the last shared entry. */
  readonly at: number;
  readonly samples: number;
  readonly turns: number;
  readonly seed?: string | undefined;
}

/** A longer trajectory is read by `assize lab simulate`, in a process of its own. */
export const SIMULATED_ENTRIES_MAX = 20_000;

/**
 * The simulations of the configuration, over the store of the server. Each runs in memory, within a
 * time, and a few concurrently. The store is only read, and no function of a tool that acts is
 * called.
 */
export class Simulations {
  readonly #options: SimulationsOptions;
  readonly #slots: Slots;

  constructor(options: SimulationsOptions) {
    this.#options = options;
    this.#slots = new Slots(options.config.server.limits.simulations);
  }

  /** The number in progress. */
  get running(): number {
    return this.#slots.used;
  }

  /** @throws ServerError `not_found` for a simulation that is not configured */
  named(name: string): ResolvedSimulation {
    const found = this.#options.config.simulations.get(name);
    if (found !== undefined) return found;
    throw new ServerError(
      'not_found',
      `The configuration has no simulation ${name}. List them with GET /v1/simulations.`,
    );
  }

  /**
   * @throws ServerError `too_busy`, `simulation_late`, `too_large`, `not_found`; ConfigError
   * `bad_simulation`; RuntimeError `not_found`, `domain_mismatch`; the errors of `simulate`; the
   * reason of the signal
   */
  async run(name: string, terms: SimulationTerms, signal: AbortSignal): Promise<Simulation> {
    const simulation = this.named(name);
    const leave = this.#slots.enter();
    const late = AbortSignal.timeout(simulation.limits.seconds * 1_000);
    try {
      const either = AbortSignal.any([signal, late]);
      return await unlessAborted(this.#simulated(name, simulation, terms, either), either);
    } catch (error) {
      if (late.aborted && !signal.aborted && error === late.reason)
        throw lateness(name, simulation);
      if (isAssizeError(error, 'bad_simulation')) this.#options.onFailure(error.cause ?? error);
      throw error;
    } finally {
      leave();
    }
  }

  async #simulated(
    name: string,
    simulation: ResolvedSimulation,
    { trajectoryId, at, samples, turns, seed }: SimulationTerms,
    signal: AbortSignal,
  ): Promise<Simulation> {
    const { store, policy, anchors, config, grants } = this.#options;
    const domain = await this.#domainAt(name, simulation, trajectoryId, at);
    const writs = await grants.allForCopy(trajectoryId);
    const variants = await configuredVariants(name, simulation, { domain, writs, signal });
    const done = await simulate(
      { store, oracleStore: store, trajectoryId },
      {
        ...{
          domain,
          anchors,
          at,
          samples,
          variants,
          signal,
          tools: config.tools,
          limits: { turns },
        },
        ...(simulation.simulators && { simulators: simulation.simulators }),
        ...(policy && { policy }),
        ...(seed !== undefined && { seed }),
      },
    ).catch((error: unknown) => {
      // The request is valid, so the configuration is not.
      const isOfConfig = isAssizeError(error, 'bad_argument');
      throw isOfConfig ? badSimulation(name, withoutStop(error.message), error) : error;
    });
    return this.#withoutTexts(name, done);
  }

  /** @throws ServerError `not_found`, `too_large`; RuntimeError `domain_mismatch` */
  async #domainAt(
    name: string,
    { domain }: ResolvedSimulation,
    trajectoryId: string,
    at: number,
  ): Promise<Domain> {
    const { store, assize, domainToRun } = this.#options;
    const head = await store.head(trajectoryId);
    if (head === undefined)
      throw new ServerError(
        'not_found',
        `There is no trajectory ${trajectoryId}. List them with GET /v1/trajectories.`,
      );
    if (head.seq >= SIMULATED_ENTRIES_MAX)
      throw new ServerError(
        'too_large',
        `${trajectoryId} has more than ${SIMULATED_ENTRIES_MAX} entries. Use assize lab simulate --simulation ${name}.`,
      );
    const [row] = await store.entries(trajectoryId, { from: at, limit: 1 });
    if (row === undefined)
      throw new ServerError(
        'not_found',
        `${trajectoryId} has no entry ${at}. Its last entry is ${head.seq}.`,
      );
    const found = domainToRun(await assize.domainAt(row));
    if (found.name === domain) return found;
    throw new ServerError(
      'not_found',
      `The simulation ${name} is for the domain ${domain}, and ${trajectoryId} has ${found.name}. Choose another one.`,
    );
  }

  /**
   * The same without the texts of errors that agents, models and simulators threw: they can quote
   * a secret. The log of the server gets the first one of each variant.
   */
  #withoutTexts(name: string, simulation: Simulation): Simulation {
    for (const { name: variant, samples } of simulation.variants) {
      const detail = samples.find(({ outcome }) => outcome === 'failed')?.fault?.detail;
      if (detail !== undefined)
        this.#options.onFailure(
          new Error(`The variant ${variant} of the simulation ${name} failed: ${detail}`),
        );
    }
    return {
      ...simulation,
      variants: simulation.variants.map((variant) => ({
        ...variant,
        samples: variant.samples.map((sample) =>
          sample.outcome === 'failed' && sample.fault !== undefined
            ? { ...sample, fault: { ...sample.fault, detail: IN_LOG } }
            : sample,
        ),
      })),
    };
  }
}

const IN_LOG = 'The log of the server has the error.';

function lateness(name: string, { limits: { seconds } }: ResolvedSimulation): ServerError {
  return new ServerError(
    'simulation_late',
    `The simulation ${name} took longer than ${seconds} s. Ask for fewer samples or turns, or raise its limits.seconds.`,
  );
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, '');
}

const RETRY_SECONDS = 5;

/** A limited number of concurrent works. A further one is refused: its caller can ask again. */
class Slots {
  readonly #limit: number;
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * Takes a slot, and returns the function that frees it, once.
   *
   * @throws ServerError `too_busy`
   */
  enter(): () => void {
    if (this.#used >= this.#limit)
      throw new ServerError(
        'too_busy',
        `The server already has ${this.#limit} simulations in progress, the most allowed. Wait ${RETRY_SECONDS} s, and repeat the request.`,
        { evidence: { retry_after: RETRY_SECONDS }, retryable: true },
      );
    this.#used += 1;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#used -= 1;
    };
  }
}
