import { writId } from '#authority';
import { ChurnMap, isAssizeError } from '#base';
import { addMicros } from '#canon';
import { adjudicate, type Ruling as Judgement, type Pattern } from '#kernel';
import type { Hash, Instant } from '#ledger';
import type { Resolutions } from '../approve/approve.ts';
import { verified, type WritChain } from '../authority/writs.ts';
import { concluded, RuntimeError } from '../errors.ts';
import type { LosingPartition } from '../memory/plan/close-erased.ts';
import { NotRead } from '../memory/plan/partition-cache.ts';
import { type Beliefs, type Believed, requireBeliefs } from '../memory/plan/plan-beliefs.ts';
import { askedFor } from '../memory/plan/questions.ts';
import {
  commitPayload,
  type Erasing,
  erasedWith,
  pendingPayload,
  rejectionPayload,
} from '../records/entry-payloads.ts';
import { checkForm, type Gathered, gather, isForFailure, keyHashOf, type ProposalInput } from '../records/intent.ts';
import { Kept } from '../records/payload-blobs.ts';
import { checkObserved } from '../records/pending-proposal.ts';
import type { Proposer } from '../records/proposer.ts';
import type { AskedFor } from '../records/questions.ts';
import { randomHex } from '../records/random-hex.ts';
import { type Ruling, rulingOf } from '../records/ruling.ts';
import { Chance } from '../records/salt-source.ts';
import { type Acting, costOf, toolsAsked, withTools } from '../records/tool-authority.ts';
import { frozenByRules, frozenFor, frozenPatterns } from '../writer/freeze.ts';
import { type Recorded, TRIES_MAX } from '../writer/prepared.ts';
import { keyedProposal } from '../writer/request-index.ts';
import { NO_NEWS } from '../writer/subscriptions.ts';
import type { Ports } from '../writer/turn-ports.ts';
import type { Writer } from '../writer/writer.ts';
import { Unchanged } from './precondition.ts';

interface HowRuled {
  /** The runtime has made the arguments. */
  readonly builtIn?: boolean;
  /** The partitions that lose facts in an erasure. */
  readonly losing?: readonly LosingPartition[];
  readonly unchanged?: Unchanged | undefined;
  /**
   * The start of valid time for statements without a time of their own. Default: the time of the
   * ruling.
   */
  readonly saidAt?: Instant | undefined;
  /** The randomness for all attempts. */
  readonly chance?: Chance;
}

/**
 * From an intent to a durable ruling. The intent is gathered once and adjudicated on the current
 * head, again after another writer appended first.
 */
export class Proposals implements Proposer {
  readonly #writer: Writer;
  readonly #beliefs: Beliefs | undefined;
  readonly #resolutions: Resolutions;
  readonly #turn: Pick<Ports, 'unsalted' | 'isTurn'>;
  /**
   * Awaited rulings, by the hash of the caller's key: a concurrent repetition gets the same ruling.
   */
  readonly #underWay: ChurnMap<Hash, { readonly proposalId: Hash; readonly ruling: Promise<Ruling> }> = new ChurnMap();

  constructor(
    writer: Writer,
    beliefs: Beliefs | undefined,
    resolutions: Resolutions,
    turn: Pick<Ports, 'unsalted' | 'isTurn'>,
  ) {
    this.#writer = writer;
    this.#beliefs = beliefs;
    this.#resolutions = resolutions;
    this.#turn = turn;
  }

