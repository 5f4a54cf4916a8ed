import { AssizeError, arg, checkArgument, isInstance, type Json } from '#base';
import { type CanonLimits, contentHash, copyJson } from '#canon';
import { OracleError } from './errors.ts';
import { presentMembers } from './present-members.ts';

/**
 * Limits of a question and of an answer: 64 MiB of canonical text and 4 million values. Prompts and
 * tool outputs need more than a payload. Both come from untrusted code and services.
 */
export const ORACLE_LIMITS: Partial<CanonLimits> = Object.freeze({
  bytesMax: 67_108_864,
  nodesMax: 4_194_304,
  foreign: true,
});

/**
 * A judge's scope. In one memory space, the same question is asked once for all callers and times.
 */
export interface MemoryScope {
  readonly kind: 'memory';
  readonly space: string;
}

/**
 * Every other question: the n-th call of one agent. Two samples are two calls, and no trajectory
 * reads another's answers.
 */
export interface CallScope {
  readonly kind: 'call';
  readonly trajectory: string;
  /** The speculative branch. Null outside speculation. */
  readonly branch: string | null;
  readonly agent: string;
  /** From 0, in the agent's own order. */
  readonly ordinal: number;
}

export type OracleScope = MemoryScope | CallScope;

/** All inputs of an answer, except the request. An absent field and `null` are equal. */
export interface Theta {
  readonly prompt?: Json;
  readonly seed?: number | null;
  readonly model_version?: string | null;
  readonly temperature?: number | null;
  readonly tool_output_hash?: string | null;
}

/** A question. Two questions are equal if scope, request and theta are equal as JSON. */
export interface Question {
  readonly scope: OracleScope;
  /**
   * The kind and target of the question: JSON that the caller defines. Undefined members and those
   * that are not enumerable are left out, so a schema of `z.toJSONSchema` is accepted as it is.
   */
  readonly request: Json;
  readonly theta?: Theta;
}

/** A question with every field present: the input of the key's hash. */
export interface FullQuestion {
  readonly scope: OracleScope;
  readonly request: Json;
  readonly theta: Required<Theta>;
}

/**
 * The key of a question: SHA-256 of the canonical `{scope, request, theta}`, theta with all five
 * fields, 64 hex digits.
 *
 * @throws OracleError `bad_argument`
 */
export function oracleKey(question: Question): string {
  return hashQuestion(fullQuestion(question));
}

/**
 * The hash of an answer's theta: SHA-256 of the canonical theta with all five fields, 64 hex
 * digits.
 *
 * @throws OracleError `bad_argument`
 */
export function thetaHash(theta: Theta): string {
  return contentHash(checkedTheta(theta), ORACLE_LIMITS);
}

/**
 * The question in its hashed form. A copy, so that it cannot change while it waits. Unknown fields
 * are refused, because unhashed fields could not tell two questions apart.
 *
 * @throws OracleError `bad_argument`
 */
export function fullQuestion(question: Question): FullQuestion {
  if (typeof question !== 'object' || question === null) throw bad('question', 'must be an object');
  const { scope, request, theta = {} } = question;
  return {
    scope: checkedScope(scope),
    request: jsonOf('request', request),
    theta: checkedTheta(theta),
  };
}

/**
 * The key that lists answers: their memory space or trajectory. 64 hex digits.
 *
 * @throws ArgumentError `bad_argument`; CanonError
 */
export function listingKeyOf(scope: MemoryScope | Pick<CallScope, 'kind' | 'trajectory'>): string {
  checkArgument(arg.members({ kind: arg.text }), scope, 'scope');
  const { kind } = scope;
  return contentHash(
    kind === 'memory' ? { kind, space: scope.space } : { kind, trajectory: scope.trajectory },
  );
}

export function hashQuestion(question: FullQuestion): string {
  return contentHash(question, ORACLE_LIMITS);
}

function checkedScope(scope: OracleScope): OracleScope {
  const given = jsonOf('scope', scope) as unknown as OracleScope;
  if (given?.kind === 'memory') {
    onlyMembers('scope', given, ['kind', 'space']);
    requireText('scope.space', given.space);
    return given;
  }
  if (given?.kind !== 'call') throw bad('scope.kind', 'must be "memory" or "call"');
  onlyMembers('scope', given, ['kind', 'trajectory', 'branch', 'agent', 'ordinal']);
  requireText('scope.trajectory', given.trajectory);
  requireText('scope.agent', given.agent);
  if (given.branch !== null) requireText('scope.branch', given.branch);
  if (!Number.isSafeInteger(given.ordinal) || given.ordinal < 0)
    throw bad('scope.ordinal', 'must be a whole number from 0');
  return given;
}

function checkedTheta(theta: Theta): Required<Theta> {
  const given = dropUndefined(theta);
  const {
    prompt = null,
    seed = null,
    model_version = null,
    temperature = null,
    tool_output_hash = null,
  } = given;
  onlyMembers('theta', given, [
    'prompt',
    'seed',
    'model_version',
    'temperature',
    'tool_output_hash',
  ]);
  for (const [member, value] of Object.entries({ seed, temperature })) {
    if (value !== null && !Number.isFinite(value))
      throw bad(`theta.${member}`, 'must be a number or null');
  }
  for (const [member, value] of Object.entries({ model_version, tool_output_hash })) {
    if (value !== null && typeof value !== 'string')
      throw bad(`theta.${member}`, 'must be a string or null');
  }
  return jsonOf('theta', {
    prompt,
    seed,
    model_version,
    temperature,
    tool_output_hash,
  }) as unknown as Required<Theta>;
}

function dropUndefined(theta: Theta): Theta {
  if (typeof theta !== 'object' || theta === null) throw bad('theta', 'must be an object');
  return Object.fromEntries(
    Object.entries(theta).filter(([, value]) => value !== undefined),
  ) as Theta;
}

function onlyMembers(name: string, value: object, members: readonly string[]): void {
  const unknown = Object.keys(value).find((key) => !members.includes(key));
  if (unknown !== undefined)
    throw bad(`${name}.${unknown}`, `is not known; the fields are ${members.join(', ')}`);
}

function requireText(member: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') throw bad(member, 'must be a non-empty string');
}

function jsonOf(member: string, value: unknown): Json {
  try {
    return copyJson(value, ORACLE_LIMITS);
  } catch (cause) {
    if (!isInstance(cause, AssizeError)) throw cause;
    const present = presentMembers(value);
    if (!Object.is(present, value)) return jsonOf(member, present);
    throw new OracleError(
      'bad_argument',
      `The question is not valid: ${member} must be JSON. ${cause.message}`,
      {
        cause,
        evidence: { member, ...cause.evidence },
      },
    );
  }
}

function bad(member: string, problem: string): OracleError {
  return new OracleError('bad_argument', `The question is not valid: ${member} ${problem}.`, {
    evidence: { member, problem },
  });
}
