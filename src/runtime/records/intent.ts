import { type Writ, writId } from '#authority';
import type { Json } from '#base';
import { type CanonLimits, contentHash, copyJson, DEFAULT_LIMITS, hashText, plainText } from '#canon';
import type { ActionName, ArgsOf, Domain, Intent, IsUntyped, Observed, RoleFor } from '#kernel';
import { type BlobRow, type Hash, isHash, type Observation, type RoleRef, store } from '#ledger';
import { ORACLE_LIMITS, turnNamedBy } from '#oracle';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import { inOnePiece } from './entry-size.ts';
import { type Acting, isToolObservation } from './tool-authority.ts';

/** What an agent asks for, whatever the domain: what comes as JSON is this. */
export interface ProposalInput extends ProposalRest {
  readonly action: string;
  readonly role: string | RoleRef;
  readonly args: unknown;
}

interface ProposalRest {
  /** The writ, with its ancestors when they are not known here; or the id of one that is. */
  readonly writ: Hash | Writ | WritChain;
  /** Who asks, as the caller authenticated them. Default: the writ's subject. */
  readonly principal?: string | undefined;
  /**
   * What was read from outside and used: by value, or by oracle key and hash. A name neither begins with `assize.` nor is of the form of
   * `stock.look#0`: the runtime names so what it has observed itself, which an action may rely on.
   */
  readonly observations?: readonly ObservationInput[];
  /**
   * The same key and intent again is the same proposal, and gets the same ruling. It does not begin with `transaction:` or `failure:`,
   * as those of the runtime do. Default: random.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Refuses it, as `conflict`, where what it rests on was changed meanwhile. A condition of this attempt and no part of the
   * proposal: what has a ruling by its key keeps it.
   */
  readonly ifUnchanged?: IfUnchanged;
}

/** What a proposal rests on, and when that was read. */
export interface IfUnchanged {
  /** The head when the slice was read: `Trajectory.head` in the same turn. */
  readonly since: Hash;
  /**
   * JSON pointers to places that the role sees, 1 to 1,000: a commit after `since` that changed something at, above or below one
   * of them is a conflict. Of a list they name the whole or an element: what is added has no place before it is there.
   */
  readonly places: readonly string[];
}

/**
 * What an agent of a domain that is known asks for: one of its actions, its arguments before parsing, and a role that
 * performs its process. A role is named alone only where it has no parameters.
 */
export type Proposal<D extends Domain> =
  IsUntyped<D> extends true ? ProposalInput : { readonly [Name in ActionName<D>]: ProposalOf<D, Name> }[ActionName<D>];

interface ProposalOf<D extends Domain, Name extends ActionName<D>> extends ProposalRest {
  readonly action: Name;
  readonly role: RoleFor<D, Name>;
  readonly args: ArgsOf<D, Name>;
}

export type ObservationInput =
  /** `sensitive`: kept by salted hash, and may be erased. */
  | { readonly name: string; readonly value: unknown; readonly sensitive?: boolean }
  | { readonly name: string; readonly value: unknown; readonly oracle_key: Hash };

/** What was observed, before an entry has it. */
export interface Sighting {
  /** Without a salt: what the id of the proposal is made of. Another salt each time must not make another proposal of the same one. */
  readonly seen: Observation;
  /** Kept by salted hash: a sensitive value, or the hash of an answer in the oracle log, by which a short one could be guessed. */
  readonly isSalted: boolean;
}

/** An intent whose every part is canonical; nothing of it is shared with the caller. */
export interface Gathered {
  readonly proposalId: Hash;
  /** It came with an idempotency key, so it may come again. The hash, as entries have it. */
  readonly keyHash: Hash | undefined;
  readonly intent: Intent;
  readonly observed: readonly Observed[];
  readonly observations: readonly Sighting[];
  readonly blobs: readonly BlobRow[];
  readonly writ: WritChain;
  readonly principal: string;
  /** What tools do with it. */
  readonly acting?: Acting | undefined;
  /** An observation is named as none may be any more: it has the ruling that its key had before, and gets no other. */
  readonly misnamed?: RuntimeError | undefined;
}

/** Of what callers give: they may have made it of anything. */
const FOREIGN = Object.freeze({ foreign: true });

/** What idempotency keys of the runtime's own begin with: of transactions of tools, and of what is done where their effects fail. */
export const TRANSACTION_KEY = 'transaction:';
export const FAILURE_KEY = 'failure:';

/** What names of the runtime's own observations begin with, but for those of what tools have answered. */
const OWN_OBSERVATION = 'assize.';

/** Whether the runtime has made that proposal of itself: no caller has such a key. */
export function isForFailure(key: string | undefined): boolean {
  return key?.startsWith(FAILURE_KEY) === true;
}

