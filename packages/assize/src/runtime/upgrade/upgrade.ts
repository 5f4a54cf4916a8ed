import { checkArgument, isAssizeError } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import {
  type ApprovedUpgrade,
  adjudicateUpgrade,
  type Domain,
  type PendingProposal,
  pendingDifference,
  type Rejected,
  requireOwnDomain,
  UPGRADE_ACTION,
} from '#kernel';
import {
  type CommitPayload,
  type DomainRef,
  type EntryRow,
  type Hash,
  type Instant,
  isEffectPending,
  type PendingPayload,
  type VectorItem,
} from '#ledger';
import type { Expiries } from '../approve/pending/expire.ts';
import { verified, type WritChain } from '../authority/writs.ts';
import { concluded, RuntimeError } from '../errors.ts';
import { DOMAIN } from '../option-names.ts';
import { badOption } from '../options.ts';
import { commitPayload, rejectionPayload, resolutionPayload } from '../records/entry-payloads.ts';
import { builtInProposal, type GatheredProposal } from '../records/intent.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { readPendingProposal } from '../records/pending-proposal.ts';
import { refOf } from '../records/root-payload.ts';
import { rulingFrom } from '../records/ruling.ts';
import { randomHex } from '../records/salts.ts';
import { hasToolObservation } from '../records/tool-authority.ts';
import type { WriterContext } from '../writer/ports.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import { type Planned, type Unrecorded, untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import {
  type ClosedProposal,
  checkedUpgrade,
  type Upgrade,
  type UpgradeOptions,
} from './upgrade-input.ts';

/** Longest detail of a closed proposal. */
const DETAIL_MAX = 1_000;

/** A pending proposal as it was submitted. `proposal` is undefined if a part of it was erased. */
interface Waiting {
  readonly id: Hash;
  readonly pending: PendingPayload;
  readonly proposal: PendingProposal | undefined;
}

/** The values of one call of `upgrade` that stay the same until its end. */
interface UpgradeRequest {
  readonly next: Domain;
  readonly options: UpgradeOptions;
  readonly nonce: string;
  /** The domain that the caller's migration is written for. */
  readonly from: DomainRef;
}

/**
 * Continues a trajectory under another version of its domain, with one commit entry. Keys, budgets,
 * names of transactions and revocations go on. A pending proposal goes on if it is the same under
 * the new version. The batch of the commit closes the others with one rejection each.
 */
export class Upgrades {
  readonly #writer: Writer;
  readonly #expiries: Expiries;

  constructor(writer: Writer, expiries: Expiries) {
    this.#writer = writer;
    this.#expiries = expiries;
  }

  async upgrade(next: Domain, given: UpgradeOptions): Promise<Upgrade> {
    const options = checkedUpgrade(given);
    const { context, parts } = this.#writer;
    const nonce = randomHex(context.random, 16);
    const from = { ...(parts.chain.domain as DomainRef) };
    const request = { next, options, nonce, from };
    return untilCommitted(this.#writer, () => this.#plan(request));
  }

  async #plan(request: UpgradeRequest): Promise<Planned<Upgrade>> {
    const writer = this.#writer;
    while (writer.busy !== undefined) await writer.busy;
    if (writer.stale) return undefined;
    writer.refuseIfHalted();
    requireVersion(writer, request);
    await this.#expiries.recordExpired();
    const by = writer.parts.writs.present(request.options.writ);
    verified(writer.context.verifier, by, writer.parts.writs.delegated);
    const waiting = await this.#waiting();
    return () => {
      const { busy, parts } = writer;
      if (busy !== undefined) return { needs: () => busy };
      const isSame =
        this.#open().every(([id], i) => waiting[i]?.id === id) &&
        this.#open().length === waiting.length;
      if (!isSame || this.#expiries.hasExpired()) return undefined;
      if (parts.chain.answered !== undefined) throw concluded(writer.id, parts.chain.answered);
      writer.refuseIfHalted();
      // Another upgrade may have been committed while this one was planned.
      requireVersion(writer, request);
      return writer.runRuling(() => this.#rule(request, by, waiting));
    };
  }

  /** The pending proposals, without unresolved effects: an operator decides those. */
  #open(): (readonly [Hash, PendingPayload])[] {
    return [...this.#writer.parts.chain.open].filter(([, pending]) => !isEffectPending(pending));
  }

  #waiting(): Promise<Waiting[]> {
    const { parts, context } = this.#writer;
    return Promise.all(
      this.#open().map(async ([id, pending]) => {
        const { writ, chain } = parts.writs.present(pending.proposal.writ_id);
        const requesters = [writ, ...chain].map(({ subject }) => subject);
        try {
          const read = () => readPendingProposal(pending, requesters, context);
          return { id, pending, proposal: await this.#writer.readValues(read) };
        } catch (error) {
          if (!isAssizeError(error, 'erased')) throw error;
          return { id, pending, proposal: undefined };
        }
      }),
    );
  }

