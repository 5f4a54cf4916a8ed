import type { PolicyQuery } from 'assize/internal/authority';
import { isInstance, type Json } from 'assize/internal/base';
import { toPointer } from 'assize/internal/canon';
import type { CedarRequest, CedarValue } from './engine.ts';
import {
  type Argument,
  type Attribute,
  type Kind,
  kindText,
  type ReadSchema,
  type Shown,
  type ShownCalls,
} from './read-schema.ts';

/** Part of the digest. Increase it when the form of a proposal in Cedar changes. */
export const PROJECTION = 'assize/cedar/v2';

/**
 * Maximum number of text characters in the requests for one proposal. Policies read names and
 * amounts.
 */
export const TEXT_MAX = 1_048_576;

/**
 * The Cedar requests for a proposal, or the reason why there are none. A proposal has one request.
 * If the schema shows calls and the proposal has some, it has one request for each call. Cedar has
 * no condition on one record of a set.
 *
 * - principal: `Principal::"agent:ada"`, in `Role::"spender"` if the schema declares it; action:
 *   `Action::"spend"`; resource: `Trajectory::"t1"`. No other entity exists, and these have no
 *   attributes.
 * - context: the declared ones of `role`, `params`, `scopes`, `writ`, `at` (to the millisecond),
 *   `args` and `call`, with their declared types. `call` has one field: the input, under the name
 *   of its tool.
 *
 * Each argument is converted to a value of its declared kind, so it is only ever read as data. A
 * present argument of another kind is a problem, even an optional one: without it, a rule that
 * forbids by it would not apply. A container above it that could not hold it is a problem too.
 * Undeclared arguments are ignored. The same holds for the input of a call, but a call of an
 * undeclared tool is a problem.
 */
export function requestsOf(
  query: PolicyQuery,
  { actions, inRoles }: ReadSchema,
): readonly CedarRequest[] | { problem: string } {
  const shown = actions.get(query.action);
  if (shown === undefined)
    return { problem: `the schema declares no action ${JSON.stringify(query.action)}` };
  const budget = new TextBudget();
  try {
    const principal = { type: 'Principal', id: budget.text(query.principal, 'the principal') };
    const action = { type: 'Action', id: budget.text(query.action, 'the action') };
    const resource = { type: 'Trajectory', id: budget.text(query.trajectory_id, 'the trajectory') };
    const role = { type: 'Role', id: budget.text(query.role.name, 'the role') };
    const entities = [
      { uid: principal, attrs: {}, parents: inRoles ? [role] : [] },
      { uid: resource, attrs: {}, parents: [] },
      ...(inRoles ? [{ uid: role, attrs: {}, parents: [] }] : []),
    ];
    return callsIn(query, shown).map((call) => ({
      principal,
      action,
      resource,
      context: { ...contextOf(query, shown, budget), ...(call && { call: callOf(call, budget) }) },
      entities,
    }));
  } catch (error) {
    if (isInstance(error, NotShown)) return { problem: error.message };
    throw error;
  }
}

/** A value that Cedar cannot represent. Thrown and caught only in this file. */
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
    ...(params && {
      params: taken(params, ({ name }) => memberOf(role.params, name), 'the parameter ', budget),
    }),
    ...(args && { args: placesOf(args, query.args, ARGUMENTS, budget) }),
  };
}

/** A call with its declared places. */
interface ShownCall {
  readonly tool: string;
  readonly input: Json;
  readonly places: readonly Argument[];
}

/** The call of each request. One request without a call if none is shown. */
function callsIn(
  { action, calls = [] }: PolicyQuery,
  { call: shown }: Shown,
): readonly (ShownCall | undefined)[] {
  if (shown === undefined) return [undefined];
  if (calls.length > 0) return calls.map((call) => shownCall(action, call, shown));
  if (shown.required) throw new NotShown('the schema requires a call, and the proposal makes none');
  return [undefined];
}

function shownCall(
  action: string,
  { tool, input }: Pick<ShownCall, 'tool' | 'input'>,
  { inputs }: ShownCalls,
): ShownCall {
  const places = inputs.get(tool);
  if (places !== undefined) return { tool, input, places };
  throw new NotShown(
    `the schema declares no call of ${JSON.stringify(tool)} for the action ${JSON.stringify(action)}`,
  );
}

