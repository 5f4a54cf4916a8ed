import { isRecord, type Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import type { CommitPayload, Entry, Hash, ValueReader } from 'assize/internal/ledger';
import { type GatewayState, type Spent, type StandingApproval, USES } from '#gateway';

/** One call that a standing approval let through. */
export interface StandingUse {
  readonly call: string;
  readonly at: string;
  /** Absent: the call is of the source of a branch. */
  readonly entryId?: Hash;
  /** `server/tool`. Absent after an erasure. */
  readonly tool?: string;
  /** Absent after an erasure, and for a call of the source of a branch. */
  readonly args?: Json;
  readonly amounts: Spent;
  /** Reported by its caller, or of the effect log for a call that Assize made. Absent: unknown. */
  readonly outcome?: 'done' | 'failed' | 'unknown';
  readonly closedAt?: string;
  /** The entry with the outcome, of a call of its caller. */
  readonly closedBy?: Hash;
  /** The transaction of a call that Assize made. */
  readonly epoch?: number;
}

/** Terms of a standing approval. */
export type RecordedTerms = Omit<StandingApproval, 'approvedBy' | 'approvedAt'>;

/** An approved standing approval with everything that the ledger has of it. */
export interface StandingRecord {
  readonly id: string;
  /** Absent after an erasure. */
  readonly terms?: RecordedTerms;
  readonly approvedBy: string;
  readonly approvedAt: string;
  /** The reason of the approver. */
  readonly approvalReason?: string;
  /** The approving commit, and the writ of the proposer. Absent for one of a branch's source. */
  readonly entryId?: Hash;
  readonly writId?: Hash;
  /** An end before its time. */
  readonly ended?: { readonly at: string; readonly entryId: Hash; readonly writId: Hash };
  /** Oldest first. */
  readonly calls: readonly StandingUse[];
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] };
type OpenRecord = Writable<Omit<StandingRecord, 'calls'>> & {
  readonly calls: Writable<StandingUse>[];
};

/**
 * The standing approvals of one trajectory of the domain gateway, read from its entries in order.
 * An id can have several: it is free again when its standing approval is tidied away.
 */
export class StandingLog {
  readonly #values: Pick<ValueReader, 'read'>;
  readonly #records: OpenRecord[] = [];
  readonly #newest: Map<string, OpenRecord> = new Map();
  readonly #uses: Map<string, Writable<StandingUse>> = new Map();

  constructor(values: Pick<ValueReader, 'read'>) {
    this.#values = values;
  }

  /** The standing approvals, in the order of their approvals. */
  get records(): readonly StandingRecord[] {
    return this.#records;
  }

