import {
  type BranchPayload,
  Chain,
  type CommitPayload,
  checkRow,
  type DomainRef,
  type Entry,
  type FaultCode,
  type Folded,
  type Hash,
  LedgerFault,
  type PendingPayload,
  type RejectionPayload,
  type Replayer,
  type RootPayload,
} from '#ledger';
import { replayApproval, replayStep } from './approval.ts';
import { replayBeginning } from './beginning.ts';
import { replayCommit } from './commit.ts';
import type { Stretch } from './lineage.ts';
import { type DeepReplayOptions, type DeepReplaySource, domainToRun, LISTED_MAX } from './options.ts';
import { replayPending } from './pending.ts';
import { RecordedAuthority } from './recorded-authority.ts';
import type { RecordedWorld } from './recorded-world.ts';
import { replayRefusal } from './refusal.ts';
import { type DeepReplayReport, Findings } from './report.ts';
import { placeOf, type Stage } from './stage.ts';

export interface WalkOptions extends DeepReplayOptions {
  /** On this way, or on another one of the same call. */
  readonly sourceIsRunAgain: boolean;
}

/** Entries that are read at a time; between two pages others get their turn. */
const PAGE = 500;

/** Goes along a lineage, with one world that is folded on the way. */
export class Walk {
  readonly #store: DeepReplaySource;
  readonly #replayer: Replayer;
  readonly #options: WalkOptions;
  readonly #findings: Findings;
  readonly #total: number;
  readonly #otherwise: Set<Hash> = new Set();
  #world: RecordedWorld | undefined;
  #recorded: DomainRef | undefined;
  #last: Entry | undefined;

  constructor(store: DeepReplaySource, replayer: Replayer, lineage: readonly Stretch[], options: WalkOptions) {
    this.#store = store;
    this.#replayer = replayer;
    this.#options = options;
    this.#findings = new Findings(options.limit ?? LISTED_MAX);
    this.#total = lineage.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** @throws LedgerFault; RuntimeError `domain_mismatch` */
  async along({ trajectoryId, entries, until }: Stretch): Promise<void> {
    const chain = new Chain(trajectoryId);
    const blob = (hash: Hash) => this.#store.blob(hash);
    const authority = new RecordedAuthority(blob, this.#options.policy, this.#findings);
    while (chain.seq < entries) {
      this.#options.onProgress?.(this.#findings.entries, this.#total);
      const limit = Math.min(PAGE, entries - chain.seq);
      const rows = await this.#store.entries(trajectoryId, { from: chain.seq, limit });
      if (rows.length === 0) throw faultAt(trajectoryId, chain.seq, 'not_found', 'the entry is not there');
      for (const row of rows) await this.#take(chain, checkRow(row), authority);
    }
    if (until !== undefined && chain.head !== until)
      throw faultAt(trajectoryId, entries - 1, 'source_missing', `the entry ${until} is not in its place`);
  }

  report(): DeepReplayReport {
    const { domain } = this.#world as RecordedWorld;
    const last = this.#last as Entry;
    this.#findings.breaks(placeOf(last), this.#world?.unseen() ?? []);
    return this.#findings.report(last.trajectory_id, domain, this.#recorded as DomainRef);
  }

  async #take(chain: Chain, entry: Entry, authority: RecordedAuthority): Promise<void> {
    const pending = resolvedBy(chain, entry);
    chain.accept(entry);
    this.#last = entry;
    this.#findings.entries++;
    const { payload } = entry;
    if (payload.kind === 'root' || payload.kind === 'branch') {
      authority.bind(payload);
      return this.#begin(entry as Entry<RootPayload | BranchPayload>);
    }
    const stage: Stage = {
      world: this.#world as RecordedWorld,
      authority,
      findings: this.#findings,
      replayer: this.#replayer,
      oracle: this.#options.oracle,
      otherwise: this.#otherwise,
    };
    switch (payload.kind) {
      case 'commit':
        return pending === undefined
          ? replayCommit(stage, entry as Entry<CommitPayload>)
          : replayApproval(stage, entry as Entry<CommitPayload>, pending);
      case 'rejection':
        return replayRefusal(stage, entry as Entry<RejectionPayload>, pending);
      case 'pending_approval':
        return pending === undefined
          ? replayPending(stage, entry as Entry<PendingPayload>)
          : replayStep(stage, entry as Entry<PendingPayload>, pending);
      case 'delegation':
        return this.#findings.takes('delegation');
    }
  }

  async #begin(entry: Entry<RootPayload | BranchPayload>): Promise<void> {
    const { payload } = entry;
    this.#recorded = payload.domain;
    const domain = domainToRun(payload.domain, this.#options);
    const fits = payload.kind === 'branch' && this.#options.sourceIsRunAgain;
    this.#world = replayBeginning(this.#findings, entry, domain, { folded: await this.#folded(entry), fits });
  }

  /** What a root says, or what the source was folded to: by the way that led here, or anew. */
  async #folded(entry: Entry<RootPayload | BranchPayload>): Promise<Folded> {
    const { payload } = entry;
    if (payload.kind === 'root') return this.#replayer.begin(entry, payload);
    return this.#world?.folded ?? this.#replayer.stateAt(payload.source_trajectory_id, payload.source_commit_id);
  }
}

/** What was pending and is resolved by an entry; to be asked before the chain has taken it. */
function resolvedBy(chain: Chain, { payload }: Entry): PendingPayload | undefined {
  const resolves = 'resolves' in payload ? payload.resolves : undefined;
  return resolves === undefined ? undefined : chain.open.get(resolves);
}

function faultAt(trajectory_id: string, seq: number, code: FaultCode, detail: string): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, detail });
}
