import { writId } from '#authority';
import { addMicros } from '#canon';
import { EffectError } from '#effects';
import { adjudicate, type Ruling as KernelRuling, type Pattern } from '#kernel';
import type { BlobRow, Hash, Instant, Payload } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import { concluded, RuntimeError } from '../errors.ts';
import type { ErasedPartition } from '../memory/plan/close-erased.ts';
import { type PlannedBeliefs, requireFactStore } from '../memory/plan/plan-beliefs.ts';
import { escalateForAnswers } from '../memory/plan/questions.ts';
import {
  batchErasureOf,
  commitPayload,
  pendingPayload,
  rejectionPayload,
} from '../records/entry-payloads.ts';
import type { GatheredProposal } from '../records/intent.ts';
import { type NeedsFacts, needs } from '../records/needs.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import type { PendingQuestions } from '../records/questions.ts';
import { type Ruling, rulingFrom, withFindings } from '../records/ruling.ts';
import { SaltSource } from '../records/salts.ts';
import { checkBufferedTools, withTools } from '../records/tool-authority.ts';
import {
  frozenByReservations,
  frozenByRules,
  frozenFor,
  frozenPatterns,
} from '../writer/freeze/freeze.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import type { Unrecorded } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { NO_CALLS } from './calls-now.ts';
import type { RulingPorts } from './ports.ts';
import type { Precondition } from './precondition.ts';

// From the ruling to the append nothing awaits.

/**
 * Rules on a proposal, and moves memory past its entry. `unrecorded`: an open approval blocks the
 * proposal. `needs`: nothing has moved. Undefined if its calls must be planned again.
 */
export function rule(
  ports: RulingPorts,
  gathered: GatheredProposal,
  how: RulingOptions = {},
): PreparedCommit<Ruling> | Unrecorded<Ruling> | NeedsFacts | undefined {
  const { writer } = ports;
  return writer.runRuling(() => {
    const decided = decideProposal(ports, gathered, how);
    if (decided === undefined || !('judged' in decided)) return decided;
    const full =
      decided.judged.verdict === 'escalated' ? checkQueue(ports, gathered.writ) : undefined;
    return full ?? applyRuling(writer, gathered, decided);
  });
}

function applyRuling(
  writer: Writer,
  gathered: GatheredProposal,
  decided: DecidedProposal,
): PreparedCommit<Ruling> {
  const { judged, believed, kept, unstored } = decided;
  const { domain } = writer.parts;
  const { commitPlan } = gathered;
  const waits =
    judged.verdict === 'escalated' && commitPlan?.pendingEffects !== undefined
      ? commitPlan.pendingEffects()
      : commitPlan;
  const ruled =
    waits === undefined || waits === commitPlan ? gathered : { ...gathered, commitPlan: waits };
  const change = judged.verdict === 'approved' ? judged : undefined;
  const moves = { change, facts: believed, writs: unstored };
  const { row, payload, batch } = writer.apply(() => payloadOf(writer, ruled, decided), moves);
  const erasure = change && batchErasureOf(row.id, gathered.intent);
  const acts =
    judged.verdict === 'approved'
      ? commitPlan?.commitRecords(row.id)
      : commitPlan?.abortRecords(row.id, judged.verdict);
  const waiting = judged.verdict === 'escalated' ? waits?.blobs : undefined;
  const blobs =
    acts === undefined && waiting === undefined
      ? kept.blobs
      : [...kept.blobs, ...(waiting ?? []), ...(acts?.blobs ?? [])];
  const asked = 'asked' in judged ? (judged as PendingQuestions).asked : undefined;
  return {
    ...batch,
    blobs,
    erasure,
    effects: acts?.write,
    asked,
    answer: withFindings(rulingFrom(row, payload), domain, gathered.intent),
  };
}

function payloadOf(
  writer: Writer,
  gathered: GatheredProposal,
  { judged, believed, at, kept }: DecidedProposal,
): Payload {
  const terms = writer.entryTerms(at, kept);
  if (judged.verdict === 'rejected') return rejectionPayload(terms, gathered, judged);
  if (judged.verdict === 'approved')
    return commitPayload(terms, gathered, judged, believed?.changes);
  // The writs of a server outlast its own time, so the time of a rule only shortens it.
  const ms = Math.min(judged.timeoutMs, writer.context.approvalTimeoutMs ?? judged.timeoutMs);
  const expires = ms === Number.POSITIVE_INFINITY ? undefined : addMicros(at, ms * 1_000);
  return pendingPayload(terms, gathered, judged, expires);
}

