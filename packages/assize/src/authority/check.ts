import { isInstance } from '#base';
import { assertPublicKey, composed, type Instant, isInstant } from '#canon';
import { crosses, widening, wideningElsewhere } from './attenuate.ts';
import { AuthorityError } from './errors.ts';
import { type Name, type NameSort, nameContains, nameOf, quoted, readName } from './grammar.ts';
import { MAX_DEPTH, parseWrit, signatureHolds, type Writ, writId } from './writ.ts';

/** Default number of verified chains that a verifier caches by id. */
export const DEFAULT_CACHE_SIZE = 4096;

/** One use of a writ, with every fact that the answer depends on. */
export interface WritUse {
  readonly writ: Writ;
  /** The writ's ancestors, the parent first, the root last. Empty for a root. */
  readonly chain: readonly Writ[];
  /** The requester, as the caller authenticated it. It must be the writ's subject. */
  readonly principal: string;
  readonly trajectory: string;
  /** The proposal's time. */
  readonly at: Instant;
  /** The exact name of the action. */
  readonly action: string;
  /** The resources that the action accesses. Patterns are allowed and must be granted whole. */
  readonly scopes: readonly string[];
  /** Ids of revoked writs. A revoked ancestor revokes all its descendants. */
  readonly revoked: ReadonlySet<string>;
  /**
   * Id of the writ in the delegation that created the trajectory. Absent if no delegation created
   * it (see `crosses`).
   */
  readonly delegated?: string | undefined;
}

/** One delegation, with every fact that the answer depends on. */
export interface WritDelegation {
  /** The writ for the child trajectory. */
  readonly writ: Writ;
  /** The writ's ancestors: the delegating writ first, the root last. */
  readonly chain: readonly Writ[];
  /** The delegating trajectory. */
  readonly trajectory: string;
  readonly child: string;
  readonly at: Instant;
  readonly revoked: ReadonlySet<string>;
  /** Id of the writ in the delegation that created the delegating trajectory. */
  readonly delegated?: string | undefined;
}

/** The reason why a writ does not allow a use. Stable, for programs. In the order of the checks. */
export type WritRefusalCode =
  | 'too_deep'
  | 'bad_writ'
  | 'broken_chain'
  | 'unknown_anchor'
  | 'cycle'
  | 'not_attenuated'
  | 'bad_signature'
  | 'wrong_principal'
  | 'wrong_trajectory'
  | 'not_yet_valid'
  | 'expired'
  | 'revoked'
  | 'bad_resource'
  | 'action_not_granted'
  | 'scope_not_granted';

export interface WritRefusal {
  readonly ok: false;
  readonly code: WritRefusalCode;
  /** One sentence for the agent. */
  readonly detail: string;
}

export type WritCheck =
  | {
      readonly ok: true;
      readonly writ_id: string;
      /** True if the writ or an ancestor requires a counselor for this action. */
      readonly requiresApproval: boolean;
    }
  | WritRefusal;

/**
 * A chain that leads to an anchor, with each link signed and attenuated. Time, revocation and use
 * are not checked yet.
 */
export interface VerifiedWrit {
  readonly ok: true;
  readonly writ: Writ;
  /** The writ's id, then the ids of its ancestors, the root's last. */
  readonly lineage: readonly string[];
}

export interface WritVerifierOptions {
  /** Trusted public keys for root writs, from configuration. */
  readonly anchors: Iterable<string>;
  /** Number of verified chains in the cache. The oldest is evicted first. Default 4,096. */
  readonly cacheSize?: number;
  /** Maximum number of links from root to leaf. At most 8, the default. */
  readonly maxDepth?: number;
}

/**
 * Checks writs against fixed anchors and caches valid chains. Answers depend on the arguments only.
 */
