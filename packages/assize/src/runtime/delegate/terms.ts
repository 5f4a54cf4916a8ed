import { type Attenuation, delegateWrit, parseWrit, type Writ } from '#authority';
import { type ArgumentSchema, arg, checkArgument, type Json } from '#base';
import { copyJson } from '#canon';
import { type Domain, givenState, World } from '#kernel';
import { type BlobRow, type ChildBeginning, type Hash, type Stored, store } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { refOf, splitInitialState, vectorOf } from '../records/root-payload.ts';
import type { Writer } from '../writer/writer.ts';

/** The delegation's task, domain and grant. */
export type DelegationInput = DelegatedTask & (SignedGrant | GrantToSign);

export interface DelegatedTask {
  /** The child's task in words, at most 65,536 characters. Other data belongs into `initial`. */
  readonly task: string;
  /** The writ of this trajectory to attenuate, as in a proposal. */
  readonly writ: Hash | Writ | WritChain;
  /** Default: this trajectory's domain. */
  readonly domain?: Domain;
  /** The child's initial state. Default: the domain's own. */
  readonly initial?: unknown;
  /**
   * Default: random. The same name and terms are the same delegation, so a name makes the call
   * repeatable.
   */
  readonly childTrajectoryId?: string;
}

/** The child's writ, already signed by the holder of `writ` (`delegateWrit`). */
export interface SignedGrant {
  readonly signed: Writ;
}

/**
 * The grant of the child's writ, and the private key of the holder of `writ`. The key signs it and
 * is not kept. Absent members stay as in `writ`, except the budget: a unit that is not named is not
 * granted, because the budget is carved out.
 */
export interface GrantToSign extends Omit<Attenuation, 'trajectory' | 'nonce'> {
  readonly privateKey: string;
  /** Default: derived from the child's name. */
  readonly nonce?: string;
}

/** The final answer of a delegation: any JSON, or no answer. */
export interface Conclusion {
  readonly finalAnswer?: unknown;
}

/** A delegation with all parts read and checked, except the parts that depend on the head. */
export interface DelegationTerms {
  readonly child: string;
  readonly task: string;
  /** The parent writ. */
  readonly parentWrit: WritChain;
  readonly writ: Writ;
  readonly childRoot: ChildBeginning;
  readonly blobs: readonly BlobRow[];
}

const TASK_MAX = 65_536;

const DELEGATION = arg.options<DelegatedTask & SignedGrant & GrantToSign>({
  task: arg.any,
  writ: arg.any,
  domain: arg.any,
  initial: arg.any,
  childTrajectoryId: arg.any,
  signed: arg.any,
  privateKey: arg.any,
  nonce: arg.any,
  subject: arg.any,
  actions: arg.any,
  scopes: arg.any,
  budget: arg.any,
  not_before: arg.any,
  expires: arg.any,
  max_depth: arg.any,
  require_approval: arg.any,
});
export const CONCLUSION: ArgumentSchema = arg.options<Conclusion>({ finalAnswer: arg.any });

/**
 * @throws RuntimeError `bad_intent`, `bad_argument`, `unknown_writ`, `domain_mismatch`,
 * `invalid_state`; AuthorityError `bad_writ`, `not_attenuated`, `bad_key`, `bad_argument`;
 * KernelError `invalid_state`; ArgumentError `bad_argument`
 */
export function delegationTerms(
  input: DelegationInput,
  { parts, context }: Writer,
): DelegationTerms {
  if (typeof input !== 'object' || input === null) throw badIntent('it must be an object');
  checkArgument(DELEGATION, input, 'input');
  const { task, writ } = input;
  if (typeof task !== 'string' || task === '' || task.length > TASK_MAX)
    throw badIntent(`\`task\` must be text of 1 to ${TASK_MAX} characters`);
  if (!(typeof writ === 'string' || (typeof writ === 'object' && writ !== null)))
    throw badIntent('it must name the parent writ');
  const above = parts.writs.present(writ);
  const signed = 'signed' in input ? parseWrit(input.signed) : undefined;
  const child = context.nameFor(input.childTrajectoryId ?? signed?.trajectory);
  const kept = new PayloadBlobs(context.saltGenerator(context.random));
  const domain = context.domainOf(refOf(input.domain ?? parts.domain));
  const begins = beginningOf(input, domain, kept);
  return {
    child,
    task,
    parentWrit: above,
    writ: signed ?? grantOf(input as GrantToSign, above.writ, child),
    childRoot: begins,
    blobs: kept.blobs,
  };
}

/** @throws CanonError for a value that is not JSON */
export function finalAnswerOf({ finalAnswer }: Conclusion, blobs: BlobRow[]): Stored | undefined {
  return finalAnswer === undefined
    ? undefined
    : store(copyJson(finalAnswer, { foreign: true }), blobs);
}

function beginningOf(
  { initial }: DelegatedTask,
  domain: Domain,
  kept: PayloadBlobs,
): ChildBeginning {
  const state = givenState(domain, initial);
  vectorOf(new World(domain, state), false);
  return { domain: refOf(domain), ...splitInitialState(domain, state as Json, kept) };
}

/** Two equal grants to one child are one writ, so a repeated call delegates the same writ. */
function grantOf(input: GrantToSign, above: Writ, child: string): Writ {
  const { subject, actions, scopes, budget, not_before, expires, max_depth, require_approval } =
    input;
  const axes = { actions, scopes, budget, not_before, expires, max_depth, require_approval };
  const changed = Object.fromEntries(
    Object.entries(axes).filter(([, value]) => value !== undefined),
  );
  const nonce = input.nonce ?? `delegated to ${child}`;
  return delegateWrit(above, { ...changed, subject, nonce, trajectory: child }, input.privateKey);
}

function badIntent(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `The delegation is not valid: ${what}.`);
}
