import { writId } from '#authority';
import { addMicros, RecentMap } from '#canon';
import { adjudicate, type Ruling as Judgement } from '#kernel';
import type { BlobRow, Hash, Instant } from '#ledger';
import { concluded, RuntimeError } from './errors.ts';
import { frozenFor } from './freeze.ts';
import { checkForm, type Gathered, gather, type ProposalInput } from './intent.ts';
import { commitPayload, pendingPayload, rejectionPayload } from './records.ts';
import type { Resolutions } from './resolve.ts';
import { proposalOf } from './ruled-proposals.ts';
import { type Ruling, rulingOf } from './ruling.ts';
import { NO_NEWS } from './subscriptions.ts';
import { checkObserved } from './waiting.ts';
import { type Recorded, TRIES_MAX, type Writer } from './writer.ts';
import { verified } from './writs.ts';

/** Idempotency keys that are remembered beside the ledger. */
const KEYS_MAX = 50_000;

/** From an intent to a durable ruling: gathered once, judged on the head that there is, again when another writer was faster. */
export class Proposals {
  readonly #writer: Writer;
  readonly #resolutions: Resolutions;
  /** Proposals by idempotency key, for telling a repetition from a misuse. */
  readonly #keys: RecentMap<string, Hash> = new RecentMap(KEYS_MAX);
  /** Rulings that are awaited, by proposal, where the caller gave a key: a repetition meanwhile gets the same one. */
  readonly #underWay: Map<Hash, Promise<Ruling>> = new Map();

  constructor(writer: Writer, resolutions: Resolutions) {
    this.#writer = writer;
    this.#resolutions = resolutions;
  }

  async propose(input: ProposalInput): Promise<Ruling> {
    checkForm(input);
    const { around } = this.#writer;
    if (this.#writer.isOld) await this.#writer.freshen();
    const key = input.idempotencyKey;
    const nonce = key ?? Buffer.from(around.random.bytes(16)).toString('hex');
    const gathered = this.#gather(input, nonce);
    const byKey = gathered.observations.some(({ oracle_key }) => oracle_key !== undefined);
    if (byKey) await checkObserved(gathered.observations, around.oracle);
    if (key === undefined) return this.#rule(gathered, input, nonce);
    const { proposalId } = gathered;
    this.#holdKey(gathered.principal, key, proposalId);
    let ruling = this.#underWay.get(proposalId);
    if (ruling === undefined) {
      ruling = this.#rule(gathered, input, nonce).finally(() => this.#underWay.delete(proposalId));
      this.#underWay.set(proposalId, ruling);
    }
    return ruling;
  }

  async #rule(first: Gathered, input: ProposalInput, nonce: string): Promise<Ruling> {
    const writer = this.#writer;
    let gathered = first;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if (writer.stale) {
        await writer.ready();
        gathered = this.#gather(input, nonce);
      }
      if (input.idempotencyKey !== undefined) {
        const before = await this.#ruledBefore(gathered);
        if (before !== undefined) return before;
        if (writer.stale) continue;
      }
      for (let due = this.#resolutions.due(); due !== undefined && !writer.stale; due = this.#resolutions.due()) {
        await writer.written(this.#resolutions.expire(due));
      }
      if (writer.stale) continue;
      const ruling = await this.#judge(gathered);
      // No append has confirmed that what freezes is still open.
      if (ruling?.ruling === 'frozen' && (await writer.isBehind())) continue;
      if (ruling !== undefined) return ruling;
    }
    throw await writer.lost();
  }

  #gather(input: ProposalInput, nonce: string): Gathered {
    const { id: trajectoryId, parts, around } = this.#writer;
    const writ = parts.writs.present(input.writ);
    // An intent under a writ that leads to no anchor comes from nobody, and leaves no entry (decisions §1.3).
    verified(around.verifier, writ, parts.writs.delegated);
    return gather(input, { trajectoryId, writ, writId: writId(writ.writ), nonce });
  }

  #holdKey(principal: string, key: string, proposalId: Hash): void {
    const holder = `${principal}\u0000${key}`;
    const other = this.#keys.get(holder);
    if (other !== undefined && other !== proposalId) {
      throw new RuntimeError(
        'idempotency_conflict',
        `The idempotency key ${key} was used for another intent; use a new key.`,
      );
    }
    this.#keys.set(holder, proposalId);
  }

  async #ruledBefore(gathered: Gathered): Promise<Ruling | undefined> {
    const { id, parts, around } = this.#writer;
    const seq = parts.ruled.seqOf(gathered.proposalId);
    if (seq === undefined) return undefined;
    const [row] = await around.store.entries(id, { from: seq, limit: 1 });
    // Another entry there: the kept bits of two ids agree, and this proposal was never ruled on.
    return row === undefined || proposalOf(row) !== gathered.proposalId ? undefined : rulingOf(row);
  }

  // ── from here to the append nothing awaits ──

  #judge(gathered: Gathered): Promise<Ruling | undefined> | Ruling {
    const writer = this.#writer;
    const { chain, domain, world, writs, ruled } = writer.parts;
    if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
    const frozen = frozenFor(chain, domain, gathered.intent);
    if (frozen !== undefined) return frozen;
    const at = writer.now();
    const id = writId(gathered.writ.writ);
    const authority = writer.authority(gathered.writ, gathered.principal, at, false);
    const judged = adjudicate(world, gathered.intent, authority, { at, observations: gathered.observed });
    const unstored = writs.unstored(gathered.writ);
    const blobs = [...gathered.blobs, ...unstored];
    const { row, ruling } = this.#record(gathered, id, judged, at, blobs);
    writs.stored(unstored);
    if (gathered.repeatable) ruled.add(gathered.proposalId, row.seq);
    let news = NO_NEWS;
    if (judged.verdict === 'approved') {
      judged.keep();
      writs.book(id, judged.compiled.cost);
      news = writer.subscriptions.newsOf(judged.changes.map(({ keys }) => keys));
    }
    return writer.written({ rows: [row], blobs, answer: ruling, news });
  }

  #record(gathered: Gathered, id: Hash, judged: Judgement, at: Instant, blobs: BlobRow[]): Recorded {
    const writer = this.#writer;
    const place = writer.place(at);
    if (judged.verdict === 'rejected') return writer.enter(rejectionPayload(place, gathered, id, judged, blobs));
    if (judged.verdict === 'approved') {
      const { lastCommit } = writer.parts.chain;
      return writer.enterOrUndo(judged, () => commitPayload(place, lastCommit, gathered, id, judged, blobs));
    }
    const { approvalMs } = writer.around;
    const expires = approvalMs === undefined ? undefined : addMicros(at, approvalMs * 1_000);
    return writer.enter(pendingPayload(place, gathered, id, judged, expires, blobs));
  }
}