export interface WritVerifier {
  /** Checks the chain, then principal, trajectory, time, revocation, action and scopes. */
  check(use: WritUse): WritCheck;
  /** Checks the chain alone. `delegated` as in a use. */
  verify(writ: Writ, chain: readonly Writ[], delegated?: string): VerifiedWrit | WritRefusal;
  /**
   * The same for a writ of any trajectory. A writ for another trajectory cannot be used here, but
   * it can be inspected and revoked.
   */
  verifyAnywhere(writ: Writ, chain: readonly Writ[]): VerifiedWrit | WritRefusal;
  /**
   * Whether a writ can be delegated: it is for the child, and the holder of a currently valid writ
   * of this trajectory signed it. The budgets decide whether that writ's budget covers it.
   *
   * @throws AuthorityError `bad_instant`
   */
  checkDelegation(delegation: WritDelegation): VerifiedWrit | WritRefusal;
}

/**
 * One check without a verifier's cache, for a single use.
 *
 * @throws AuthorityError `bad_instant`; AssizeError when an anchor is not a public key
 */
export function checkWrit(use: WritUse & WritVerifierOptions): WritCheck {
  return createWritVerifier(use).check(use);
}

/**
 * @throws AssizeError when an anchor is not a public key; AuthorityError `bad_argument` for a depth
 * or size out of bounds
 */
export function createWritVerifier(options: WritVerifierOptions): WritVerifier {
  return new Verifier(options);
}

class Verifier implements WritVerifier {
  readonly #anchors: ReadonlySet<string>;
  readonly #maxDepth: number;
  readonly #cacheSize: number;
  readonly #held = new Map<string, VerifiedChain>();

  constructor(options: WritVerifierOptions) {
    const { anchors, cacheSize = DEFAULT_CACHE_SIZE, maxDepth = MAX_DEPTH } = options;
    this.#anchors = new Set(anchors);
    for (const anchor of this.#anchors) assertPublicKey(anchor);
    this.#cacheSize = bounded('cacheSize', cacheSize, 1_000_000);
    this.#maxDepth = bounded('maxDepth', maxDepth, MAX_DEPTH);
  }

  check(use: WritUse): WritCheck {
    const held = this.#hold(use.writ, use.chain);
    return 'code' in held ? held : judge(held, use);
  }

  verify(writ: Writ, chain: readonly Writ[], delegated?: string): VerifiedWrit | WritRefusal {
    const held = this.#hold(writ, chain);
    return 'code' in held
      ? held
      : (astray(held, delegated) ?? { ok: true, writ: held.writ, lineage: held.lineage });
  }

  verifyAnywhere(writ: Writ, chain: readonly Writ[]): VerifiedWrit | WritRefusal {
    const held = this.#hold(writ, chain);
    return 'code' in held ? held : { ok: true, writ: held.writ, lineage: held.lineage };
  }

  checkDelegation(delegation: WritDelegation): VerifiedWrit | WritRefusal {
    const { writ, chain, trajectory, child, at, revoked, delegated } = delegation;
    checkInstant(at);
    const [above, ...rest] = chain;
    if (above === undefined)
      return refuse('broken_chain', 'A root writ cannot be delegated. Delegate a child of it.');
    const held = this.#hold(writ, chain);
    if ('code' in held) return held;
    const from = this.#hold(above, rest);
    if ('code' in from) return from;
    return (
      astray(from, delegated) ??
      misplaced(from, trajectory) ??
      misplaced(held, child) ??
      early(from, at) ??
      // The parent's end is never earlier. Its start may be later.
      late(held, at) ??
      revocation(held, revoked) ?? { ok: true, writ: held.writ, lineage: held.lineage }
    );
  }

  /**
   * The verified chain, from the cache if it was valid before. In either case the given writs must
   * form the chain.
   */
  #hold(writ: Writ, chain: readonly Writ[]): VerifiedChain | WritRefusal {
    if (chain.length > this.#maxDepth) {
      return refuse(
        'too_deep',
        `The writ is ${chain.length} links below its root, and ${this.#maxDepth} are allowed.`,
      );
    }
    const links = readLinks([writ, ...chain]);
    if ('code' in links) return links;
    const known = this.#held.get(writId(links[0]!));
    if (known !== undefined) return known;
    const held = this.#verifyLinks(links);
    if ('code' in held) return held;
    // A chain that is valid up to a link is valid for that link too. Its other children can skip
    // these checks.
    for (let at = links.length - 1; at > 0; at--) {
      if (!this.#held.has(writId(links[at]!))) this.#keep(compile(links.slice(at)));
    }
    this.#keep(held);
    return held;
  }

  #verifyLinks(links: readonly Writ[]): VerifiedChain | WritRefusal {
    const root = links.at(-1)!;
    if (!this.#anchors.has(root.issuer)) {
      return refuse(
        'unknown_anchor',
        `The issuer ${root.issuer} of the root writ is not in the configured anchors.`,
      );
    }
    return keyCycle(links) ?? unattenuated(links) ?? this.#unsigned(links) ?? compile(links);
  }

