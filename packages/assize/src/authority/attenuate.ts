import type { Time } from '#canon';
import type { Amounts } from './amounts.ts';
import type { Axis } from './axis.ts';
import { AuthorityError } from './errors.ts';
import { type NameSort, nameContains, nameOf, quoted } from './grammar.ts';
import { wideningText } from './widening-text.ts';
import {
  draftWrit,
  membersOf,
  parseWrit,
  signWrit,
  type Writ,
  type WritBody,
  writId,
} from './writ.ts';

/**
 * The changes of a child writ. An absent field stays as in the parent. `max_depth` decreases by
 * one.
 */
export interface Attenuation {
  readonly subject: string;
  readonly nonce: string;
  readonly trajectory?: string;
  readonly actions?: readonly string[];
  readonly scopes?: readonly string[];
  readonly budget?: Amounts;
  readonly not_before?: Time;
  readonly expires?: Time;
  readonly max_depth?: number;
  /** The whole list. It must contain every item of the parent's list. */
  readonly require_approval?: readonly string[];
}

/** One axis on which a child exceeds its parent, with both values. */
export interface Widening {
  readonly axis: Axis;
  readonly parent: unknown;
  readonly child: unknown;
}

/**
 * Signs a child of `parent` with the private key of the parent's subject. The child is never wider
 * on any axis.
 *
 * @throws AuthorityError `not_attenuated` (evidence: the first axis and both values; the message
 * names all), `bad_writ`, `bad_argument`, `bad_key`
 */
export function attenuate(parent: Writ, changes: Attenuation, privateKey: string): Writ {
  return signChild(parent, changes, privateKey, AXES);
}

/**
 * Signs a child of `parent` for another trajectory (see `crosses`). The child is never wider on any
 * other axis. The writ is usable only after a delegation carries it. An absent budget means no
 * budget, because the budget is carved out of the parent's.
 *
 * @throws AuthorityError the errors of `attenuate`
 */
export function delegateWrit(
  parent: Writ,
  changes: Attenuation & { readonly trajectory: string },
  privateKey: string,
): Writ {
  return signChild(parent, { budget: {}, ...present(changes) }, privateKey, AXES_ELSEWHERE);
}

/**
 * The first axis on which `child` is wider than `parent`. Undefined if `child` is a child of that
 * parent and is not wider on any axis.
 */
export function widening(parent: Writ, child: WritBody): Widening | undefined {
  return firstWider(parent, child, AXES);
}

/** The same for a child that may belong to another trajectory. */
export function wideningElsewhere(parent: Writ, child: WritBody): Widening | undefined {
  return firstWider(parent, child, AXES_ELSEWHERE);
}

/**
 * Whether a writ names another trajectory than its parent. Such a writ crosses, by this rule
 * (docs/decisions/011-writs-and-policies.md):
 *
 * A writ with a budget names one trajectory, so its spending is added up in one place. A child for
 * another trajectory would be a second place. The parent's holder could sign any number of such
 * children, and spend its budget once in each. So a crossing writ grants nothing alone. It counts
 * in the trajectory that it names, and only if that trajectory was created by a delegation that
 * carries this very writ. From the entry of that delegation on, the writ's grant is reserved in the
 * parent's trajectory. The caller of a check names that writ (`delegated`). Otherwise the result is
 * `not_attenuated`. If a chain crosses several times, the lowest crossing is checked. The
 * delegation checked those above it.
 */
export function crosses(parent: Writ, child: WritBody): boolean {
  return (
    parent.trajectory !== undefined &&
    child.trajectory !== undefined &&
    child.trajectory !== parent.trajectory
  );
}

function signChild(
  given: Writ,
  changes: Attenuation,
  privateKey: string,
  axes: readonly Axis[],
): Writ {
  const parent = parseWrit(given);
  // No holder can sign such a child, independent of other faults.
  if (!/^[0-9a-f]{64}$/.test(parent.subject)) throw unpassable(parent);
  const { signature: _signed, ...inherited } = parent;
  const narrowed = {
    ...inherited,
    max_depth: Math.max(0, parent.max_depth - 1),
    ...present(changes),
  };
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
  trajectory: (parent, child) =>
    parent.trajectory === undefined || child.trajectory === parent.trajectory,
  actions: (parent, child) => listContains('action', parent.actions, child.actions),
  scopes: (parent, child) => listContains('scope', parent.scopes, child.scopes),
  budget: (parent, child) => budgetContains(parent.budget, child.budget),
  not_before: (parent, child) => child.not_before >= parent.not_before,
  expires: (parent, child) => child.expires <= parent.expires,
  max_depth: (parent, child) => child.max_depth < parent.max_depth,
  // The reverse direction: the required approvals can only grow.
  require_approval: (parent, child) =>
    listContains('action', child.require_approval, parent.require_approval),
};
const AXES = Object.keys(NARROWER) as readonly Axis[];
const AXES_ELSEWHERE = AXES.filter((axis) => axis !== 'trajectory');

function listContains(
  sort: NameSort,
  wider: readonly string[] = [],
  narrower: readonly string[] = [],
): boolean {
  const patterns = wider.map((text) => nameOf(sort, text));
  return narrower.every((text) => {
    const name = nameOf(sort, text);
    return patterns.some((pattern) => nameContains(pattern, name));
  });
}

function budgetContains(wider: Amounts = {}, narrower: Amounts = {}): boolean {
  return Object.entries(narrower).every(
    ([unit, amount]) => Object.hasOwn(wider, unit) && amount <= wider[unit]!,
  );
}

function present(changes: Attenuation): Attenuation {
  return Object.fromEntries(
    Object.entries(membersOf(changes)).filter(([, value]) => value !== undefined),
  ) as unknown as Attenuation;
}

function notAttenuated(
  wider: Widening,
  parent: Writ,
  child: WritBody,
  axes: readonly Axis[],
): AuthorityError {
  const all = axes
    .filter((axis) => !NARROWER[axis](parent, child))
    .map((axis) => wideningText(axis, parent, child));
  const message = `The child writ exceeds its parent: ${all.join('; ')}.`;
  return new AuthorityError('not_attenuated', message, { evidence: { ...wider } });
}

function unpassable({ subject }: Writ): AuthorityError {
  const message = `${quoted(subject)} cannot delegate this writ: only a subject that is a public key can sign children.`;
  return new AuthorityError('bad_writ', message, {
    evidence: { pointer: '/issuer', problem: 'must be a public key' },
  });
}
