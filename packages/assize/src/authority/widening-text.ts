import type { Axis } from './axis.ts';
import { type NameSort, nameContains, nameOf, quoted } from './grammar.ts';
import type { Writ, WritBody } from './writ.ts';

/**
 * Describes the axis on which a child exceeds its parent, and the excess, for the author of the
 * child.
 */
export function wideningText(axis: Axis, parent: Writ, child: WritBody): string {
  const beyond = BEYOND[axis]?.(parent, child);
  return `${axis} exceeds the grant of the parent${beyond === undefined ? '' : ` (${beyond})`}`;
}

/** The violating values. Undefined if the axis alone is enough. */
const BEYOND: { readonly [A in Axis]?: (parent: Writ, child: WritBody) => string | undefined } = {
  trajectory: (parent, child) => `${child.trajectory ?? 'any'}, not ${parent.trajectory}`,
  actions: (parent, child) => uncovered('action', parent.actions, child.actions),
  scopes: (parent, child) => uncovered('scope', parent.scopes, child.scopes),
  budget: ({ budget: has = {} }, { budget = {} }) =>
    Object.entries(budget)
      .filter(([unit, amount]) => !Object.hasOwn(has, unit) || amount > (has[unit] as number))
      .map(
        ([unit, amount]) => `${amount} ${unit} of ${Object.hasOwn(has, unit) ? has[unit] : 'none'}`,
      )
      .join(', '),
  not_before: (parent, child) => `${child.not_before}, not before ${parent.not_before}`,
  expires: (parent, child) => `${child.expires}, no later than ${parent.expires}`,
  max_depth: (parent, child) =>
    parent.max_depth === 0
      ? 'the parent allows no children'
      : `${child.max_depth}, less than ${parent.max_depth}`,
  require_approval: (parent, child) => {
    const missing = uncovered('action', child.require_approval, parent.require_approval);
    return `without ${missing}`;
  },
};

/** The patterns that no pattern of the wider list contains. */
function uncovered(
  sort: NameSort,
  wider: readonly string[] = [],
  narrower: readonly string[] = [],
): string {
  const patterns = wider.map((text) => nameOf(sort, text));
  return narrower
    .filter((text) => !patterns.some((pattern) => nameContains(pattern, nameOf(sort, text))))
    .map(quoted)
    .join(', ');
}
