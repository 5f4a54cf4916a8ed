import { EffectError } from '#effects';
import { adjudicate, type Ruling as KernelRuling, type Pattern } from '#kernel';
import type { BlobRow, Instant } from '#ledger';
import { concluded } from '../../errors.ts';
import type { ErasedPartition } from '../../memory/plan/close-erased.ts';
import type { PlannedBeliefs } from '../../memory/plan/plan-beliefs.ts';
import type { GatheredProposal } from '../../records/intent.ts';
import type { NeedsFacts } from '../../records/needs.ts';
import { PayloadBlobs } from '../../records/payload-blobs.ts';
import type { Ruling } from '../../records/ruling.ts';
import { SaltSource } from '../../records/salts.ts';
import { checkBufferedTools, withTools } from '../../records/tool-authority.ts';
import { frozenByReservations, frozenByRules, frozenFor, frozenPatterns } from '../../writer/freeze.ts';
import type { Unrecorded } from '../../writer/until-committed.ts';
import type { Writer } from '../../writer/writer.ts';
import { NO_CALLS } from './calls-now.ts';
import type { Precondition } from './precondition.ts';
import type { RulingPorts } from './proposal-ports.ts';
import { planStatements, type StatementTerms } from './proposed-statements.ts';

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
  { builtIn = false, erasedPartitions: losing = [], precondition, assertedAt, salts, foreseen }: RulingOptions,
): DecidedProposal | Unrecorded<Ruling> | NeedsFacts | undefined {
  const { writer, expiries } = ports;
  const { chain, domain, world, writs } = writer.parts;
  if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
  writer.refuseIfHalted();
  const at = writer.now();
  // A proposal that is recorded comes after the expiry.
  const over = foreseen !== undefined && expiries.hasExpiredFreeze() ? chain.open.freezing : undefined;
  const frozen = frozenFor(chain, domain, gathered.intent, at, over);
  if (frozen !== undefined) return { unrecorded: frozen };
  const { commitPlan } = gathered;
  const own = writer.authority(gathered.writ, gathered.principal, at, { committing: commitPlan?.epoch });
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
  const kept = new PayloadBlobs(writer.context.saltGenerator(drawn), [...gathered.blobs, ...unstored]);
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
function stoppedBy(writer: Writer, judged: KernelRuling, at: Instant): Ruling | NeedsFacts | undefined {
  if (judged.verdict === 'rejected') return undefined;
  const { chain, domain } = writer.parts;
  if (domain.freeze === 'reserve') return frozenByReservations(chain, writer.parts, judged, writer.reservations, at);
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
  return new EffectError('stale', `The proposal was planned on an earlier state: ${detail}. Propose again.`, {
    retryable: true,
  });
}
