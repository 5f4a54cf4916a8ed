import { isAssizeError, TransientMap } from '#base';
import type { ProposedCall } from '#kernel';
import { type Hash, type RejectionPayload, readRow, traceparentOf } from '#ledger';
import { currentTracer, type Tracer } from '#traces';
import type { PendingStatus } from '../approve/approvals.ts';
import type { WritChain } from '../authority/writs.ts';
import { checkProposal, isForFailure, type ProposalInput } from '../records/intent.ts';
import type { Judgement } from '../records/judgement.ts';
import { checkObserved } from '../records/pending-proposal.ts';
import type { Proposer } from '../records/proposer.ts';
import {
  type EffectOutcome,
  type Ruling,
  toldName,
  toldRuling,
  withFindings,
} from '../records/ruling.ts';
import { randomHex } from '../records/salts.ts';
import type { CommitPlan } from '../records/tool-authority.ts';
import { wholeRuling } from '../transactions/commit/await-outcome.ts';
import { callsNow, declaresCalls, NO_CALLS } from './calls-now.ts';
import {
  type ForeseenProposal,
  gatherNow,
  observedByKey,
  presentWrit,
  readProposal,
  underWrit,
} from './gather.ts';
import { judgeProposal } from './judge.ts';
import type { ProposalPorts } from './ports.ts';
import { Precondition } from './precondition.ts';
import { lastRuling, rulingFor } from './rulings-by-key.ts';
import { untilRuled } from './until-ruled.ts';

/**
 * From an intent to a durable ruling. The intent is gathered once and adjudicated on the current
 * head, again after another writer appended first.
 */
export class Proposals implements Proposer {
  readonly #ports: ProposalPorts;
  /**
   * Awaited rulings, by the hash of the caller's key: a concurrent repetition gets the same ruling.
   */
  readonly #inFlight: TransientMap<
    Hash,
    { readonly proposalId: Hash; readonly ruling: Promise<Ruling> }
  > = new TransientMap();
  /** The actions whose last commit made no call, though they can declare some. */
  readonly #silent: Set<string> = new Set();

  constructor(ports: ProposalPorts) {
    this.#ports = ports;
  }

  /**
   * `acting`: the effects of tools. The key then belongs to a transaction. Its body may have made
   * another proposal before.
   */
  propose(input: ProposalInput, acting?: CommitPlan): Promise<Ruling> {
    const tracer = currentTracer();
    return tracer === undefined
      ? this.#propose(input, acting)
      : this.#traced(tracer, input, acting);
  }