function callOf(
  { tool, input, places }: ShownCall,
  budget: TextBudget,
): { readonly [tool: string]: CedarValue } {
  const words: Words = { whole: 'the input is', part: `the ${tool} input ` };
  return { [budget.text(tool, 'the tool')]: placesOf(places, input, words, budget) };
}

/** The words for a value and for the names of its parts, in the reason of a denial. */
interface Words {
  readonly whole: string;
  readonly part: string;
}

const ARGUMENTS: Words = { whole: 'the arguments are', part: 'the argument ' };

function placesOf(
  places: readonly Argument[],
  value: Json,
  words: Words,
  budget: TextBudget,
): { readonly [name: string]: CedarValue } {
  return taken(places, (one) => valueAt(value, one, words), words.part, budget);
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
    else if (required) throw new NotShown(`the schema requires ${what}${name}, which is missing`);
  }
  return Object.fromEntries(values);
}

/**
 * The value at a place of the arguments or of an input, or undefined if there is none.
 *
 * @throws NotShown if a container above it has no such place. A lenient reader could find a
 * forbidden value there, and the rule would not apply
 */
function valueAt(given: Json, { name, path }: Argument, { whole, part }: Words): Json | undefined {
  let here = given;
  for (const [depth, key] of path.entries()) {
    if (!mayHave(here, key)) {
      const above = depth === 0 ? whole : `${toPointer(path.slice(0, depth))} is`;
      const missing = `${above} ${sortOf(here)}, which has no ${JSON.stringify(key)}`;
      throw new NotShown(`${part}${name} cannot be located: ${missing}`);
    }
    const next = memberOf(here as { readonly [key: string]: Json }, key);
    if (next === undefined) return undefined;
    here = next;
  }
  return here;
}

/**
 * An index is searched in a list, and in an object only if it is a member. Otherwise the object
 * stands for a list of one.
 */
function mayHave(value: Json, key: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isIndex = /^(?:0|[1-9]\d*)$/.test(key);
  return Array.isArray(value) ? isIndex : !isIndex || Object.hasOwn(value, key);
}

function memberOf(value: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Cedar has no null and no fractions except `decimal`, and it has integers that JSON cannot
 * represent. Each is a problem of its own.
 */
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

/** Cedar has four decimal places and no exponent. */
const DECIMAL = /^-?\d{1,15}\.\d{1,4}$/;
/** The ledger's form. `at` is the only instant. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MILLISECONDS = '2026-01-01T00:00:00.000'.length;

/** A number in its shortest form, or a text that is already a decimal. */
function decimalText(value: Json): string | undefined {
  const text = Number.isSafeInteger(value)
    ? `${value}.0`
    : typeof value === 'number'
      ? String(value)
      : value;
  return typeof text === 'string' && DECIMAL.test(text) ? text : undefined;
}

function notOf(kind: Kind, value: Json, what: string): NotShown {
  return new NotShown(`${what} is ${sortOf(value)}, not a Cedar ${kindText(kind)}`);
}

function sortOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (Number.isSafeInteger(value)) return 'a whole number';
  if (typeof value === 'number')
    return Number.isInteger(value) ? 'a large number' : 'a number with a fraction';
  return (
    { string: 'a text', boolean: 'true or false', object: 'an object' }[typeof value as string] ??
    typeof value
  );
}

/**
 * Checks texts before Cedar receives them. Cedar throws on invalid Unicode, and each throw leaks
 * memory. Cedar never frees an accepted text either.
 */
class TextBudget {
  #left: number = TEXT_MAX;

  text(text: string, what: string): string {
    if (typeof text !== 'string' || !text.isWellFormed())
      throw new NotShown(`${what} is not a Unicode string`);
    this.items(text.length);
    return text;
  }

  /** An item of a list counts as one character. */
  items(count: number): void {
    this.#left -= count;
    if (this.#left < 0)
      throw new NotShown(`the request has more than the limit of ${TEXT_MAX} characters`);
  }
}
