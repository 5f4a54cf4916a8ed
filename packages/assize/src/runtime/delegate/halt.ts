import { mayHalt, type Writ, writId } from '#authority';
import { arg, checkArgument } from '#base';
import { type Authority, adjudicateHalt, HALT_ACTION } from '#kernel';
import {
  checkRow,
  type Entry,
  type EntryRow,
  type Halt,
  type HaltArgs,
  type HaltPayload,
  type Hash,
  haltArgs,
  type Instant,
} from '#ledger';
import { verified, type WritChain } from '../authority/writs.ts';
import { concluded, haltedError, RuntimeError } from '../errors.ts';
import { builtInProposal } from '../records/intent.ts';
import { type Ruling, rulingOf } from '../records/ruling.ts';
import { randomHex } from '../records/salts.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import { type Planned, untilCommitted, whenFree } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import type { Children } from './children.ts';
import type { Delegations } from './delegate.ts';
import { adoptStop, type Propagated, propagate, reasonFault, recordStop } from './stops.ts';

/** The reason of a halt or a resume, and the authority for it. */
export interface HaltInput {
  /** The reason; it stays in the ledger. */
  readonly reason: string;
  /**
   * The writ that authorises the halt, as in a proposal. The writ and its ancestors name
   * `assize.halt` and a scope `halt:…`.
   */
  readonly writ: Hash | Writ | WritChain;
  /** Default: the subject of `writ`. */
  readonly principal?: string;
}

export interface HaltOutcome {
  readonly ruling: Ruling;
  /**
   * For each open delegation, whether its trajectory has recorded the halt or the resume. Empty for
   * a refusal, and for a resume after which another halt stands.
   */
  readonly propagated: readonly Propagated[];
}

type Does = HaltArgs['does'];

const HALT = arg.options<HaltInput>({ reason: arg.any, writ: arg.any, principal: arg.any });

/**
 * Halts a trajectory and resumes it. Both are proposals of the built-in action `assize.halt`. Only
 * writ, policy and budget adjudicate it. Trajectories of open delegations adopt the halt, and later
 * the resume, each as a separate entry. So a trajectory has up to two halts: one of a principal,
 * and one of its delegator.
 */
export class TrajectoryHalts {
  readonly #writer: Writer;
  readonly #delegations: Delegations;
  readonly #children: Children;

  constructor(writer: Writer, delegations: Delegations, children: Children) {
    this.#writer = writer;
    this.#delegations = delegations;
    this.#children = children;
  }

