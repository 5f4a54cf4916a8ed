import { type Writ, writId } from '#authority';
import { type ArgumentRefusal, type ArgumentSchema, arg, checkArgument, type Json } from '#base';
import {
  type CanonLimits,
  composed,
  composedJson,
  contentHash,
  copyJson,
  DEFAULT_LIMITS,
  hashText,
  plainText,
} from '#canon';
import {
  type ActionName,
  BUILT_IN_ROLE,
  type Domain,
  type Intent,
  type IntentOf,
  type IsUnknown,
  type Observed,
} from '#kernel';
import type { BlobRow, Hash, Observation, RoleRef } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import { seenObservations } from './pending-proposal.ts';
import { withinEntrySize } from './too-large-error.ts';
import { type CommitPlan, isToolObservation } from './tool-authority.ts';

/** The intent of an agent in any domain, as parsed from JSON. */
export interface ProposalInput extends ProposalOptions {
  readonly action: string;
  /** Default: the only role of the action's process, if it has no parameters. */
  readonly role?: string | RoleRef | undefined;
  readonly args: unknown;
}

interface ProposalOptions {
  /** The writ, with its ancestors if they are not known here; or the id of a known writ. */
  readonly writ: Hash | Writ | WritChain;
  /** The requester, as the caller authenticated it. Default: the writ's subject. */
  readonly principal?: string | undefined;
  /**
   * Outside values that the proposal used: by value, or by oracle key and hash. A name must not
   * start with `assize.` or have the form of `stock.look#0`. The runtime uses such names for its
   * own observations, on which an action may rely.
   */
  readonly observations?: readonly ObservationInput[];
  /**
   * The same key and intent are the same proposal, with the same ruling. A branch knows the keys of
   * its source, up to its beginning. The key must not start with `transaction:` or `failure:`:
   * these are reserved for the runtime. Default: random.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Refuses the proposal with `conflict` if a path in its read set has changed. A condition of this
   * attempt and not part of the proposal: a key that has a ruling keeps it.
   */
  readonly precondition?: PreconditionInput;
  /**
   * The W3C trace context of the caller, recorded as the observation `assize.traceparent`. Not part
   * of the proposal: a key that has a ruling keeps it. A malformed one is dropped. Default: that of
   * the step under way, if the process is traced.
   */
  readonly traceparent?: string | undefined;
  /**
   * The other principals that made the requester's token, recorded as the observation
   * `assize.token_by`. None of them may approve. Not part of the proposal, like `traceparent`.
   */
  readonly tokenBy?: readonly string[] | undefined;
}

/** The read set of a proposal, and the head at the time of the read. */
export interface PreconditionInput {
  /** The head when the slice was read: `Trajectory.head` in the same turn. */
  readonly since: Hash;
  /**
   * JSON pointers to paths that the role sees, 1 to 1,000. A commit after `since` that changed
   * something at, above or below one of them is a conflict. For a list, name the list or an
   * existing item: an added item has no path before it is added.
   */
  readonly paths: readonly string[];
}

/**
 * The intent of an agent in a known domain: one of its actions, its arguments before parsing, and a
 * role that performs its process. A role may be given by name alone only if it has no parameters.
 */
export type Proposal<D extends Domain> =
  IsUnknown<D> extends true
    ? ProposalInput
    : { readonly [Name in ActionName<D>]: ProposalOf<D, Name> }[ActionName<D>];

type ProposalOf<D extends Domain, Name extends ActionName<D>> = ProposalOptions & IntentOf<D, Name>;

export type ObservationInput =
  /** `sensitive`: stored by salted hash, and erasable. */
  | { readonly name: string; readonly value: unknown; readonly sensitive?: boolean }
  | { readonly name: string; readonly value: unknown; readonly oracle_key: Hash };

/** An observation before it is in an entry. */
export interface GatheredObservation {
  /**
   * The observation without a salt, for the proposal's id. A new salt for each attempt would make a
   * new proposal each time.
   */
  readonly unsalted: Observation;
  /**
   * Stored by salted hash: a sensitive value, or the hash of an answer in the oracle log. An
   * unsalted hash of a short answer could be guessed.
   */
  readonly isSalted: boolean;
}

/** An intent with all parts canonical and not shared with the caller. */
export interface GatheredProposal {
  readonly proposalId: Hash;
  /**
   * Set for a proposal with an idempotency key, because it may be repeated. The hash, as entries
   * have it.
   */
  readonly keyHash: Hash | undefined;
  readonly intent: Intent;
  readonly observed: readonly Observed[];
  readonly observations: readonly GatheredObservation[];
  readonly blobs: readonly BlobRow[];
  readonly writ: WritChain;
  readonly principal: string;
  /** The effects of tools. */
  readonly commitPlan?: CommitPlan | undefined;
  /**
   * An observation has a reserved name. A repeated key gets its earlier ruling, and a new proposal
   * gets this error.
   */
  readonly invalidObservationName?: RuntimeError | undefined;
}

