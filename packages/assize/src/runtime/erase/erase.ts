import { writId } from '#authority';
import { arg, isAssizeError, type Json } from '#base';
import { contentHash, parsePointer } from '#canon';
import { BUILT_IN_ROLE, type Domain, ERASE_ACTION, sensitiveAbove } from '#kernel';
import { type Hash, isFactStore, isHash, type PartitionName } from '#ledger';
import { verified } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import type { ErasedPartition } from '../memory/plan/close-erased.ts';
import type { BeliefPlanner } from '../memory/plan/plan-beliefs.ts';
import type { RulingPorts } from '../propose/ports.ts';
import { rule } from '../propose/rule.ts';
import type {
  BeliefSelector,
  ErasureInput,
  ErasurePreview,
  ErasureRuling,
} from '../records/erasure-input.ts';
import type { GatheredProposal } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import { randomHex } from '../records/salts.ts';
import { scrub } from '../writer/scrub.ts';
import { type RulingStep, untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { type ErasureTargets, type FoundValues, findErasable } from './find-in-state.ts';

const REASON_MAX = 4_096;
const PLACES_MAX = 1_000;
const NAME_MAX = 512;
/**
 * Maximum number of values, answers and effect-log texts that a single entry erases; the next entry
 * continues.
 */
const VALUES_MAX = 2_000;

/**
 * Erases sensitive data: a proposal of the built-in action. Its arguments name the data that the
 * trajectory has.
 */
export class Erasures {
  readonly #ports: RulingPorts;
  readonly #writer: Writer;

  constructor(ports: RulingPorts) {
    this.#ports = ports;
    this.#writer = ports.writer;
  }

  async erase(given: ErasureInput): Promise<ErasureRuling> {
    const wanted = targetsOf(given);
    // A copy: the checked input stays the same while the ledger is searched.
    const input = { ...given };
    await this.#ports.expiries.recordExpired();
    // Proposals wait during the search. The search would miss them, and each would force a new
    // search.
    const ruling = await this.#writer.runExclusive(() => this.#eraseAll(input, wanted));
    // Once for all entries of the erasure, also if a later one was refused.
    await scrub(this.#writer.context.store);
    return ruling;
  }

  /** The data that `erase` would erase with this input. Writes nothing. */
  preview(given: ErasureInput): Promise<ErasurePreview> {
    const wanted = targetsOf(given);
    const writer = this.#writer;
    return writer.runExclusive(async () => {
      await writer.flushed();
      const found = await this.#find(wanted);
      await checkFound(wanted, found, writer.parts.domain);
      const { values, answers, logged, open, unmarked } = found;
      const remaining = wanted.beliefs.length === 0 ? [] : await found.remainingNow();
      return { values, answers, logged, open, unmarked, remaining };
    });
  }

  /** As many entries as the erasure needs. */
  async #eraseAll(input: ErasureInput, wanted: ErasureTargets): Promise<ErasureRuling> {
    // After the first entry of several, the erased quotes can no longer be found, so they are
    // collected here.
    const unmarked = new Set<Hash>();
    const lock = new PartitionLock(this.#ports.beliefs);
    let rest: FoundValues | undefined;
    try {
      for (;;) {
        const { ruling, found, after } = await this.#eraseOnce(input, wanted, rest, lock);
        for (const id of found.unmarked) unmarked.add(id);
        if (ruling.ruling !== 'committed' || after === undefined)
          return await this.#propagate(ruling, wanted, found, [...unmarked]);
        // Repeating the whole search for each of many entries would take quadratic time.
        rest = await this.#remaining(after);
      }
    } finally {
      lock.release();
    }
  }

  /** One entry. `rest`: the values that an earlier entry has left. */
  #eraseOnce(
    input: ErasureInput,
    wanted: ErasureTargets,
    rest: FoundValues | undefined,
    lock: PartitionLock,
  ): Promise<ErasedOnce> {
    const writer = this.#writer;
    let known = rest;
    return untilCommitted(writer, async (): Promise<RulingStep<ErasedOnce> | undefined> => {
      await lock.take();
      await this.#ports.expiries.recordExpired();
      await writer.flushed();
      if (writer.stale) return undefined;
      const found = known ?? (await this.#find(wanted));
      known = undefined;
      lock.names = found.erasedPartitions.map(({ name }) => name);
      if (writer.stale) return undefined;
      if (found.length !== writer.parts.chain.seq) {
        // Another writer committed first, or a non-proposal entry was written here.
        await writer.isBehind();
        return undefined;
      }
      await checkFound(wanted, found, writer.parts.domain);
      const { part, after } = divided(found);
      const gathered = this.#gather(input, wanted, { ...found, ...part });
      return () => {
        const how = { builtIn: true, erasedPartitions: found.erasedPartitions };
        const ruled = rule(this.#ports, gathered, how);
        if (ruled === undefined || 'needs' in ruled) return ruled;
        if ('unrecorded' in ruled)
          return { unrecorded: { ruling: ruled.unrecorded, found, after } };
        return { ...ruled, answer: { ruling: ruled.answer, found, after } };
      };
    });
  }

  /** After the commit no writer records the erased data again. Earlier records are found here. */
  async #propagate(
    ruling: Ruling,
    { beliefs }: ErasureTargets,
    { remainingNow, open }: FoundValues,
    unmarked: readonly Hash[],
  ): Promise<ErasureRuling> {
    if (ruling.ruling !== 'committed') return ruling;
    const told = open.length === 0 ? ruling : { ...ruling, open };
    if (beliefs.length === 0) return told;
    const others = await remainingNow();
    return {
      ...told,
      remaining: unmarked.length === 0 ? others : [...others, this.#writer.id].sort(),
      unmarked,
    };
  }

  #find(wanted: ErasureTargets): Promise<FoundValues> {
    const { context, id, parts } = this.#writer;
    return findErasable(context.store, context.replayer, id, wanted, parts.domain);
  }

  /**
   * The rest of an erasure after an entry has erased a part. Undefined if another writer has
   * changed one of its partitions since the search: then search again. Writes to the trajectory
   * itself show in its length.
   */
  async #remaining(found: FoundValues): Promise<FoundValues | undefined> {
    const { store } = this.#writer.context;
    if (!isFactStore(store)) return found;
    const losing: ErasedPartition[] = [];
    for (const before of found.erasedPartitions) {
      const state = await store.partition(before.name);
      // Its names were erased, so no statement can concern it any more.
      if (state === undefined) continue;
      if (state.version !== before.state.version + 1) return undefined;
      losing.push({ ...before, state });
    }
    return { ...found, erasedPartitions: losing };
  }

  #gather(input: ErasureInput, wanted: ErasureTargets, found: FoundValues): GatheredProposal {
    const { parts, context, id } = this.#writer;
    const writ = parts.writs.present(input.writ);
    verified(context.verifier, writ, parts.writs.delegated);
    const { answers, logged, values } = found;
    const { at, entries, transactions } = wanted;
    const beliefs = found.beliefs.length === 0 ? {} : { beliefs: found.beliefs };
    const answered = answers.length === 0 ? {} : { answers };
    const named = logged.length === 0 ? {} : { logged };
    const asked = transactions.length === 0 ? {} : { transactions };
    const { reason } = input;
    const args = {
      ...answered,
      at,
      ...beliefs,
      entries,
      ...named,
      reason,
      ...asked,
      values,
    } as unknown as Json;
    const nonce = randomHex(context.random, 16);
    const intent = { action: ERASE_ACTION, role: BUILT_IN_ROLE, args };
    return {
      proposalId: contentHash({ ...intent, nonce, trajectory: id, writ: writId(writ.writ) }),
      keyHash: undefined,
      intent,
      observed: [],
      observations: [],
      blobs: [],
      writ,
      principal: input.principal ?? writ.writ.subject,
    };
  }
}