  /** Same as `Trajectory.halt` and `Trajectory.resume`. */
  async change(does: Does, given: HaltInput): Promise<HaltOutcome> {
    const input = checkedInput(does, given);
    const nonce = randomHex(this.#writer.context.random, 16);
    const ruling = await untilCommitted(this.#writer, () => this.#plan(does, input, nonce));
    if (ruling.ruling !== 'committed') return { ruling, propagated: [] };
    const propagated = await this.#propagate();
    // A delegation that was answered before the halt is concluded now.
    if (does === 'resume') await this.#delegations.complete();
    return { ruling, propagated };
  }

  /**
   * Adopts a halt or a resume from the trajectory that delegated to this trajectory, by its entry
   * there, and propagates it to children. Does nothing if it was adopted before, or if this
   * trajectory gave its final answer.
   *
   * @throws RuntimeError `not_found` for another entry, and the errors of `halt`
   */
  async adopt(entryId: Hash): Promise<void> {
    const there = await this.#haltedThere(entryId);
    await untilCommitted(this.#writer, () => this.#planAdoption(there));
    await this.#propagate();
  }

  /** Propagates what may not have reached a child. Failures are left for later. */
  async complete(): Promise<void> {
    await this.#propagate();
  }

  async #plan(does: Does, input: HaltInput, nonce: string): Promise<Planned<Ruling>> {
    const { parts, context, id } = this.#writer;
    const writ = parts.writs.present(input.writ);
    verified(context.verifier, writ, parts.writs.delegated);
    const { own, above } = parts.chain.halts;
    if (does === 'halt' && own !== undefined) return this.#rulingAt(own);
    if (does === 'resume' && own === undefined) {
      // An error is not recorded, so no append would show that another writer has halted it.
      if (await this.#writer.isBehind()) return undefined;
      throw above === undefined
        ? notHalted(id)
        : haltedAbove(id, above, parts.chain.delegatedFrom?.trajectory_id);
    }
    return whenFree(this.#writer, () => {
      const stands = this.#writer.parts.chain.halts.own !== undefined;
      return (does === 'halt') === stands ? undefined : this.#rule(does, input, writ, nonce);
    });
  }

  async #rulingAt({ seq, id }: Halt): Promise<Planned<Ruling>> {
    await this.#writer.flushed();
    const [row] = await this.#writer.context.store.entries(this.#writer.id, {
      from: seq,
      limit: 1,
    });
    return row?.id === id ? { answer: rulingOf(row) } : undefined;
  }

  // ── from here to the append nothing awaits ──

  #rule(does: Does, input: HaltInput, writ: WritChain, nonce: string): PreparedCommit<Ruling> {
    const writer = this.#writer;
    const { chain } = writer.parts;
    if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
    const at = writer.undelayedNow();
    const principal = input.principal ?? writ.writ.subject;
    const remains = does === 'resume' && chain.halts.above !== undefined;
    const args: HaltArgs = { does, reason: input.reason, principal, ...(remains && { remains }) };
    const gathered = builtInProposal(
      writer.id,
      { action: HALT_ACTION, args },
      { writ, principal, nonce },
    );
    const judged = adjudicateHalt(
      gathered.intent.args,
      writer.id,
      this.#authority(writ, principal, at),
    );
    return recordStop(writer, gathered, judged, at);
  }

  #authority(writ: WritChain, principal: string, at: Instant): Authority {
    const authority = this.#writer.authority(writ, principal, at);
    const detail = `the writ ${writId(writ.writ)} and its ancestors do not all name ${HALT_ACTION} and a scope halt:…`;
    return {
      ...authority,
      admits: (claim) => {
        const admitted = authority.admits(claim);
        return !admitted.ok || mayHalt(writ) ? admitted : { ok: false, detail };
      },
    };
  }

  // ── entries of another trajectory ──

  /** @throws RuntimeError `not_found` for another entry; LedgerFault */
  async #haltedThere(entryId: Hash): Promise<Entry<HaltPayload>> {
    const { parts, context, id } = this.#writer;
    const row = await context.store.resolve(entryId);
    const entry =
      row?.trajectory_id === parts.chain.delegatedFrom?.trajectory_id
        ? row && checkRow(row)
        : undefined;
    const args = entry && haltArgs(entry.payload);
    if (args !== undefined && args.remains !== true) return entry as Entry<HaltPayload>;
    throw new RuntimeError(
      'not_found',
      `${entryId} neither halts nor resumes the trajectory that delegated to ${id}.`,
    );
  }

  #planAdoption(there: Entry<HaltPayload>): Planned<EntryRow | undefined> {
    if (this.#isAdopted(there)) return { answer: undefined };
    return whenFree(this.#writer, () =>
      this.#isAdopted(there) ? undefined : this.#adoptNow(there),
    );
  }

  #isAdopted({ payload }: Entry<HaltPayload>): boolean {
    const { answered, halts } = this.#writer.parts.chain;
    return (
      answered !== undefined ||
      (payload.action.args.does === 'halt') === (halts.above !== undefined)
    );
  }

  #adoptNow(there: Entry<HaltPayload>): PreparedCommit<EntryRow> {
    const writer = this.#writer;
    const { does, reason, principal } = there.payload.action.args;
    const from = { trajectory_id: there.trajectory_id, entry_id: there.id };
    const remains = does === 'resume' && writer.parts.chain.halts.own !== undefined;
    const args: HaltArgs = { does, reason, principal, from, ...(remains && { remains }) };
    return adoptStop(writer, there, { action: HALT_ACTION, args }, (given, authority) =>
      adjudicateHalt(given, writer.id, authority),
    );
  }

  /** Brings each open delegation to the halt that stands here, or to the resume that ended it. */
  async #propagate(): Promise<Propagated[]> {
    const { halted, resumed } = this.#writer.parts.chain;
    const entryId = halted?.id ?? resumed?.id;
    if (entryId === undefined) return [];
    // A later delegation started without a halt.
    const isMeant = ({ seq }: { readonly seq: number }): boolean =>
      halted !== undefined || seq < (resumed?.seq ?? 0);
    const ports = {
      writer: this.#writer,
      delegations: this.#delegations,
      children: this.#children,
    };
    return propagate(ports, isMeant, (child) => child.adoptHalt(entryId));
  }
}

/** A copy: the checked input stays the same while the call waits. */
function checkedInput(does: Does, given: HaltInput): HaltInput {
  if (typeof given !== 'object' || given === null) throw badHalt(does, 'it must be an object');
  checkArgument(HALT, given, 'input');
  const input = { ...given };
  const { writ, reason, principal = '' } = input;
  const isGiven = typeof writ === 'string' || (typeof writ === 'object' && writ !== null);
  if (!isGiven) throw badHalt(does, `pass the writ that authorises the ${does}`);
  const fault = reasonFault(reason);
  if (fault !== undefined) throw badHalt(does, fault);
  if (typeof principal !== 'string') throw badHalt(does, '`principal` must be a string');
  return input;
}

function badHalt(does: Does, what: string): RuntimeError {
  return new RuntimeError('bad_intent', `The ${does} is not valid: ${what}.`);
}

function notHalted(id: string): RuntimeError {
  return new RuntimeError('already_done', `${id} is not halted. Nothing needs to be resumed.`, {
    evidence: { trajectory_id: id },
  });
}

function haltedAbove(id: string, above: Halt, delegator: string | undefined): RuntimeError {
  const { message, evidence } = haltedError(id, above);
  return new RuntimeError(
    'halted',
    `${message} The halt comes from ${delegator}: resume ${delegator}.`,
    { evidence },
  );
}
