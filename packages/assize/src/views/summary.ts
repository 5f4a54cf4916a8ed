import { canonicalize } from '#canon';
import type { Domain } from '#kernel';
import {
  type EntryKind,
  type EntryRow,
  erasureArgs,
  type HaltArgs,
  haltArgs,
  isBlobRef,
  isErasure,
  type Patch,
  type Payload,
  type RoleRef,
  revocationArgs,
  type SettlementArgs,
  type Stored,
  settlementArgs,
  undoingCostsOf,
} from '#ledger';
import { counted } from './counted.ts';
import { type Conclusions, type DelegationStep, stepOf } from './delegations.ts';
import { readable, shortId } from './entries.ts';
import { type Override, overridesIn } from './overrides.ts';
import { argsText, proposedIn } from './proposed-args.ts';
import { shownOf } from './shown.ts';

/** The outcomes of entries. */
export const RULINGS = [
  ...([
    'begun',
    'branched',
    'committed',
    'rejected',
    'escalated',
    'delegated',
    'answered',
    'concluded',
  ] as const),
  ...(['key changed', 'unreadable'] as const),
] as const;

/** One entry on one line. */
export interface Summary {
  readonly seq: number;
  readonly id: string;
  readonly kind: EntryKind;
  readonly at: string;
  readonly action?: string;
  readonly role?: string;
  /** The parameters of the role. Absent if there are none. */
  readonly role_params?: RoleRef['params'];
  /** The start of the proposed arguments. Absent for values that are stored apart. */
  readonly args?: string;
  /** The proposed action in words. Absent as `args`, and without the actions of a domain. */
  readonly title?: string;
  /** The outcome of the entry. */
  readonly ruling: (typeof RULINGS)[number];
  readonly reason?: string;
  readonly invariant_id?: string;
  readonly detail?: string;
  /** The pending entry that this entry resolves, and its resolver. */
  readonly resolves?: string;
  readonly counselor?: string;
  /** The approvers that overrode rules, with the violations. Absent if there are none. */
  readonly overrides?: readonly Override[];
  /** The operations from the proposed action to the committed one, or a reference to them. */
  readonly amended?: Stored;
  readonly delegation?: DelegationStep;
}

export interface SummaryContext {
  readonly conclusions?: Conclusions | undefined;
  readonly actions?: Domain['actions'] | undefined;
}

/** To the second: that is enough in text. JSON has the full time. */
export function shortTime(at: string): string {
  return at === '' ? '' : `${at.slice(0, 19)}Z`;
}

/**
 * With `conclusions`, a starting delegation shows whether it is open. With the actions of the
 * domain, a proposal has its title.
 */
export function summaryOf(row: EntryRow, { conclusions, actions }: SummaryContext = {}): Summary {
  const { seq, id, kind } = row;
  const entry = readable(row);
  if (entry === undefined) {
    const fault = row.unsealed ?? 'the payload is damaged';
    return { seq, id, kind, at: '', ruling: 'unreadable', detail: `${fault}; run assize verify` };
  }
  const { payload } = entry;
  const asked = proposedIn(payload);
  const args = optional({
    args: asked && argsText(asked.args),
    title: asked && actions && shownOf(asked, actions[asked.name]?.present).title,
  });
  return { seq, id, kind, at: payload.at, ...ruledOf(row, payload, conclusions), ...args };
}

function ruledOf(
  row: EntryRow,
  payload: Payload,
  conclusions: Conclusions | undefined,
): Omit<Summary, 'seq' | 'id' | 'kind' | 'at'> {
  switch (payload.kind) {
    case 'root': {
      const { domain, delegated_from, note } = payload;
      const from =
        delegated_from === undefined ? '' : `, delegated from ${delegated_from.trajectory_id}`;
      return { ruling: 'begun', detail: `${domain.name}@${domain.version}${from}${suffix(note)}` };
    }
    case 'branch':
      return {
        ruling: 'branched',
        detail: `from ${payload.source_trajectory_id}${suffix(payload.note)}`,
      };
    case 'commit':
      return {
        ruling: 'committed',
        ...actionOf(payload.action),
        ...optional({
          detail: builtInOf(payload) ?? amendmentText(payload),
          amended: payload.amended?.difference,
        }),
        ...resolutionOf(payload),
        ...overriddenBy(payload),
      };
    case 'rejection': {
      const { reason, detail, invariant_id, intent } = payload;
      return {
        ruling: 'rejected',
        ...actionOf({ name: intent.action, role: intent.role }),
        reason,
        ...optional({ invariant_id }),
        detail: `${detail}${undoingOf(payload)}`,
        ...resolutionOf(payload),
      };
    }
    case 'pending_approval': {
      const { reason, detail, invariant_id, proposal, resolves, approved_by } = payload;
      return {
        ruling: 'escalated',
        ...actionOf(proposal.action),
        reason,
        ...optional({ invariant_id }),
        detail,
        ...optional({ resolves, counselor: approved_by?.at(-1)?.principal }),
        ...overriddenBy(payload),
      };
    }
    case 'delegation': {
      const delegation = stepOf(row, payload, conclusions);
      return { ruling: STEPS[delegation.step], detail: payload.task, delegation };
    }
    case 'key_change':
      return { ruling: 'key changed', detail: `to ${payload.to}${suffix(payload.reason)}` };
  }
}

