import { isRecord, type Json } from 'assize/internal/base';
import {
  addMicros,
  type Instant,
  instantFromMillis,
  instantToMillis,
  parsePointer,
} from 'assize/internal/canon';
import {
  type CommitPayload,
  type Entry,
  isEffectPending,
  type LedgerStore,
  type Patch,
  type Payload,
  type PendingPayload,
  type RejectionPayload,
  Replayer,
  readRow,
  type Stored,
} from 'assize/internal/ledger';
import { type CallRow, type Configuration, type Gap, rulesDigest, rulesIn } from '#gateway';

/** The rules of an answer: those in force, the same without observation, or a trial set. */
export type JudgingSet = 'force' | 'observed' | 'trial';

/** A call about which a rule said ask or deny. */
export interface ReportedCall {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly at: Instant;
  /** Absent for a refused call, because the state does not have it. */
  readonly call?: string;
  readonly agent: string;
  /** Absent for a refused call. */
  readonly tool?: string;
  /** Absent after an erasure, and for a refused call. */
  readonly args?: Json;
  readonly why: string;
}

/** How often one rule asked or refused, or would have. */
export interface RuleCount {
  readonly set: JudgingSet;
  readonly rule: string;
  readonly ruling: 'ask' | 'deny';
  readonly calls: number;
  readonly agents: Readonly<Record<string, number>>;
  readonly tools: Readonly<Record<string, number>>;
  /** The newest first. */
  readonly examples: readonly ReportedCall[];
}

/** A change of the rules in force. */
export interface RulesChange {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly at: Instant;
  readonly digest: string;
  /** By whom, from which rules and with which report. Absent: the file was edited. */
  readonly promoted?: NonNullable<Configuration['promoted']>;
}

/** Calls that hooks let through while no server answered. */
export interface RecordedGap extends Gap {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly at: Instant;
}

/** The questions and refusals of rules since a time, also those that were only recorded. */
export interface RulesReport {
  readonly since: Instant;
  /** The calls that were judged: let through, asked about, or refused. */
  readonly calls: number;
  /** The calls that were judged by a trial set too. */
  readonly tried: number;
  /** The most frequent first. */
  readonly rules: readonly RuleCount[];
  /** The newest first. */
  readonly changes: readonly RulesChange[];
  /** The newest first. */
  readonly gaps: readonly RecordedGap[];
}

/** Number of entries per read. */
const PAGE = 500;
/** Calls that a report shows of each rule. */
const EXAMPLES_MAX = 5;

/**
 * The report on some trajectories of the domain `gateway`. It reads their entries since the time,
 * so what was recorded counts, whatever the rules are now.
 *
 * @throws LedgerFault
 */
export async function rulesReport(
  store: LedgerStore,
  trajectoryIds: readonly string[],
  since: Instant,
): Promise<RulesReport> {
  const counting = new Counting(store);
  for (const id of trajectoryIds)
    for await (const entry of newestFirst(store, id, since)) await counting.add(entry);
  return counting.report(since);
}

/**
 * The start of a span such as `7d` or `12h` before a time, or of `today` or `yesterday` by the
 * clock of this machine. Undefined for another text.
 */
export function spanBefore(text: string, now: Instant): Instant | undefined {
  if (text === 'today' || text === 'yesterday')
    return instantFromMillis(
      new Date(instantToMillis(now)).setHours(text === 'today' ? 0 : -24, 0, 0, 0),
    );
  const [, count, unit] = /^(\d{1,4})([hd])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  return addMicros(now, -Number(count) * (unit === 'd' ? 24 : 1) * 3_600_000_000);
}

/** The entries of a trajectory since a time. */
export async function* newestFirst(
  store: LedgerStore,
  trajectoryId: string,
  since: Instant,
): AsyncGenerator<Entry> {
  const head = (await store.trajectories()).find((each) => each.trajectory_id === trajectoryId);
  for (let end = head?.entries ?? 0; end > 0; end = Math.max(0, end - PAGE)) {
    const from = Math.max(0, end - PAGE);
    const rows = await store.entries(trajectoryId, { from, limit: end - from });
    for (const row of rows.reverse()) {
      const entry = readRow(row);
      if (entry.payload.at < since) return;
      yield entry;
    }
  }
}

type Found = Omit<ReportedCall, 'why'>;
type OpenCount = Omit<RuleCount, 'calls' | 'agents' | 'tools' | 'examples'> & {
  calls: number;
  readonly agents: Record<string, number>;
  readonly tools: Record<string, number>;
  readonly examples: ReportedCall[];
};

class Counting {
  readonly #values: Replayer['values'];
  readonly #counts: Map<string, OpenCount> = new Map();
  readonly #changes: RulesChange[] = [];
  readonly #gaps: RecordedGap[] = [];
  #calls = 0;
  #tried = 0;

  constructor(store: LedgerStore) {
    this.#values = new Replayer(store).values;
  }

