import { isInstant } from '#canon';
import { APPROVALS_MAX } from './approvals-max.ts';
import { isBeliefChange, isSaltedReference } from './belief-shape.ts';
import { isBlobRef, isErased } from './blob.ts';
import type { EntryKind, Payload } from './entry.ts';
import { isHash } from './is-hash.ts';
import {
  type Check,
  each,
  either,
  isList,
  isObject,
  isSeq,
  isText,
  listOf,
  memberFault,
  members,
  oneOf,
  type Shape,
  shapeOf,
} from './shape-checks.ts';

const isValue: Check = (value) => value !== undefined;
const isTime: Check = (value) => typeof value === 'string' && isInstant(value);
/** A trajectory's name. PostgreSQL text cannot contain NUL. */
const isName: Check = (value) => typeof value === 'string' && !value.includes('\0');
const isEpoch: Check = (value) => isSeq(value) && (value as number) > 0;
const isAmounts: Check = each(isSeq);

/** A value in place, or a complete reference. A value that only looks like a reference fails. */
const isStored: Check = (value) => (isBlobRef(value) ? isReference(value) : value !== undefined);
const isReference = members({ $blob: isHash, bytes: isSeq }, { salted: (value) => value === true });
/** A list stored as one blob is never erased, because its changes would be lost. */
const isListReference = members({ $blob: isHash, bytes: isSeq });
const isStoredList: Check = (value) =>
  isList(value) ? (value as unknown[]).every(isPatch) : isListReference(value);
const isPatchList: Check = (value) => isList(value) && (value as unknown[]).every(isPatch);
/**
 * The fold checks patches. This check only refuses values that look like a reference without being
 * one.
 */
const isPatch: Check = (patch) => {
  const value = (patch as { readonly value?: unknown } | null)?.value;
  return typeof value !== 'object' || value === null || isStored(value) || isErased(value);
};
/** The complete initial state of a fold; never erased. */
const isStoredObject: Check = (value) =>
  isObject(value) && (isBlobRef(value) ? isListReference(value) : true);

const isRole = members({
  name: isText,
  params: each(isText),
});
const isAction = members({ name: isText, role: isRole, args: isStored });
const isEffects: Check = listOf(members({ id: isHash, effect: isStored }));
const isDelta = members({
  state: isStoredList,
  effects: isEffects,
  beliefs: listOf(isBeliefChange),
});
/** The commit plans the changes of facts, because other commits may change the facts before it. */
const isProposedDelta = members({
  state: isStoredList,
  effects: isEffects,
  beliefs: (value) => isList(value) && (value as unknown[]).length === 0,
});
const isDomain = members({ name: isText, version: isText, hash: isHash });
const isSignature = members({
  key: isHash,
  value: (value) => typeof value === 'string' && /^[0-9a-f]{128}$/.test(value),
});
const isPolicy = members(
  { digest: isHash, decision: oneOf('allow', 'deny', 'needs_approval') },
  { rule: isText },
);
const isVector: Check = listOf(
  members(
    { invariant_id: isText, result: oneOf('pass', 'reject', 'escalate') },
    { detail: isText },
  ),
);
const isCounselor = members(
  { principal: isText, as: isText, method: isText },
  {
    at: isTime,
    override: (v) => v === true,
    overridden: isVector,
    reason: isText,
    token_by: listOf(isText),
  },
);
const isAmendment = members({ action: isAction, difference: isStored });
const isCounselors: Check = listOf(isCounselor);
const isSeveral: Check = (value) =>
  isSeq(value) && (value as number) >= 2 && (value as number) <= APPROVALS_MAX;
const isObservations: Check = listOf(
  members({ name: isText }, { value: isStored, oracle_key: isHash, hash: isHash }),
);
const isIntent = members(
  { action: isText, role: isRole, args: isStored, observations: isObservations },
  { calls: isSaltedReference },
);
const isProposal = members(
  {
    proposal_id: isHash,
    writ_id: isHash,
    action: isAction,
    observations: isObservations,
    at: isTime,
    delta: isProposedDelta,
    approval: isStoredList,
    budget_cost: isAmounts,
  },
  { key_hash: isHash, questions: isSaltedReference, said_at: isTime },
);

