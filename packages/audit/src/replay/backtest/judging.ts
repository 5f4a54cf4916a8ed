import type { Policy } from 'assize/internal/authority';
import type { Instant } from 'assize/internal/canon';
import {
  adjudicateHalt,
  adjudicateRevocation,
  type Domain,
  HALT_ACTION,
  type Inputs,
  type PatchOperation,
  REVOKE_ACTION,
  type Ruling,
} from 'assize/internal/kernel';
import {
  type BranchPayload,
  type CommitPayload,
  type DelegationPayload,
  type DomainRef,
  type Entry,
  ERASE_ACTION,
  type Folded,
  haltArgs,
  type PendingPayload,
  type RejectionPayload,
  type Replayer,
  type RootPayload,
  revocationArgs,
  type UndoingCosts,
  UPGRADE_ACTION,
  type UpgradePayload,
  type VectorItem,
} from 'assize/internal/ledger';
import type { OracleStore } from 'assize/internal/oracle';
import type { DeepReplaySource } from '../deep-replay/options.ts';
import { heldWithTools } from '../deep-replay/recorded-authority.ts';
import { NOTHING_BROKEN, RecordedWorld } from '../deep-replay/recorded-world.ts';
import { isRefusedByBeliefs, OF_NO_DOMAIN, refusedByAuthority } from '../deep-replay/refusal.ts';
import { isSame } from '../deep-replay/report.ts';
import {
  type EntryContext,
  erasedPatches,
  followed,
  isErasing,
  placeOf,
  type RequestedAction,
  readBack,
  readPatches,
} from '../deep-replay/rerun-context.ts';
import type { ShownRuling } from '../deep-replay/ruled.ts';
import { type BrokenByRecord, brokenBy } from '../deep-replay/vector.ts';
import type { EntryVisitor, Walk } from '../deep-replay/walk.ts';
import { JudgingAuthority, type RecordedGrant } from './judging-authority.ts';
import { LaterErasures } from './later-erasures.ts';
import { type BacktestReport, COMMITTED, ruledNow, ruledThen, Verdicts } from './verdicts.ts';

/** The context in which the proposals of one trajectory are adjudicated. */
export interface JudgingContext extends EntryContext {
  readonly authority: JudgingAuthority;
  readonly ahead: LaterErasures;
}

export interface JudgingOptions {
  readonly domainOf: (recorded: DomainRef) => Domain;
  /** A total policy. */
  readonly policy: Policy | undefined;
  readonly oracle: Pick<OracleStore, 'oracleGet'> | undefined;
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly limit: number;
}

/** Adjudicates the proposals of a walk again, and continues with the recorded state. */
export class Judging implements EntryVisitor<JudgingContext> {
  readonly #store: DeepReplaySource;
  readonly #replayer: Replayer;
  readonly #options: JudgingOptions;
  readonly #verdicts: Verdicts;
  #domains: { readonly domain: Domain; readonly recorded: DomainRef } | undefined;

  constructor(store: DeepReplaySource, replayer: Replayer, options: JudgingOptions) {
    this.#store = store;
    this.#replayer = replayer;
    this.#options = options;
    this.#verdicts = new Verdicts(options);
  }