/** For values from callers. They may have any origin. */
export const FOREIGN: Partial<CanonLimits> = Object.freeze({ foreign: true });

/**
 * Prefixes of the runtime's own idempotency keys: for tool transactions, and for the actions after
 * failed effects.
 */
export const TRANSACTION_KEY = 'transaction:';
export const FAILURE_KEY = 'failure:';

/** Prefix of the runtime's own observation names, except those of tool answers. */
const OWN_OBSERVATION = 'assize.';

/** Whether the runtime itself made that proposal: no caller can use such a key. */
export function isForFailure(key: string | undefined): boolean {
  return key?.startsWith(FAILURE_KEY) === true;
}

/** Refuses a caller's key that is reserved for the runtime. @throws RuntimeError `bad_intent` */
export function checkKey(key: unknown): void {
  const own = [TRANSACTION_KEY, FAILURE_KEY].find(
    (prefix) => typeof key === 'string' && key.startsWith(prefix),
  );
  if (own !== undefined)
    throw badIntent(
      `an idempotency key cannot start with ${own}, which is reserved for the runtime; use another key`,
    );
}

/**
 * Longest name, parameter or key of an intent: they are cached in memory, and stored in every
 * entry.
 */
const NAME_MAX = 512;

const NAME = arg.of(`text of at most ${NAME_MAX} characters`, isName);
const NOT_EMPTY = arg.of(
  `text of 1 to ${NAME_MAX} characters`,
  (value) => isName(value) && value !== '',
);
export const GIVEN: ArgumentSchema = arg.of('given', isGiven);
const WRIT = arg.of(
  'a writ, or the id of a known writ',
  (value) => typeof value === 'string' || (typeof value === 'object' && value !== null),
);
const PRINCIPAL = arg.optional(arg.text);
const KEY = arg.optional(NOT_EMPTY);
const TOKEN_MAKERS = arg.optional(arg.list(NAME));
const OBSERVATIONS = arg.optional(arg.of('a list', Array.isArray));
/**
 * The parts of a proposal that are not the caller's own data. An unknown field is refused: a
 * misspelled one would pass for an omitted one, such as a key or a condition.
 */
const PROPOSAL = arg.all(
  arg.known<ProposalInput>({
    action: true,
    role: true,
    args: true,
    writ: true,
    principal: true,
    observations: true,
    idempotencyKey: true,
    precondition: true,
    traceparent: true,
    tokenBy: true,
  }),
  arg.row<ProposalInput>(
    ({ writ, principal, idempotencyKey, observations, tokenBy }) =>
      arg.at('writ', WRIT(writ)) ??
      arg.at('principal', PRINCIPAL(principal)) ??
      arg.at('idempotencyKey', KEY(idempotencyKey)) ??
      arg.at('tokenBy', TOKEN_MAKERS(tokenBy)) ??
      arg.at('observations', OBSERVATIONS(observations)),
  ),
);

const ROLE_PARAMS = arg.of('given; pass {} if it needs none', isGiven);
const ROLE = arg.all(
  arg.known<RoleRef>({ name: true, params: true }),
  arg.row<RoleRef>(
    ({ name, params }) => arg.at('name', NAME(name)) ?? arg.at('params', ROLE_PARAMS(params)),
  ),
);
const PARAMS = arg.of(
  `an object of texts, each and its name of at most ${NAME_MAX} characters`,
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).every(
      (name) => isName(name) && isName((value as Readonly<Record<string, unknown>>)[name]),
    ),
);
const ARGS = arg.of('given; pass {} if its action takes none', isGiven);

/** @throws RuntimeError `bad_intent` */
export function checkProposal(input: ProposalInput): void {
  checkIntent(PROPOSAL, input, 'proposal');
}

/**
 * Reads the proposed action synchronously, so later changes by the caller have no effect. Texts of
 * an action of the domain are brought into composed form, unless the domain takes them exactly.
 * Built-in actions take all texts exactly.
 *
 * @throws RuntimeError `bad_intent`; CanonError for a value that cannot be canonicalised
 */
export function parseIntent(
  { action, role, args }: Pick<ProposalInput, 'action' | 'role' | 'args'>,
  domain: Domain,
): Intent {
  checkIntent(NOT_EMPTY, action, 'proposal.action');
  const read = roleOf(role === undefined ? onlyRoleFor(domain, action) : role);
  checkIntent(ARGS, args, 'proposal.args');
  const given = copied('The arguments', args, FOREIGN);
  if (domain.texts === 'exact' || !Object.hasOwn(domain.actions, action))
    return { action, role: read, args: given };
  const params = composedJson(read.params as Json) as RoleRef['params'];
  return { action, role: { name: read.name, params }, args: composedJson(given) };
}

