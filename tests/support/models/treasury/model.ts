import { writId } from '#authority';
import { canonicalize } from '#canon';
import {
  type CommitPayload,
  type EntryRow,
  type Hash,
  isHalt,
  isRevocation,
  isSettlement,
  isUpgrade,
  type PendingPayload,
  type UpgradePayload,
} from '#ledger';
import type { Operation } from '../naive-patch.ts';
import { payloadOf } from '../schedule.ts';
import { type Asked, actionIn } from './deeds.ts';
import {
  type Action,
  approvalsFor,
  askingOf,
  type Call,
  callsOf,
  channelOf,
  costOf,
  difference,
  type Finding,
  findingsOf,
  judgesTool,
  marked,
  migrated,
  placeholders,
  resultOf,
} from './naive.ts';
import type { Played } from './stage.ts';
import { type RuleName, START, type Treasury, type Version } from './versions.ts';

// A naive model of a ledger of the treasury. The model runs the committed actions one after the
// other on plain objects, and never reads the recorded changes of the state.

/** A pending proposal. */
export interface Waiting {
  readonly id: Hash;
  readonly payload: PendingPayload;
  readonly action: Action;
  /** The recorded calls. */
  readonly calls: readonly Call[];
  /** The requester. */
  readonly principal: string;
  /** The rules that its approval would break at its submission, without an override. */
  readonly brokenThen: ReadonlySet<RuleName>;
  /** Whether a counselor has overridden a rule since, or the domain has another version. */
  readonly isDisturbed: boolean;
}

export interface KeyedProposal {
  /** The last entry about it. */
  readonly id: Hash;
  readonly ref: number;
  /** Undefined in a branch: it has other writs than its source. */
  readonly writ: Hash | undefined;
}

/** The trajectory after an entry. */
export interface Model {
  readonly trajectory: string;
  readonly version: Version;
  readonly state: Treasury;
  /** The rules that the last commit broke, by its state and its calls. */
  readonly broken: ReadonlySet<RuleName>;
  /** The rules that its approvers have overridden. */
  readonly overridden: ReadonlySet<string>;
  readonly open: readonly Waiting[];
  readonly isHalted: boolean;
  readonly revoked: ReadonlySet<Hash>;
  readonly spent: ReadonlyMap<Hash, number>;
  /** The last entry of each key, by principal and key. */
  readonly keys: ReadonlyMap<string, KeyedProposal>;
}

/** The model after each entry of each trajectory. @throws Error for an entry that cannot be run */
export function modelsOf(played: Played): ReadonlyMap<string, readonly Model[]> {
  const models = new Map<string, Model[]>();
  const reader = new Reader(played);
  // A source comes before its branches.
  for (const [trajectory, rows] of played.rows) {
    const list: Model[] = [];
    models.set(trajectory, list);
    for (const row of rows) {
      const payload = payloadOf(row);
      if (payload.kind === 'root') list.push(rootOf(trajectory, reader.versions[0] as Version));
      else if (payload.kind === 'branch') {
        const source = payload.source_trajectory_id;
        const sources = played.rows.get(source) ?? [];
        const seq = sources.findIndex(({ id }) => id === payload.source_commit_id);
        list.push(branchOf(trajectory, models.get(source)?.[seq] as Model, sources));
      } else list.push(reader.next(list.at(-1) as Model, row));
    }
  }
  return models;
}

function rootOf(trajectory: string, version: Version): Model {
  return {
    trajectory,
    version,
    state: START,
    broken: new Set(),
    overridden: new Set(),
    open: [],
    isHalted: false,
    revoked: new Set(),
    spent: new Map(),
    keys: new Map(),
  };
}

/** A branch inherits state, revocations and keys, and none of the pending proposals. */
function branchOf(trajectory: string, source: Model, rows: readonly EntryRow[]): Model {
  const isPending = (id: Hash): boolean =>
    rows.find((row) => row.id === id)?.kind === 'pending_approval';
  const keys = [...source.keys]
    .filter(([, { id }]) => !isPending(id))
    .map(([name, keyed]) => [name, { ...keyed, writ: undefined }] as const);
  return { ...source, trajectory, open: [], spent: new Map(), keys: new Map(keys) };
}