  /** @throws LedgerFault; RuntimeError `domain_mismatch` */
  async begin(entry: Entry<RootPayload | BranchPayload>, folded: Folded): Promise<JudgingContext> {
    const { payload } = entry;
    const { policy, oracle } = this.#options;
    const domain = this.#options.domainOf(payload.domain);
    this.#domains = { domain, recorded: payload.domain };
    const authority = new JudgingAuthority((hash) => this.#store.blob(hash), policy);
    authority.bind(payload);
    const ahead = new LaterErasures(this.#store, entry);
    await ahead.note(folded.state);
    const world = begun(domain, folded, payload.detection_vector);
    return { world, authority, ahead, replayer: this.#replayer, oracle };
  }

  async commit(court: JudgingContext, entry: Entry<CommitPayload>): Promise<void> {
    const { action, observations, at, writ_id, policy, budget_cost } = entry.payload;
    // The trajectory above adjudicated an adopted stop. The entry is not a proposal here.
    const stop = revocationArgs(entry.payload) ?? haltArgs(entry.payload);
    if (stop?.from !== undefined) return;
    if (await isErasing(court, entry)) {
      this.#verdicts.skip('erased');
      await this.#followPatches(court, entry, await erasedPatches(court, entry), NOTHING_BROKEN);
    } else {
      const patches = await readPatches(court, entry, entry.payload.delta.state);
      const { effects } = entry.payload.delta;
      const asked = { ...action, action: action.name, observations, at, effects };
      const claim = claimOf(entry, at, writ_id, policy);
      const judged = await this.#judge(court, entry, asked, claim, COMMITTED, true);
      if (judged?.verdict === 'approved' && isSame(judged.patches(), patches))
        court.world.keep(judged, patches);
      else {
        if (judged?.verdict === 'approved') judged.undo();
        await this.#followPatches(court, entry, patches, NOTHING_BROKEN);
      }
    }
    await court.authority.book(entry, writ_id, budget_cost);
    court.ahead.passed(entry);
  }

  async upgrade(
    court: JudgingContext,
    entry: Entry<UpgradePayload>,
    folded: Folded,
  ): Promise<JudgingContext> {
    const { action, writ_id, budget_cost, detection_vector = [] } = entry.payload;
    const { to } = action.args;
    const domain = this.#options.domainOf(to);
    this.#verdicts.skip('upgrade');
    this.#domains = { domain, recorded: to };
    const world = begun(domain, folded, detection_vector);
    await court.authority.book(entry, writ_id, budget_cost);
    court.ahead.passed(entry);
    return { ...court, world };
  }

  async approval(court: JudgingContext, entry: Entry<CommitPayload>): Promise<void> {
    const { writ_id, budget_cost, detection_vector = [] } = entry.payload;
    this.#verdicts.resolves(entry);
    await this.#followPatches(
      court,
      entry,
      await erasedPatches(court, entry),
      brokenBy(detection_vector),
    );
    await court.authority.book(entry, writ_id, budget_cost);
    court.ahead.passed(entry);
  }

  async refusal(
    court: JudgingContext,
    entry: Entry<RejectionPayload>,
    pending: PendingPayload | undefined,
  ): Promise<void> {
    const { intent, reason, at, writ_id, policy } = entry.payload;
    if (pending !== undefined) return this.#verdicts.resolves(entry);
    if (OF_NO_DOMAIN.has(reason)) return this.#verdicts.skip('other');
    if (intent.action === UPGRADE_ACTION && reason !== 'unknown_tool')
      return this.#verdicts.skip('upgrade');
    const refused = refusedByAuthority(entry.payload);
    const claim = {
      ...claimOf(entry, at, writ_id, policy),
      ...(refused === undefined ? {} : { refused }),
      reached: refused !== undefined || isReached(entry.payload),
    };
    await this.#judge(court, entry, { ...intent, at }, claim, ruledThen(entry.payload), false).then(
      takenBack,
    );
  }

  async pending(
    court: JudgingContext,
    entry: Entry<PendingPayload>,
    before: PendingPayload | undefined,
  ): Promise<void> {
    if (before !== undefined) return this.#verdicts.continueEscalation(entry);
    const { proposal, policy } = entry.payload;
    const { action, observations, at, writ_id, delta } = proposal;
    const asked = { ...action, action: action.name, observations, at, effects: delta.effects };
    const claim = { ...claimOf(entry, at, writ_id, policy), ...heldWithTools(entry.payload) };
    await this.#judge(court, entry, asked, claim, ruledThen(entry.payload), true).then(takenBack);
  }

  delegation(court: JudgingContext, entry: Entry<DelegationPayload>): Promise<void> {
    return court.authority.delegate(entry);
  }

  undoing(court: JudgingContext, costs: UndoingCosts): Promise<void> {
    return court.authority.bookUndoing(costs);
  }

  /** At the end of a walk. */
  report({ last, entries }: Walk<JudgingContext>): BacktestReport {
    const { domain, recorded } = this.#domains as { domain: Domain; recorded: DomainRef };
    return this.#verdicts.report(
      last.trajectory_id,
      { domain, recorded, policy: this.#options.policy },
      entries,
    );
  }

  /**
   * Compares the ruling on a proposal now with the recorded one; undefined if it cannot be
   * adjudicated.
   */
  async #judge(
    { world, authority, ahead, ...sources }: JudgingContext,
    entry: Entry,
    asked: RequestedAction,
    claim: RecordedGrant,
    recorded: ShownRuling,
    parsed: boolean,
  ): Promise<Ruling | undefined> {
    // Its values may have been erased since.
    if (asked.action === ERASE_ACTION) return this.#lacks('erased');
    const read = await readBack(sources, entry, asked);
    if ('missing' in read) return this.#lacks(read.missing);
    const answers = authority.answers(claim, await authority.writ(claim.writ_id));
    const judged = isBy(REVOKE_ACTION, asked, recorded)
      ? adjudicateRevocation(read.intent.args, answers)
      : isBy(HALT_ACTION, asked, recorded)
        ? adjudicateHalt(read.intent.args, entry.trajectory_id, answers)
        : world.adjudicate(read.intent, answers, withCallsOfNow(read.inputs), parsed);
    if (answers.unknown) return this.#lacks('writ');
    if (entry.payload.kind === 'rejection' && isRefusedByBeliefs(entry.payload, judged)) {
      takenBack(judged);
      return this.#lacks('beliefs');
    }
    const { assumed } = answers;
    this.#verdicts.judge(entry, asked.action, [recorded, ruledNow(judged)], claim.at, {
      erased: ahead.any,
      assumed,
    });
    return judged;
  }

  /** Applies the recorded changes. @throws LedgerFault */
  async #followPatches(
    { world, ahead }: JudgingContext,
    entry: Entry<CommitPayload>,
    patches: readonly PatchOperation[],
    broken: BrokenByRecord,
  ): Promise<void> {
    await ahead.note(patches);
    followed({ world }, entry, patches, broken);
  }

  #lacks(why: 'erased' | 'observation' | 'writ' | 'beliefs'): undefined {
    this.#verdicts.skip(why);
    return undefined;
  }
}

