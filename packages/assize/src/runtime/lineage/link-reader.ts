import type { Json } from '#base';
import { escapeSegment } from '#canon';
import { BELIEVE_ACTION } from '#kernel';
import {
  type BranchPayload,
  type CommitPayload,
  checkRow,
  type DelegationPayload,
  type Delta,
  type Entry,
  type EntryRow,
  type Hash,
  type LedgerStore,
  observationsOf,
  type Patch,
  type PendingPayload,
  placedProvenance,
  type RejectionPayload,
  type RootPayload,
  type Stored,
  settlementArgs,
  ValueReader,
} from '#ledger';
import { tokensOf, writeIn } from '../memory/plan/stated-writes.ts';
import type { EntryLinks, Mark, ObservedRow, WrittenRow } from './entry-links.ts';
import { WritHolders } from './writ-holders.ts';

/** The domain whose calls name their tool, rules, pinned definition and standing approval. */
const GATEWAY = 'gateway';
const CALL = 'call';
const PIN = 'pin';

/** Reads the links of entries. A value that was erased has no links. */
export class LinkReader {
  readonly #store: LedgerStore;
  readonly #values: ValueReader;
  readonly #holders: WritHolders;
  /** The trajectories with a first entry that was read, and whether its domain is the gateway. */
  readonly #begun: Map<string, boolean> = new Map();

  constructor(store: LedgerStore) {
    this.#store = store;
    this.#values = new ValueReader(store);
    this.#holders = new WritHolders(store);
  }

  /**
   * @throws LedgerFault for an entry that was altered, or a missing blob that no entry erased
   */
  async read(row: EntryRow): Promise<EntryLinks> {
    const entry = checkRow(row);
    await this.#learnBeginning(entry);
    const found = new Found();
    await this.#collect(entry, found);
    const { id, trajectory_id, seq, kind, payload } = entry;
    const { marks, restsOn, observed, rows, paths, judgedBy, isAnswer, inherits, erased } = found;
    return {
      ...{ id, trajectoryId: trajectory_id, seq, kind, at: payload.at },
      marks: distinct(marks, ({ kind: of, value }) => `${of} ${value}`),
      restsOn: distinct(restsOn, ({ entry: on, how }) => `${how} ${on}`).filter(
        ({ entry: on }) => on !== id,
      ),
      observed,
      rows,
      paths: [...new Set(paths)],
      judgedBy: [...new Set(judgedBy)],
      isAnswer,
      ...(inherits !== undefined && { inherits }),
      erased,
    };
  }

  /** The first entry has the domain, and the writs that later entries name. */
  async #learnBeginning({ trajectory_id, seq, payload }: Entry): Promise<void> {
    if (this.#begun.has(trajectory_id)) return;
    const [row] = seq === 0 ? [] : await this.#store.entries(trajectory_id, { from: 0, limit: 1 });
    const first = (row === undefined ? payload : checkRow(row).payload) as
      | RootPayload
      | BranchPayload;
    this.#begun.set(trajectory_id, first.domain?.name === GATEWAY);
    if (row !== undefined) this.#holders.learn(first.writs);
  }