  /** Takes the standing approvals that a branch inherits. To be called before the first `add`. */
  inherit({ standing, spent, calls }: Pick<GatewayState, 'standing' | 'spent' | 'calls'>): void {
    for (const [id, { approvedBy, approvedAt = '', ...terms }] of Object.entries(standing)) {
      if (approvedBy !== undefined) this.#open({ id, terms, approvedBy, approvedAt, calls: [] });
    }
    const uses = Object.entries(spent).map(([key, amounts]) => ({ ...nameAndCall(key), amounts }));
    for (const { name, call, amounts } of uses) {
      const { at = '', tool, outcome, closedAt } = calls[call] ?? {};
      const known = {
        ...(tool !== undefined && { tool }),
        ...(outcome !== undefined && { outcome }),
      };
      this.#use(name, {
        call,
        at,
        amounts: amountsIn(amounts),
        ...known,
        ...(closedAt !== undefined && { closedAt }),
      });
    }
    for (const { calls } of this.#records)
      calls.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  }

  /** @throws LedgerFault */
  async add({ id, payload }: Pick<Entry, 'id' | 'payload'>): Promise<void> {
    if (payload.kind !== 'commit') return;
    const args = await this.#argsOf(payload);
    switch (payload.action.name) {
      case 'stand':
        return this.#stand(id, payload, args);
      case 'end_standing':
        return this.#end(id, payload, await this.#changedAt(payload, 'standing'));
      case 'call':
        return this.#call(id, payload, args);
      case 'report':
        return this.#report(id, payload, args);
    }
  }

  async #stand(entryId: Hash, payload: CommitPayload, args: Args | undefined): Promise<void> {
    const [change] = await this.#changedAt(payload, 'standing');
    const { counselor, at, writ_id: writId } = payload;
    if (change === undefined || counselor === undefined) return;
    const { id: _, ...terms } = (args ?? {}) as unknown as RecordedTerms & { readonly id: string };
    this.#open({
      id: change.key,
      ...(args !== undefined && { terms: termsOf(terms, change.value) }),
      approvedBy: counselor.principal,
      approvedAt: at,
      ...(counselor.reason !== undefined && { approvalReason: counselor.reason }),
      ...{ entryId, writId, calls: [] },
    });
  }

  #end(entryId: Hash, { at, writ_id: writId }: CommitPayload, [change]: readonly Changed[]): void {
    const record = change && this.#newest.get(change.key);
    if (record !== undefined) record.ended = { at, entryId, writId };
  }

  async #call(entryId: Hash, payload: CommitPayload, args: Args | undefined): Promise<void> {
    const [change] = await this.#changedAt(payload, 'spent');
    if (change === undefined) return;
    const { name, call } = nameAndCall(change.key);
    const content = args && {
      tool: `${String(args['server'])}/${String(args['tool'])}`,
      args: args['args'] as Json,
    };
    this.#use(name, {
      call,
      at: payload.at,
      entryId,
      amounts: amountsIn(change.value),
      ...content,
      ...epochIn(payload),
    });
  }

  async #report(entryId: Hash, payload: CommitPayload, args: Args | undefined): Promise<void> {
    const call = args?.['call'] ?? (await this.#changedAt(payload, 'calls'))[0]?.key;
    const use = this.#uses.get(String(call));
    if (use === undefined) return;
    use.closedAt = payload.at;
    use.closedBy = entryId;
    const outcome = args?.['outcome'];
    if (outcome === 'done' || outcome === 'failed' || outcome === 'unknown') use.outcome = outcome;
  }

  #open(record: OpenRecord): void {
    this.#records.push(record);
    this.#newest.set(record.id, record);
  }

  #use(name: string, use: Writable<StandingUse>): void {
    this.#newest.get(name)?.calls.push(use);
    this.#uses.set(use.call, use);
  }

  async #argsOf(payload: CommitPayload): Promise<Args | undefined> {
    const read = await this.#values.read(payload, payload.action.args);
    return 'value' in read && isRecord(read.value) ? (read.value as Args) : undefined;
  }

  /** The changed members of a part of the state, with their values unless these are erased. */
  async #changedAt(payload: CommitPayload, part: string): Promise<readonly Changed[]> {
    const read = await this.#values.read(payload, payload.delta.state);
    if (!('value' in read)) return [];
    const changes: Changed[] = [];
    for (const patch of read.value) {
      const [top, key] = parsePointer(patch.path);
      if (top !== part || key === undefined) continue;
      const value =
        'value' in patch ? await this.#values.read(payload, patch.value) : { $erased: '' };
      changes.push({ key, ...('value' in value && { value: value.value }) });
    }
    return changes;
  }
}

type Args = { readonly [name: string]: Json };

interface Changed {
  readonly key: string;
  readonly value?: Json;
}

/** The recorded end has the form of all instants. */
function termsOf(
  { agent, tools, uses, amounts, because, expires }: RecordedTerms,
  recorded: Json | undefined,
): RecordedTerms {
  const end = isRecord(recorded) ? recorded['expires'] : undefined;
  return { agent, tools, uses, amounts, because, expires: typeof end === 'string' ? end : expires };
}

/** The transaction of the calls of a commit, if it has any. */
function epochIn({ epoch }: CommitPayload): { readonly epoch?: number } {
  return epoch === undefined ? {} : { epoch };
}

/** The parts of a key of `spent`. */
function nameAndCall(key: string): { readonly name: string; readonly call: string } {
  const bar = key.indexOf('|');
  return { name: key.slice(0, bar), call: key.slice(bar + 1) };
}

function amountsIn(value: unknown): Spent {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, number] => entry[0] !== USES && typeof entry[1] === 'number',
    ),
  );
}

/** Whether more calls can be let through, or why not. */
export type StandingStatus = 'active' | 'used_up' | 'expired' | 'ended';

/** The first of `ended`, `expired` and `used_up` that is true, or else `active`. */
export function standingStatus(
  { terms, ended, calls }: StandingRecord,
  now: string,
): StandingStatus {
  if (ended !== undefined) return 'ended';
  if (terms !== undefined && terms.expires <= now) return 'expired';
  return terms !== undefined && calls.length >= terms.uses ? 'used_up' : 'active';
}

/** The sum of the amounts of calls, by unit. */
export function spentBy(calls: readonly Pick<StandingUse, 'amounts'>[]): Spent {
  const sums: Record<string, number> = {};
  for (const { amounts } of calls)
    for (const [unit, amount] of Object.entries(amounts)) sums[unit] = (sums[unit] ?? 0) + amount;
  return sums;
}
