import { arg, checkArgument, type Json } from 'assize/internal/base';
import {
  type DomainRef,
  type Entry,
  type Hash,
  type LedgerReader,
  type Payload,
  Replayer,
  type RoleRef,
  type Stored,
} from 'assize/internal/ledger';
import { WritHolders } from 'assize/internal/runtime';
import type { MiningCall, MiningRun } from '../run.ts';
import { actionCalls, type MadeWith } from './action-calls.ts';
import type { Draft } from './draft.ts';
import { GatewayCalls } from './gateway-calls.ts';

/** The runs of trajectories, and the number of actions that could not be read. */
export interface RunsRead {
  /** In the order of their first calls. */
  readonly runs: readonly MiningRun[];
  /** Actions whose arguments were erased. They are in no run. */
  readonly erased: number;
}

export interface ReadRunsOptions {
  /** Called after each trajectory with the number of those that are read, and of all. */
  readonly onProgress?: (done: number, total: number) => void;
}

const TRAJECTORIES = arg.list(arg.text);
const OPTIONS = arg.options<ReadRunsOptions>({ onProgress: arg.optional(arg.code) });

/**
 * Reads the runs of trajectories. Replay verifies every entry.
 *
 * A trajectory is one run. In the gateway a run is a session with the sessions that it started,
 * `TRAJECTORY#SESSION`, or the calls of one agent on one day of UTC, `TRAJECTORY#AGENT@DAY`, where
 * the caller names no session. A waiting call counts as escalated, and an approved one as
 * committed.
 *
 * @throws LedgerFault; the errors of the store; ArgumentError `bad_argument`
 */