  // ── from here to the append nothing awaits ──

  #rule(
    request: UpgradeRequest,
    by: WritChain,
    waiting: readonly Waiting[],
  ): PreparedCommit<Upgrade> | Unrecorded<Upgrade> {
    const writer = this.#writer;
    const { next, options } = request;
    const at = writer.now();
    const gathered = this.#gathered(request, by);
    const judged = adjudicateUpgrade(
      writer.parts.world,
      {
        args: gathered.intent.args,
        next,
        migrate: options.migrate,
        counselor: options.override?.principal,
        requesters: [by.writ, ...by.chain].map(({ subject }) => subject),
      },
      writer.authority(by, gathered.principal, at),
    );
    if (judged.verdict === 'rejected') return this.#refused(request, gathered, judged, at);
    const closed = this.#closedIn(judged, waiting, at);
    const carried = waiting
      .map(({ id }) => id)
      .filter((id) => !closed.some((one) => one.id === id));
    const answer = {
      refused: undefined,
      from: request.from,
      to: refOf(next),
      patches: copyJson(judged.patches(), WORLD_LIMITS) as unknown as Upgrade['patches'],
      vector: judged.vector,
      carried,
      closed: closed.map(({ id, detail }) => ({ id, detail })),
    };
    if (options.dryRun === true) {
      judged.undo();
      return { unrecorded: { ...answer, ruling: undefined } };
    }
    return this.#committed(request, gathered, judged, { closed, answer, at });
  }

  #refused(
    { next, options, from }: UpgradeRequest,
    gathered: GatheredProposal,
    judged: Rejected,
    at: Instant,
  ): PreparedCommit<Upgrade> | Unrecorded<Upgrade> {
    const writer = this.#writer;
    const { writs } = writer.parts;
    const { reason, detail, invariantId } = judged;
    const refused = { reason, detail, ...(invariantId === undefined ? {} : { invariantId }) };
    const answer = {
      refused,
      from,
      to: refOf(next),
      patches: [],
      vector: [],
      carried: [],
      closed: [],
    };
    if (options.dryRun === true) return { unrecorded: { ...answer, ruling: undefined } };
    const unstored = writs.unstored(gathered.writ);
    const kept = new PayloadBlobs(writer.context.saltGenerator(writer.context.random), unstored);
    const terms = writer.entryTerms(at, kept, next);
    const { row, payload, batch } = writer.apply(() => rejectionPayload(terms, gathered, judged), {
      writs: unstored,
    });
    return { ...batch, blobs: kept.blobs, answer: { ...answer, ruling: rulingFrom(row, payload) } };
  }

  #committed(
    request: UpgradeRequest,
    gathered: GatheredProposal,
    judged: ApprovedUpgrade,
    {
      closed,
      answer,
      at,
    }: {
      readonly closed: readonly (ClosedProposal & Waiting)[];
      readonly answer: Omit<Upgrade, 'ruling'>;
      readonly at: Instant;
    },
  ): PreparedCommit<Upgrade> {
    const writer = this.#writer;
    const { next } = request;
    const unstored = writer.parts.writs.unstored(gathered.writ);
    const kept = new PayloadBlobs(writer.context.saltGenerator(writer.context.random), unstored);
    const upgrade = () => this.#payload(request, gathered, judged, kept, at);
    const change = {
      changes: judged.changes,
      undo: () => judged.undo(),
      keep: () => {
        writer.parts = { ...writer.parts, domain: next, world: judged.world };
      },
    };
    const { row, payload, batch } = writer.apply(upgrade, { change, writs: unstored });
    const closing = this.#close(closed, next, at);
    return {
      ...batch,
      rows: [row, ...closing.map((each) => each.row)],
      closing,
      blobs: kept.blobs,
      answer: { ...answer, ruling: rulingFrom(row, payload) },
    };
  }

  #payload(
    { next, options: { override } }: UpgradeRequest,
    gathered: GatheredProposal,
    judged: ApprovedUpgrade,
    kept: PayloadBlobs,
    at: Instant,
  ): CommitPayload {
    return {
      ...commitPayload(this.#writer.entryTerms(at, kept, next), gathered, judged),
      detection_vector: judged.vector as readonly VectorItem[],
      ...(judged.as === undefined || override === undefined
        ? {}
        : { counselor: { ...override, as: judged.as, override: true as const } }),
    };
  }

  /** The pending proposals that differ under the new version. */
  #closedIn(
    { world }: ApprovedUpgrade,
    waiting: readonly Waiting[],
    at: Instant,
  ): (ClosedProposal & Waiting)[] {
    return waiting.flatMap((one) => {
      const detail = this.#difference(one, world, at);
      return detail === undefined
        ? []
        : [{ ...one, detail: detail.slice(0, DETAIL_MAX).toWellFormed() }];
    });
  }

  #difference(
    { pending, proposal }: Waiting,
    world: ApprovedUpgrade['world'],
    at: Instant,
  ): string | undefined {
    if (proposal === undefined) return 'a part of the proposal was erased';
    const { writ_id, budget_cost, delta, observations } = pending.proposal;
    const writ = this.#writer.parts.writs.present(writ_id);
    const authority = this.#writer.authority(writ, writ.writ.subject, at, { approving: true });
    const usesTools = delta.effects.length > 0 || hasToolObservation(observations);
    return pendingDifference(world, proposal, authority, usesTools ? undefined : budget_cost);
  }

  /** One rejection for each closed proposal. Memory moves past all of them, or is read again. */
  #close(
    closed: readonly (ClosedProposal & Waiting)[],
    { name, version }: Domain,
    at: Instant,
  ): { readonly row: EntryRow; readonly resolves: Hash }[] {
    const writer = this.#writer;
    try {
      return closed.map(({ id, pending, detail }) => {
        const said = `the upgrade to ${name}@${version} closes the proposal: ${detail}`;
        const resolution = { reason: 'upgraded', detail: said } as const;
        const { row } = writer.apply(() =>
          resolutionPayload(writer.nextPosition(at), id, pending, resolution),
        );
        return { row, resolves: id };
      });
    } catch (error) {
      // Memory has the upgrade, and the store never gets the upgrade.
      writer.stale = true;
      throw error;
    }
  }

  #gathered({ next, options, nonce, from }: UpgradeRequest, writ: WritChain): GatheredProposal {
    const args = { from: from.hash, to: refOf(next), reason: options.reason };
    const { principal } = options;
    return builtInProposal(
      this.#writer.id,
      { action: UPGRADE_ACTION, args },
      { writ, principal, nonce },
    );
  }
}

