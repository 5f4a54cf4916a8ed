import { AuthorityError } from '#authority';
import { isInstance, type Json } from '#base';
import { CanonError, copyJson, type Misfit, WORLD_LIMITS } from '#canon';
import { EffectError } from '#effects';
import {
  type Approved,
  argumentMisfits,
  type CounselorCommit,
  type Domain,
  type Intent,
  KernelError,
  type Ruling as KernelRuling,
  type MemoryStatement,
  type PatchOperation,
  type ProposedCall,
} from '#kernel';
import type { Hash, PendingPayload, RejectionReason, VectorItem } from '#ledger';
import { MemoryError } from '#memory';
import { RuntimeError } from '../errors.ts';
import type { WaitingProposal } from './ruling.ts';
import { type CommitPlan, costOf } from './tool-authority.ts';

/** The content of an entry that a judgement foresees. */
export interface JudgedChange {
  /** From the state of the judgement to the state after it (RFC 6902). */
  readonly changes: readonly PatchOperation[];
  /** The tool calls that would run. */
  readonly calls: readonly ProposedCall[];
  /** The statements of facts that would be recorded. */
  readonly statements: readonly MemoryStatement[];
  readonly cost: { readonly [unit: string]: number };
}

/** The ruling that a proposal or an approval would get. No entry exists for it. */
export type Judgement =
  /** `overridden`: the rules that the result breaks, and that the approver overrides. */
  | ({ readonly ruling: 'committed'; readonly overridden?: readonly VectorItem[] } & JudgedChange)
  /** A person must decide. For an approval: another approval is needed after this one. */
  | ({
      readonly ruling: 'escalated';
      readonly reason: PendingPayload['reason'];
      readonly detail: string;
      readonly invariantId?: string;
      readonly channel: string;
      /** The required number of approvals. */
      readonly approvals: number;
    } & JudgedChange)
  | {
      readonly ruling: 'rejected';
      readonly reason: RejectionReason;
      readonly detail: string;
      readonly invariantId?: string;
      /** With `type_mismatch`: the misfits of the arguments. */
      readonly findings?: readonly Misfit[];
    }
  | {
      readonly ruling: 'frozen';
      readonly by: Hash;
      readonly detail: string;
      readonly waiting?: WaitingProposal;
    }
  /** The call would throw an error with this code, and record nothing. */
  | {
      readonly ruling: 'refused';
      readonly code: string;
      readonly detail: string;
      /** The rules that the result breaks. */
      readonly broken?: readonly VectorItem[];
      /** The misfits of amended arguments. */
      readonly findings?: readonly Misfit[];
    };

/** Call before the change is undone. The copies refer to nothing in memory. */
export function judgedChange(
  judged:
    | Pick<Approved | CounselorCommit, 'compiled' | 'patches'>
    | Extract<KernelRuling, { verdict: 'escalated' }>,
  plan: CommitPlan | undefined,
  calls: readonly ProposedCall[] = plan?.calls ?? [],
): JudgedChange {
  const { compiled } = judged;
  const patches = typeof judged.patches === 'function' ? judged.patches() : judged.patches;
  return {
    changes: copied(patches),
    calls: copied(calls.map(({ tool, input }) => ({ tool, input }))),
    statements: copied(compiled.statements),
    cost: { ...costOf({ compiled }, plan) },
  };
}

/** The ruling of the kernel as a judgement. The change is not undone here. */
export function judgementOf(
  judged: KernelRuling,
  plan: CommitPlan | undefined,
  domain: Domain,
  intent: Intent,
): Judgement {
  if (judged.verdict === 'approved') return { ruling: 'committed', ...judgedChange(judged, plan) };
  const { reason, detail, invariantId } = judged;
  const named = invariantId === undefined ? {} : { invariantId };
  if (judged.verdict === 'rejected') {
    const findings = judged.reason === 'type_mismatch' ? argumentMisfits(domain, intent) : [];
    return {
      ruling: 'rejected',
      reason: reason as RejectionReason,
      detail,
      ...named,
      ...(findings.length > 0 && { findings }),
    };
  }
  const { channel, approvals } = judged;
  return {
    ruling: 'escalated',
    reason: judged.reason,
    detail,
    ...named,
    channel,
    approvals,
    ...judgedChange(judged, plan),
  };
}

/**
 * The refusal of a decision as a judgement. `amended`: the arguments that the counselor gave. Other
 * errors, such as those of the store or of a proposal that is not pending, are thrown again.
 */
export function refusedBy(
  error: unknown,
  domain: Domain,
  amended: Pick<Intent, 'action' | 'args'> | undefined,
): Judgement {
  if (!isRefusal(error)) throw error;
  const { reason: code, message, evidence } = error;
  const broken = evidence['vector'] as readonly VectorItem[] | undefined;
  const findings =
    code === 'invalid_amendment' && amended !== undefined ? argumentMisfits(domain, amended) : [];
  return {
    ruling: 'refused',
    code,
    detail: message,
    ...(broken !== undefined && { broken: copied(broken) }),
    ...(findings.length > 0 && { findings }),
  };
}

type RefusalError =
  | KernelError
  | MemoryError
  | EffectError
  | AuthorityError
  | CanonError
  | RuntimeError;

function isRefusal(error: unknown): error is RefusalError {
  const ofLayer = [KernelError, MemoryError, EffectError, AuthorityError, CanonError].some(
    (layer) => isInstance(error, layer as never),
  );
  return ofLayer || (isInstance(error, RuntimeError) && DECISIVE.has(error.code));
}

/** Errors of the runtime that refuse the decision itself. */
const DECISIVE: ReadonlySet<string> = new Set([
  'answers_needed',
  'bad_intent',
  'bad_argument',
  'bad_writ',
  'concluded',
  'erased',
  'frozen',
  'halted',
  'observation_missing',
  'too_many_pending',
]);

function copied<T>(value: T): T {
  return copyJson(value as unknown as Json, WORLD_LIMITS) as unknown as T;
}