/** The key of a proposal that a caller makes is none of the runtime's own. @throws RuntimeError `bad_intent` */
export function checkKey(key: unknown): void {
  const own = [TRANSACTION_KEY, FAILURE_KEY].find((prefix) => typeof key === 'string' && key.startsWith(prefix));
  if (own !== undefined)
    throw badIntent(`an idempotency key does not begin with ${own}, as those of the runtime do; use another one`);
}

/** By the types, so that a member that is added there is added here. */
type Members<T extends object> = { readonly [Name in T extends unknown ? keyof T : never]: true };

const PROPOSAL: Members<ProposalInput> = {
  action: true,
  role: true,
  args: true,
  writ: true,
  principal: true,
  observations: true,
  idempotencyKey: true,
  ifUnchanged: true,
};
const OBSERVATION: Members<ObservationInput> = { name: true, value: true, sensitive: true, oracle_key: true };
const ROLE: Members<RoleRef> = { name: true, params: true };
const IF_UNCHANGED: Members<IfUnchanged> = { since: true, places: true };

/** What is misspelled would pass for what was left out: a key under which it comes once, or a condition. Inherited ones are read as well. */
function checkMembers(of: string, given: object, members: Readonly<Record<string, true>>): void {
  for (const name in given)
    if (!Object.hasOwn(members, name))
      throw badIntent(`${of} has no member ${JSON.stringify(name)}; there are ${Object.keys(members).join(', ')}`);
}

/**
 * The parts of a proposal that are not data of the caller's own.
 *
 * @throws RuntimeError `bad_intent`
 */
export function checkForm(input: ProposalInput): void {
  if (typeof input !== 'object' || input === null) throw badIntent('a proposal is an object');
  checkMembers('a proposal', input, PROPOSAL);
  const { writ, principal = '', idempotencyKey = 'none', observations = [], ifUnchanged } = input;
  const isWrit = typeof writ === 'string' || (typeof writ === 'object' && writ !== null);
  if (!isWrit) throw badIntent('a proposal names its writ');
  if (typeof principal !== 'string') throw badIntent('a principal is a text');
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '' || idempotencyKey.length > NAME_MAX)
    throw badIntent(`an idempotency key is a text of 1 to ${NAME_MAX} characters`);
  if (!Array.isArray(observations)) throw badIntent('observations are a list');
  if (typeof ifUnchanged === 'object' && ifUnchanged !== null)
    checkMembers('what is to be unchanged', ifUnchanged, IF_UNCHANGED);
}

/** What is proposed, as far as it is an action of the domain. */
export interface ReadIntent {
  readonly action: string;
  readonly role: RoleRef;
  readonly args: Json;
}

/**
 * What is proposed, read at once: what the caller makes of it later is no part of it.
 *
 * @throws RuntimeError `bad_intent`; CanonError for what can't be canonicalised
 */
export function readIntent({ action, role, args }: Pick<ProposalInput, 'action' | 'role' | 'args'>): ReadIntent {
  if (typeof action !== 'string' || action === '' || action.length > NAME_MAX)
    throw badIntent(`an intent names its action in 1 to ${NAME_MAX} characters`);
  const read = roleOf(role);
  if (args === undefined) throw badIntent('a proposal has args; {} where its action takes none');
  return { action, role: read, args: copied('The arguments', args, FOREIGN) };
}

/**
 * Reads everything of a proposal before it is judged (decisions §1.1), once and at once: what the caller makes of it later, while
 * others are waited for, is no part of it. The writ is found in what is known by then.
 *
 * @throws RuntimeError `bad_intent`; CanonError for what can't be canonicalised: errors of the surface, not entries
 */
