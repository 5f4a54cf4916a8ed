import type { Instant } from '#canon';
import type { Amounts } from './amounts.ts';
import type { Axis } from './axis.ts';
import { AuthorityError } from './errors.ts';
import { type NameSort, nameContains, nameOf, quoted } from './grammar.ts';
import { wideningText } from './widening-text.ts';
import { draftWrit, membersOf, parseWrit, signWrit, type Writ, type WritBody, writId } from './writ.ts';

/** What a child changes. What is absent stays as the parent has it; `max_depth` becomes one less. */
export interface Attenuation {
  readonly subject: string;
  readonly nonce: string;
  readonly trajectory?: string;
  readonly actions?: readonly string[];
  readonly scopes?: readonly string[];
  readonly budget?: Amounts;
  readonly not_before?: Instant;
  readonly expires?: Instant;
  readonly max_depth?: number;
  /** The whole list; it must hold all that the parent's does. */
  readonly require_approval?: readonly string[];
}

/** One axis on which a child goes beyond its parent, with what each says. */
export interface Widening {
  readonly axis: Axis;
  readonly parent: unknown;
  readonly child: unknown;
}

/**
 * Signs a child of `parent` with the private key of the parent's subject, never wider on any axis.
 * @throws AuthorityError `not_attenuated` (evidence: the first axis and both values; the message names all), `bad_writ`, `bad_resource`, `wrong_key`
 */
export function attenuate(parent: Writ, changes: Attenuation, privateKey: string): Writ {
  return signChild(parent, changes, privateKey, AXES);
}

/**
 * Signs a child of `parent` that is for another trajectory (see `crosses`), and never wider on any other axis. It is of no
 * use before a delegation carries it. A budget that is not named is none, because it will be carved out of the parent's.
 * @throws AuthorityError as `attenuate`
 */
export function delegateWrit(
  parent: Writ,
  changes: Attenuation & { readonly trajectory: string },
  privateKey: string,
): Writ {
  return signChild(parent, { budget: {}, ...present(changes) }, privateKey, AXES_ELSEWHERE);
}

/**
 * The first axis on which `child` is wider than `parent`, or undefined when it is a child of that parent and narrower or
 * equal on all.
 */
export function widening(parent: Writ, child: WritBody): Widening | undefined {
  return firstWider(parent, child, AXES);
}

/** The same for a child that may be for another trajectory. */
export function wideningElsewhere(parent: Writ, child: WritBody): Widening | undefined {
  return firstWider(parent, child, AXES_ELSEWHERE);
}

/**
 * Whether a writ leads over into another trajectory than its parent names. This is the rule for such writs (decisions §3.1):
 *
 * A writ with a budget names one trajectory, so that what is spent of it is added up in one place. A child that names
 * another one would be a second place: whoever holds the parent could sign as many as they like, and spend its budget once in
 * each. So a crossing writ grants nothing by itself. It counts in the trajectory that it names, and only if that trajectory was
 * begun by a delegation that carries this very writ; from the entry of that delegation on what the writ grants is set aside
 * in the parent's trajectory. Who checks a use says which writ that is (`delegated`); without, it is `not_attenuated`. Where
 * a chain crosses more than once, the lowest crossing is asked for: those above were asked for when it was delegated.
 */
export function crosses(parent: Writ, child: WritBody): boolean {
  return parent.trajectory !== undefined && child.trajectory !== undefined && child.trajectory !== parent.trajectory;
}

function signChild(given: Writ, changes: Attenuation, privateKey: string, axes: readonly Axis[]): Writ {
  const parent = parseWrit(given);
  // Whatever else is wrong, nobody can sign it.
  if (!/^[0-9a-f]{64}$/.test(parent.subject)) throw unpassable(parent);
  const { signature: _signed, ...inherited } = parent;
  const narrowed = { ...inherited, max_depth: Math.max(0, parent.max_depth - 1), ...present(changes) };
  const child = draftWrit({ ...narrowed, v: 1, issuer: parent.subject, parent: writId(parent) });
  const wider = firstWider(parent, child, axes);
  if (wider !== undefined) throw notAttenuated(wider, parent, child, axes);
  return signWrit(child, privateKey);
}

function firstWider(parent: Writ, child: WritBody, axes: readonly Axis[]): Widening | undefined {
  const axis = axes.find((name) => !NARROWER[name](parent, child));
  if (axis === undefined) return undefined;
  if (axis === 'parent') return { axis, parent: writId(parent), child: child.parent };
  if (axis === 'issuer') return { axis, parent: parent.subject, child: child.issuer };
  return { axis, parent: parent[axis] ?? null, child: child[axis] ?? null };
}

const NARROWER: { readonly [A in Axis]: (parent: Writ, child: WritBody) => boolean } = {
  issuer: (parent, child) => child.issuer === parent.subject,
  parent: (parent, child) => child.parent === writId(parent),
  trajectory: (parent, child) => parent.trajectory === undefined || child.trajectory === parent.trajectory,
  actions: (parent, child) => listContains('action', parent.actions, child.actions),
  scopes: (parent, child) => listContains('scope', parent.scopes, child.scopes),
  budget: (parent, child) => budgetContains(parent.budget, child.budget),
  not_before: (parent, child) => child.not_before >= parent.not_before,
  expires: (parent, child) => child.expires <= parent.expires,
  max_depth: (parent, child) => child.max_depth < parent.max_depth,
  // The other way round: what must be approved only grows.
  require_approval: (parent, child) => listContains('action', child.require_approval, parent.require_approval),
};
const AXES = Object.keys(NARROWER) as readonly Axis[];
const AXES_ELSEWHERE = AXES.filter((axis) => axis !== 'trajectory');

function listContains(sort: NameSort, wider: readonly string[] = [], narrower: readonly string[] = []): boolean {
  const patterns = wider.map((text) => nameOf(sort, text));
  return narrower.every((text) => {
    const name = nameOf(sort, text);
    return patterns.some((pattern) => nameContains(pattern, name));
  });
}

function budgetContains(wider: Amounts = {}, narrower: Amounts = {}): boolean {
  return Object.entries(narrower).every(([unit, amount]) => Object.hasOwn(wider, unit) && amount <= wider[unit]!);
}

function present(changes: Attenuation): Attenuation {
  return Object.fromEntries(
    Object.entries(membersOf(changes)).filter(([, value]) => value !== undefined),
  ) as unknown as Attenuation;
}

function notAttenuated(wider: Widening, parent: Writ, child: WritBody, axes: readonly Axis[]): AuthorityError {
  const all = axes.filter((axis) => !NARROWER[axis](parent, child)).map((axis) => wideningText(axis, parent, child));
  const message = `A child can't be wider than its parent: ${all.join('; ')}.`;
  return new AuthorityError('not_attenuated', message, { evidence: { ...wider } });
}

function unpassable({ subject }: Writ): AuthorityError {
  const message = `${quoted(subject)} can use this writ and not pass it on: only a subject that is a public key signs children.`;
  return new AuthorityError('bad_writ', message, { evidence: { pointer: '/issuer', problem: 'must be a public key' } });
}
