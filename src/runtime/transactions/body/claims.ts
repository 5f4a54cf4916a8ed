import { type Claim, ClaimSet, conflicts, EffectError, readClaim, type Tool, type Work } from '#effects';
import { badIntent } from '../../records/intent.ts';
import type { Held } from '../engine/engine.ts';
import type { TimeLimit } from '../limits/time-limit.ts';
import type { Run } from '../log/advance.ts';

/** Resources, as scopes. */
export interface Scoped {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}

/** Resources alone, of which a misspelled one would be passed over. @throws RuntimeError `bad_intent`; AuthorityError `bad_resource` */
function claimsOfScoped(what: string, given: Scoped): Claim[] {
  if (typeof given !== 'object' || given === null) throw badIntent(`${what} takes { reads, writes }`);
  for (const member in given)
    if (member !== 'reads' && member !== 'writes')
      throw badIntent(`${what} takes reads and writes, and there is no ${member}`);
  return claimsFrom(given);
}

/** @throws RuntimeError `bad_intent`; AuthorityError `bad_resource` */
export function claimsFrom(given: Scoped): Claim[] {
  const { reads = [], writes = [] } = given;
  if (!Array.isArray(reads) || !Array.isArray(writes)) throw badIntent('reads and writes are lists of scopes');
  return [
    ...(given.reads ?? []).map((scope) => readClaim('read', scope)),
    ...(given.writes ?? []).map((scope) => readClaim('write', scope)),
  ];
}

export interface ClaimsOptions {
  /** All that was claimed on the way, for whoever begins anew. */
  readonly claimed: Claim[];
  readonly signal: AbortSignal;
  readonly limit: TimeLimit;
}

/** Who asks for a change of what may be touched. @throws where it goes on no more */
type GoesOn = () => void;

/** What is given up, and when what is read at that moment by that alone is over. */
interface GivenUp {
  readonly claims: readonly Claim[];
  readonly read: readonly Promise<void>[];
}

/** What a call reads that is not over. */
interface Reading {
  readonly claims: readonly Claim[];
  /** When it is over; undefined where nobody waits for it. */
  over: PromiseWithResolvers<void> | undefined;
}

/** When a call is judged that could not be at once. */
export interface Judgement {
  /** What was to change before it was called; undefined for nothing. */
  readonly after: Promise<void> | undefined;
  /** To be called when it is judged: what was to change after it was called waits for that. */
  readonly over: () => void;
}

/**
 * What a transaction may touch, and when: of all of it, its branches among it. What is claimed comes and goes while it calls
 * (`expand`, `release`), in the order in which all of that is called; what its effects touch stays, and what is read stays as long.
 */
export class Claims {
  readonly #held: Held;
  readonly #options: ClaimsOptions;
  #run: Run | undefined;
  #work: Work;
  /** What is claimed and not given up, nor about to be: nothing may rest on that any more, also while it is not heard. */
  readonly #kept: ClaimSet;
  /** What its effects touch, from the check on that lets them. */
  readonly #touched: Claim[] = [];
  /** The last change that is not judged yet, and all before it; undefined for none. */
  #changing: Promise<void> | undefined;
  /** Calls that are not judged yet. Undefined before there were any. */
  #judging: Set<Promise<void>> | undefined;
  /** What is being read. Undefined before anything was. */
  #reading: Reading[] | undefined;
  /** What branches have done, as far as that is not undone. Undefined before any has. */
  #branchActs: BranchAct[] | undefined;
  /** Where that could not be undone, of branches that were not chosen. Undefined where all was. */
  #left: Claim[] | undefined;
  /** What is looked at now, by whom. Undefined before anything was. */
  #looks: Set<Looking> | undefined;

  /** Without a run it gets that, and its epoch, by `attach`. */
  constructor(held: Held, run: Run | undefined, work: Work, options: ClaimsOptions) {
    this.#held = held;
    this.#run = run;
    this.#work = work;
    this.#kept = new ClaimSet(work.claims);
    this.#options = options;
  }

  /** The epoch was taken, and the claims are registered. */
  attach(run: Run, work: Work): void {
    this.#run = run;
    this.#work = work;
  }

  /** What may be touched. */
  get all(): readonly Claim[] {
    // One without an epoch has them to itself.
    return this.#run === undefined ? [...this.#kept] : this.#work.claims;
  }

  /** Whether claims are about to come or go. */
  get areChanging(): boolean {
    return this.#changing !== undefined;
  }