export function gather(
  input: ProposalInput,
  place: {
    readonly trajectoryId: string;
    readonly nonce: string;
    readonly unsalted: boolean;
    /** Whether the runtime itself has observed what it is with. */
    readonly isOwn: boolean;
    /** Whether it was read before, as a transaction reads what it is told and what its tools answer: nobody else has any of it. */
    readonly isRead: boolean;
    /** Whether it is of a recorded turn: what was consulted in that is observed by the name that it has there. */
    readonly isTurn: boolean;
  },
): (writ: WritChain, acting?: Acting) => Gathered {
  const { action, role, args } = place.isRead ? (input as ReadIntent) : readIntent(input);
  const blobs: BlobRow[] = [];
  const observed: Observed[] = [];
  let misnamed: RuntimeError | undefined;
  const observations: Sighting[] = [];
  for (const observation of input.observations ?? []) {
    const { name, value: given } = observation ?? {};
    if (typeof name !== 'string' || given === undefined) throw badIntent('an observation has a name and a value');
    checkMembers('an observation', observation, OBSERVATION);
    if (!place.isOwn && !(place.isTurn && 'oracle_key' in observation)) misnamed ??= misnaming(name);
    if ('oracle_key' in observation && !isHash(observation.oracle_key))
      throw badIntent('an oracle key is 64 lower-case hex digits');
    // What stands in the oracle log may be as large as it takes.
    const value = place.isRead
      ? (given as Json)
      : copied('The value of an observation', given, 'oracle_key' in observation ? ORACLE_LIMITS : FOREIGN);
    observed.push({ name, value });
    const isSalted = isSensitive(observation);
    if (!('oracle_key' in observation)) {
      observations.push({ seen: { name, value: isSalted ? value : store(value, blobs) }, isSalted });
      continue;
    }
    const named = { name, oracle_key: observation.oracle_key };
    // That of a turn stays: it pins the turns before it, and nobody guesses its chance of 32 bytes.
    const isTurn = turnNamedBy(place.trajectoryId, named) !== undefined;
    const seen = { hash: contentHash(value, ORACLE_LIMITS), ...named };
    observations.push({ seen, isSalted: !isTurn && !place.unsalted });
  }
  const { idempotencyKey: key, principal: named } = input;
  if (misnamed !== undefined && key === undefined) throw misnamed;
  const { trajectoryId: trajectory, nonce } = place;
  const seen = observations.map((observation) => observation.seen) as unknown as Json;
  return (writ, acting) => {
    const principal = named ?? writ.writ.subject;
    return {
      proposalId: hashText(
        inOnePiece('A proposal with its observations', DEFAULT_LIMITS, () =>
          plainText({ action, args, nonce, observations: seen, role, trajectory, writ: writId(writ.writ) }),
        ),
      ),
      keyHash: key === undefined ? undefined : keyHashOf(key, principal, trajectory),
      intent: { action, role, args },
      observed,
      observations,
      blobs,
      writ,
      principal,
      acting,
      misnamed,
    };
  };
}

/**
 * Refuses a name that no caller may give to an observation: one of the runtime's own, such as `stock.look#0` or `assize.failure`, or of
 * more than 512 characters. For whoever records an answer now and proposes with it later.
 *
 * @throws RuntimeError `bad_intent`
 */
export function checkObservationName(name: string): void {
  const refused = typeof name === 'string' ? misnaming(name) : badIntent('the name of an observation is a text');
  if (refused !== undefined) throw refused;
}

function misnaming(name: string): RuntimeError | undefined {
  if (name.length > NAME_MAX) return badIntent(`an observation has a name of at most ${NAME_MAX} characters`);
  if (!isToolObservation(name) && !name.startsWith(OWN_OBSERVATION)) return undefined;
  return badIntent(`an observation is not named as those of the runtime are, as ${name} is; give it another name`);
}

function copied(what: string, given: unknown, limits: Partial<CanonLimits>): Json {
  return inOnePiece(what, limits, () => copyJson(given, limits));
}

/** An idempotency key as entries have it: each principal's keys are their own, in each trajectory. */
export function keyHashOf(key: string, principal: string, trajectory: string): Hash {
  return hashText(plainText({ key, principal, trajectory }));
}

function isSensitive(observation: ObservationInput): boolean {
  const sensitive = 'sensitive' in observation ? observation.sensitive : false;
  if (sensitive !== undefined && typeof sensitive !== 'boolean')
    throw badIntent('whether an observation is sensitive is true or false');
  if (sensitive === true && 'oracle_key' in observation)
    throw badIntent('an observation by oracle key can’t be sensitive: what it is of stands in the oracle log');
  return sensitive === true;
}

/** Longest name, parameter or key of an intent: they are kept in memory, and stand in every entry. */
const NAME_MAX = 512;

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= NAME_MAX;
}

function roleOf(role: string | RoleRef): RoleRef {
  if (typeof role === 'string' && isName(role)) return { name: role, params: {} };
  if (typeof role !== 'object' || role === null) throw badIntent('a role has a name, and parameters');
  checkMembers('a role', role, ROLE);
  if (role.params === undefined) throw badIntent('a role has params, {} where it needs none; or give its name alone');
  const params = copyJson(role.params, FOREIGN);
  const texts =
    typeof params === 'object' &&
    params !== null &&
    Object.keys(params).every((name) => isName(name) && isName((params as Readonly<Record<string, Json>>)[name]));
  if (!isName(role?.name) || !texts)
    throw badIntent(`a role has a name, and parameters that are texts, of at most ${NAME_MAX} characters`);
  return { name: role.name, params: params as Record<string, string> };
}

export function badIntent(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `This is no intent: ${what}.`);
}