  #unsigned(links: readonly Writ[]): WritRefusal | undefined {
    for (const link of links.toReversed()) {
      const id = writId(link);
      if (this.#held.has(id) || signatureHolds(link)) continue;
      return refuse('bad_signature', `The signature of writ ${id} does not match its issuer.`);
    }
    return undefined;
  }

  #keep(held: VerifiedChain): void {
    this.#held.set(held.lineage[0]!, held);
    if (this.#held.size > this.#cacheSize) this.#held.delete(this.#held.keys().next().value!);
  }
}

/** A verified writ with parsed patterns. */
interface VerifiedChain {
  readonly writ: Writ;
  /** The lowest link that crosses into another trajectory, if one does. */
  readonly crossing: string | undefined;
  readonly lineage: readonly string[];
  readonly actions: Patterns;
  readonly scopes: Patterns;
  readonly approvals: Patterns;
}

/** Parses each link and checks that each names the next as its parent and the last names none. */
function readLinks(given: readonly Writ[]): readonly Writ[] | WritRefusal {
  const links: Writ[] = [];
  for (const item of given) {
    try {
      links.push(parseWrit(item));
    } catch (error) {
      if (isInstance(error, AuthorityError)) return refuse('bad_writ', error.message);
      throw error;
    }
  }
  for (let index = 0; index < links.length; index++) {
    const link = links[index]!;
    const above = links[index + 1];
    if (link.parent === (above === undefined ? null : writId(above))) continue;
    const expected = link.parent === null ? 'none, because it is a root' : `writ ${link.parent}`;
    return refuse('broken_chain', `The ancestor of writ ${writId(link)} must be ${expected}.`);
  }
  return links;
}

/** No key occurs twice on a chain, so no holder is its own ancestor. */
function keyCycle(links: readonly Writ[]): WritRefusal | undefined {
  const seen = new Set([links.at(-1)!.issuer]);
  for (const link of links.toReversed()) {
    if (seen.has(link.subject))
      return refuse('cycle', `The principal ${link.subject} occurs twice in one chain.`);
    seen.add(link.subject);
  }
  return undefined;
}

function unattenuated(links: readonly Writ[]): WritRefusal | undefined {
  for (const [index, link] of links.entries()) {
    const above = links[index + 1];
    if (above === undefined) continue;
    const wider = crosses(above, link) ? wideningElsewhere(above, link) : widening(above, link);
    if (wider !== undefined) {
      return refuse(
        'not_attenuated',
        `Writ ${writId(link)} is wider than its parent: ${wider.axis}.`,
      );
    }
  }
  return undefined;
}

function compile(links: readonly Writ[]): VerifiedChain {
  const writ = links[0]!;
  const crossing = links.find(
    (link, index) => index + 1 < links.length && crosses(links[index + 1]!, link),
  );
  return {
    writ,
    crossing: crossing === undefined ? undefined : writId(crossing),
    lineage: links.map(writId),
    actions: new Patterns('action', writ.actions),
    scopes: new Patterns('scope', writ.scopes),
    approvals: new Patterns('action', writ.require_approval),
  };
}

/** Texts are equal in any Unicode form (docs/decisions/022-equal-texts.md). */
export function isSubject(principal: unknown, { subject }: Writ): boolean {
  return (
    principal === subject ||
    (typeof principal === 'string' && composed(principal) === composed(subject))
  );
}

/**
 * The checks that depend on the time and the request. Every child is narrower, so the leaf
 * represents its chain.
 */
