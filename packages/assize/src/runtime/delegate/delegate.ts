import { parseWrit, type Writ, writId } from '#authority';
import { arg, checkArgument, isAssizeError, type Json, markOwnPackage } from '#base';
import { canonicalize, copyJson, maxInstant, WORLD_LIMITS } from '#canon';
import { initialState, World } from '#kernel';
import {
  type BlobRow,
  type ChildBeginning,
  type DelegationPayload,
  type EntryRow,
  type Hash,
  type LedgerReader,
  Replayer,
  type RootPayload,
  readRow,
  type Stored,
} from '#ledger';
import type { Expiries } from '../approve/pending/expire.ts';
import { badWrit, unspent, type WritChain } from '../authority/writs.ts';
import { concluded, RuntimeError } from '../errors.ts';
import {
  answerPayload,
  conclusionPayload,
  delegationStartPayload,
} from '../records/entry-payloads.ts';
import { rootPayload, vectorOf } from '../records/root-payload.ts';
import { resolveUnknownCommit } from '../writer/append-errors.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import { untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import type { Children, ChildTrajectory } from './children.ts';
import {
  CONCLUSION,
  type Conclusion,
  type DelegationInput,
  type DelegationTerms,
  delegationTerms,
  finalAnswerOf,
} from './terms.ts';

/** An open delegation: its start, by entry id. */
export interface OpenDelegation {
  readonly id: Hash;
  readonly payload: DelegationPayload;
}

/** The delegation that created a trajectory. */
export interface Origin {
  readonly trajectoryId: string;
  /** The start entry in the parent. */
  readonly entryId: Hash;
  /** The delegated writ. */
  readonly writ: Writ;
}

/**
 * Delegations from this trajectory, and the answer to the delegation that created it
 * (`Trajectory.delegations`). A delegation has four entries:
 *
 * 1. the start, in the parent: reserves the writ's budget;
 * 2. the child's root, in the same batch;
 * 3. the answer, in the child: its last entry, so the spent budget is final;
 * 4. the conclusion, in the parent: pins the answer and refunds the unspent budget.
 *
 * An entry is written only after the previous one is durable, and contains everything that the next
 * one needs. A missing next entry is therefore completed on open (`complete`) or by a repeated
 * call.
 */
export class Delegations<Child extends ChildTrajectory = ChildTrajectory> {
  static {
    markOwnPackage(Delegations.prototype);
  }

  readonly #writer: Writer;
  readonly #expiries: Expiries;
  readonly #children: Children<Child>;
  /** Steps in progress, by subject. */
  readonly #inFlight: Map<string, Promise<unknown>> = new Map();

  constructor(writer: Writer, expiries: Expiries, children: Children<Child>) {
    this.#writer = writer;
    this.#children = children;
    this.#expiries = expiries;
    Object.freeze(this);
  }

  /**
   * The delegation that created this trajectory, with its writ; undefined for other trajectories.
   */
  get origin(): Origin | undefined {
    const { chain, writs } = this.#writer.parts;
    if (chain.delegatedFrom === undefined) return undefined;
    const { trajectory_id: trajectoryId, entry_id: entryId } = chain.delegatedFrom;
    return { trajectoryId, entryId, writ: writs.present(writs.delegated as Hash).writ };
  }

  /**
   * Delegations that are not concluded, oldest first, by the id of the entry that started them;
   * copies.
   */
  open(): OpenDelegation[] {
    const { delegated } = this.#writer.parts.chain;
    return [...delegated].map(([id, payload]) => ({ id, payload: structuredClone(payload) }));
  }