  /** For a call that is made now, and can't be judged at once. */
  judgement(): Judgement {
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

  /** @throws EffectError `scope_exceeded` for what may not be touched */
  check({ name }: Tool, claims: readonly Claim[]): void {
    const outside = claims.find((claim) => !this.#kept.covers(claim));
    if (outside === undefined) return;
    throw new EffectError(
      'scope_exceeded',
      `${name} would ${outside.access} ${outside.scope.text}, which the transaction has not claimed; claim it, or expand.`,
      { evidence: { tool: name, scope: outside.scope.text, access: outside.access } },
    );
  }

  /** An effect was let begin: what it touches is not given up from then on. */
  touch(claims: readonly Claim[]): void {
    this.#touched.push(...claims);
  }

  /** It has come to nothing before it touched anything. */
  untouch(claims: readonly Claim[]): void {
    for (const claim of claims) this.#touched.splice(this.#touched.indexOf(claim), 1);
  }

  /** A read was let begin: what it reads is not free before it is over. */
  read(claims: readonly Claim[]): void {
    this.#reading ??= [];
    this.#reading.push({ claims, over: undefined });
  }

  readIsOver(claims: readonly Claim[]): void {
    const at = this.#reading?.findIndex((reading) => reading.claims === claims) ?? -1;
    if (at !== -1) this.#reading!.splice(at, 1)[0]!.over?.resolve();
  }

  /** @throws EffectError `stale`, `resource_in_doubt`, `bad_resolver`; what `goesOn` throws */
  expand(more: Scoped, goesOn: GoesOn): Promise<void> {
    goesOn();
    // As they are now, and not when its turn comes.
    const asked = claimsOfScoped('expand', more);
    return this.#inOrder(() => this.#expand(asked, goesOn));
  }

  async #expand(asked: readonly Claim[], goesOn: GoesOn): Promise<void> {
    goesOn();
    const claims = await this.#held.names.of(asked, this.#options.signal);
    goesOn();
    this.#options.claimed.push(...claims);
    const stale = this.#run && (await this.#held.expand(this.#run, this.#work, claims));
    if (stale === undefined) {
      for (const claim of claims) this.#kept.add(claim);
      return;
    }
    throw new EffectError(
      'stale',
      `Transaction ${stale.by}, which is younger than ${stale.epoch}, has acted at ${stale.claim.scope.text} already; begin anew.`,
      { evidence: { epoch: stale.epoch, by: stale.by, scope: stale.claim.scope.text }, retryable: true },
    );
  }

  /** @throws EffectError `scope_exceeded`, `bad_resolver`, `tenure_lost`; what `goesOn` throws */
  async release(less: Scoped, goesOn: GoesOn): Promise<void> {
    goesOn();
    const asked = claimsOfScoped('release', less);
    const { claims, read } = await this.#inOrder(() => this.#givenUp(asked, goesOn));
    if (this.#run === undefined) return;
    await Promise.all(read);
    // A branch that has asked for it may have ended: it is given up all the same.
    this.#options.signal.throwIfAborted();
    await this.#held.coordination.release(this.#work, claims);
  }

  /** Nothing that is judged from then on rests on it, but on the rest. */
  async #givenUp(asked: readonly Claim[], goesOn: GoesOn): Promise<GivenUp> {
    goesOn();
    const claims = await this.#held.names.of(asked, this.#options.signal);
    goesOn();
    const kept = this.#kept;
    const taken: Claim[] = [];
    try {
      for (const claim of claims) {
        const same = kept.take(claim);
        if (same === undefined) throw notReleased(claim, 'it has not claimed that');
        taken.push(same);
      }
      const given = new ClaimSet(taken);
      const needsThese = (claim: Claim): boolean => given.covers(claim) && !kept.covers(claim);
      const needed = this.#touched.find(needsThese);
      if (needed !== undefined) throw notReleased(needed, 'what it does there needs that');
      const reading = this.#reading?.filter((each) => each.claims.some(needsThese)) ?? [];
      for (const each of reading) each.over ??= Promise.withResolvers();
      return { claims, read: reading.map(({ over }) => over!.promise) };
    } catch (error) {
      for (const claim of taken) kept.add(claim);
      throw error;
    }
  }

  /** After what was called before it, and before what is called after it. */
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

  /** All that is not judged yet. */
  get #before(): Promise<void> | undefined {
    const judging = this.#judging ?? [];
    const all = [...(this.#changing === undefined ? [] : [this.#changing]), ...judging];
    return all.length === 0 ? undefined : Promise.all(all).then(() => undefined);
  }

  /**
   * Settles when these may be acted by, which are all where none are named, and `checkNames` finds that they are still what is touched.
   * Undefined where that is so at once.
   * @throws EffectError `resource_in_doubt`; what `checkNames` throws; the signal's reason
   */
  enter(checkNames: () => Promise<void>, claims: readonly Claim[] = this.all): Promise<void> | undefined {
    const entered = this.#enterNow(claims);
    return this.#held.names.areAsked ? this.#entered(entered, checkNames, claims) : entered;
  }

  #enterNow(claims: readonly Claim[]): Promise<void> | undefined {
    const { signal, limit } = this.#options;
    const entered = this.#held.enter(this.#work, claims, signal);
    if (entered === undefined) return undefined;
    limit.waits();
    return entered.finally(() => limit.goesOn());
  }

  /** Whoever was waited for may have changed what names lead to; and while that is asked, somebody may claim more. */
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
   * Notes that a branch acts there; `place` is '' for what is none. Where another one has acted that may be undone yet, what undoes it might
   * put back what was there before it: so branches, and what they are branches of, act on the same thing only where its tool says that it can
   * tell them apart.
   * @throws EffectError `branch_conflict`, `resource_in_doubt`
   */
  actAt(tool: Tool, claims: readonly Claim[], place: string): BranchAct {
    this.checkApart(tool, claims, place);
    const act: BranchAct = { place, claims, n: undefined };
    if (place === '') return act;
    for (const look of this.#looks ?? [])
      if (isApart(place, look.place))
        look.met ??= look.claims.find((seen) => claims.some((claim) => conflicts(claim, seen)));
    this.#branchActs ??= [];
    this.#branchActs.push(act);
    return act;
  }

  /** It was refused, and did nothing there. */
  notActed(act: BranchAct): void {
    this.#branchActs = this.#branchActs?.filter((each) => each !== act);
  }

  /**
   * Notes that somebody looks there, in that branch: what is done in another one, and may be undone yet, is not to be seen there, unless the
   * tool says that it can tell them apart.
   * @throws EffectError `branch_conflict`, `resource_in_doubt`
   */
  lookAt(tool: Tool, claims: readonly Claim[], place: string): Look {
    this.checkApart(tool, claims, place);
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
  checkApart(tool: Tool, claims: readonly Claim[], place: string): void {
    this.checkLeft(tool, claims);
    const apart = this.#branchActs?.filter((act) => isApart(act.place, place)).flatMap((act) => act.claims) ?? [];
    const met = claims.find((claim) => apart.some((each) => conflicts(each, claim)));
    if (met !== undefined) requireParallel(tool, met);
  }

  /**
   * Nothing more is done where a person may yet have undone what a branch did, unless the tool can tell the two apart.
   * @throws EffectError `resource_in_doubt`
   */
  checkLeft({ spec }: Tool, claims: readonly Claim[]): void {
    const left = this.#left;
    if (left === undefined || spec.parallel === true) return;
    const met = claims.find((claim) => left.some((each) => conflicts(each, claim)));
    if (met === undefined) return;
    const scope = met.scope.text;
    throw new EffectError(
      'resource_in_doubt',
      `What a branch of this transaction did meets ${scope}, could not be undone, and waits for a person; nothing else is done there before.`,
      { evidence: { epoch: this.#work.epoch, scope } },
    );
  }

  /** What a branch has done is undone. `isLeft`: but for that. */
  discard(branch: string, isLeft: (act: BranchAct) => boolean): void {
    const acts = this.#branchActs?.filter(({ place }) => place.startsWith(branch)) ?? [];
    this.#branchActs = this.#branchActs?.filter(({ place }) => !place.startsWith(branch));
    const left = acts.filter(isLeft).flatMap(({ claims }) => claims);
    if (left.length > 0) this.#left = [...(this.#left ?? []), ...left];
  }

  /** What a branch has done is done by what it is a branch of; by what is none, it is undone with all or not at all. */
  adopt(branch: string, place: string): void {
    for (const act of this.#branchActs ?? []) if (act.place.startsWith(branch)) act.place = place;
    this.#branchActs = this.#branchActs?.filter((act) => act.place !== '');
  }
}

/** What a branch does at once, or has done. */
export interface BranchAct {
  /** Of the branch. */
  place: string;
  readonly claims: readonly Claim[];
  /** Its place among the effects; undefined before it has one. */
  n: number | undefined;
}

/** A look at something that branches may change. */
export interface Look {
  /** @throws EffectError `branch_conflict` where another branch has acted there meanwhile */
  check(): void;
  over(): void;
}

interface Looking extends Look {
  readonly place: string;
  readonly claims: readonly Claim[];
  /** Where a branch has acted meanwhile that it is not in. */
  met: Claim | undefined;
}

/** Whether what is done in that branch may come to nothing, and what is at the other place goes on. */
function isApart(branch: string, place: string): boolean {
  return !place.startsWith(branch);
}

/** @throws EffectError `branch_conflict` */
function requireParallel({ name, spec }: Tool, { scope }: Claim): void {
  if (spec.parallel === true) return;
  throw new EffectError(
    'branch_conflict',
    `A branch that may be undone yet has acted at ${scope.text}, and ${name} does not say that it can be used in parallel; use it in that branch, or when it was decided on.`,
    { evidence: { tool: name, scope: scope.text } },
  );
}

function notReleased({ scope, access }: Claim, why: string): EffectError {
  return new EffectError(
    'scope_exceeded',
    `Nothing was given up: the transaction would no longer ${access} ${scope.text}, and ${why}.`,
    { evidence: { scope: scope.text, access } },
  );
}