export async function readRuns(
  store: LedgerReader,
  trajectoryIds: readonly string[],
  options: ReadRunsOptions = {},
): Promise<RunsRead> {
  checkArgument(arg.object, store, 'store');
  checkArgument(TRAJECTORIES, trajectoryIds, 'trajectoryIds');
  checkArgument(OPTIONS, options, 'options');
  const replayer = new Replayer(store);
  const holders = new WritHolders(store);
  const ids = [...new Set(trajectoryIds)];
  const runs: MiningRun[] = [];
  let erased = 0;
  for (const [index, id] of ids.entries()) {
    const entries: Entry[] = [];
    await replayer.replay(id, { onEntry: (entry) => entries.push(entry) });
    const reader = new TrajectoryReader(replayer, holders);
    for (const entry of entries) await reader.add(entry);
    runs.push(...reader.runs(id));
    erased += reader.erased;
    options.onProgress?.(index + 1, ids.length);
  }
  const beginning = ({ calls: [first] }: MiningRun): string => first?.at ?? '';
  return {
    runs: runs.sort((a, b) => compare(beginning(a), beginning(b)) || compare(a.id, b.id)),
    erased,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** An action that an entry records. */
interface Asked<Args> {
  readonly name: string;
  readonly args: Args;
  readonly role: RoleRef;
  readonly at: string;
}

class TrajectoryReader {
  erased: number = 0;
  readonly #replayer: Replayer;
  readonly #holders: WritHolders;
  readonly #gateway: GatewayCalls = new GatewayCalls();
  readonly #drafts: Set<Draft> = new Set();
  /** The drafts and the time of each open proposal, by its first and its later entries. */
  readonly #open: Map<Hash, { readonly drafts: readonly Draft[]; readonly at: string }> = new Map();
  #domain: DomainRef | undefined;

  constructor(replayer: Replayer, holders: WritHolders) {
    this.#replayer = replayer;
    this.#holders = holders;
  }

  async add(entry: Entry): Promise<void> {
    const { payload } = entry;
    if (payload.kind === 'root' || payload.kind === 'branch') {
      this.#domain = payload.domain;
      this.#holders.learn(payload.writs);
    } else if (payload.kind === 'pending_approval' && payload.resolves !== undefined)
      this.#continuePending(entry.id, payload.resolves);
    else if (payload.kind === 'commit') await this.#commit(entry as Entry<typeof payload>);
    else if (payload.kind === 'rejection' && payload.resolves !== undefined)
      this.#rejectPending(payload.resolves);
    else if (payload.kind === 'rejection') await this.#rejection(entry as Entry<typeof payload>);
    else if (payload.kind === 'pending_approval')
      await this.#pending(entry as Entry<typeof payload>);
  }

  runs(trajectoryId: string): MiningRun[] {
    const runs = new Map<string, MiningCall[]>();
    for (const { call, session } of this.#drafts) {
      const id =
        session === undefined ? trajectoryId : `${trajectoryId}#${this.#gateway.first(session)}`;
      const calls = runs.get(id) ?? [];
      runs.set(id, calls);
      calls.push(call);
    }
    return [...runs].map(([id, calls]) => ({ id, calls }));
  }

  async #commit(entry: Entry<Extract<Payload, { kind: 'commit' }>>): Promise<void> {
    const {
      action,
      observations,
      delta,
      writ_id,
      resolves,
      counselor,
      approved_by = [],
    } = entry.payload;
    const at =
      (resolves === undefined ? undefined : this.#takePending(resolves)) ?? entry.payload.at;
    const people = [...approved_by, ...(counselor === undefined ? [] : [counselor])].map(
      ({ principal }) => principal,
    );
    const approved = resolves === undefined ? {} : { approvedBy: people };
    await this.#record(
      entry,
      { ...action, at },
      { observations, effects: delta.effects },
      writ_id,
      {
        ruling: 'committed',
        ...approved,
      },
    );
  }

  async #rejection(entry: Entry<Extract<Payload, { kind: 'rejection' }>>): Promise<void> {
    const { intent, at, writ_id } = entry.payload;
    const { action: name, observations, ...asked } = intent;
    await this.#record(entry, { name, ...asked, at }, { observations }, writ_id, {
      ruling: 'rejected',
    });
  }

  async #pending(entry: Entry<Extract<Payload, { kind: 'pending_approval' }>>): Promise<void> {
    const { action, observations, delta, at, writ_id } = entry.payload.proposal;
    const drafts = await this.#record(
      entry,
      { ...action, at },
      { observations, effects: delta.effects },
      writ_id,
      {
        ruling: 'escalated',
      },
    );
    this.#open.set(entry.id, { drafts, at });
  }

  #continuePending(entry: Hash, resolved: Hash): void {
    const open = this.#open.get(resolved);
    if (open !== undefined) this.#open.set(entry, open);
  }

  /**
   * Drops the drafts of an approved proposal, because its commit has the calls and the observations
   * again. Returns the time of the proposal.
   */
  #takePending(pending: Hash): string | undefined {
    const open = this.#open.get(pending);
    for (const draft of open?.drafts ?? []) this.#drafts.delete(draft);
    return open?.at;
  }

  #rejectPending(pending: Hash): void {
    // The readings of a rejected proposal took place, so they stay committed.
    for (const { call } of this.#open.get(pending)?.drafts ?? [])
      if (call.ruling === 'escalated') call.ruling = 'rejected';
  }

  async #record(
    entry: Entry,
    { name, args: stored, role, at }: Asked<Stored>,
    made: MadeWith,
    writ: Hash | undefined,
    ruled: Pick<MiningCall, 'ruling' | 'approvedBy'>,
  ): Promise<readonly Draft[]> {
    if (name.startsWith('assize.')) return [];
    const read = await this.#replayer.values.read(entry, stored);
    if (!('value' in read)) {
      this.erased++;
      return [];
    }
    const place = { trajectory_id: entry.trajectory_id, seq: entry.seq, entry_id: entry.id };
    const principal = writ === undefined ? undefined : await this.#holderOf(writ);
    const circumstances = {
      at,
      role: role.name,
      entry: place,
      ...(principal === undefined ? {} : { principal }),
      ...ruled,
    };
    const drafts = await this.#drafted(
      entry,
      { name, args: read.value, role },
      made,
      circumstances,
    );
    for (const draft of drafts) this.#drafts.add(draft);
    return drafts;
  }

  /** Undefined for a refused writ that the ledger does not have. */
  async #holderOf(writ: Hash): Promise<string | undefined> {
    const [held] = await this.#holders.chainOf(writ);
    return held?.principal;
  }

  async #drafted(
    entry: Entry,
    { name, args, role }: Omit<Asked<Json>, 'at'>,
    made: MadeWith,
    circumstances: Omit<MiningCall, 'tool' | 'args'> & { readonly at: string },
  ): Promise<readonly Draft[]> {
    if (this.#domain?.name !== 'gateway')
      return actionCalls(this.#replayer, entry, { name, args }, made, circumstances);
    if (name === 'call' && role.name === 'agent')
      return this.#gateway.calls(args, role.params['agent'] ?? '', circumstances);
    if (circumstances.ruling === 'committed') this.#gateway.note(name, args);
    return [];
  }
}