  /**
   * Delegates a task to a child trajectory: creates the child with a writ attenuated from a writ of
   * this trajectory. The holder of the parent writ signs the new writ, and only the child accepts
   * it. The child's budget is reserved here until `conclude`.
   *
   * If the child is named, a repeated call is the same delegation, regardless of the outcome of the
   * first call. The child is then opened.
   *
   * @throws RuntimeError `bad_intent`, `bad_argument`, `unknown_writ`, `bad_writ`,
   * `budget_exhausted`, `frozen`, `exists`, `idempotency_conflict`, `invalid_state`,
   * `domain_mismatch`, `concluded`, `halted`, `conflict`, `commit_unknown`, `clock_ahead`;
   * AuthorityError `not_attenuated`, `bad_key`, `bad_writ`, `bad_argument`; KernelError
   * `invalid_state`; ArgumentError `bad_argument`. Nothing is recorded then, except for
   * `commit_unknown`.
   */
  async delegate(input: DelegationInput): Promise<Child> {
    if (this.#writer.stale) await this.#writer.ready();
    const terms = delegationTerms(input, this.#writer);
    await this.#startInTurn(terms.child, () => this.#delegate(terms));
    return this.#children.open(terms.child);
  }

  /**
   * Concludes a delegation: ends the child with its final answer, unless the child has already
   * answered, and records the answer here. The budget that the child spent stays spent here, and
   * the rest is refunded. Returns the entry with the `final_answer` in its payload. Without
   * `finalAnswer`, the child's own answer is recorded, or the child ends without an answer.
   * Repeating the call returns the same entry.
   *
   * @throws RuntimeError `wrong_state` when the child has open delegations itself,
   * `idempotency_conflict` when another final answer exists, `bad_intent`, `conflict`,
   * `commit_unknown`, `clock_ahead`, and the errors of opening the child; CanonError for an answer
   * that is not JSON; ArgumentError `bad_argument`
   */
  async conclude(delegationId: Hash, conclusion: Conclusion = {}): Promise<EntryRow> {
    checkArgument(arg.text, delegationId, 'delegationId');
    const input = checkedConclusion(conclusion);
    return this.#inTurn(delegationId, () => this.#conclude(delegationId, input));
  }

  /**
   * Gives the final answer of a delegated trajectory and ends it: no entry follows, and pending
   * proposals become void. The parent concludes the delegation.
   *
   * @throws the errors of `conclude`
   */
  async answer(conclusion: Conclusion = {}): Promise<EntryRow> {
    const input = checkedConclusion(conclusion);
    return this.#inTurn('answer', () => this.#answer(input));
  }

  /**
   * Finishes interrupted delegations. Steps that fail here, for example without the domain, are
   * left for later.
   *
   * @internal
   */
  async complete(): Promise<void> {
    for (const open of [...this.#writer.parts.chain.delegated]) {
      try {
        await this.#complete(...open);
      } catch (error) {
        if (!isAssizeError(error)) throw error;
      }
    }
  }

  async #complete(startId: Hash, start: DelegationPayload): Promise<void> {
    if (!(await this.hasBegun(startId, start))) return;
    const head = await this.#writer.context.store.head(start.child_trajectory_id);
    // Concluding opens the child, so its answer is verified before the parent records it.
    if (head !== undefined && answerOf(head)?.concludes === startId) await this.conclude(startId);
  }

  // ── starting ──

  #delegate(terms: DelegationTerms): Promise<true> {
    return untilCommitted<true>(this.#writer, async () => {
      if (await this.#wasDelegated(terms)) return { answer: true };
      if (this.#writer.stale) return undefined;
      await this.#expiries.recordSomeExpired();
      return () => this.#start(terms);
    });
  }

  /**
   * Whether this call repeats a delegation. @throws RuntimeError `exists`, `idempotency_conflict`
   */
  async #wasDelegated({ child, task, writ, childRoot, blobs }: DelegationTerms): Promise<boolean> {
    const found = await this.#startOf(child);
    if (found === undefined) return false;
    const [startId, start] = found;
    const sameTerms =
      canonicalize({ task, writ }) === canonicalize({ task: start.task, writ: start.writ });
    if (!sameTerms || !(await this.#isSameBeginning(start, { childRoot, blobs }))) {
      throw new RuntimeError(
        'idempotency_conflict',
        `${child} has a delegation on other terms. Use a new name only for a different task.`,
        {
          evidence: { entry: startId },
        },
      );
    }
    await this.#begin(startId, start);
    return true;
  }

  /**
   * Whether a start gives the child the same state as these terms. The terms' blobs are not stored
   * yet, and their salts differ each time.
   */
  async #isSameBeginning(
    start: DelegationPayload,
    { childRoot, blobs }: Pick<DelegationTerms, 'childRoot' | 'blobs'>,
  ): Promise<boolean> {
    if (canonicalize(start.begins ?? null) === canonicalize(childRoot)) return true;
    const { replayer } = this.#writer.context;
    const texts = new Map(blobs.map(({ hash, text }) => [hash, text]));
    const given = new Replayer({ ...NOTHING_STORED, blob: async (hash) => texts.get(hash) });
    const there = await beginningOf(replayer, start, start.begins);
    return (
      canonicalize(there, WORLD_LIMITS) ===
      canonicalize(await beginningOf(given, start, childRoot), WORLD_LIMITS)
    );
  }

  /**
   * The durable start of that child in this trajectory. @throws RuntimeError `exists` for a
   * trajectory of other origin
   */
  async #startOf(child: string): Promise<readonly [Hash, DelegationPayload] | undefined> {
    const writer = this.#writer;
    const root = await this.#rootOf(child);
    if (root === undefined) {
      if (writer.stale) return undefined;
      return [...writer.parts.chain.delegated].find(
        ([, { child_trajectory_id: name }]) => name === child,
      );
    }
    const from = root.delegated_from;
    if (from?.trajectory_id !== writer.id) {
      throw new RuntimeError(
        'exists',
        `The trajectory ${child} already exists. Delegate to another name.`,
      );
    }
    const row = await this.#entryOf(from.entry_id);
    return [row.id, readRow(row).payload as DelegationPayload];
  }

