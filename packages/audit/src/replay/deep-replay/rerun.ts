import { type Domain, stateFault } from 'assize/internal/kernel';
import type {
  BranchPayload,
  CommitPayload,
  DomainRef,
  Entry,
  Folded,
  Hash,
  PendingPayload,
  RejectionPayload,
  Replayer,
  RootPayload,
  UpgradePayload,
} from 'assize/internal/ledger';
import { replayApproval, replayStep } from './approval.ts';
import { replayCommit } from './commit.ts';
import {
  type DeepReplayOptions,
  type DeepReplaySource,
  domainToRun,
  LISTED_MAX,
} from './options.ts';
import { replayPending } from './pending.ts';
import { RecordedAuthority } from './recorded-authority.ts';
import { RecordedWorld } from './recorded-world.ts';
import { replayRefusal } from './refusal.ts';
import { type DeepReplayReport, Findings } from './report.ts';
import { placeOf, type RerunContext } from './rerun-context.ts';
import { brokenBy, compareVectors, vectorOf } from './vector.ts';
import type { EntryVisitor, Walk } from './walk.ts';

export interface RerunOptions extends DeepReplayOptions {
  /** In this walk, or in another walk of the same call. */
  readonly sourceIsRunAgain: boolean;
}

/** Runs each entry of a walk again, and compares the results with the record. */
export class Rerun implements EntryVisitor<RerunContext> {
  readonly #store: DeepReplaySource;
  readonly #replayer: Replayer;
  readonly #options: RerunOptions;
  readonly #findings: Findings;
  readonly #otherwise: Set<Hash> = new Set();
  #world: RecordedWorld | undefined;
  #recorded: DomainRef | undefined;

  constructor(store: DeepReplaySource, replayer: Replayer, options: RerunOptions) {
    this.#store = store;
    this.#replayer = replayer;
    this.#options = options;
    this.#findings = new Findings(options.limit ?? LISTED_MAX);
  }

  /** @throws LedgerFault; RuntimeError `domain_mismatch` */
  begin(entry: Entry<RootPayload | BranchPayload>, folded: Folded): RerunContext {
    const { payload } = entry;
    const authority = new RecordedAuthority(
      (hash) => this.#store.blob(hash),
      this.#options.policy,
      this.#findings,
    );
    authority.bind(payload);
    this.#recorded = payload.domain;
    const domain = domainToRun(payload.domain, this.#options);
    const fits = payload.kind === 'branch' && this.#options.sourceIsRunAgain;
    this.#world = replayBeginning(this.#findings, entry, domain, { folded, fits });
    return {
      world: this.#world,
      authority,
      findings: this.#findings,
      replayer: this.#replayer,
      oracle: this.#options.oracle,
      otherwise: this.#otherwise,
    };
  }

  commit(stage: RerunContext, entry: Entry<CommitPayload>): Promise<void> {
    this.#takeBeliefs(entry);
    return replayCommit(stage, entry);
  }

  approval(
    stage: RerunContext,
    entry: Entry<CommitPayload>,
    pending: PendingPayload,
  ): Promise<void> {
    this.#takeBeliefs(entry);
    return replayApproval(stage, entry, pending);
  }

  refusal(
    stage: RerunContext,
    entry: Entry<RejectionPayload>,
    pending: PendingPayload | undefined,
  ): Promise<void> {
    return replayRefusal(stage, entry, pending);
  }

  pending(
    stage: RerunContext,
    entry: Entry<PendingPayload>,
    before: PendingPayload | undefined,
  ): Promise<void> {
    return before === undefined ? replayPending(stage, entry) : replayStep(stage, entry, before);
  }

  delegation(): void {
    this.#findings.takeAsRecorded('delegation');
  }

  /**
   * The state after the migration must fit the new version, with the recorded result of every rule.
   *
   * @throws RuntimeError `domain_mismatch`
   */
  upgrade(stage: RerunContext, entry: Entry<UpgradePayload>, folded: Folded): RerunContext {
    const { to } = entry.payload.action.args;
    this.#findings.takeAsRecorded('upgrade');
    this.#recorded = to;
    this.#world = replayBeginning(this.#findings, entry, domainToRun(to, this.#options), {
      folded,
      fits: false,
    });
    return { ...stage, world: this.#world };
  }

  /**
   * The statements were planned on the facts of that time, from all trajectories. A domain does not
   * see these.
   */
  #takeBeliefs({ payload }: Entry<CommitPayload>): void {
    if (payload.delta.beliefs.length > 0) this.#findings.takeAsRecorded('beliefs');
  }

  /** At the end of a walk. */
  report({ last, entries }: Walk<RerunContext>): DeepReplayReport {
    const world = this.#world as RecordedWorld;
    this.#findings.breaks(placeOf(last), world.unseen());
    return this.#findings.report(
      last.trajectory_id,
      world.domain,
      this.#recorded as DomainRef,
      entries,
    );
  }
}

/**
 * Replays the initial state of a trajectory, or the state at the beginning of a new version of its
 * domain. The state must break exactly the recorded invariants, and match the schema. `fits`: known
 * to match, because the commits that led to the state were run again.
 */
function replayBeginning(
  findings: Findings,
  entry: Entry<RootPayload | BranchPayload | UpgradePayload>,
  domain: Domain,
  { folded, fits }: { readonly folded: Folded; readonly fits: boolean },
): RecordedWorld {
  const place = placeOf(entry);
  const { detection_vector: recorded = [] } = entry.payload;
  findings.compared++;
  const misfit = fits ? undefined : stateFault(domain.state, folded.state);
  if (misfit !== undefined) findings.differs(place, 'state', 'it fits', misfit);
  const world = new RecordedWorld(domain, folded);
  const broken = brokenBy(recorded);
  const found = world.begin(broken);
  compareVectors(findings, place, recorded, vectorOf(found));
  findings.breaks(
    place,
    found.filter(({ rule }) => !broken.has(rule.id)),
  );
  return world;
}
