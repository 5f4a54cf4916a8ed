import { isInstance } from '#base';
import { canonicalize } from '#canon';
import type {
  DelegatedFrom,
  DelegationPayload,
  Entry,
  EntryRow,
  RootPayload,
} from '../entry/entry.ts';
import { checkRow } from '../entry/entry-text.ts';
import type { Hash } from '../entry/hash.ts';
import { type MemoryOf, memoryOf } from '../entry/memory-of.ts';
import {
  type HaltPayload,
  haltArgs,
  isHalt,
  isRevocation,
  type RevocationPayload,
  revocationArgs,
} from '../entry/system-actions.ts';
import { LedgerFault } from '../errors.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';
import type { RuleId } from '../rule-ids.ts';
import { type Chain, delegationIdentity } from './chain.ts';

/**
 * The rules of delegations and memories that need more than one chain. For the replayed chain:
 *
 * - a root with `delegated_from` names a start that names the root. The start is not newer, and its
 *   initial values equal those of the root;
 * - delegations form no cycle, over any number of trajectories;
 * - a final answer belongs to the delegated task;
 * - a conclusion pins the child's final answer to this start, and repeats its content exactly;
 * - an adopted revocation, or halt, repeats its source, and is not older;
 * - changes of facts in a commit belong to the memory of its trajectory.
 *
 * Only single entries of other chains are read. Their soundness is checked by their own
 * verification.
 */
export class CrossChainRules {
  readonly #reader: Pick<LedgerStore, 'entries' | 'resolve'>;
  readonly #chain: Chain;
  #ancestors: ReadonlySet<string> | undefined;
  #memory: MemoryOf | undefined;

  constructor(reader: Pick<LedgerStore, 'entries' | 'resolve'>, chain: Chain) {
    this.#reader = reader;
    this.#chain = chain;
  }

  /** Checks an entry that the chain accepted. @throws LedgerFault */
  async check(entry: Entry): Promise<void> {
    const { payload } = entry;
    if (payload.kind === 'root') {
      if (payload.delegated_from !== undefined)
        await this.#checkBeginning(entry, payload, payload.delegated_from);
    } else if (payload.kind === 'delegation') {
      if (payload.concludes === undefined) await this.#checkStart(entry, payload);
      else if (payload.child_trajectory_id === entry.trajectory_id)
        await this.#checkAnswer(entry, payload);
      else await this.#checkConclusion(entry, payload, payload.concludes);
    } else if (isRevocation(payload)) await this.#checkTakenOver(entry, payload);
    else if (isHalt(payload)) await this.#checkHalt(entry, payload);
  }

