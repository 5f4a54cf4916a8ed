import {
  isAssizeError,
  isInstance,
  isRecord,
  type Json,
  thrownText,
  unlessAborted,
} from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { type Domain, offersSameActions } from 'assize/internal/kernel';
import {
  difference,
  type Entry,
  LedgerFault,
  type PendingPayload,
  readRow,
  ValueReader,
} from 'assize/internal/ledger';
import {
  type OracleCall,
  type OracleRow,
  type OracleStore,
  type Random,
  seededRandom,
  turnKey,
} from 'assize/internal/oracle';
import type { Trajectory } from 'assize/internal/runtime';
import { StoreError } from 'assize/internal/stores';
import { AgentError } from '../errors.ts';
import { type RecordedEntry, recordedEntries } from '../recorded-rows.ts';
import { type OpenPending, type RunReport, runFrom } from '../run.ts';
import type { Turn } from '../turn.ts';
import { branchOracle } from './branch-oracle.ts';
import { copyRuntime } from './copy-runtime.ts';
import type { CheckedOptions, Variant } from './options.ts';
import { counselOf } from './people.ts';
import { type Production, rowsOf, stepsIn } from './production.ts';
import { proposalKey } from './recorded-counsel.ts';
import {
  type SampleFault,
  type SampleOutcome,
  type SampleResult,
  spentBy,
} from './sample-result.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { SimulationStore } from './simulation-store.ts';
import { type CallFault, StandIns } from './stand-ins.ts';
import { partingOf } from './steps.ts';

/** One continuation of the copy by the agents of a variant. */
export class Sample {
  readonly #production: Production;
  readonly #options: CheckedOptions;
  readonly #variant: Variant;
  readonly #number: number;
  readonly #store: SimulationStore;
  readonly #clock: SimulatedClock;
  readonly #random: Random;
  readonly #stop: AbortController = new AbortController();
  readonly #standIns: StandIns;
  readonly #branch: ReturnType<typeof branchOracle>;
  #trajectory!: Trajectory;
  /** The first call without an answer, with the branch as it was then. The sample ends there. */
  #cut: { readonly fault: CallFault; readonly length: number; readonly state: Json } | undefined;