function judge(held: VerifiedChain, use: WritUse): WritCheck {
  const { writ, lineage, actions, scopes, approvals } = held;
  checkInstant(use.at);
  const stray = astray(held, use.delegated);
  if (stray !== undefined) return stray;
  if (!isSubject(use.principal, writ)) {
    return refuse(
      'wrong_principal',
      `The writ is for ${writ.subject}, not for ${quoted(use.principal)}.`,
    );
  }
  const unfit = misplaced(held, use.trajectory) ?? early(held, use.at) ?? late(held, use.at);
  if (unfit !== undefined) return unfit;
  const revoked = revocation(held, use.revoked);
  if (revoked !== undefined) return revoked;
  const action = readName('action', use.action);
  if ('problem' in action)
    return refuse('bad_resource', `The action ${quoted(use.action)} ${action.problem}.`);
  if (!action.concrete)
    return refuse('bad_resource', `The action ${quoted(use.action)} has a star. Name one action.`);
  if (!actions.contain(action))
    return refuse('action_not_granted', `The writ does not grant the action ${action.text}.`);
  for (const text of use.scopes) {
    const scope = readName('scope', text);
    if ('problem' in scope)
      return refuse('bad_resource', `The scope ${quoted(text)} ${scope.problem}.`);
    if (!scopes.contain(scope))
      return refuse('scope_not_granted', `The writ does not grant the scope ${scope.text}.`);
  }
  return { ok: true, writ_id: lineage[0]!, requiresApproval: approvals.contain(action) };
}

function astray(
  { crossing }: VerifiedChain,
  delegated: string | undefined,
): WritRefusal | undefined {
  if (crossing === undefined || crossing === delegated) return undefined;
  return refuse(
    'not_attenuated',
    `Writ ${crossing} has another trajectory than its parent, and was not delegated to this one.`,
  );
}

function misplaced({ writ }: VerifiedChain, trajectory: string): WritRefusal | undefined {
  if (writ.trajectory === undefined || writ.trajectory === trajectory) return undefined;
  return refuse(
    'wrong_trajectory',
    `The writ is for trajectory ${writ.trajectory}, not for ${quoted(trajectory)}.`,
  );
}

function checkInstant(at: Instant): void {
  if (isInstant(at)) return;
  throw new AuthorityError('bad_instant', 'The time of a check must be an instant.', {
    evidence: { text: quoted(at) },
  });
}

function early({ writ }: VerifiedChain, at: Instant): WritRefusal | undefined {
  if (at >= writ.not_before) return undefined;
  return refuse('not_yet_valid', `The writ is valid from ${writ.not_before}, not at ${at}.`);
}

function late({ writ }: VerifiedChain, at: Instant): WritRefusal | undefined {
  if (at < writ.expires) return undefined;
  return refuse('expired', `The writ expired at ${writ.expires}; it is ${at}.`);
}

function revocation(
  { lineage }: VerifiedChain,
  revoked: ReadonlySet<string>,
): WritRefusal | undefined {
  const found = revoked.size === 0 ? undefined : lineage.find((id) => revoked.has(id));
  return found === undefined ? undefined : refuse('revoked', `Writ ${found} was revoked.`);
}

/** A list of patterns for frequent checks: exact names by one lookup, the others one by one. */
class Patterns {
  readonly #exact: ReadonlySet<string>;
  readonly #patterns: readonly Name[];

  constructor(sort: NameSort, texts: readonly string[] = []) {
    const read = texts.map((text) => nameOf(sort, text));
    this.#exact = new Set(read.map(({ text }) => text));
    this.#patterns = read.filter(({ concrete }) => !concrete);
  }

  contain(name: Name): boolean {
    return (
      this.#exact.has(name.text) || this.#patterns.some((pattern) => nameContains(pattern, name))
    );
  }
}

function refuse(code: WritRefusalCode, detail: string): WritRefusal {
  return { ok: false, code, detail };
}

function bounded(name: string, value: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw new AuthorityError('bad_argument', `${name} must be a whole number from 0 to ${most}.`, {
    evidence: { unit: name, amount: value },
  });
}