  /**
   * Checks that an entry changes only the memory of its trajectory. A root without a delegator may
   * also name a memory after itself: the trajectory is not a branch, and no other trajectory sees
   * that memory.
   *
   * @throws LedgerFault
   */
  async checkMemory(entry: Entry, { branch }: MemoryOf): Promise<void> {
    this.#memory ??= await memoryOf(entry.trajectory_id, async (id) => {
      const row = await this.#firstOf(id);
      return row && this.#sound(entry, 'memory.own', row).payload;
    });
    if (this.#memory === undefined)
      throw missing(entry, 'memory.own', 'its memory cannot be determined');
    const isUnowned = branch === entry.trajectory_id && this.#chain.delegatedFrom === undefined;
    if (branch !== this.#memory.branch && !isUnowned)
      throw broken(
        entry,
        'memory.own',
        `it changes ${branch === undefined ? 'the shared memory' : `the memory of ${branch}`}, not its own memory`,
      );
  }

  /** Whether the memory belongs to a branch, for a checked entry. */
  get isInBranch(): boolean {
    return this.#memory?.branch !== undefined;
  }

  async #checkBeginning(entry: Entry, root: RootPayload, from: DelegatedFrom): Promise<void> {
    const start = await this.#startOf(entry, 'root.start', from);

    if (start.at > root.at) throw broken(entry, 'root.writ', 'it starts before its delegation');
    const [writ = null] = root.writs;
    if (!isSame(writ, start.writ))
      throw broken(entry, 'root.writ', 'its first writ differs from the delegated writ');

    const { begins } = start;
    const { domain, initial_state, sensitive } = root;
    const beginning = { domain, initial_state, ...(sensitive === undefined ? {} : { sensitive }) };
    if (begins !== undefined && !isSame(beginning, begins))
      throw broken(entry, 'root.begins', 'its initial state differs from the delegation');
  }

  async #checkStart(
    entry: Entry,
    { child_trajectory_id: child }: DelegationPayload,
  ): Promise<void> {
    this.#ancestors ??= await this.#findAncestors();
    if (this.#ancestors.has(child))
      throw broken(entry, 'start.ancestor', `it delegates back to ${child}`);
  }

  async #checkAnswer(entry: Entry, answer: DelegationPayload): Promise<void> {
    const start = await this.#startOf(
      entry,
      'answer.task',
      this.#chain.delegatedFrom as DelegatedFrom,
    );
    if (!isSame(delegationIdentity(answer), delegationIdentity(start)))
      throw broken(entry, 'answer.task', 'its task or writ differs from the delegation');
  }

  async #checkConclusion(
    entry: Entry,
    conclusion: DelegationPayload,
    concludes: Hash,
  ): Promise<void> {
    const { child_trajectory_id: child, child_head: head } = conclusion;
    const from = (await this.#beginningOf(entry, 'conclusion.root', child))?.delegated_from;
    if (from?.trajectory_id !== entry.trajectory_id || from.entry_id !== concludes)
      throw broken(
        entry,
        'conclusion.root',
        `${child} was not created by the delegation ${concludes}`,
      );

    const { payload: answer } = await this.#entryOf(
      entry,
      'conclusion.child-head',
      child,
      head as Hash,
    );
    if (
      answer.kind !== 'delegation' ||
      answer.concludes !== concludes ||
      answer.child_trajectory_id !== child
    )
      throw broken(entry, 'conclusion.child-head', `${head} is not the final answer of ${child}`);

    if (!isSame(answerFields(answer), answerFields(conclusion)))
      throw broken(entry, 'conclusion.answer', `it differs from the final answer of ${child}`);

    if (answer.at > entry.payload.at)
      throw broken(entry, 'conclusion.time', 'the conclusion is older than the final answer');
  }

  async #checkTakenOver(entry: Entry, { action, at }: RevocationPayload): Promise<void> {
    const { writ, reason, from } = action.args;
    if (from === undefined) return;
    const { payload: there } = await this.#entryOf(
      entry,
      'revocation.source',
      from.trajectory_id,
      from.entry_id,
    );
    const said = revocationArgs(there);
    if (said?.writ !== writ || said.reason !== reason)
      throw broken(
        entry,
        'revocation.source',
        `${from.entry_id} does not revoke ${writ} in this way`,
      );
    if (there.at > at)
      throw broken(entry, 'revocation.source', 'it is adopted before it was revoked');
  }

  async #checkHalt(entry: Entry, { action, at }: HaltPayload): Promise<void> {
    const { does, reason, principal, from } = action.args;
    if (from === undefined) return;
    const { payload: there } = await this.#entryOf(
      entry,
      'halt.source',
      from.trajectory_id,
      from.entry_id,
    );
    const said = haltArgs(there);
    if (
      said?.does !== does ||
      said.reason !== reason ||
      said.principal !== principal ||
      said.remains === true
    )
      throw broken(entry, 'halt.source', `${from.entry_id} does not ${does} in this way`);
    if (there.at > at) throw broken(entry, 'halt.source', 'it is adopted before its source');
  }

  async #startOf(
    entry: Entry,
    rule: RuleId,
    { trajectory_id, entry_id }: DelegatedFrom,
  ): Promise<DelegationPayload> {
    const { payload } = await this.#entryOf(entry, rule, trajectory_id, entry_id);
    if (
      payload.kind === 'delegation' &&
      payload.concludes === undefined &&
      payload.child_trajectory_id === entry.trajectory_id
    )
      return payload;
    throw broken(entry, rule, `${entry_id} does not delegate to ${entry.trajectory_id}`);
  }

  async #entryOf(entry: Entry, rule: RuleId, trajectoryId: string, id: Hash): Promise<Entry> {
    const row = await this.#reader.resolve(id);
    if (row === undefined || row.trajectory_id !== trajectoryId)
      throw missing(entry, rule, `${trajectoryId} has no entry ${id}`);
    return this.#sound(entry, rule, row);
  }

  async #beginningOf(
    entry: Entry,
    rule: RuleId,
    trajectoryId: string,
  ): Promise<RootPayload | undefined> {
    const row = await this.#firstOf(trajectoryId);
    if (row === undefined)
      throw missing(entry, rule, `the trajectory ${trajectoryId} does not exist`);
    const { payload } = this.#sound(entry, rule, row);
    return payload.kind === 'root' ? payload : undefined;
  }

  async #firstOf(trajectoryId: string): Promise<EntryRow | undefined> {
    // A store cannot contain or look up such a name.
    if (trajectoryId.includes('\0')) return undefined;
    const [row] = await this.#reader.entries(trajectoryId, { from: 0, limit: 1 });
    return row;
  }

  #sound(entry: Entry, rule: RuleId, row: EntryRow): Entry {
    try {
      return checkRow(row);
    } catch (error) {
      if (!isInstance(error, LedgerFault)) throw error;
      throw missing(entry, rule, `an entry that it names is not valid: ${error.message}`, error);
    }
  }

  /** The readable delegating ancestors of this trajectory. Valid ledgers have few. */
  async #findAncestors(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    let above = this.#chain.delegatedFrom?.trajectory_id;
    while (above !== undefined && !found.has(above)) {
      found.add(above);
      above = await this.#delegatedBy(above);
    }
    return found;
  }

  async #delegatedBy(trajectoryId: string): Promise<string | undefined> {
    const row = await this.#firstOf(trajectoryId);
    try {
      const payload = row === undefined ? undefined : checkRow(row).payload;
      return payload?.kind === 'root' ? payload.delegated_from?.trajectory_id : undefined;
    } catch (error) {
      if (isInstance(error, LedgerFault)) return undefined;
      throw error;
    }
  }
}

/** The fields that an answer and its conclusion share. */
function answerFields(payload: DelegationPayload): unknown {
  const { final_answer, budget_cost = {} } = payload;
  return {
    delegated: delegationIdentity(payload),
    ...(final_answer === undefined ? {} : { final_answer }),
    budget_cost,
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalize(one) === canonicalize(other);
}

function broken({ trajectory_id, seq }: Entry, rule: RuleId, detail: string): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code: 'rule_broken', rule, detail });
}

/** The fault of a rule about an entry elsewhere that is not there, or not valid. */
function missing(
  { trajectory_id, seq }: Entry,
  rule: RuleId,
  detail: string,
  cause?: unknown,
): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code: 'source_missing', rule, detail }, cause);
}