  async #rootOf(
    trajectoryId: string,
  ): Promise<RootPayload | { delegated_from?: undefined } | undefined> {
    const [row] = await this.#writer.context.store.entries(trajectoryId, { from: 0, limit: 1 });
    const payload = row === undefined ? undefined : readRow(row).payload;
    return payload === undefined || payload.kind === 'root' ? payload : {};
  }

  /** From here to the append nothing awaits. */
  #start({
    child,
    task,
    parentWrit,
    writ,
    childRoot,
    blobs,
  }: DelegationTerms): PreparedCommit<true> {
    const writer = this.#writer;
    const { chain, writs } = writer.parts;
    if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
    writer.refuseIfHalted();
    const by = chain.frozenBy();
    if (by !== undefined) throw frozen(by);
    const at = writer.now();
    const links = [parentWrit.writ, ...parentWrit.chain];
    const { revoked, delegated } = writs;
    const use = { writ, chain: links, trajectory: writer.id, child, at, revoked, delegated };
    const held = writer.context.verifier.checkDelegation(use);
    if (!held.ok) throw badWrit(held);
    writs.admit(parentWrit);
    const short = writs.budgets.covers(
      writId(parentWrit.writ),
      writ.budget ?? {},
      writer.reserved(),
    );
    if (!short.ok) throw exhausted(short);
    const said = { child_trajectory_id: child, task, writ: writ as unknown as Json };
    const start = delegationStartPayload(writer.nextPosition(at), said, childRoot);
    const unstored = writs.unstored(parentWrit);
    const { batch } = writer.apply(() => start, {
      writs: unstored,
      others: ({ id }) => [writer.make(this.#rootFor(id, start, parentWrit))],
    });
    return { ...batch, blobs: [...blobs, ...unstored], answer: true };
  }

  /** The child's root follows from the start alone. */
  #rootFor(startId: Hash, start: DelegationPayload, { writ, chain }: WritChain): RootPayload {
    const { domain, initial_state, sensitive } = start.begins as NonNullable<
      DelegationPayload['begins']
    >;
    return rootPayload({
      trajectoryId: start.child_trajectory_id,
      at: start.at,
      domain,
      initialState: initial_state,
      sensitive,
      writs: [start.writ, ...([writ, ...chain] as unknown as Json[])],
      policy: this.#writer.context.policy,
      delegatedFrom: { trajectory_id: this.#writer.id, entry_id: startId },
    });
  }

  /**
   * Waits until the start in memory is durable, and checks that its child exists. False if the
   * start was lost and memory must be reloaded.
   *
   * @internal
   */
  hasBegun(startId: Hash, start: DelegationPayload): Promise<boolean> {
    return this.#startInTurn(start.child_trajectory_id, async () => {
      const { stale, parts } = this.#writer;
      if (stale || !parts.chain.delegated.has(startId)) return false;
      await this.#begin(startId, start);
      return true;
    });
  }

  /**
   * Creates a child if its root was lost or never reached this store. Its start must be durable.
   */
  async #begin(startId: Hash, start: DelegationPayload): Promise<void> {
    const { parts, context } = this.#writer;
    const { begins, child_trajectory_id: child } = start;
    if (begins === undefined || (await context.store.head(child)) !== undefined) return;
    const domain = context.domainOf(begins.domain);
    const { state } = await context.replayer.begin(
      { trajectory_id: this.#writer.id, seq: start.seq },
      begins,
    );
    const world = new World(domain, initialState(domain, state));
    world.excuse();
    vectorOf(world, false);
    const above = parts.writs.present(parseWrit(start.writ).parent as Hash);
    const row = this.#writer.make(this.#rootFor(startId, start, above));
    const result = await context.store.commit({ entries: [row], blobs: [] });
    // A conflict: another process has created the child in the meantime.
    if (result.status !== 'unknown') return;
    const says = `The store did not confirm whether ${child} was created. Delegate again.`;
    await resolveUnknownCommit(context.store, row.id, { says, cause: result.cause });
  }

  // ── concluding ──

  #conclude(startId: Hash, input: Conclusion): Promise<EntryRow> {
    return untilCommitted(this.#writer, async () => {
      const start = this.#writer.parts.chain.delegated.get(startId);
      if (start === undefined) {
        const before = await this.#concludedBefore(startId);
        if (before !== undefined) return { answer: sameOrConflict(before, input) };
        throw notDelegated(`${startId} is not a delegation of ${this.#writer.id}`);
      }
      this.#writer.refuseIfHalted();
      if (!(await this.hasBegun(startId, start))) return undefined;
      const child = await this.#children.open(start.child_trajectory_id);
      const answer = await child.delegations.answer(input);
      return () => this.#adoptAnswer(startId, answer);
    });
  }

  async #concludedBefore(startId: Hash): Promise<EntryRow | undefined> {
    const { id, parts, context } = this.#writer;
    const seq = parts.requests.seqOf(startId);
    const [row] = seq === undefined ? [] : await context.store.entries(id, { from: seq, limit: 1 });
    return row !== undefined && conclusionOf(row)?.concludes === startId ? row : undefined;
  }

  /** Undefined if the delegation was concluded in the meantime. */
  #adoptAnswer(startId: Hash, answer: EntryRow): PreparedCommit<EntryRow> | undefined {
    const writer = this.#writer;
    const start = writer.parts.chain.delegated.get(startId);
    if (start === undefined) return undefined;
    writer.refuseIfHalted();
    const said = answerOf(answer) as DelegationPayload;
    unspent(parseWrit(start.writ), said.budget_cost ?? {});
    const at = maxInstant(writer.now(), said.at);
    const { row, batch } = writer.apply(() =>
      conclusionPayload(writer.nextPosition(at), answer.id, said),
    );
    return { ...batch, blobs: [], answer: row };
  }

  async #answer(input: Conclusion): Promise<EntryRow> {
    const writer = this.#writer;
    const from = writer.parts.chain.delegatedFrom;
    if (from === undefined) throw notDelegated(`${writer.id} was not created by a delegation`);
    const start = await this.#entryOf(from.entry_id);
    // No entry follows the answer, so known outcomes of effects are recorded before it.
    await this.#children.effectsSettled();
    const finish = (): PreparedCommit<EntryRow> | undefined => {
      if (writer.parts.chain.answered !== undefined) return undefined;
      writer.refuseIfHalted();
      return this.#finish(start.id, readRow(start).payload as DelegationPayload, input);
    };
    return untilCommitted(writer, async () => {
      const { answered } = writer.parts.chain;
      return answered === undefined
        ? finish
        : { answer: sameOrConflict(await this.#entryOf(answered), input) };
    });
  }

  /** An entry that the chain named when it was read. */
  async #entryOf(id: Hash): Promise<EntryRow> {
    const row = await this.#writer.context.store.resolve(id);
    if (row !== undefined) return row;
    throw new RuntimeError('invalid_ledger', `The entry ${id} is missing from the store.`, {
      evidence: { id },
    });
  }

  /** From here to the append nothing awaits. */
  #finish(startId: Hash, start: DelegationPayload, input: Conclusion): PreparedCommit<EntryRow> {
    const writer = this.#writer;
    const { delegated } = writer.parts.chain;
    if (delegated.size > 0) throw stillDelegated([...delegated.keys()]);
    const blobs: BlobRow[] = [];
    const answer = finalAnswerOf(input, blobs);
    const said = {
      budget_cost: writer.parts.writs.spentOfDelegated(),
      ...(answer === undefined ? {} : { final_answer: answer }),
    };
    const { row, batch } = writer.apply(() =>
      answerPayload(writer.nextPosition(writer.now()), startId, start, said),
    );
    return { ...batch, blobs, answer: row };
  }

  #startInTurn<T>(child: string, step: () => Promise<T>): Promise<T> {
    return this.#inTurn(`start ${child}`, step);
  }

  /**
   * Runs steps on one subject in order, so that a repetition finds the entries of the first call.
   */
  #inTurn<T>(about: string, step: () => Promise<T>): Promise<T> {
    const done = (this.#inFlight.get(about) ?? Promise.resolve()).then(step, step);
    this.#inFlight.set(about, done);
    const forget = (): void => {
      if (this.#inFlight.get(about) === done) this.#inFlight.delete(about);
    };
    done.then(forget, forget);
    return done;
  }
}