/**
 * The lock of the partitions that an erasure changes, held from one entry to the next. Writers of
 * these partitions in other trajectories would otherwise commit first each time.
 */
class PartitionLock {
  readonly #beliefs: BeliefPlanner | undefined;
  /** The partitions that the next `take` locks. */
  names: readonly PartitionName[] = [];
  #letGo: (() => void) | undefined;

  constructor(beliefs: BeliefPlanner | undefined) {
    this.#beliefs = beliefs;
  }

  async take(): Promise<void> {
    this.release();
    this.#letGo = await this.#beliefs?.lock(this.names);
  }

  release(): void {
    this.#letGo?.();
    this.#letGo = undefined;
  }
}

/** One entry of an erasure, and the values for the next. */
interface ErasedOnce {
  readonly ruling: Ruling;
  readonly found: FoundValues;
  readonly after: FoundValues | undefined;
}

type Part = Pick<FoundValues, 'answers' | 'logged' | 'values'>;

/**
 * The part that a single entry erases, and the rest for the next entries. The order lets each entry
 * find the rest.
 */
function divided(found: FoundValues): { readonly part: Part; readonly after?: FoundValues } {
  let room = VALUES_MAX;
  const take = <T>(all: readonly T[]): [readonly T[], readonly T[]] => {
    const [now, later] = [all.slice(0, room), all.slice(room)];
    room -= now.length;
    return [now, later];
  };
  const [answers, answersLeft] = take(found.answers);
  const [logged, loggedLeft] = take(found.logged);
  const [values, valuesLeft] = take(found.values);
  const part = { answers, logged, values };
  if (answersLeft.length + loggedLeft.length + valuesLeft.length === 0) return { part };
  const left = { answers: answersLeft, logged: loggedLeft, values: valuesLeft };
  return { part, after: { ...found, ...left, length: found.length + 1 } };
}