const STEPS = { start: 'delegated', answer: 'answered', conclusion: 'concluded' } as const;

/**
 * The halt, or the revoked, erased or settled items, with the reason. The state shows the changes
 * of other actions.
 */
function builtInOf(payload: Extract<Payload, { kind: 'commit' }>): string | undefined {
  const revoked = revocationArgs(payload);
  if (revoked !== undefined) return `writ ${shortId(revoked.writ)}: ${revoked.reason}`;
  const halt = haltArgs(payload);
  if (halt !== undefined) return haltedOf(halt);
  const settlement = settlementArgs(payload);
  if (settlement !== undefined) return `${settledOf(settlement)}${undoingOf(payload)}`;
  return isErasure(payload) && !isBlobRef(payload.action.args)
    ? erasureArgs(payload.action.args)?.reason
    : undefined;
}

/** `amended /args/amount`. Sensitive arguments show no paths. */
export function amendmentText({
  amended,
}: Extract<Payload, { kind: 'commit' }>): string | undefined {
  if (amended === undefined) return undefined;
  const { difference } = amended;
  const paths = Array.isArray(difference)
    ? (difference as readonly Partial<Patch>[]).map(({ path = '' }) => path)
    : [];
  return ['amended', ...paths].join(' ');
}

/** `halted by security: REASON`; for an adopted halt, its origin. */
function haltedOf({ does, principal, reason, from, remains }: HaltArgs): string {
  const origin = from === undefined ? '' : `, in ${from.trajectory_id}`;
  const still = remains === true ? ' (another halt stands)' : '';
  return `${does === 'halt' ? 'halted' : 'resumed'} by ${principal}${origin}: ${reason}${still}`;
}

/** `applied 3 effects`; for a decision, its result. */
function settledOf({ settled, discarded = [], decided }: SettlementArgs): string {
  if (decided !== undefined)
    return `effect ${shortId(decided.id)}: ${decided.as}, by ${decided.by}`;
  const ended: string[] = settled
    .flatMap(({ effects }) => effects)
    .map(({ outcome, absent }) => (absent === true ? NEVER : outcome));
  for (const _ of discarded) ended.push('undone');
  return [...new Set(ended)]
    .map((how) => {
      const effects = counted(ended.filter((each) => each === how).length, 'effect');
      return how === NEVER ? `${effects} never happened` : `${how} ${effects}`;
    })
    .join(', ');
}

/** The call did nothing, or was cancelled. */
const NEVER = 'never';

/** The cost of compensations, if the entry has one. */
function undoingOf(payload: Payload): string {
  const costs = undoingCostsOf(payload)?.costs ?? [];
  return costs.length === 0
    ? ''
    : `; compensation cost ${costs.map((cost) => canonicalize(cost)).join(' and ')}`;
}

function actionOf({
  name,
  role: { name: role, params },
}: {
  readonly name: string;
  readonly role: RoleRef;
}): Pick<Summary, 'action' | 'role' | 'role_params'> {
  return { action: name, role, ...(Object.keys(params).length > 0 && { role_params: params }) };
}

/** The rule that decided, or else the reason: a person may end what a rule escalated. */
export function causeOf(reason: string | undefined, rule: string | undefined): string | undefined {
  return reason?.startsWith('invariant_') === true ? rule : reason;
}

/** `approved by manager:grace`. Undefined where no person has decided. */
export function decidedBy({
  reason,
  counselor,
}: Pick<Summary, 'reason' | 'counselor'>): string | undefined {
  const does = reason === 'counselor_rejected' ? 'rejected' : 'approved';
  return counselor === undefined ? undefined : `${does} by ${counselor}`;
}

function resolutionOf({
  resolves,
  counselor,
}: Extract<Payload, { kind: 'commit' | 'rejection' }>): Partial<
  Pick<Summary, 'resolves' | 'counselor'>
> {
  return optional({ resolves, counselor: counselor?.principal });
}

function overriddenBy(payload: Payload): Pick<Summary, 'overrides'> {
  const overrides = overridesIn(payload);
  return overrides.length === 0 ? {} : { overrides };
}

function suffix(note: string | undefined): string {
  return note === undefined ? '' : `: ${note}`;
}

function optional<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as never;
}