  async #traced(
    tracer: Tracer,
    input: ProposalInput,
    acting: CommitPlan | undefined,
  ): Promise<Ruling> {
    checkProposal(input);
    const { writer, turn } = this.#ports;
    const { action, principal } = input;
    const parent = traceparentOf(input.traceparent);
    const facts = {
      trajectory: writer.id,
      action: toldName(action),
      principal: toldName(principal),
    };
    return tracer.step({ name: 'propose', facts, parent, told: toldRuling }, () => {
      // The entries of a turn are made again from its record, and a record has no trace.
      const traceparent =
        parent ?? (turn.isTurn || !tracer.isRecorded ? undefined : tracer.traceparent());
      return this.#propose({ ...input, traceparent }, acting);
    });
  }

  async #propose(input: ProposalInput, acting: CommitPlan | undefined): Promise<Ruling> {
    checkProposal(input);
    const { writer } = this.#ports;
    const { precondition, writ, idempotencyKey: key } = input;
    const unchanged =
      precondition === undefined ? undefined : new Precondition(writer, precondition);
    const nonce = key ?? randomHex(writer.context.random, 16);
    const isRead = acting !== undefined;
    const read = readProposal(this.#ports, input, {
      nonce,
      isRead,
      isOwn: isRead || isForFailure(key),
    });
    if (writer.isLikelyStale) await writer.refresh();
    let presented: WritChain;
    try {
      presented = presentWrit(writer, writ);
    } catch (error) {
      // An error is not recorded, so no append would show that another process has brought the writ
      // here.
      if (!isAssizeError(error) || !(await writer.isBehind())) throw error;
      await writer.ready();
      presented = presentWrit(writer, writ);
    }
    const gathered = underWrit(read, presented, acting);
    const byKey = observedByKey(gathered);
    if (byKey.length > 0) await checkObserved(byKey, writer.context.oracle);
    const insist = (): Promise<Ruling> => {
      const ruling = untilRuled(this.#ports, gathered, {
        key,
        precondition: unchanged,
        silent: this.#silent,
      });
      return unchanged === undefined ? ruling : ruling.finally(() => unchanged.dispose());
    };
    const { keyHash, proposalId } = gathered;
    if (keyHash === undefined) return await insist();
    let underWay = this.#inFlight.get(keyHash);
    while (underWay !== undefined) {
      if (underWay.proposalId === proposalId) return underWay.ruling;
      // The key may belong to this proposal, and the other one gets an error then.
      await underWay.ruling.catch(() => undefined);
      underWay = this.#inFlight.get(keyHash);
    }
    const ruling = insist().finally(() => this.#inFlight.delete(keyHash));
    this.#inFlight.set(keyHash, { proposalId, ruling });
    return ruling;
  }

  /** The ruling that `propose` would give now. Nothing is written, and no tool is called. */
  judge(input: ForeseenProposal): Promise<Judgement> {
    return judgeProposal(this.#ports, input);
  }

  /** The id of a proposal with a key, as `propose` gives it. */
  idOf(input: ProposalInput): Hash {
    checkProposal(input);
    return gatherNow(this.#ports, input, { nonce: input.idempotencyKey ?? '' }).proposalId;
  }

  declaredCalls(input: ProposalInput): readonly ProposedCall[] {
    const { writer } = this.#ports;
    if (!declaresCalls(writer.parts.domain, input.action)) return NO_CALLS;
    return callsNow(
      writer,
      gatherNow(this.#ports, input, { nonce: '', isOwn: true, isRead: true }),
    );
  }

  rulingFor(key: string, principal: string): Promise<Ruling | undefined> {
    return rulingFor(this.#ports.writer, key, principal);
  }

  /** The same, with the outcomes of its calls and the misfits of its arguments. */
  async wholeRulingFor(key: string, principal: string): Promise<Ruling | undefined> {
    const { writer, effects } = this.#ports;
    const { store, replayer } = writer.context;
    const ruling = await rulingFor(writer, key, principal);
    if (ruling?.ruling !== 'rejected') return ruling && wholeRuling(ruling, store, effects);
    const payload = readRow(ruling.entry).payload as RejectionPayload;
    const args = await replayer.values.read(payload, payload.intent.args);
    const { domain } = writer.parts;
    const whole = await wholeRuling(ruling, store, effects);
    return 'value' in args
      ? withFindings(whole, domain, { action: payload.intent.action, args: args.value })
      : whole;
  }

  /** The ruling on the proposal with a key, or the end of its approval (from `statusOf`). */
  lastRuling(
    key: string,
    principal: string,
    statusOf: (pendingId: Hash) => Promise<PendingStatus>,
  ): Promise<Ruling | undefined> {
    return lastRuling(this.#ports.writer, key, principal, statusOf);
  }

  /** The outcomes of the calls of that proposal. None before it is committed. */
  async callsOf(
    key: string,
    principal: string,
    statusOf: (pendingId: Hash) => Promise<PendingStatus>,
  ): Promise<readonly EffectOutcome[]> {
    const ruling = await this.lastRuling(key, principal, statusOf);
    if (ruling?.ruling !== 'committed') return [];
    const { writer, effects } = this.#ports;
    return (await wholeRuling(ruling, writer.context.store, effects)).calls ?? [];
  }
}