export interface RulingOptions extends Pick<StatementTerms, 'assertedAt' | 'foreseen'> {
  /** The runtime has made the arguments. */
  readonly builtIn?: boolean;
  /** The partitions that lose facts in an erasure. */
  readonly erasedPartitions?: readonly ErasedPartition[];
  readonly precondition?: Precondition | undefined;
  /** The randomness for all attempts. */
  readonly salts?: SaltSource;
}

/** A ruling that is not recorded yet. */
export interface DecidedProposal {
  readonly judged: KernelRuling;
  readonly believed?: PlannedBeliefs;
  readonly at: Instant;
  readonly kept: PayloadBlobs;
  /** Writs that the entry must store. */
  readonly unstored: readonly BlobRow[];
}

/**
 * Decides a proposal on the current state, up to its entry: an approved change is in memory then.
 * `unrecorded`: an open approval blocks the proposal. `needs`: nothing has moved. Undefined if the
 * action declares other calls than those of the commit plan.
 *
 * @throws EffectError `stale` if the body of a transaction made other calls
 */
export function decideProposal(
  ports: RulingPorts,
  gathered: GatheredProposal,
  {
    builtIn = false,
    erasedPartitions: losing = [],
    precondition,
    assertedAt,
    salts,
    foreseen,
  }: RulingOptions,
): DecidedProposal | Unrecorded<Ruling> | NeedsFacts | undefined {
  const { writer, expiries } = ports;
  const { chain, domain, world, writs } = writer.parts;
  if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
  writer.refuseIfHalted();
  const at = writer.now();
  // A proposal that is recorded comes after the expiry.
  const over =
    foreseen !== undefined && expiries.hasExpiredFreeze() ? chain.open.freezing : undefined;
  const frozen = frozenFor(chain, domain, gathered.intent, at, over);
  if (frozen !== undefined) return { unrecorded: frozen };
  const { commitPlan } = gathered;
  const own = writer.authority(gathered.writ, gathered.principal, at, {
    committing: commitPlan?.epoch,
  });
  const { refused, asked: askedFirst } = checkBufferedTools(own, commitPlan);
  const authority = withTools(own, commitPlan, askedFirst);
  const inputs = { at, observations: gathered.observed, calls: commitPlan?.calls ?? NO_CALLS };
  const adjudicated =
    refused ??
    adjudicate(world, gathered.intent, authority, inputs, {
      parsed: builtIn,
      conflict: () => precondition?.conflict(gathered.intent),
    });
  if (adjudicated.verdict === 'rejected' && adjudicated.outdated === true) {
    if (commitPlan === undefined || commitPlan.isProposed === true) return undefined;
    throw outdatedCalls(adjudicated.detail);
  }
  const stopped = undoing(adjudicated, () => stoppedBy(writer, adjudicated, at));
  if (stopped !== undefined) return 'needs' in stopped ? stopped : { unrecorded: stopped };
  const unstored = writs.unstored(gathered.writ);
  const drawn = (salts ?? new SaltSource(writer.context.random)).restartAt(chain.head);
  const kept = new PayloadBlobs(writer.context.saltGenerator(drawn), [
    ...gathered.blobs,
    ...unstored,
  ]);
  const planned = undoing(adjudicated, () =>
    planStatements(ports, adjudicated, gathered, { at, assertedAt, losing, foreseen }, kept),
  );
  if ('needs' in planned) return planned;
  return { ...planned, at, kept, unstored };
}

/**
 * The ruling if an open approval blocks the proposal. Only the adjudication shows that the rules
 * read paths that the approval would change. The state is then as before.
 */
function stoppedBy(
  writer: Writer,
  judged: KernelRuling,
  at: Instant,
): Ruling | NeedsFacts | undefined {
  if (judged.verdict === 'rejected') return undefined;
  const { chain, domain } = writer.parts;
  if (domain.freeze === 'reserve')
    return frozenByReservations(chain, writer.parts, judged, writer.reservations, at);
  const judgedBy = (): readonly Pattern[] =>
    judged.verdict === 'approved' ? judged.checkedAgainst() : frozenPatterns(judged.freezes);
  const stopped = frozenByRules(chain, domain, judgedBy, at);
  if (stopped !== undefined && judged.verdict === 'approved') judged.undo();
  return stopped;
}