  report(since: Instant): RulesReport {
    const rules = [...this.#counts.values()].sort((a, b) => b.calls - a.calls);
    const [changes, gaps] = [this.#changes, this.#gaps];
    return { since, calls: this.#calls, tried: this.#tried, rules, changes, gaps };
  }

  async add({ trajectory_id, seq, payload }: Entry): Promise<void> {
    const place = { trajectory_id, seq, at: payload.at };
    if (payload.kind === 'commit' && payload.action.name === 'configure')
      this.#changes.push({ ...place, ...(await this.#changed(payload)) });
    else if (payload.kind === 'commit' && payload.action.name === 'gap') {
      const gap = await this.#read<Gap>(payload, payload.action.args);
      if (gap !== undefined) this.#gaps.push({ ...place, ...gap });
    } else if (payload.kind === 'commit' && payload.action.name === 'call')
      await this.#committed(place, payload);
    else if (payload.kind === 'pending_approval' && !isEffectPending(payload))
      await this.#asked(place, payload);
    else if (payload.kind === 'rejection' && payload.resolves === undefined)
      this.#refused(place, payload);
  }

  /** A call that the rules let through, or a person. */
  async #committed(place: Place, payload: CommitPayload): Promise<void> {
    const found = await this.#rowIn(payload);
    if (found === undefined) return;
    const { call, row } = found;
    this.#calls++;
    if (row.trial !== undefined) this.#tried++;
    const answers = [...answersOf('observed', row.would), ...answersOf('trial', row.trial)];
    if (answers.length === 0) return;
    const args = await this.#read<Json>(payload, payload.action.args);
    const content = isRecord(args) ? { args: shownArgs(args) } : {};
    const known = { ...place, call, agent: row.agent, tool: row.tool, ...content };
    for (const answer of answers) this.#count(answer, known);
  }

  /** A call that a person has to decide about. Its later commit is another call to a trial only. */
  async #asked(place: Place, payload: PendingPayload): Promise<void> {
    const { name, role, args: given } = payload.proposal.action;
    if (name !== 'call' || payload.approved_by !== undefined) return;
    const args = await this.#read<Json>(payload, given);
    const content = isRecord(args)
      ? {
          call: String(args['id']),
          tool: `${args['server']}/${args['tool']}`,
          args: shownArgs(args),
        }
      : {};
    const [rule = payload.reason] = rulesIn(payload.detail);
    this.#calls++;
    this.#count(
      { set: 'force', rule, ruling: 'ask', why: payload.detail },
      { ...place, agent: role.params['agent'] ?? '', ...content },
    );
  }

  /** A refused call. The entry has the hash of its arguments alone. */
  #refused(place: Place, { intent, detail, reason }: RejectionPayload): void {
    if (intent.action !== 'call') return;
    const [rule = reason] = rulesIn(detail);
    this.#calls++;
    this.#count(
      { set: 'force', rule, ruling: 'deny', why: detail },
      { ...place, agent: intent.role.params['agent'] ?? '' },
    );
  }

  #count({ set, rule, ruling, why }: Answer, found: Found): void {
    const key = `${set}|${rule}|${ruling}`;
    const count = this.#counts.get(key) ?? {
      ...{ set, rule, ruling, calls: 0, agents: {}, tools: {}, examples: [] },
    };
    this.#counts.set(key, count);
    count.calls++;
    count.agents[found.agent] = (count.agents[found.agent] ?? 0) + 1;
    if (found.tool !== undefined) count.tools[found.tool] = (count.tools[found.tool] ?? 0) + 1;
    if (count.examples.length < EXAMPLES_MAX) count.examples.push({ ...found, why });
  }

  /** The row that a commit adds. */
  async #rowIn(
    payload: CommitPayload,
  ): Promise<{ readonly call: string; readonly row: CallRow } | undefined> {
    for (const patch of (await this.#read<readonly Patch[]>(payload, payload.delta.state)) ?? []) {
      const [top, call, ...below] = parsePointer(patch.path);
      if (top !== 'calls' || call === undefined || below.length > 0 || !('value' in patch))
        continue;
      const row = await this.#read<unknown>(payload, patch.value);
      if (row !== undefined) return { call, row: row as CallRow };
    }
    return undefined;
  }

  async #changed(payload: CommitPayload): Promise<Pick<RulesChange, 'digest' | 'promoted'>> {
    const args = (await this.#read<unknown>(payload, payload.action.args)) as
      | Configuration
      | undefined;
    if (args === undefined) return { digest: '' };
    const { rules, promoted } = args;
    return { digest: rulesDigest(rules), ...(promoted !== undefined && { promoted }) };
  }

  /** A value of an entry. Undefined if it is erased. */
  async #read<T>(payload: Payload, stored: unknown): Promise<T | undefined> {
    const read = await this.#values.read(payload, stored as Stored);
    return 'value' in read ? (read.value as T) : undefined;
  }
}

interface Answer extends Pick<RuleCount, 'set' | 'rule' | 'ruling'> {
  readonly why: string;
}

type Place = Pick<ReportedCall, 'trajectory_id' | 'seq' | 'at'>;

function answersOf(set: JudgingSet, judged: CallRow['would']): Answer[] {
  if (judged === undefined || judged.ruling === 'allow') return [];
  const { ruling, rule = '', why = '' } = judged;
  return [{ set, rule, ruling, why }];
}

/** The arguments of a call, with its parts if it has any. */
function shownArgs({ args = null, parts }: { readonly [name: string]: Json }): Json {
  return parts === undefined ? args : { args, parts };
}