/** Reads entries, beside the schedule. */
class Reader {
  readonly versions: readonly Version[];
  readonly #calls: Played['calls'];
  readonly #asked: ReadonlyMap<number, Asked>;
  readonly #principals: ReadonlyMap<Hash, string>;

  constructor({ schedule, calls, happenings }: Played) {
    this.versions = schedule.versions;
    this.#calls = calls;
    const asked = happenings.flatMap(({ done }) =>
      done.flatMap(({ deed }) => (deed.do === 'ask' ? [deed] : [])),
    );
    this.#asked = new Map(asked.map((deed) => [deed.ref, deed]));
    this.#principals = new Map(asked.map(({ writ, agent }) => [writId(writ), agent]));
  }

  next(before: Model, row: EntryRow): Model {
    const payload = payloadOf(row);
    switch (payload.kind) {
      case 'commit':
        return this.#afterCommit(before, row, payload);
      case 'rejection': {
        const open = before.open.filter(({ id }) => id !== payload.resolves);
        return {
          ...before,
          open,
          keys: this.#keysAfter(before, row, payload.writ_id, payload.intent.args),
        };
      }
      case 'pending_approval':
        return this.#afterPending(before, row, payload);
      default:
        throw new Error(`a ${payload.kind} entry is not part of these schedules`);
    }
  }

  #afterCommit(before: Model, row: EntryRow, payload: CommitPayload): Model {
    if (isSettlement(payload)) return before;
    if (isRevocation(payload))
      return { ...before, revoked: new Set([...before.revoked, payload.action.args.writ]) };
    if (isHalt(payload)) return { ...before, isHalted: payload.action.args.does === 'halt' };
    if (isUpgrade(payload)) return this.#upgraded(before, payload);
    const { version } = before;
    const action = actionIn(payload.action);
    const candidate = resultOf(version, before.state, action);
    if (candidate === undefined) throw new Error(`the committed action of ${row.id} throws`);
    const approvers = [
      ...(payload.approved_by ?? []),
      ...(payload.counselor ? [payload.counselor] : []),
    ];
    const calls = this.#calls.get(row.id) ?? [];
    const findings = findingsOf(version, candidate, calls);
    const [first] = findings;
    const escalated = first?.result === 'escalate' ? first : undefined;
    const waiting = before.open.find(({ id }) => id === payload.resolves);
    // An amendment is approved by the kind that its own escalation asks, too.
    const channel = `${waiting?.payload.channel}+${payload.amended === undefined ? '' : channelOf(askingOf(findings))}`;
    const names = approvers.map(({ principal }) => principal);
    const overridden = new Set(
      (payload.counselor?.overridden ?? []).map(({ invariant_id }) => invariant_id),
    );
    const state = marked(candidate, escalated, names);
    return {
      ...before,
      state,
      broken: brokenAfter(version, state, calls, channel),
      overridden,
      open: before.open
        .filter((one) => one !== waiting)
        .map((one) => (overridden.size > 0 ? { ...one, isDisturbed: true } : one)),
      spent: new Map([
        ...before.spent,
        [payload.writ_id, (before.spent.get(payload.writ_id) ?? 0) + costOf(action)],
      ]),
      keys: this.#keysAfter(before, row, payload.writ_id, payload.action.args),
    };
  }

  /** The reason of an upgrade has the amount of its migration. Later entries close proposals. */
  #upgraded(before: Model, payload: UpgradePayload): Model {
    const { to, reason } = payload.action.args;
    const version = this.versions[Number(to.version) - 1] as Version;
    const state = migrated(version, Number(reason.replace('raise ', '')), before.state);
    const vector = payload.counselor?.override === true ? payload.detection_vector : undefined;
    const overridden = (vector ?? []).filter(({ result }) => result !== 'pass');
    return {
      ...before,
      version,
      state,
      broken: brokenAfter(version, state, [], ''),
      overridden: new Set(overridden.map(({ invariant_id }) => invariant_id)),
      open: before.open.map((one) => ({ ...one, isDisturbed: true })),
    };
  }

  #afterPending(before: Model, row: EntryRow, payload: PendingPayload): Model {
    const { action, writ_id } = payload.proposal;
    const keys = this.#keysAfter(before, row, writ_id, action.args);
    const replaced = before.open.find(({ id }) => id === payload.resolves);
    const others = before.open.filter((one) => one !== replaced);
    if (replaced !== undefined)
      return { ...before, keys, open: [...others, { ...replaced, id: row.id, payload }] };
    const calls = this.#calls.get(row.id) ?? [];
    const principal = this.#principals.get(writ_id) ?? '';
    const one = { id: row.id, payload, action: actionIn(action), calls, principal };
    const brokenThen = brokenAtSubmission(before, one);
    return { ...before, keys, open: [...others, { ...one, brokenThen, isDisturbed: false }] };
  }

  #keysAfter(
    { keys }: Model,
    { id }: EntryRow,
    writ: Hash | undefined,
    args: unknown,
  ): Model['keys'] {
    const { ref } = args as { ref?: number };
    const asked = ref === undefined ? undefined : this.#asked.get(ref);
    return asked?.key === undefined
      ? keys
      : new Map([...keys, [nameOf(asked), { id, ref: asked.ref, writ }]]);
  }
}

