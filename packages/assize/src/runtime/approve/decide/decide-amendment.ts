import {
  amendingKind,
  amendPending,
  type CounselorCommit,
  calledByBody,
  type InputCall,
  refusedAmendment,
} from '#kernel';
import type { Instant } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import type { PlannedBeliefs } from '../../memory/plan/plan-beliefs.ts';
import type { Needs } from '../../records/needs.ts';
import { PayloadBlobs } from '../../records/payload-blobs.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { SaltSource } from '../../records/salts.ts';
import {
  type CommitPlan,
  checkBufferedTools,
  hasToolObservation,
  withTools,
} from '../../records/tool-authority.ts';
import {
  checkOthers,
  checkReservations,
  frozenByRules,
  frozenFor,
} from '../../writer/freeze/freeze.ts';
import type { Writer } from '../../writer/writer.ts';
import type { AmendedProposal } from './amended-proposal.ts';
import type { ApprovedStatements } from './approved-statements.ts';

/** The change as memory has it, with the planned facts and the blobs of its entry. */
interface AmendedChange {
  readonly commit: CounselorCommit;
  readonly kept: PayloadBlobs;
  readonly believed?: PlannedBeliefs;
}

/**
 * Decides an amendment on the current state, up to its entry. `plan`: the calls of the amended
 * proposal. Undefined if they must be planned again.
 */
export function decideAmendment(
  writer: Writer,
  amended: AmendedProposal,
  plan: CommitPlan | undefined,
  statements: ApprovedStatements,
  { at, salts }: { readonly at: Instant; readonly salts: SaltSource },
): Needs | AmendedChange | undefined {
  const { chain } = writer.parts;
  const { pendingId, pending } = amended;
  const commit = runAmended(writer, amended, plan, at);
  if (commit === undefined) return undefined;
  const unread = checkReservations(writer, commit, at, pendingId);
  if (unread !== undefined) return unread;
  const kept = new PayloadBlobs(writer.context.saltGenerator(salts.restartAt(chain.head)));
  const believed = statements.plan(pending, commit, at, kept);
  if (believed === undefined) return { commit, kept };
  if (!('needs' in believed)) return { commit, kept, believed };
  commit.undo();
  return believed;
}

const NO_CALLS: readonly InputCall[] = [];

/**
 * Judges the amended proposal like a new one. On an error the state is unchanged. Undefined if the
 * calls must be planned again.
 *
 * @throws KernelError; RuntimeError `frozen`
 */
function runAmended(
  writer: Writer,
  { pendingId, pending, input, waiting, writ, intent, parsed }: AmendedProposal,
  plan: CommitPlan | undefined,
  at: Instant,
): CounselorCommit | undefined {
  const { chain, domain, world } = writer.parts;
  const { principal, override = false } = input;
  amendingKind(world, waiting, { principal, at });
  if (hasToolObservation(pending.proposal.observations)) throw calledByBody();
  checkUnfrozen(frozenFor(chain, domain, intent, at, pendingId));
  const own = writer.authority(writ, writ.writ.subject, at, { committing: plan?.epoch });
  const { refused, asked } = checkBufferedTools(own, plan);
  if (refused !== undefined) throw refusedAmendment(refused);
  const amendment = { intent, parsed, calls: plan?.calls ?? NO_CALLS };
  const commit = amendPending(
    world,
    waiting,
    { principal, at, override },
    amendment,
    withTools(own, plan, asked),
  );
  if ('outdated' in commit) return undefined;
  try {
    checkUnfrozen(frozenByRules(chain, domain, () => commit.checkedAgainst(), at, pendingId));
    checkOthers(chain, domain, pendingId, commit.changes, at);
  } catch (error) {
    commit.undo();
    throw error;
  }
  return commit;
}

/** @throws RuntimeError `frozen` if another open approval blocks the amended proposal */
function checkUnfrozen(stopped: Ruling | undefined): void {
  if (stopped?.ruling !== 'frozen') return;
  const { by, detail } = stopped;
  throw new RuntimeError(
    'frozen',
    `The amended proposal is frozen: ${detail}. Resolve ${by} first, or reject this proposal.`,
    { evidence: { by }, retryable: true },
  );
}