/** A step between the verdict and the entry. An error undoes the approved change. */
function undoing<T>(judged: KernelRuling, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (judged.verdict === 'approved') judged.undo();
    throw error;
  }
}

/** The transaction runs again, on the current state. */
export function outdatedCalls(detail: string): EffectError {
  return new EffectError(
    'stale',
    `The proposal was planned on an earlier state: ${detail}. Propose again.`,
    {
      retryable: true,
    },
  );
}

/** The facts that a proposal changes are planned under these terms. */
export interface StatementTerms {
  readonly at: Instant;
  /**
   * The start of valid time for statements without a time of their own. Default: the time of the
   * ruling.
   */
  readonly assertedAt?: Instant | undefined;
  /** The partitions that lose facts in an erasure. */
  readonly losing: readonly ErasedPartition[];
  /**
   * The ruling is only foreseen: no judge of contradictions is asked. `stateOnly`: the statements
   * are not compared with facts, because only the current ones are known.
   */
  readonly foreseen?: 'completely' | 'stateOnly' | undefined;
}

/**
 * Plans an approved proposal on the current facts. If the facts do not fit, the proposal is refused
 * or escalated.
 */
export function planStatements(
  { writer, beliefs }: RulingPorts,
  judged: KernelRuling,
  gathered: GatheredProposal,
  { at, assertedAt, losing, foreseen }: StatementTerms,
  kept: PayloadBlobs,
): { readonly judged: KernelRuling; readonly believed?: PlannedBeliefs } | NeedsFacts {
  if (judged.verdict !== 'approved') return { judged };
  const { id, generation } = writer;
  if (losing.length > 0) {
    const believed = requireFactStore(beliefs).planErasure(losing, at, {
      trajectoryId: id,
      generation,
    });
    return { judged, believed };
  }
  if (judged.compiled.statements.length === 0 || foreseen === 'stateOnly') return { judged };
  const { domain } = writer.parts;
  const planned = requireFactStore(beliefs).plan({
    call: gathered,
    generation,
    compiled: judged.compiled,
    proposalId: gathered.proposalId,
    trajectoryId: id,
    at,
    assertedAt,
    predicates: domain.memory?.predicates ?? {},
    blobs: kept,
    isJudgement: foreseen !== undefined,
  });
  if (planned !== undefined && 'needs' in planned) {
    judged.undo();
    return planned;
  }
  if (planned === undefined || 'changes' in planned)
    return { judged, ...(planned && { believed: planned }) };
  if ('questions' in planned)
    return { judged: escalateForAnswers(domain, judged, planned, assertedAt) };
  judged.undo();
  const { policy } = judged.compiled;
  const detail = `${planned.refusal.reason}: ${planned.refusal.message}`;
  return {
    judged: {
      verdict: 'rejected',
      reason: 'precondition_failed',
      detail,
      ...(policy && { policy }),
    },
  };
}

/**
 * Refuses a proposal that would wait where too many wait already. Expired ones are recorded first.
 *
 * @throws RuntimeError `too_many_pending`
 */
export function checkQueue(
  { writer, expiries }: RulingPorts,
  writ: WritChain,
): NeedsFacts | undefined {
  const { context, parts, id } = writer;
  const { maxPendingPerRoot } = context;
  if (maxPendingPerRoot === undefined) return undefined;
  const root = rootOf(writ);
  let open = 0;
  for (const [writId, count] of parts.chain.open.countsByWrit) {
    const proposed = parts.writs.get(writId);
    if (proposed !== undefined && rootOf(proposed) === root) open += count;
  }
  if (open < maxPendingPerRoot) return undefined;
  if (expiries.hasExpired()) return needs(() => expiries.recordSomeExpired());
  throw tooManyPending(id, root, open);
}

/** All writs below one root share its queue, so that no holder fills it under new writs. */
function rootOf({ writ, chain }: WritChain): Hash {
  return writId(chain.at(-1) ?? writ);
}

function tooManyPending(trajectoryId: string, root: Hash, open: number): RuntimeError {
  return new RuntimeError(
    'too_many_pending',
    `${open} proposals under the root writ ${root} and the writs below it wait for a decision in ${trajectoryId}, and no more may. Resolve some of them, or raise approvals.maxPending.`,
    { evidence: { trajectory_id: trajectoryId, writ: root, pending: open }, retryable: true },
  );
}