/** The final answer that an entry contains, given by the child itself. */
function answerOf(row: EntryRow): DelegationPayload | undefined {
  const payload =
    row.kind === 'delegation' ? (readRow(row).payload as DelegationPayload) : undefined;
  return payload?.concludes !== undefined && payload.child_trajectory_id === row.trajectory_id
    ? payload
    : undefined;
}

/** The conclusion that an entry contains, written by the parent. */
function conclusionOf(row: EntryRow): DelegationPayload | undefined {
  const payload =
    row.kind === 'delegation' ? (readRow(row).payload as DelegationPayload) : undefined;
  return payload?.child_head === undefined ? undefined : payload;
}

/**
 * The entry, if the input has the same answer or no answer. @throws RuntimeError
 * `idempotency_conflict`
 */
function sameOrConflict(row: EntryRow, input: Conclusion): EntryRow {
  const given = finalAnswerOf(input, []);
  const { final_answer } = readRow(row).payload as DelegationPayload;
  if (given === undefined || textOf(given) === textOf(final_answer)) return row;
  throw new RuntimeError(
    'idempotency_conflict',
    `The trajectory was concluded with another final answer (${row.id}).`,
    {
      evidence: { entry: row.id },
    },
  );
}

function textOf(answer: Stored | undefined): string {
  return answer === undefined ? '' : canonicalize(answer);
}