const COMMON: Record<string, Check> = {
  kind: isText,
  trajectory_id: isName,
  seq: isSeq,
  parent: either(isHash, (v) => v === null),
  at: isTime,
};
const COMMON_OPTIONAL: Record<string, Check> = { signature: isSignature };

const REASONS = oneOf(
  'invalid_authority',
  'policy_denied',
  'budget_exhausted',
  'precondition_failed',
  'unknown_tool',
  'type_mismatch',
  'unjudged_call',
  'invariant_rejected',
  'counselor_rejected',
  'effect_failed',
  'conflict',
  'expired',
  'upgraded',
);

/**
 * The fields of each kind beyond the common ones: required, optional. The check refuses an unknown
 * field.
 */
const KINDS: Record<EntryKind, readonly [Record<string, Check>, Record<string, Check>]> = {
  root: [
    { domain: isDomain, initial_state: isStoredObject, compiler_version: isText, writs: isList },
    {
      policy_hash: isHash,
      delegated_from: members({ trajectory_id: isText, entry_id: isHash }),
      detection_vector: isVector,
      note: isText,
      sensitive: isPatchList,
    },
  ],
  branch: [
    {
      source_trajectory_id: isText,
      source_commit_id: isHash,
      domain: isDomain,
      compiler_version: isText,
      writs: isList,
      note: isText,
    },
    { policy_hash: isHash, detection_vector: isVector },
  ],
  commit: [
    {
      proposal_id: isHash,
      writ_id: isHash,
      parent_commit: isHash,
      action: isAction,
      delta: isDelta,
      observations: isObservations,
      budget_cost: isAmounts,
      compiler_version: isText,
    },
    {
      epoch: isEpoch,
      key_hash: isHash,
      policy: isPolicy,
      resolves: isHash,
      counselor: isCounselor,
      approved_by: isCounselors,
      detection_vector: isVector,
      amended: isAmendment,
    },
  ],
  rejection: [
    { intent: isIntent, reason: REASONS, detail: isText },
    {
      proposal_id: isHash,
      key_hash: isHash,
      writ_id: isHash,
      policy: isPolicy,
      invariant_id: isText,
      resolves: isHash,
      counselor: isCounselor,
    },
  ],
  pending_approval: [
    {
      proposal: isProposal,
      digest: isHash,
      channel: isText,
      reason: oneOf(
        'invariant_escalated',
        'policy_needs_approval',
        'writ_requires_approval',
        'irreversible',
        'contradiction',
        'in_doubt',
        'unresolved',
      ),
      detail: isText,
      freezes: either((value) => value === 'world', listOf(isText)),
      head: isHash,
    },
    {
      policy: isPolicy,
      invariant_id: isText,
      expires: isTime,
      deputies: listOf(members({ of: isText, kind: isText, from: isTime })),
      approvals: isSeveral,
      resolves: isHash,
      approved_by: isCounselors,
    },
  ],
  delegation: [
    { child_trajectory_id: isText, task: isText, writ: isValue },
    {
      begins: members(
        { domain: isDomain, initial_state: isStoredObject },
        { sensitive: isPatchList },
      ),
      concludes: isHash,
      child_head: isHash,
      final_answer: isStored,
      budget_cost: isAmounts,
    },
  ],
  key_change: [{ to: isHash, reason: isText }, {}],
};

/** The same shapes with the common fields. */
const SHAPES = new Map<unknown, Shape>(
  Object.entries(KINDS).map(([kind, [required, optional]]) => [
    kind,
    shapeOf({ ...COMMON, ...required }, { ...COMMON_OPTIONAL, ...optional }),
  ]),
);

/**
 * The violation in a payload's fields. Undefined for a complete payload of one of the seven kinds
 * with no other fields.
 */
export function payloadFault(payload: unknown): string | undefined {
  const shape = SHAPES.get((payload as { kind?: unknown } | null)?.kind);
  return shape === undefined ? 'the payload has an unknown kind' : memberFault(payload, shape);
}

export function isPayload(payload: unknown): payload is Payload {
  return payloadFault(payload) === undefined;
}