const ERASURE_INPUT = arg.only([
  'at',
  'entries',
  'beliefs',
  'transactions',
  'reason',
  'writ',
  'principal',
]);

const NO_REASON = `\`reason\` must be text of 1 to ${REASON_MAX} characters`;

function targetsOf(input: ErasureInput): ErasureTargets {
  const unfit = ERASURE_INPUT(input);
  if (unfit?.at === '.reason') throw badErasure(NO_REASON);
  if (unfit?.at === '') throw badErasure('it must be an object');
  if (unfit !== undefined)
    throw badErasure(`its ${quoted(unfit.at.slice(1))} must be ${unfit.wanted}`);
  const {
    at = [],
    entries = [],
    beliefs = [],
    transactions = [],
    reason,
    principal = '',
    writ,
  } = input;
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > REASON_MAX)
    throw badErasure(NO_REASON);
  if (typeof principal !== 'string') throw badErasure('`principal` must be a string');
  if (typeof writ !== 'string' && (typeof writ !== 'object' || writ === null))
    throw badErasure('pass a writ');
  const lists = [at, entries, beliefs, transactions];
  const named = lists.every(Array.isArray) ? lists.flat().length : 0;
  if (named === 0) throw badErasure('name places, entries, facts or tool transactions');
  if (named > PLACES_MAX)
    throw badErasure(
      `name at most ${PLACES_MAX} places, entries, facts and transactions at a time`,
    );
  const odd = at.findIndex((place) => !isPlace(place));
  if (odd !== -1)
    throw badErasure(`${quoted(at[odd])} is not a JSON pointer to a path in the state`);
  const unknown = entries.findIndex((id) => !isHash(id));
  if (unknown !== -1) throw badErasure(`${quoted(entries[unknown])} is not an entry id`);
  if (!transactions.every((epoch) => Number.isSafeInteger(epoch) && epoch > 0))
    throw badErasure('a tool transaction must be named by its epoch, a number from 1');
  const places = new Map(
    beliefs.map(checkBeliefSelector).map((place) => [JSON.stringify(place), place]),
  );
  return {
    at: [...new Set(at)],
    entries: [...new Set(entries)],
    beliefs: [...places.values()],
    transactions: [...new Set(transactions)],
  };
}

const BELIEVED_PLACE = arg.only(['space', 'subject', 'predicate', 'claim']);