/**
 * The id of a proposal in a trajectory, under a writ. A repetition in another trace, or under
 * another token, is the same proposal. @throws CanonError `too_large`
 */
export function proposalIdOf(
  { intent, observations }: Pick<GatheredProposal, 'intent' | 'observations'>,
  {
    trajectoryId: trajectory,
    nonce,
    writ,
  }: { readonly trajectoryId: string; readonly nonce: string; readonly writ: Hash },
): Hash {
  const { action, args, role } = intent;
  const seen = seenObservations(observations.map(({ unsalted }) => unsalted));
  // Fields in canonical order: it serialises fastest.
  const text = (): string =>
    plainText({
      action,
      args,
      nonce,
      observations: seen as unknown as Json,
      role,
      trajectory,
      writ,
    });
  return hashText(withinEntrySize('A proposal with its observations', DEFAULT_LIMITS, text));
}

/** A proposal of a built-in action. The runtime makes it, without a key or an observation. */
export function builtInProposal(
  trajectory: string,
  { action, args }: { readonly action: string; readonly args: object },
  { writ, principal = writ.writ.subject, nonce }: BuiltInTerms,
): GatheredProposal {
  const intent = { action, args: args as Json, role: BUILT_IN_ROLE };
  return {
    proposalId: contentHash({ ...intent, nonce, trajectory, writ: writId(writ.writ) }),
    keyHash: undefined,
    intent,
    observed: [],
    observations: [],
    blobs: [],
    writ,
    principal,
  };
}

interface BuiltInTerms {
  readonly writ: WritChain;
  /** Default: the subject of the writ. */
  readonly principal?: string | undefined;
  readonly nonce: string;
}

/**
 * Refuses an observation name that is reserved for the runtime, such as `stock.look#0` or
 * `assize.failure`, or longer than 512 characters. For callers that record an answer now and
 * propose with it later.
 *
 * @throws RuntimeError `bad_intent`
 */
export function checkObservationName(name: string): void {
  checkIntent(arg.text, name, 'name');
  const refused = observationNameFault(name);
  if (refused !== undefined) throw refused;
}

/** The error for a name that no caller may use. Undefined for another one. */
export function observationNameFault(name: string): RuntimeError | undefined {
  if (name.length > NAME_MAX)
    return badIntent(`the name of an observation must have at most ${NAME_MAX} characters`);
  if (!isToolObservation(name) && !name.startsWith(OWN_OBSERVATION)) return undefined;
  return badIntent(`the observation name ${name} is reserved for the runtime; use another name`);
}

/** @throws CanonError for a value that cannot be canonicalised */
export function copied(what: string, given: unknown, limits: Partial<CanonLimits>): Json {
  return withinEntrySize(what, limits, () => copyJson(given, limits));
}

/**
 * An idempotency key as entries have it, separate for each principal and trajectory. A principal in
 * another Unicode form is the same principal.
 */
export function keyHashOf(key: string, principal: string, trajectory: string): Hash {
  return hashText(plainText({ key, principal: composed(principal), trajectory }));
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAME_MAX;
}

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

/** The only role that can propose an action, if it has no parameters. @throws RuntimeError */
function onlyRoleFor({ actions, roles }: Domain, action: string): string {
  const process = Object.hasOwn(actions, action) ? actions[action]?.process : undefined;
  const names = Object.keys(roles).filter(
    (name) => process === undefined || roles[name]?.processes.includes(process),
  );
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0 && !roles[only]?.params?.length) return only;
  const who =
    names.length === 0
      ? 'no role of the domain performs its process'
      : `it can be proposed as ${names.join(' or ')}`;
  throw badIntent(`the proposal of ${action} names no role, and ${who}`);
}

function roleOf(role: string | RoleRef): RoleRef {
  if (typeof role === 'string') {
    checkIntent(NAME, role, 'proposal.role');
    return { name: role, params: {} };
  }
  checkIntent(ROLE, role, 'proposal.role');
  const { name } = role;
  const params = copyJson(role.params, FOREIGN);
  checkIntent(PARAMS, params, 'proposal.role.params');
  return { name, params: params as Record<string, string> };
}

/** Refuses an argument of another form. @throws RuntimeError `bad_intent` */
export function checkIntent(of: ArgumentSchema, value: unknown, argument: string): void {
  checkArgument(of, value, argument, refusal);
}

const refusal: ArgumentRefusal = (message, details) =>
  new RuntimeError('bad_intent', message, details);

export function badIntent(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `The intent is not valid: ${what}.`);
}