  async #collect(entry: Entry, found: Found): Promise<void> {
    const { payload } = entry;
    switch (payload.kind) {
      case 'root':
        return this.#ofRoot(payload, found);
      case 'branch':
        return this.#ofBranch(payload, found);
      case 'delegation':
        return this.#ofDelegation(payload, found);
      case 'commit':
        return this.#ofCommit(entry as Entry<CommitPayload>, found);
      case 'pending_approval':
        return this.#ofPending(entry as Entry<PendingPayload>, found);
      case 'rejection':
        return this.#ofRejection(entry as Entry<RejectionPayload>, found);
      case 'key_change':
        return;
    }
  }

  #ofRoot({ domain, writs, delegated_from }: RootPayload, found: Found): void {
    this.#holders.learn(writs);
    found.mark('domain', `${domain.name}@${domain.version}`);
    found.paths.push('');
    if (delegated_from !== undefined)
      found.restsOn.push({ entry: delegated_from.entry_id, how: 'delegation' });
  }

  async #ofBranch(payload: BranchPayload, found: Found): Promise<void> {
    const { domain, writs, source_trajectory_id, source_commit_id } = payload;
    this.#holders.learn(writs);
    found.mark('domain', `${domain.name}@${domain.version}`);
    found.restsOn.push({ entry: source_commit_id, how: 'branch' });
    const source = await this.#store.resolve(source_commit_id);
    if (source !== undefined)
      found.inherits = { trajectoryId: source_trajectory_id, seq: source.seq };
  }

  async #ofDelegation(
    { writ, concludes, child_head }: DelegationPayload,
    found: Found,
  ): Promise<void> {
    found.isAnswer = concludes !== undefined && child_head === undefined;
    const [id] = this.#holders.learn([writ]);
    if (id !== undefined) await this.#markWrit(id, found);
    for (const on of [concludes, child_head])
      if (on !== undefined) found.restsOn.push({ entry: on, how: 'delegation' });
  }

  async #ofCommit(entry: Entry<CommitPayload>, found: Found): Promise<void> {
    const { payload } = entry;
    const { writ_id, action, delta, resolves, counselor, approved_by = [] } = payload;
    await this.#markWrit(writ_id, found);
    found.mark('action', action.name);
    for (const { principal } of counselor === undefined ? approved_by : [counselor, ...approved_by])
      found.mark('approver', principal);
    if (resolves !== undefined) found.restsOn.push({ entry: resolves, how: 'decision' });
    const settlement = settlementArgs(payload);
    for (const { commit, effects } of settlement?.settled ?? []) {
      found.restsOn.push({ entry: commit, how: 'outcome' });
      for (const { by } of effects) if (by !== undefined) found.mark('approver', by);
    }
    if (settlement?.decided !== undefined) found.mark('approver', settlement.decided.by);
    await this.#ofArguments(entry, action.name, action.args, found);
    await this.#ofDelta(entry, action.name, delta, found);
    await this.#ofObservations(entry, found);
  }

  async #ofPending(entry: Entry<PendingPayload>, found: Found): Promise<void> {
    const { proposal, resolves, approved_by = [] } = entry.payload;
    await this.#markWrit(proposal.writ_id, found);
    found.mark('action', proposal.action.name);
    for (const { principal } of approved_by) found.mark('approver', principal);
    if (resolves !== undefined) found.restsOn.push({ entry: resolves, how: 'decision' });
    const { commit } = (proposal.action.args ?? {}) as { readonly commit?: unknown };
    if (entry.payload.reason === 'in_doubt' || entry.payload.reason === 'unresolved')
      if (typeof commit === 'string') found.restsOn.push({ entry: commit as Hash, how: 'outcome' });
    await this.#ofArguments(entry, proposal.action.name, proposal.action.args, found);
    await this.#ofDelta(entry, proposal.action.name, proposal.delta, found);
    await this.#ofObservations(entry, found);
    // The rows of a proposal that is not approved yet are not facts.
    found.rows.length = 0;
  }

  async #ofRejection(entry: Entry<RejectionPayload>, found: Found): Promise<void> {
    const { writ_id, intent, resolves, counselor } = entry.payload;
    if (writ_id !== undefined) await this.#markWrit(writ_id, found);
    found.mark('action', intent.action);
    if (counselor !== undefined) found.mark('approver', counselor.principal);
    if (resolves !== undefined) found.restsOn.push({ entry: resolves, how: 'decision' });
    await this.#ofArguments(entry, intent.action, intent.args, found);
    await this.#ofObservations(entry, found);
  }

  async #markWrit(id: Hash, found: Found): Promise<void> {
    for (const { writ, principal } of await this.#holders.chainOf(id)) {
      found.mark('writ', writ);
      if (principal !== undefined) found.mark('principal', principal);
    }
  }

  /** The tool that a call of the gateway names, and the sources that statements of facts name. */
  async #ofArguments(entry: Entry, action: string, stored: Stored, found: Found): Promise<void> {
    if (this.#begun.get(entry.trajectory_id) === true && action === CALL)
      this.#ofCall((await this.#value(entry, stored, found)) ?? {}, found);
    if (action !== BELIEVE_ACTION) return;
    const { sayings } = ((await this.#value(entry, stored, found)) ?? {}) as {
      readonly sayings?: unknown;
    };
    const bySource = new Map<string, number[]>();
    for (const [n, saying] of (Array.isArray(sayings) ? sayings : []).entries()) {
      const { source } = (saying ?? {}) as { readonly source?: unknown };
      if (typeof source === 'string') bySource.set(source, [...(bySource.get(source) ?? []), n]);
    }
    for (const [value, statements] of bySource)
      found.marks.push({ kind: 'source', value, statements });
  }

  /** A call of the gateway and its parts. The caller supplies the data, so it may have any form. */
  #ofCall(call: Json, found: Found): void {
    const { definition, parts } = call as Partial<Record<string, unknown>>;
    if (typeof definition === 'string') found.mark('definition', definition);
    found.judgedBy.push('/rules');
    for (const called of [call, ...(Array.isArray(parts) ? parts : [])]) {
      const { server, tool } = (called ?? {}) as Partial<Record<string, unknown>>;
      if (typeof server !== 'string' || typeof tool !== 'string') continue;
      found.mark('tool', `${server}/${tool}`);
      found.judgedBy.push(`/pins/${escapeSegment(`${server}/${tool}`)}`);
    }
  }

  /** The row of a call names its standing approval, and rows of calls and pins a definition. */
  async #ofGatewayRow(
    entry: Entry,
    { path, value }: { path: string; value: Stored },
    found: Found,
  ): Promise<void> {
    if (!/^\/(?:calls|pins)\/[^/]+$/.test(path)) return;
    const row = ((await this.#value(entry, value, found)) ?? {}) as Partial<
      Record<string, unknown>
    >;
    const definition = path.startsWith('/pins/') ? row['hash'] : row['definition'];
    if (typeof definition === 'string') found.mark('definition', definition);
    if (typeof row['standing'] === 'string')
      found.judgedBy.push(`/standing/${escapeSegment(row['standing'])}`);
  }

  async #ofDelta(
    entry: Entry,
    action: string,
    { state, effects, beliefs }: Delta,
    found: Found,
  ): Promise<void> {
    const isOfGateway =
      this.#begun.get(entry.trajectory_id) === true && (action === CALL || action === PIN);
    for (const patch of await this.#patchesOf(entry, state, found)) {
      if (typeof patch?.path !== 'string') continue;
      found.paths.push(patch.path);
      if (isOfGateway && 'value' in patch)
        await this.#ofGatewayRow(entry, { path: patch.path, value: patch.value }, found);
    }
    for (const { effect } of effects) {
      const { tool } = ((await this.#value(entry, effect, found)) ?? {}) as {
        readonly tool?: unknown;
      };
      if (typeof tool === 'string') found.mark('tool', tool);
    }
    for (const { system_time, insert } of beliefs)
      for (const { fact_id, provenance_id, row_kind } of insert) {
        const writes = tokensOf(placedProvenance(provenance_id, entry.id)).flatMap(
          (token) => writeIn(token) ?? [],
        );
        found.rows.push({
          row: `${system_time} ${fact_id}`,
          isAudit: row_kind === 'audit',
          writes,
        });
        for (const write of writes) found.restsOn.push({ entry: write.entry, how: 'belief' });
      }
  }

  async #patchesOf(entry: Entry, stored: Delta['state'], found: Found): Promise<readonly Patch[]> {
    const list = await this.#value(entry, stored as unknown as Stored, found);
    // The paths of an erased list are unknown: the entry may have written any of them.
    if (list === undefined) return [{ op: 'replace', path: '', value: null }];
    return Array.isArray(list) ? (list as unknown as Patch[]) : [];
  }

  /**
   * The rows that recalls claim to have returned. The requester supplies this data, so it may have
   * any form.
   */
  async #ofObservations(entry: Entry, found: Found): Promise<void> {
    for (const { name, value, oracle_key } of observationsOf(entry.payload)) {
      if (name !== 'recall' || value === undefined || oracle_key !== undefined) continue;
      const recall = await this.#value(entry, value, found);
      const { rows, query } = (recall ?? {}) as {
        readonly rows?: unknown;
        readonly query?: { branch?: unknown };
      };
      const branch = typeof query?.branch === 'string' ? query.branch : undefined;
      for (const row of Array.isArray(rows) ? rows : [])
        if (Array.isArray(row) && row.length === 2)
          found.observed.push({
            row: `${row[1]} ${row[0]}`,
            ...(branch !== undefined && { branch }),
          });
    }
  }

  async #value(entry: Entry, stored: Stored, found: Found): Promise<Json | undefined> {
    const held = await this.#values.read(entry, stored);
    if ('value' in held) return held.value;
    found.erased++;
    return undefined;
  }
}

/** The links of one entry while it is read. */
class Found {
  readonly marks: Mark[] = [];
  readonly restsOn: EntryLinks['restsOn'][number][] = [];
  readonly observed: ObservedRow[] = [];
  readonly rows: WrittenRow[] = [];
  readonly paths: string[] = [];
  readonly judgedBy: string[] = [];
  isAnswer = false;
  inherits: EntryLinks['inherits'];
  erased = 0;

  mark(kind: Mark['kind'], value: string): void {
    this.marks.push({ kind, value });
  }
}

function distinct<T>(list: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(list.map((item) => [keyOf(item), item])).values()];
}