export function nameOf({ agent, key }: Asked): string {
  return `${agent} ${key}`;
}

/** The rules that a proposal breaks although it is approved. */
function brokenAtSubmission(
  { version, state }: Model,
  { action, payload, calls }: Pick<Waiting, 'action' | 'payload' | 'calls'>,
): ReadonlySet<RuleName> {
  const candidate = resultOf(version, state, action);
  if (candidate === undefined) return new Set();
  const first = findingsOf(version, candidate, calls)[0];
  const names = placeholders(approvalsFor(version, first?.rule));
  return brokenAfter(version, marked(candidate, first, names), calls, payload.channel);
}

/**
 * The rules that an approved state breaks. An approval by a director settles the rule that asks
 * about calls.
 */
export function brokenAfter(
  version: Version,
  state: Treasury,
  calls: readonly Call[],
  channel: string,
): ReadonlySet<RuleName> {
  const isSettled = ({ rule }: Finding): boolean =>
    rule === 'CALL_ASK' && channel.split('+').includes('director');
  return new Set(
    findingsOf(version, state, calls)
      .filter((finding) => !isSettled(finding))
      .map(({ rule }) => rule),
  );
}

/** A proposal on a state: its candidate state, the first rule that it fails, and its calls. */
export interface Rerun {
  readonly candidate: Treasury;
  readonly finding: Finding | undefined;
  readonly findings: readonly Finding[];
}

/** The proposal again, as the entry recorded it. Undefined if it would do something else now. */
export function rerun(
  version: Version,
  state: Treasury,
  { action, payload, calls }: Waiting,
): Rerun | undefined {
  const candidate = resultOf(version, state, action);
  if (candidate === undefined) return undefined;
  const { delta, approval } = payload.proposal;
  if (!isEqual(difference(state, candidate), delta.state)) return undefined;
  const isTip = ({ tool }: Call): boolean => tool === 'bank.tip';
  const declared = calls.filter((one) => !isTip(one));
  if (
    !isEqual(
      callsOf(version, candidate, action),
      declared.map(({ tool, input }) => ({ tool, input })),
    )
  )
    return undefined;
  if (calls.some((one) => isTip(one) && !judgesTool(version, one.tool))) return undefined;
  const findings = findingsOf(version, candidate, calls);
  const [finding] = findings;
  if (finding?.rule !== payload.invariant_id || finding?.result === 'reject') return undefined;
  const mark = marked(candidate, finding, placeholders(payload.approvals ?? 1));
  return isEqual(difference(candidate, mark), approval)
    ? { candidate, finding, findings }
    : undefined;
}

/** The recorded operations of a pending proposal, with the marks of its approvals. */
export function operationsOf({ payload }: Waiting): Operation[] {
  const { delta, approval } = payload.proposal;
  return [...(delta.state as Operation[]), ...(approval as Operation[])];
}

function isEqual(one: unknown, other: unknown): boolean {
  return canonicalize(one) === canonicalize(other);
}