/** A copy: the answer stays as given while the call waits. */
function checkedConclusion(input: Conclusion): Conclusion {
  if (typeof input !== 'object' || input === null)
    throw new RuntimeError('bad_intent', 'The conclusion must be an object.');
  checkArgument(CONCLUSION, input, 'conclusion');
  const { finalAnswer } = input;
  return finalAnswer === undefined ? {} : { finalAnswer: copyJson(finalAnswer, { foreign: true }) };
}

function frozen(by: Hash): RuntimeError {
  return new RuntimeError(
    'frozen',
    `An open approval (${by}) freezes the whole state. Resolve it before you delegate.`,
    {
      evidence: { by },
      retryable: true,
    },
  );
}

function exhausted(short: {
  readonly writ_id: Hash;
  readonly unit: string;
  readonly left: number;
  cost: number;
}) {
  const { writ_id, unit, left, cost } = short;
  return new RuntimeError(
    'budget_exhausted',
    `Writ ${writ_id} has ${left} ${unit} left, and the delegation reserves ${cost}. Delegate less.`,
    { evidence: { writ_id, unit, left, cost } },
  );
}

function notDelegated(what: string): RuntimeError {
  return new RuntimeError('wrong_state', `The delegation cannot be concluded: ${what}.`);
}

function stillDelegated(open: readonly Hash[]): RuntimeError {
  return new RuntimeError(
    'wrong_state',
    `The trajectory has open delegations: ${open.join(', ')}. Conclude them first.`,
    {
      evidence: { open },
    },
  );
}

const NOTHING_STORED: LedgerReader = {
  entries: async () => [],
  blob: async () => undefined,
  erasedBy: async () => undefined,
  resolve: async () => undefined,
};

/** The initial state of a child, as values. */
async function beginningOf(
  replayer: Replayer,
  start: Pick<DelegationPayload, 'trajectory_id' | 'seq'>,
  begins: ChildBeginning | undefined,
): Promise<unknown> {
  return begins === undefined
    ? null
    : { domain: begins.domain, state: (await replayer.begin(start, begins)).state };
}