function claimOf(
  entry: Entry,
  at: string,
  writ_id: RejectionPayload['writ_id'],
  policy: RejectionPayload['policy'],
): RecordedGrant {
  return {
    place: placeOf(entry),
    at,
    ...(writ_id === undefined ? {} : { writ_id }),
    ...(policy === undefined ? {} : { policy }),
    reached: true,
  };
}

/** Calls that the recorded domain declared are replaced by those that the domain declares now. */
function withCallsOfNow({ calls = [], ...inputs }: Inputs): Inputs {
  return calls.every(({ isDeclared }) => isDeclared === true) ? inputs : { ...inputs, calls };
}

/** Whether a refusal came after the check of the writ; assumed if unknown. */
function isReached({ reason, intent, detail }: RejectionPayload): boolean {
  if (reason === 'unknown_tool' || reason === 'type_mismatch') return false;
  return (
    reason !== 'invalid_authority' ||
    !detail.startsWith(`the role ${intent.role.name} does not perform `)
  );
}

/** An agent that proposes this action by name proposes an unknown action. */
function isBy(builtIn: string, { action }: RequestedAction, { reason }: ShownRuling): boolean {
  return action === builtIn && reason !== 'unknown_tool';
}

function takenBack(judged: Ruling | undefined): void {
  if (judged?.verdict === 'approved') judged.undo();
}

function begun(domain: Domain, folded: Folded, vector: readonly VectorItem[] = []): RecordedWorld {
  const world = new RecordedWorld(domain, folded);
  world.begin(brokenBy(vector));
  return world;
}
