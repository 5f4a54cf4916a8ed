import {
  type Claim,
  ClaimSet,
  conflicts,
  EffectError,
  readClaim,
  type Tool,
  type Work,
} from '#effects';
import { badIntent } from '../../records/intent.ts';
import type { StartedTransaction, TransactionEngine } from '../engine/engine.ts';
import type { OpenedTransaction } from './opened-transaction.ts';

/** Resources, as scopes. */
export interface Scoped {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/**
 * Only resource fields are allowed: a misspelled one would be ignored.
 * @throws RuntimeError `bad_intent`; AuthorityError `bad_argument`
 */
function claimsOfScoped(what: string, given: Scoped): Claim[] {
  if (typeof given !== 'object' || given === null)
    throw badIntent(`${what} takes an object { reads, writes }`);
  for (const member in given)
    if (member !== 'reads' && member !== 'writes')
      throw badIntent(`${what} takes reads and writes, and has no ${member}`);
  return claimsFrom(given);
}

/** @throws RuntimeError `bad_intent`; AuthorityError `bad_argument` */
export function claimsFrom(given: Scoped): Claim[] {
  const { reads = [], writes = [] } = given;
  if (!Array.isArray(reads) || !Array.isArray(writes))
    throw badIntent('reads and writes must be lists of scopes');
  return [
    ...(given.reads ?? []).map((scope) => readClaim('read', scope)),
    ...(given.writes ?? []).map((scope) => readClaim('write', scope)),
  ];
}

/** The attempt that the claims belong to. */
interface ClaimsOwner {
  readonly engine: TransactionEngine;
  readonly context: Pick<OpenedTransaction, 'claimed' | 'signal' | 'limit'>;
  /** Undefined until a late transaction has its epoch. */
  readonly started: StartedTransaction | undefined;
}

/** Checks whether the requester of a claim change is still active. @throws if it has ended */
type ContinueCheck = () => void;

/** Released claims, and the end of the reads in flight that only they cover. */
interface ReleasedClaims {
  readonly claims: readonly Claim[];
  readonly read: readonly Promise<void>[];
}

/** The claims of a read in flight. */
interface Reading {
  readonly claims: readonly Claim[];
  /** Resolved at the end of the read. Undefined if no release waits for it. */
  over: PromiseWithResolvers<void> | undefined;
}

/** The check of a call that could not be checked immediately. */
export interface DeferredAdmission {
  /** The claim change before the call. Undefined if there is none. */
  readonly after: Promise<void> | undefined;
  /** Call this after the check: claim changes after the call wait for it. */
  readonly over: () => void;
}

/**
 * The scopes that a transaction and its branches may access, over time. `expand` and `release`
 * change them in call order. Scopes of effects and of reads in flight are kept.
 */
export class Claims {
  readonly #owner: ClaimsOwner;
  /**
   * Claims that are neither released nor being released. New calls may not depend on the others,
   * even before the release takes effect.
   */
  readonly #kept: ClaimSet;
  /** Scopes of effects, from the check that admits them. */
  readonly #touched: Claim[] = [];
  /** The last claim change that is not yet done, with all before it. Undefined if there is none. */
  #changing: Promise<void> | undefined;
  /** Calls that are not yet checked. Undefined before the first. */
  #judging: Set<Promise<void>> | undefined;
  /** Reads in flight. Undefined before the first. */
  #reading: Reading[] | undefined;
  /** Effects of branches that are not compensated. Undefined before the first. */
  #branchActs: BranchWrite[] | undefined;
  /**
   * Scopes of effects of discarded branches that could not be compensated. Undefined if there are
   * none.
   */
  #left: Claim[] | undefined;
  /** Looks in progress, by branch. Undefined before the first. */
  #looks: Set<Looking> | undefined;

  constructor(owner: ClaimsOwner, claims: readonly Claim[]) {
    this.#owner = owner;
    this.#kept = new ClaimSet(claims);
  }

  /** The scopes that may be accessed. */
  get all(): readonly Claim[] {
    return this.#work.claims;
  }

