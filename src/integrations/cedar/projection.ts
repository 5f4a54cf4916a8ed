import type { PolicyQuery } from '#authority';
import type { Json } from '#base';
import { toPointer } from '#canon';
import type { CedarRequest, CedarValue } from './engine.ts';
import { type Argument, type Attribute, type Kind, kindText, type ReadSchema, type Shown } from './read-schema.ts';

/** Part of the digest: bump it when a proposal is shown to Cedar in another way. */
export const PROJECTION = 'assize/cedar/v2';

/** Characters of text that one question may have; policies are about names and amounts. */
export const TEXT_MAX = 1_048_576;

/**
 * What Cedar is asked of a proposal, or why it can't be.
 *
 * - principal: `Principal::"agent:ada"`, in `Role::"spender"` where the schema has it so; action: `Action::"spend"`; resource:
 *   `Trajectory::"t1"`. No other entity exists, and these have no attributes.
 * - context: of `role`, `params`, `scopes`, `writ`, `at` (to the millisecond) and `args` what the schema declares, as declared.
 *
 * Arguments are taken one by one, as values of the declared kind, so that nothing in them is ever read as anything but data. A
 * declared one that is there and is not of its kind is a problem, also where it is optional: left out, it would disarm the
 * rule that forbids by it. So is what stands above it and could not have it. Undeclared ones are not looked at.
 */
export function requestOf(query: PolicyQuery, { actions, inRoles }: ReadSchema): CedarRequest | { problem: string } {
  const shown = actions.get(query.action);
  if (shown === undefined) return { problem: `the schema declares no action ${JSON.stringify(query.action)}` };
  const budget = new TextBudget();
  try {
    const principal = { type: 'Principal', id: budget.text(query.principal, 'the principal') };
    const action = { type: 'Action', id: budget.text(query.action, 'the action') };
    const resource = { type: 'Trajectory', id: budget.text(query.trajectory_id, 'the trajectory') };
    const role = { type: 'Role', id: budget.text(query.role.name, 'the role') };
    return {
      principal,
      action,
      resource,
      context: contextOf(query, shown, budget),
      entities: [
        { uid: principal, attrs: {}, parents: inRoles ? [role] : [] },
        { uid: resource, attrs: {}, parents: [] },
        ...(inRoles ? [{ uid: role, attrs: {}, parents: [] }] : []),
      ],
    };
  } catch (error) {
    if (error instanceof NotShown) return { problem: error.message };
    throw error;
  }
}

/** What can't be said in Cedar. Only ever thrown and caught here. */
class NotShown extends Error {}

function contextOf(
  query: PolicyQuery,
  { attributes, params, args }: Shown,
  budget: TextBudget,
): CedarRequest['context'] {
  const { role, scopes, writ_id: writ, at } = query;
  const own: Readonly<Record<string, Json>> = { role: role.name, scopes, writ, at };
  return {
    ...taken(attributes, ({ name }) => own[name], '', budget),
    ...(params && { params: taken(params, ({ name }) => memberOf(role.params, name), 'the parameter ', budget) }),
    ...(args && { args: taken(args, (one) => argumentAt(query.args, one), 'the argument ', budget) }),
  };
}

function taken<A extends Attribute>(
  declared: readonly A[],
  find: (attribute: A) => Json | undefined,
  what: string,
  budget: TextBudget,
): { readonly [name: string]: CedarValue } {
  const values: [string, CedarValue][] = [];
  for (const attribute of declared) {
    const { name, kind, required } = attribute;
    const value = find(attribute);
    if (value !== undefined) values.push([name, cedarValue(value, kind, `${what}${name}`, budget)]);
    else if (required) throw new NotShown(`the schema requires ${what}${name}, which is not there`);
  }
  return Object.fromEntries(values);
}

/**
 * The value in the place of an argument, or undefined where nothing is.
 *
 * @throws NotShown where something above it has no such place: whoever reads that with more good will finds there what a rule
 * forbids, and the rule would not be asked
 */
function argumentAt(args: Json, { name, path }: Argument): Json | undefined {
  let here = args;
  for (const [depth, key] of path.entries()) {
    if (!mayHave(here, key)) {
      const above = depth === 0 ? 'the arguments are' : `${toPointer(path.slice(0, depth))} is`;
      const missing = `${above} ${sortOf(here)}, which has no ${JSON.stringify(key)}`;
      throw new NotShown(`the argument ${name} has no place: ${missing}`);
    }
    const next = memberOf(here as { readonly [key: string]: Json }, key);
    if (next === undefined) return undefined;
    here = next;
  }
  return here;
}

/** An index is looked for in a list, and in an object only where it is one of its members: else that is one for a list of one. */
function mayHave(value: Json, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isIndex = /^(?:0|[1-9]\d*)$/.test(key);
  return Array.isArray(value) ? isIndex : !isIndex || Object.hasOwn(value, key);
}

function memberOf(value: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Cedar has no null, no fractions but `decimal`, and whole numbers that JSON can't say: each is a problem by itself. */
function cedarValue(value: Json, kind: Kind, what: string, budget: TextBudget): CedarValue {
  if (typeof kind === 'object') {
    if (!Array.isArray(value)) throw notOf(kind, value, what);
    budget.items(value.length);
    return value.map((item, index) => cedarValue(item, kind.setOf, `${what}/${index}`, budget));
  }
  switch (kind) {
    case 'String':
      if (typeof value === 'string') return budget.text(value, what);
      break;
    case 'Bool':
      if (typeof value === 'boolean') return value;
      break;
    case 'Long':
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case 'decimal': {
      const text = decimalText(value);
      if (text !== undefined) return { __extn: { fn: 'decimal', arg: budget.text(text, what) } };
      break;
    }
    case 'datetime':
      if (typeof value === 'string' && INSTANT.test(value))
        return { __extn: { fn: 'datetime', arg: `${value.slice(0, MILLISECONDS)}Z` } };
  }
  throw notOf(kind, value, what);
}

/** Cedar counts to the ten-thousandth, and knows no exponent. */
const DECIMAL = /^-?\d{1,15}\.\d{1,4}$/;
/** As the ledger has them; `at` is the only one. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MILLISECONDS = '2026-01-01T00:00:00.000'.length;

/** A number in its shortest form, or a text that is a decimal already. */
function decimalText(value: Json): string | undefined {
  const text = Number.isSafeInteger(value) ? `${value}.0` : typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && DECIMAL.test(text) ? text : undefined;
}

function notOf(kind: Kind, value: Json, what: string): NotShown {
  return new NotShown(`${what} is ${sortOf(value)}, which is no ${kindText(kind)} of Cedar`);
}

function sortOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (Number.isSafeInteger(value)) return 'a whole number';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a large number' : 'a number with a fraction';
  return { string: 'a text', boolean: 'true or false', object: 'an object' }[typeof value as string] ?? typeof value;
}

/**
 * Checks texts on their way to Cedar. It throws over what is no Unicode, and each throw costs it memory that it does not get
 * back; and what it was once given it never gives back either.
 */
class TextBudget {
  #left: number = TEXT_MAX;

  text(text: string, what: string): string {
    if (typeof text !== 'string' || !text.isWellFormed()) throw new NotShown(`${what} is no text in Unicode`);
    this.items(text.length);
    return text;
  }

  /** Of a list: an item is as a character. */
  items(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new NotShown(`there is more than the ${TEXT_MAX} characters that a policy is shown`);
  }
}