/**
 * Writers of the runtime read the trajectory again under the new version.
 * @throws RuntimeError `bad_argument`
 */
export function requireGiven(next: Domain, { domainOf }: Pick<WriterContext, 'domainOf'>): void {
  checkArgument(DOMAIN, next, 'next');
  requireOwnDomain(next);
  try {
    domainOf(refOf(next));
  } catch (error) {
    if (!isAssizeError(error, 'domain_mismatch')) throw error;
    throw badOption(
      `the runtime does not have ${next.name}@${next.version}; pass it in \`domains\``,
    );
  }
}

/** @throws RuntimeError `already_done`, `bad_intent` */
function requireVersion({ id, parts }: Writer, { next, from }: UpgradeRequest): void {
  const { domain, upgraded } = parts.chain;
  const now = domain as DomainRef;
  const evidence = { domain: { ...now }, ...(upgraded === undefined ? {} : { by: upgraded.id }) };
  if (now.hash === next.hash || now.hash !== from.hash) {
    const since = upgraded === undefined ? 'from its start' : `since the entry ${upgraded.id}`;
    const todo =
      now.hash === next.hash
        ? 'Open it with that version'
        : 'Read it again, and migrate from that version';
    const detail = `${id} has the domain ${now.name}@${now.version} ${since}. ${todo}.`;
    throw new RuntimeError('already_done', detail, { evidence });
  }
  if (now.name !== next.name)
    throw new RuntimeError(
      'bad_intent',
      `The upgrade is not valid: ${next.name} is another domain than ${now.name}. Pass another version of ${now.name}.`,
      { evidence },
    );
}