  /** Without an epoch the claims are private. */
  get #work(): Work {
    return this.#owner.started?.work ?? { epoch: 0, claims: [...this.#kept] };
  }

  /** Whether a claim change is pending. */
  get areChanging(): boolean {
    return this.#changing !== undefined;
  }

  /** Registers a call that cannot be checked immediately. */
  deferAdmission(): DeferredAdmission {
    this.#judging ??= new Set();
    const judging = this.#judging;
    const { promise, resolve } = Promise.withResolvers<void>();
    judging.add(promise);
    const over = (): void => {
      judging.delete(promise);
      resolve();
    };
    return { after: this.#changing, over };
  }

  /** @throws EffectError `scope_exceeded` if a scope may not be accessed */
  check({ name }: Tool, claims: readonly Claim[]): void {
    const outside = claims.find((claim) => !this.#kept.covers(claim));
    if (outside === undefined) return;
    throw new EffectError(
      'scope_exceeded',
      `${name} would ${outside.access} ${outside.scope.text}, which the transaction has not claimed. Claim the scope or expand the transaction.`,
      { evidence: { tool: name, scope: outside.scope.text, access: outside.access } },
    );
  }

  /** Called when an effect is admitted: its scopes are kept from then on. */
  touch(claims: readonly Claim[]): void {
    this.#touched.push(...claims);
  }

  /** Called when the effect failed before it accessed its scopes. */
  untouch(claims: readonly Claim[]): void {
    for (const claim of claims) this.#touched.splice(this.#touched.indexOf(claim), 1);
  }

  /** Called when a read is admitted: its scopes are kept until it ends. */
  read(claims: readonly Claim[]): void {
    this.#reading ??= [];
    this.#reading.push({ claims, over: undefined });
  }

  readIsOver(claims: readonly Claim[]): void {
    const at = this.#reading?.findIndex((reading) => reading.claims === claims) ?? -1;
    if (at !== -1) this.#reading!.splice(at, 1)[0]!.over?.resolve();
  }

  /** @throws EffectError `stale`, `resource_in_doubt`, `bad_resolver`; the errors of `resume` */
  expand(more: Scoped, goesOn: ContinueCheck): Promise<void> {
    goesOn();
    // Copied now, before its turn comes.
    const asked = claimsOfScoped('expand', more);
    return this.#inOrder(() => this.#expand(asked, goesOn));
  }

  async #expand(asked: readonly Claim[], goesOn: ContinueCheck): Promise<void> {
    goesOn();
    const claims = await this.#owner.engine.names.resolve(asked, this.#owner.context.signal);
    goesOn();
    this.#owner.context.claimed.push(...claims);
    const { started } = this.#owner;
    const stale = started && (await this.#owner.engine.expand(started, claims));
    if (stale === undefined) {
      for (const claim of claims) this.#kept.add(claim);
      return;
    }
    throw new EffectError(
      'stale',
      `Transaction ${stale.by}, with a higher epoch than ${stale.epoch}, has already acted on ${stale.claim.scope.text}. Start the transaction again.`,
      {
        evidence: { epoch: stale.epoch, by: stale.by, scope: stale.claim.scope.text },
        retryable: true,
      },
    );
  }

  /** @throws EffectError `scope_exceeded`, `bad_resolver`, `lease_lost`; the errors of `resume` */
  async release(less: Scoped, goesOn: ContinueCheck): Promise<void> {
    goesOn();
    const asked = claimsOfScoped('release', less);
    const { claims, read } = await this.#inOrder(() => this.#givenUp(asked, goesOn));
    const { started } = this.#owner;
    if (started === undefined) return;
    await Promise.all(read);
    // The requesting branch may have ended; the claims are released anyway.
    this.#owner.context.signal.throwIfAborted();
    await this.#owner.engine.coordination.release(started.work, claims);
  }

  /** Later checks rely on the remaining claims only. */
  async #givenUp(asked: readonly Claim[], goesOn: ContinueCheck): Promise<ReleasedClaims> {
    goesOn();
    const claims = await this.#owner.engine.names.resolve(asked, this.#owner.context.signal);
    goesOn();
    const kept = this.#kept;
    const taken: Claim[] = [];
    try {
      for (const claim of claims) {
        const same = kept.remove(claim);
        if (same === undefined) throw notReleased(claim, 'it has not claimed that scope');
        taken.push(same);
      }
      const given = new ClaimSet(taken);
      const needsThese = (claim: Claim): boolean => given.covers(claim) && !kept.covers(claim);
      const needed = this.#touched.find(needsThese);
      if (needed !== undefined) throw notReleased(needed, 'its calls need that claim');
      const reading = this.#reading?.filter((each) => each.claims.some(needsThese)) ?? [];
      for (const each of reading) each.over ??= Promise.withResolvers();
      return { claims, read: reading.map(({ over }) => over!.promise) };
    } catch (error) {
      for (const claim of taken) kept.add(claim);
      throw error;
    }
  }

  /** Runs the change after earlier calls and before later ones. */
  #inOrder<T>(change: () => Promise<T>): Promise<T> {
    const before = this.#before;
    const made = before === undefined ? change() : before.then(change);
    const judged = (): void => {
      if (this.#changing === changing) this.#changing = undefined;
    };
    const changing = made.then(judged, judged);
    this.#changing = changing;
    return made;
  }

  /** All calls and changes that are not yet checked. */
  get #before(): Promise<void> | undefined {
    const judging = this.#judging ?? [];
    const all = [...(this.#changing === undefined ? [] : [this.#changing]), ...judging];
    return all.length === 0 ? undefined : Promise.all(all).then(() => undefined);
  }

  /**
   * Resolves when the claims (by default all) are granted and `checkNames` confirms their scopes.
   * Returns undefined if that holds immediately.
   * @throws EffectError `resource_in_doubt`; the errors of `checkNames`; the signal's reason
   */
  acquire(
    checkNames: () => Promise<void>,
    claims: readonly Claim[] = this.all,
  ): Promise<void> | undefined {
    const entered = this.#enterNow(claims);
    return this.#owner.engine.names.hasResolvers
      ? this.#entered(entered, checkNames, claims)
      : entered;
  }

  #enterNow(claims: readonly Claim[]): Promise<void> | undefined {
    const { signal, limit } = this.#owner.context;
    const entered = this.#owner.engine.acquire(this.#work, claims, signal);
    if (entered === undefined) return undefined;
    limit.pause();
    return entered.finally(() => limit.resume());
  }

  /**
   * An older transaction may have changed the targets of names, and another call may claim more
   * during the check.
   */
  #entered(
    entered: Promise<void> | undefined,
    checkNames: () => Promise<void>,
    claims: readonly Claim[],
  ): Promise<void> {
    return Promise.resolve(entered)
      .then(checkNames)
      .then(() => this.#enterNow(claims));
  }

  /**
   * Records that a branch acts on the claims; `place` is '' outside branches. The compensation of
   * another branch's effect could restore an older value. So branches and their parents share a
   * resource only if its tool can tell them apart.
   * @throws EffectError `branch_conflict`, `resource_in_doubt`
   */
  beginWrite(tool: Tool, claims: readonly Claim[], place: string): BranchWrite {
    this.requireNoConflict(tool, claims, place);
    const act: BranchWrite = { place, claims, n: undefined };
    if (place === '') return act;
    for (const look of this.#looks ?? [])
      if (isSeparateBranch(place, look.place))
        look.met ??= look.claims.find((seen) => claims.some((claim) => conflicts(claim, seen)));
    this.#branchActs ??= [];
    this.#branchActs.push(act);
    return act;
  }

  /** Called when the act was refused and did nothing. */
  cancelWrite(act: BranchWrite): void {
    this.#branchActs = this.#branchActs?.filter((each) => each !== act);
  }

  /**
   * Records a look in a branch. The look must not see effects of another branch that may still be
   * compensated, unless the tool can tell branches apart.
   * @throws EffectError `branch_conflict`, `resource_in_doubt`
   */
  beginRead(tool: Tool, claims: readonly Claim[], place: string): Look {
    this.requireNoConflict(tool, claims, place);
    this.#looks ??= new Set();
    const looks = this.#looks;
    const look: Looking = {
      place,
      claims,
      met: undefined,
      check: () => {
        if (look.met !== undefined) requireParallel(tool, look.met);
      },
      over: () => void looks.delete(look),
    };
    looks.add(look);
    return look;
  }

  /** @throws EffectError `branch_conflict`, `resource_in_doubt` */
  requireNoConflict(tool: Tool, claims: readonly Claim[], place: string): void {
    this.requireNothingUnresolved(tool, claims);
    const apart =
      this.#branchActs
        ?.filter((act) => isSeparateBranch(act.place, place))
        .flatMap((act) => act.claims) ?? [];
    const met = claims.find((claim) => apart.some((each) => conflicts(each, claim)));
    if (met !== undefined) requireParallel(tool, met);
  }

  /**
   * Blocks scopes on which an operator may still revert a branch's effect, unless the tool can tell
   * branches apart.
   * @throws EffectError `resource_in_doubt`
   */
  requireNothingUnresolved({ spec }: Tool, claims: readonly Claim[]): void {
    const left = this.#left;
    if (left === undefined || spec.parallel === true) return;
    const met = claims.find((claim) => left.some((each) => conflicts(each, claim)));
    if (met === undefined) return;
    const scope = met.scope.text;
    throw new EffectError(
      'resource_in_doubt',
      `An unresolved effect of a branch of this transaction blocks ${scope}. Resolve it first (assize effects list).`,
      { evidence: { epoch: this.#work.epoch, scope } },
    );
  }

  /**
   * Called when the effects of a branch are compensated. `isLeft`: whether an effect could not be
   * compensated.
   */
  discard(branch: string, isLeft: (act: BranchWrite) => boolean): void {
    const acts = this.#branchActs?.filter(({ place }) => place.startsWith(branch)) ?? [];
    this.#branchActs = this.#branchActs?.filter(({ place }) => !place.startsWith(branch));
    const left = acts.filter(isLeft).flatMap(({ claims }) => claims);
    if (left.length > 0) this.#left = [...(this.#left ?? []), ...left];
  }

  /**
   * Moves the effects of a branch to its parent. Effects of the transaction itself are kept or
   * compensated together.
   */
  adopt(branch: string, place: string): void {
    for (const act of this.#branchActs ?? []) if (act.place.startsWith(branch)) act.place = place;
    this.#branchActs = this.#branchActs?.filter((act) => act.place !== '');
  }
}

/** An effect that a branch executes immediately. */
export interface BranchWrite {
  /** The branch's location. */
  place: string;
  readonly claims: readonly Claim[];
  /** The effect's index; undefined before it is assigned. */
  n: number | undefined;
}

/** A look at a resource that branches can change. */
export interface Look {
  /** @throws EffectError `branch_conflict` if another branch has acted there since */
  check(): void;
  over(): void;
}

interface Looking extends Look {
  readonly place: string;
  readonly claims: readonly Claim[];
  /** A claim on which another branch has acted since the look began. */
  met: Claim | undefined;
}

/** Whether effects of the branch can be reverted while the other place continues. */
function isSeparateBranch(branch: string, place: string): boolean {
  return !place.startsWith(branch);
}

/** @throws EffectError `branch_conflict` */
function requireParallel({ name, spec }: Tool, { scope }: Claim): void {
  if (spec.parallel === true) return;
  throw new EffectError(
    'branch_conflict',
    `Another undecided branch has modified ${scope.text}, and ${name} is not declared \`parallel\`. Call it in that branch, or after a branch is chosen.`,
    { evidence: { tool: name, scope: scope.text } },
  );
}

function notReleased({ scope, access }: Claim, why: string): EffectError {
  return new EffectError(
    'scope_exceeded',
    `The claim to ${access} ${scope.text} cannot be released: ${why}.`,
    {
      evidence: { scope: scope.text, access },
    },
  );
}
