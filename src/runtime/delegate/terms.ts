import { type Attenuation, delegateWrit, parseWrit, type Writ } from '#authority';
import { type Form, form, type Json, requireForm } from '#base';
import { copyJson } from '#canon';
import { type Domain, initialState, World } from '#kernel';
import { type BlobRow, type ChildBeginning, type Hash, type Stored, store } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import { Kept } from '../records/payload-blobs.ts';
import { begunWith, refOf, vectorOf } from '../records/root-payload.ts';
import type { Writer } from '../writer/writer.ts';

/** What is to be delegated. */
export type DelegationInput = DelegatedTask & (SignedGrant | GrantToSign);

export interface DelegatedTask {
  /** What the child is to do, in words, of at most 65,536 characters. What it needs besides belongs into `initial`. */
  readonly task: string;
  /** The writ of this trajectory that it is made from, as in a proposal. */
  readonly writ: Hash | Writ | WritChain;
  /** Default: this trajectory's own. */
  readonly domain?: Domain;
  /** The state that the child begins with. Default: the domain's own. */
  readonly initial?: unknown;
  /** Default: random. The same name and terms again are the same delegation, so give one to be able to repeat. */
  readonly childTrajectoryId?: string;
}

/** The child's writ, signed already by who holds `writ` (`delegateWrit`). */
export interface SignedGrant {
  readonly signed: Writ;
}

/**
 * What the child's writ grants, and the private key of who holds `writ` to sign it with; the key is not kept. What is absent
 * stays as `writ` has it, but for the budget: what is not named is none, because it is carved out.
 */
export interface GrantToSign extends Omit<Attenuation, 'trajectory' | 'nonce'> {
  readonly privateKey: string;
  /** Default: made from the child's name. */
  readonly nonce?: string;
}

/** The final answer of a delegation: any JSON, or none. */
export interface Conclusion {
  readonly finalAnswer?: unknown;
}

/** A delegation whose every part was read and checked, but for what depends on the head. */
export interface Terms {
  readonly child: string;
  readonly task: string;
  /** What it is made from. */
  readonly above: WritChain;
  readonly writ: Writ;
  readonly begins: ChildBeginning;
  readonly blobs: readonly BlobRow[];
}

const TASK_MAX = 65_536;

const DELEGATION = form.options<DelegatedTask & SignedGrant & GrantToSign>({
  task: form.any,
  writ: form.any,
  domain: form.any,
  initial: form.any,
  childTrajectoryId: form.any,
  signed: form.any,
  privateKey: form.any,
  nonce: form.any,
  subject: form.any,
  actions: form.any,
  scopes: form.any,
  budget: form.any,
  not_before: form.any,
  expires: form.any,
  max_depth: form.any,
  require_approval: form.any,
});
export const CONCLUSION: Form = form.options<Conclusion>({ finalAnswer: form.any });

/**
 * @throws RuntimeError `bad_intent`, `bad_name`, `unknown_writ`, `domain_mismatch`, `broken_start`; AuthorityError `bad_writ`,
 * `not_attenuated`, `wrong_key`, `bad_resource`; KernelError `invalid_state`; ArgumentError `bad_argument`
 */
export function termsOf(input: DelegationInput, { parts, context }: Writer): Terms {
  if (typeof input !== 'object' || input === null) throw badIntent('it is an object');
  requireForm(DELEGATION, input, 'input');
  const { task, writ } = input;
  if (typeof task !== 'string' || task === '' || task.length > TASK_MAX)
    throw badIntent(`it has a task, a text of 1 to ${TASK_MAX} characters`);
  if (!(typeof writ === 'string' || (typeof writ === 'object' && writ !== null)))
    throw badIntent('it names the writ that it is made from');
  const above = parts.writs.present(writ);
  const signed = 'signed' in input ? parseWrit(input.signed) : undefined;
  const child = context.nameFor(input.childTrajectoryId ?? signed?.trajectory);
  const kept = new Kept(context.saltsOf(context.random));
  const begins = beginningOf(input, context.domainOf(refOf(input.domain ?? parts.domain)), kept);
  return {
    child,
    task,
    above,
    writ: signed ?? grantOf(input as GrantToSign, above.writ, child),
    begins,
    blobs: kept.blobs,
  };
}

/** @throws CanonError for what is no JSON */
export function finalAnswerOf({ finalAnswer }: Conclusion, blobs: BlobRow[]): Stored | undefined {
  return finalAnswer === undefined ? undefined : store(copyJson(finalAnswer, { foreign: true }), blobs);
}

function beginningOf({ initial }: DelegatedTask, domain: Domain, kept: Kept): ChildBeginning {
  const state = initialState(domain, initial);
  vectorOf(new World(domain, state), false);
  return { domain: refOf(domain), ...begunWith(domain, state as Json, kept) };
}

/** Two equal grants to one child are one writ, so that who repeats delegates the same. */
function grantOf(input: GrantToSign, above: Writ, child: string): Writ {
  const { subject, actions, scopes, budget, not_before, expires, max_depth, require_approval } = input;
  const axes = { actions, scopes, budget, not_before, expires, max_depth, require_approval };
  const changed = Object.fromEntries(Object.entries(axes).filter(([, value]) => value !== undefined));
  const nonce = input.nonce ?? `delegated to ${child}`;
  return delegateWrit(above, { ...changed, subject, nonce, trajectory: child }, input.privateKey);
}

function badIntent(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `This is no delegation: ${what}.`);
}