  constructor(
    production: Production,
    options: CheckedOptions,
    variant: Variant,
    number: number,
    answers: OracleStore,
  ) {
    const { source, sharedEntries, entries } = production;
    this.#production = production;
    this.#options = options;
    this.#variant = variant;
    this.#number = number;
    this.#store = new SimulationStore(
      source,
      entries.slice(0, sharedEntries).map(({ entry }) => entry),
    );
    const { entry: at } = entries[sharedEntries - 1] as RecordedEntry;
    this.#store.seek({ at: at.payload.at, id: at.id });
    this.#clock = new SimulatedClock(at.payload.at);
    this.#random = this.#chance('run');
    this.#standIns = new StandIns({
      recorded: production.calls,
      simulators: options.simulators,
      state: () => this.#trajectory.state(),
      random: (name) => this.#chance(`call ${name}`),
      onFault: (fault) => this.#end(fault),
    });
    const isFresh = variant.fresh === true;
    this.#branch = branchOracle({
      ...{ log: this.#store, clock: this.#clock, answers },
      recordedForm: recordedFormOf(options.domain, variant.domain ?? options.domain),
      record: isFresh ? undefined : source.oracleStore,
      part: hashText(
        JSON.stringify(['assize/simulate', at.id, number, isFresh ? variant.name : null]),
      ),
    });
  }

  /** @throws AgentError `bad_argument`; LedgerFault, StoreError; the signal's reason */
  async run(): Promise<SampleResult> {
    await this.#store.begin(await rowsOf(this.#production.source, this.#production.sharedEntries));
    await this.#copyTurns();
    const { domain = this.#options.domain } = this.#variant;
    const assize = await copyRuntime({
      ...{ production: this.#production, options: this.#options, variant: this.#variant },
      ...{ store: this.#store, clock: this.#clock, standIns: this.#standIns },
      chance: (name) => this.#chance(name),
    });
    try {
      this.#trajectory = await assize.open(this.#production.source.trajectoryId, domain);
      return await this.#result(await this.#outcome());
    } finally {
      await assize.close({ recover: false });
    }
  }

  /** Copies the shared turns of the record, with their answers. */
  async #copyTurns(): Promise<void> {
    const { source, sharedTurns } = this.#production;
    for (let turn = 0; turn < sharedTurns; turn++) {
      const row = await source.oracleStore.oracleGet(turnKey(source.trajectoryId, turn));
      await this.#store.oraclePut(row as OracleRow);
    }
  }

  // ── the run ──

  async #outcome(): Promise<{ readonly outcome: SampleOutcome; readonly fault?: SampleFault }> {
    let ended: RunReport['ended'];
    try {
      ended = await unlessAborted(this.#turns(), this.#options.signal);
    } catch (error) {
      this.#options.signal?.throwIfAborted();
      if (isInstance(error, LedgerFault) || isInstance(error, StoreError)) throw error;
      if (this.#cut === undefined) return { outcome: 'failed', fault: faultOf(error) };
      ended = 'aborted';
    }
    if (this.#cut !== undefined) {
      const { kind, tool, input, detail } = this.#cut.fault;
      return {
        outcome: kind,
        fault: { code: kind === 'failed' ? 'simulator_failed' : kind, detail, tool, input },
      };
    }
    this.#options.signal?.throwIfAborted();
    return { outcome: OUTCOMES[ended] };
  }

  /** Runs the agents, and moves the clock on while they wait for a time. */
  async #turns(): Promise<RunReport['ended']> {
    const { turns: most, waits } = this.#options.limits;
    const { sharedTurns } = this.#production;
    let done = sharedTurns;
    for (let waited = 0; ; waited++) {
      const report = await this.#runOn(most - (done - sharedTurns));
      done = report.turns;
      if (report.ended !== 'waiting' || report.wakeAt === undefined) return report.ended;
      if (waited === waits) return 'turns';
      this.#clock.moveTo(report.wakeAt);
    }
  }

  #runOn(maxTurns: number): Promise<RunReport> {
    const { people = 'as_recorded', agents, arbiter, concurrent } = this.#variant;
    const { signal } = this.#options;
    const counsel = counselOf(people, this.#production.counsel, (open) => this.#keyOf(open));
    return runFrom(
      this.#trajectory,
      agents,
      {
        ...{ oracle: this.#branch.oracle, clock: this.#clock, random: this.#random, maxTurns },
        ...(counsel !== undefined && { counsel }),
        ...(arbiter !== undefined && { arbiter }),
        ...(concurrent !== undefined && { concurrent }),
        signal: AbortSignal.any([this.#stop.signal, ...(signal === undefined ? [] : [signal])]),
      },
      { placeOf: (turn) => this.#placeOf(turn), frozenBy: this.#production.frozenBy },
    );
  }

  /** A turn has the time and the chance of the recorded turn of its number, if there is one. */
  #placeOf(turn: number): Pick<Turn, 'at' | 'seed'> {
    const recorded = this.#production.turns[turn]?.turn;
    if (recorded === undefined) this.#clock.step();
    else this.#clock.moveTo(recorded.at);
    const seed =
      recorded?.seed ?? Buffer.from(this.#chance(`turn ${turn}`).bytes(32)).toString('hex');
    return { at: this.#clock.now(), seed };
  }

  async #keyOf({ id }: OpenPending): Promise<string> {
    const row = await this.#store.resolve(id);
    if (row === undefined)
      throw new AgentError('bad_argument', `The branch has no pending proposal ${id}.`);
    return proposalKey(
      { ...row, payload: readRow(row).payload } as Entry<PendingPayload>,
      new ValueReader(this.#store),
    );
  }

  #end(fault: CallFault): void {
    if (this.#cut !== undefined) return;
    this.#cut = { fault, length: this.#trajectory.length, state: this.#trajectory.state() };
    this.#stop.abort();
  }

  #chance(name: string): Random {
    return seededRandom(
      JSON.stringify(['assize/simulate', this.#options.seed, this.#number, name]),
    );
  }

  // ── the result ──

  async #result(ended: {
    readonly outcome: SampleOutcome;
    readonly fault?: SampleFault;
  }): Promise<SampleResult> {
    const { source, sharedEntries, sharedTurns, steps: before, state } = this.#production;
    const end = this.#cut?.length ?? this.#trajectory.length;
    const entries = (await recordedEntries(this.#store, source.trajectoryId)).slice(0, end);
    const steps = await stepsIn(entries.slice(sharedEntries), new ValueReader(this.#store));
    const parts = partingOf(before, steps);
    return {
      ...{ variant: this.#variant.name, sample: this.#number, ...ended },
      head: (entries.at(-1) as RecordedEntry).entry.id,
      turns: (await this.#turnsMade()) - sharedTurns,
      steps,
      difference: difference(state, this.#cut?.state ?? this.#trajectory.state()),
      calls: this.#standIns.calls,
      spent: spentBy(steps),
      asked: { ...this.#branch.asked },
      ...(parts !== undefined && { parts }),
    };
  }

  async #turnsMade(): Promise<number> {
    let turns = this.#production.sharedTurns;
    while ((await this.#store.oracleGet(turnKey(this.#trajectory.id, turns))) !== undefined)
      turns++;
    return turns;
  }
}

const OUTCOMES: Readonly<Record<RunReport['ended'], SampleOutcome>> = {
  done: 'done',
  waiting: 'stuck',
  pending: 'waits',
  turns: 'limit',
  aborted: 'limit',
};

function faultOf(error: unknown): SampleFault {
  return { code: isAssizeError(error) ? error.code : 'error', detail: thrownText(error) };
}

/**
 * A function that gives a question under another version of the domain the form in which the record
 * has it. A question to a model names the version whose actions it offers. It is the same question
 * if both versions offer its role the same actions, because the model then reads the same request.
 */
function recordedFormOf(recorded: Domain, tried: Domain): (asking: OracleCall) => OracleCall {
  const same = new Map<string, boolean>();
  const isSame = (role: string, only: readonly string[] | null): boolean => {
    const key = JSON.stringify([role, only]);
    const known = same.get(key) ?? offersSameActions(recorded, tried, role, only);
    same.set(key, known);
    return known;
  };
  return (asking) => {
    if (tried.hash === recorded.hash) return asking;
    const offer = offerIn(asking.request);
    if (offer?.domain !== tried.hash || !isSame(offer.role, offer.only)) return asking;
    return { ...asking, request: { ...(asking.request as object), domain: recorded.hash } as Json };
  };
}

interface Offer {
  readonly domain: string;
  readonly role: string;
  readonly only: readonly string[] | null;
}

/** The offer of a question of `modelAgent`. Undefined for any other question. */
function offerIn(request: unknown): Offer | undefined {
  if (!isRecord(request) || request['ask'] !== 'model') return undefined;
  const { domain, role, actions } = request;
  if (typeof domain !== 'string' || typeof role !== 'string') return undefined;
  if (
    actions !== null &&
    !(Array.isArray(actions) && actions.every((name) => typeof name === 'string'))
  )
    return undefined;
  return { domain, role, only: actions };
}