  /**
   * `acting`: the effects of tools. The key then belongs to a transaction, whose body may have made
   * another proposal before.
   */
  async propose(input: ProposalInput, acting?: Acting): Promise<Ruling> {
    checkForm(input);
    const { id: trajectoryId, context } = this.#writer;
    const { ifUnchanged, writ, idempotencyKey: key } = input;
    const unchanged = ifUnchanged === undefined ? undefined : new Unchanged(this.#writer, ifUnchanged);
    const nonce = key ?? randomHex(context.random, 16);
    const { unsalted, isTurn } = this.#turn;
    const isRead = acting !== undefined;
    const isOwn = isRead || isForFailure(key);
    const gatheredUnder = gather(input, { trajectoryId, nonce, unsalted, isOwn, isRead, isTurn });
    if (this.#writer.isOld) await this.#writer.freshen();
    let presented: WritChain;
    try {
      presented = this.#present(writ);
    } catch (error) {
      // An error is not recorded, so no append would show that another process has brought the writ
      // here.
      if (!isAssizeError(error) || !(await this.#writer.isBehind())) throw error;
      await this.#writer.ready();
      presented = this.#present(writ);
    }
    const gathered = gatheredUnder(presented, acting);
    const byKey = gathered.observations.map(({ seen }) => seen).filter(({ oracle_key }) => oracle_key !== undefined);
    if (byKey.length > 0) await checkObserved(byKey, context.oracle);
    const { proposalId, keyHash } = gathered;
    const insist = (): Promise<Ruling> => {
      const ruling = this.#insist(gathered, key, unchanged);
      return unchanged === undefined ? ruling : ruling.finally(() => unchanged.end());
    };
    if (keyHash === undefined) return await insist();
    const underWay = this.#underWay.get(keyHash);
    if (underWay !== undefined) {
      if (underWay.proposalId !== proposalId) throw usedForAnother(key);
      return underWay.ruling;
    }
    const ruling = insist().finally(() => this.#underWay.delete(keyHash));
    this.#underWay.set(keyHash, { proposalId, ruling });
    return ruling;
  }

  async #insist(gathered: Gathered, key: string | undefined, unchanged: Unchanged | undefined): Promise<Ruling> {
    const writer = this.#writer;
    const chance = new Chance(writer.context.random);
    let saidAt: Instant | undefined;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      while (writer.busy !== undefined) await writer.busy;
      if (writer.stale) await writer.ready();
      if (gathered.keyHash !== undefined) {
        const before = await this.#ruledBefore(gathered, key);
        // The pending proposal may have been resolved in another process.
        if (before?.ruling === 'escalated' && (await writer.isBehind())) continue;
        if (before !== undefined) return before;
        if (writer.stale) continue;
        // An error is not recorded, so no append would show that another process has ruled on it.
        if (gathered.misnamed !== undefined && (await writer.isBehind())) continue;
        if (gathered.misnamed !== undefined) throw gathered.misnamed;
      }
      if (unchanged !== undefined) await unchanged.look();
      for (let due = this.#resolutions.due(); due !== undefined && !writer.stale; due = this.#resolutions.due()) {
        await writer.written(this.#resolutions.expire(due));
      }
      if (writer.stale || unchanged?.isOutdated) continue;
      if (writer.busy !== undefined) {
        tries--;
        continue;
      }
      let ruling: Ruling | undefined;
      try {
        ruling = await this.rule(gathered, { unchanged, saidAt, chance });
      } catch (error) {
        if (!(error instanceof NotRead)) throw error;
        const said = await error.read();
        saidAt ??= said;
        tries--;
        continue;
      }
      // No append has confirmed that the freezing approval is still open.
      if (ruling?.ruling === 'frozen' && (await writer.isBehind())) continue;
      if (ruling !== undefined) return ruling;
    }
    throw await writer.lost();
  }

  #present(given: ProposalInput['writ']): WritChain {
    const { parts, context } = this.#writer;
    const writ = parts.writs.present(given);
    // An intent under a writ that leads to no anchor has no requester, and leaves no entry
    // (docs/decisions/003-what-writes-an-entry.md).
    verified(context.verifier, writ, parts.writs.delegated);
    return writ;
  }

  /** The ruling on the proposal with that key. @throws RuntimeError `idempotency_conflict` */
  async #ruledBefore({ keyHash, proposalId, acting }: Gathered, key: string | undefined): Promise<Ruling | undefined> {
    const { id, parts, context } = this.#writer;
    const seq = parts.ruled.seqOf(keyHash as Hash);
    if (seq === undefined) return undefined;
    // The entry that rules on it may still be in flight, or lost on its way to the store.
    await this.#writer.settled();
    if (this.#writer.stale) return undefined;
    const [row] = await context.store.entries(id, { from: seq, limit: 1 });
    const keyed = row === undefined ? undefined : keyedProposal(row);
    // Another entry is at that seq: memory is stale, and the append will report it.
    if (row === undefined || keyed?.keyHash !== keyHash) return undefined;
    if (keyed?.proposalId !== proposalId && acting === undefined) throw usedForAnother(key);
    return rulingOf(row);
  }

  /** The ruling on the transaction with that key. */
  async ruledUnder(key: string, principal: string): Promise<Ruling | undefined> {
    const writer = this.#writer;
    const keyHash = keyHashOf(key, principal, writer.id);
    for (;;) {
      if (writer.stale) await writer.ready();
      const seq = writer.parts.ruled.seqOf(keyHash);
      if (seq === undefined) {
        // A key without a ruling, as most keys are: no wait for appends in flight.
        if (await writer.isOvertaken()) continue;
        return undefined;
      }
      await writer.settled();
      if (writer.stale) continue;
      const [row] = await writer.context.store.entries(writer.id, { from: seq, limit: 1 });
      if (row !== undefined && keyedProposal(row)?.keyHash === keyHash) return rulingOf(row);
      if (!(await writer.isBehind())) return undefined;
    }
  }

  // ── from here to the append nothing awaits ──

  /** Undefined if another writer appended first. */
  rule(gathered: Gathered, how: HowRuled = {}): Promise<Ruling | undefined> | Ruling {
    return this.#writer.ruling(() => this.#rule(gathered, how));
  }

  #rule(
    gathered: Gathered,
    { builtIn = false, losing = [], unchanged, saidAt, chance = new Chance(this.#writer.context.random) }: HowRuled,
  ): Promise<Ruling | undefined> | Ruling {
    const writer = this.#writer;
    const { chain, domain, world, writs, ruled: keyed } = writer.parts;
    if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
    const frozen = frozenFor(chain, domain, gathered.intent);
    if (frozen !== undefined) return frozen;
    const at = writer.now();
    const id = writId(gathered.writ.writ);
    const { acting } = gathered;
    const own = writer.authority(gathered.writ, gathered.principal, at, { committing: acting?.epoch });
    const { refused, asked: askedFirst } = toolsAsked(own, acting);
    const authority = withTools(own, acting, askedFirst);
    const inputs = { at, observations: gathered.observed };
    const adjudicated =
      refused ??
      adjudicate(world, gathered.intent, authority, inputs, {
        parsed: builtIn,
        conflict: () => unchanged?.conflict(gathered.intent),
      });
    const stopped = this.#stopped(adjudicated);
    if (stopped !== undefined) return stopped;
    const unstored = writs.unstored(gathered.writ);
    const kept = new Kept(writer.context.saltsOf(chance.from(chain.head)), [...gathered.blobs, ...unstored]);
    const { judged, believed } = this.#believed(adjudicated, gathered, { at, saidAt }, kept, losing);
    const waits = judged.verdict === 'escalated' && acting?.parked !== undefined ? acting.parked() : acting;
    const ruled = waits === undefined || waits === acting ? gathered : { ...gathered, acting: waits };
    const { row, ruling } = this.#record(ruled, id, judged, at, kept, believed);
    writs.stored(unstored);
    if (gathered.keyHash !== undefined) keyed.add(gathered.keyHash, row.seq);
    let news = NO_NEWS;
    let erasing: Erasing | undefined;
    const facts = believed?.accept(row.id);
    if (judged.verdict === 'approved') {
      judged.keep();
      writs.book(id, costOf(judged, acting));
      erasing = erasedWith(row.id, gathered.intent);
      news = writer.accepted(row, judged.changes);
    }
    const acts = judged.verdict === 'approved' ? acting?.write(row.id) : acting?.undone(row.id, judged.verdict);
    const waiting = judged.verdict === 'escalated' ? waits?.blobs : undefined;
    const blobs =
      acts === undefined && waiting === undefined
        ? kept.blobs
        : [...kept.blobs, ...(waiting ?? []), ...(acts?.blobs ?? [])];
    const asked = 'asked' in judged ? (judged as AskedFor).asked : undefined;
    return writer.written({ rows: [row], blobs, erasing, effects: acts?.write, facts, asked, answer: ruling, news });
  }

  /**
   * The ruling if an open approval blocks the proposal. Only the adjudication shows that the rules
   * read paths that the approval would change. The state is then as before.
   */
  #stopped(judged: Judgement): Ruling | undefined {
    if (judged.verdict === 'rejected') return undefined;
    const { chain, domain } = this.#writer.parts;
    const judgedBy = (): readonly Pattern[] =>
      judged.verdict === 'approved' ? judged.judgedBy() : frozenPatterns(judged.freezes);
    const stopped = frozenByRules(chain, domain, judgedBy);
    if (stopped !== undefined && judged.verdict === 'approved') judged.undo();
    return stopped;
  }

  /**
   * Plans an approved proposal on the current facts. If the facts do not fit, the proposal is
   * refused or escalated.
   */
  #believed(
    judged: Judgement,
    gathered: Gathered,
    when: { readonly at: Instant; readonly saidAt?: Instant | undefined },
    kept: Kept,
    losing: readonly LosingPartition[],
  ): { readonly judged: Judgement; readonly believed?: Believed } {
    if (judged.verdict !== 'approved') return { judged };
    const { id } = this.#writer;
    if (losing.length > 0)
      return {
        judged,
        believed: requireBeliefs(this.#beliefs).forgetting(losing, when.at, {
          trajectoryId: id,
          life: this.#writer.life,
        }),
      };
    if (judged.compiled.sayings.length === 0) return { judged };
    const { domain } = this.#writer.parts;
    let planned: ReturnType<Beliefs['plan']>;
    try {
      const predicates = domain.memory?.predicates ?? {};
      planned = requireBeliefs(this.#beliefs).plan({
        call: gathered,
        life: this.#writer.life,
        compiled: judged.compiled,
        proposalId: gathered.proposalId,
        trajectoryId: id,
        ...when,
        predicates,
        kept,
      });
    } catch (error) {
      judged.undo();
      throw error;
    }
    if (planned === undefined || 'changes' in planned) return { judged, ...(planned && { believed: planned }) };
    if ('questions' in planned) return { judged: askedFor(domain, judged, planned, when.saidAt) };
    judged.undo();
    const { policy } = judged.compiled;
    const detail = `${planned.refusal.code}: ${planned.refusal.message}`;
    return { judged: { verdict: 'rejected', reason: 'precondition_failed', detail, ...(policy && { policy }) } };
  }

  #record(
    gathered: Gathered,
    id: Hash,
    judged: Judgement,
    at: Instant,
    kept: Kept,
    believed: Believed | undefined,
  ): Recorded {
    const writer = this.#writer;
    const { domain } = writer.parts;
    const place = writer.place(at);
    if (judged.verdict === 'rejected') return writer.enter(rejectionPayload(place, gathered, id, judged, domain, kept));
    if (judged.verdict === 'approved') {
      const { lastCommit } = writer.parts.chain;
      return writer.enterOrUndo(judged, () =>
        commitPayload(place, lastCommit, gathered, id, judged, domain, kept, believed?.changes),
      );
    }
    const { approvalMs } = writer.context;
    const expires = approvalMs === undefined ? undefined : addMicros(at, approvalMs * 1_000);
    return writer.enter(pendingPayload(place, gathered, id, judged, expires, domain, kept));
  }
}

function usedForAnother(key: string | undefined): RuntimeError {
  return new RuntimeError(
    'idempotency_conflict',
    `The idempotency key ${key} was used for another intent; use a new key.`,
  );
}