/** Errors contain the names of fields, but no names of the selector. */
function checkBeliefSelector(given: unknown): BeliefSelector {
  const unfit = BELIEVED_PLACE(given);
  if (unfit?.at === '') throw badErasure('a fact selector must have a space and a subject');
  if (unfit !== undefined)
    throw badErasure(`${quoted(unfit.at.slice(1))} of a fact selector must be ${unfit.wanted}`);
  const { space, subject, predicate, claim } = given as Partial<BeliefSelector>;
  if (!isName(space) || !isName(subject) || !(predicate === undefined || isName(predicate)))
    throw badErasure(
      `space, subject and predicate of a fact selector must be text of 1 to ${NAME_MAX} characters in Unicode's composed form`,
    );
  if (claim !== undefined && !isHash(claim))
    throw badErasure('a claim must be named by its id, 64 lower-case hex digits');
  return {
    space,
    subject,
    ...(predicate !== undefined && { predicate }),
    ...(claim !== undefined && { claim }),
  };
}

function isName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= NAME_MAX &&
    name.isWellFormed() &&
    !name.includes('\0') &&
    name === name.normalize('NFC')
  );
}

function quoted(given: unknown): string {
  return typeof given === 'string' ? JSON.stringify(given) : `a value of type ${typeof given}`;
}

function isPlace(pointer: unknown): boolean {
  if (typeof pointer !== 'string' || pointer === '') return false;
  try {
    return parsePointer(pointer).length > 0;
  } catch (error) {
    if (isAssizeError(error)) return false;
    throw error;
  }
}

async function checkFound(
  { at, entries, beliefs, transactions }: ErasureTargets,
  found: FoundValues,
  domain: Domain,
): Promise<void> {
  for (const place of at) {
    const above = sensitiveAbove(domain, place);
    if (above !== undefined)
      throw badErasure(
        `${place} is a part of the sensitive value at ${above}, which can only be erased as a whole`,
      );
  }
  const missing = entries.find((id) => !found.entries.has(id));
  if (missing !== undefined)
    throw new RuntimeError(
      'not_found',
      `This trajectory has no entry ${missing}. Erase it in its own trajectory.`,
    );
  const elsewhere = transactions.find((epoch) => !found.transactions.has(epoch));
  if (elsewhere !== undefined)
    throw new RuntimeError(
      'not_found',
      `The effect log of this store has no transaction ${elsewhere} of this trajectory. Erase it in its own store.`,
    );
  const [unknown] = found.unknown;
  if (unknown !== undefined)
    throw new RuntimeError(
      'not_found',
      `The subject has no claim ${unknown.claim} in that memory.`,
    );
  if (found.values.length + found.answers.length + found.logged.length > 0) return;
  const spaces = [...new Set(beliefs.map(({ space }) => `the memory ${space}`))];
  const where = [
    ...at,
    ...entries,
    ...spaces,
    ...transactions.map((epoch) => `transaction ${epoch}`),
  ].join(', ');
  const left = await found.remainingNow();
  const others =
    left.length === 0 ? '' : ` Other trajectories contain values of it: ${left.join(', ')}.`;
  const own =
    found.unmarked.length === 0
      ? ''
      : ` The state contains its values in places that are not sensitive, by ${found.unmarked.join(', ')}.`;
  const { open, unmarked, erasedBy } = found;
  const yet =
    open.length === 0
      ? ''
      : ` Unfinished tool transactions contain values of it: ${open.join(', ')}. Erase them after these transactions have ended.`;
  const nothing =
    erasedBy.length > 0
      ? `All erasable values at ${where} in this trajectory were erased earlier, by ${erasedBy.join(', ')}.`
      : `The trajectory has no erasable value at ${where}. Name a value that the domain marks sensitive, a fact, or a tool transaction.`;
  throw new RuntimeError('nothing_to_erase', `${nothing}${others}${own}${yet}`, {
    evidence: { left, unmarked, ...(open.length > 0 && { open }) },
  });
}

function badErasure(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `The erasure is not valid: ${what}.`);
}
