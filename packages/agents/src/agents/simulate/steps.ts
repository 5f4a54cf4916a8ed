import type { Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import {
  type Amounts,
  type Entry,
  isEffectEntry,
  isUpgrade,
  type Payload,
  type RoleRef,
  type Stored,
  type ValueReader,
} from 'assize/internal/ledger';

/** A ruling of the record or of a branch, without ids and times, so that two can be compared. */
export interface Step {
  /** The seq of its entry. */
  readonly seq: number;
  /** The turn that proposed it. Undefined for a decision of a person, or without a run. */
  readonly turn?: number;
  readonly ruling: 'committed' | 'rejected' | 'escalated' | 'approved' | 'refused' | 'expired';
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Json;
  readonly reason?: string;
  /** The rule that rejected or escalated the proposal: an invariant, or a rule of the policy. */
  readonly rule?: string;
  readonly detail?: string;
  /** The amounts that the commit spent, by unit. */
  readonly spent?: Amounts;
}

/**
 * The step of an entry. Undefined for entries that are not rulings on proposals: outcomes of calls,
 * upgrades, delegations, first entries.
 *
 * @throws LedgerFault for a missing blob
 */
export async function stepOf(
  entry: Entry,
  turn: number | undefined,
  values: ValueReader,
): Promise<Step | undefined> {
  const { payload, seq } = entry;
  if (isEffectEntry(payload) || isUpgrade(payload)) return undefined;
  const proposed = proposalIn(payload);
  if (proposed === undefined) return undefined;
  const { ruling, action, role, args, ...rest } = proposed;
  const place = { seq, ...(turn !== undefined && { turn }) };
  return {
    ...place,
    ruling,
    action,
    role,
    args: (await values.value(entry, args)) as Json,
    ...rest,
  };
}

type Proposed = Omit<Step, 'seq' | 'turn' | 'args'> & { readonly args: Stored };

function proposalIn(payload: Payload): Proposed | undefined {
  if (payload.kind === 'commit') {
    const { action, resolves, budget_cost: spent } = payload;
    return { ...named(action), ruling: resolves === undefined ? 'committed' : 'approved', spent };
  }
  if (payload.kind === 'pending_approval') {
    const { proposal, resolves, reason, detail } = payload;
    const ruling = resolves === undefined ? 'escalated' : 'approved';
    return { ...named(proposal.action), ruling, reason, detail, ...ruleOf(payload) };
  }
  if (payload.kind !== 'rejection') return undefined;
  const { intent, reason, detail, resolves } = payload;
  const ended = reason === 'expired' ? 'expired' : 'refused';
  const ruling = resolves === undefined ? 'rejected' : ended;
  return {
    ruling,
    action: intent.action,
    role: intent.role,
    args: intent.args,
    reason,
    detail,
    ...ruleOf(payload),
  };
}

function named({ name, role, args }: { name: string; role: RoleRef; args: Stored }): {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Stored;
} {
  return { action: name, role, args };
}

function ruleOf(payload: Extract<Payload, { kind: 'pending_approval' | 'rejection' }>): {
  readonly rule?: string;
} {
  const { invariant_id: invariant, policy, reason } = payload;
  const isOfPolicy = reason === 'policy_denied' || reason === 'policy_needs_approval';
  const rule = invariant ?? (isOfPolicy ? policy?.rule : undefined);
  return rule === undefined ? {} : { rule };
}

/** The first place at which two lists of steps differ. */
export interface Parting {
  /** The index of the step. */
  readonly step: number;
  /** The turn of that step. For a decision of a person, the last turn before it. */
  readonly turn?: number;
  /** Undefined: the first one has ended there. */
  readonly one?: Step;
  /** Undefined: the other one has ended there. */
  readonly other?: Step;
}

/** Undefined: the two are equal. */
export function partingOf(first: readonly Step[], second: readonly Step[]): Parting | undefined {
  const length = Math.max(first.length, second.length);
  for (let step = 0; step < length; step++) {
    const [one, other] = [first[step], second[step]];
    if (one !== undefined && other !== undefined && keyOf(one) === keyOf(other)) continue;
    const turn = other?.turn ?? one?.turn ?? lastTurn(first.slice(0, step));
    return {
      step,
      ...(turn !== undefined && { turn }),
      ...(one && { one }),
      ...(other && { other }),
    };
  }
  return undefined;
}

function lastTurn(steps: readonly Step[]): number | undefined {
  return steps.findLast(({ turn }) => turn !== undefined)?.turn;
}

function keyOf({ ruling, action, role, args, reason, rule }: Step): string {
  return canonicalize([ruling, action, role, args, reason ?? null, rule ?? null], {
    foreign: true,
  });
}
