import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicyDecision, PolicyQuery } from '#authority';
import { cedarPolicy } from '#integrations/cedar';
import { cases } from '../support/cases.ts';
import { clone, jsonValue, oddKey, setMember } from '../support/models/json.ts';

// Cedar compared with a small evaluator of this project, over generated policies and any input that
// an agent may send.

const SCHEMA = `
  entity Role; entity Principal in [Role]; entity Trajectory; action any;
  action "spend", "refund" in [any] appliesTo { principal: [Principal], resource: [Trajectory], context: {
    role: String, scopes: Set<String>,
    args: { amount: Long, note?: String, tags?: Set<String>, sure?: Bool, price?: decimal, "/deep/0/n"?: Long },
    call?: { "bank.pay"?: { cents: Long, "/to/name"?: String }, "mail.send"?: {} },
  } };
`;

const NAMES = ['ada', 'bob', 'Role::"x"', 'a"b\\c', '{"__entity":{}}', 'é'] as const;
const name = fc.constantFrom(...NAMES);

/** A part of a condition, as Cedar has it and as it is. */
interface Part {
  readonly text: string;
  readonly holds: (query: PolicyQuery) => boolean;
}

const quoted = (text: string): string =>
  `"${[...text].map((c) => `\\u{${(c.codePointAt(0) as number).toString(16)}}`).join('')}"`;
const member = (query: PolicyQuery, key: string): any => {
  const { args } = query;
  return typeof args === 'object' && args !== null && Object.hasOwn(args, key)
    ? (args as any)[key]
    : undefined;
};
const isPlain = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The value at `/deep/0/n`, and whether the values above it allow one there. */
const deepOf = (query: PolicyQuery): { readonly fits: boolean; readonly n?: unknown } => {
  const list = member(query, 'deep');
  if (list === undefined || (Array.isArray(list) && list.length === 0)) return { fits: true };
  if (!Array.isArray(list) && !(isPlain(list) && Object.hasOwn(list, '0'))) return { fits: false };
  const first = list[0];
  return {
    fits: isPlain(first),
    n: isPlain(first) && Object.hasOwn(first, 'n') ? first.n : undefined,
  };
};
const deep = (query: PolicyQuery): unknown => deepOf(query).n;

/** The input of the one call that a request has, if it is of that tool. */
const inputOf = ({ calls: [one] = [] }: PolicyQuery, tool: string): any =>
  one?.tool === tool ? one.input : undefined;
const PAYS = 'context has call && context.call has "bank.pay"';

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
};

const part: fc.Arbitrary<Part> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...Object.keys(COMPARE)), fc.integer({ min: -3, max: 3 }))
    .map(([op, n]) => ({
      text: `context.args.amount ${op} ${n}`,
      holds: (query: PolicyQuery) =>
        (COMPARE[op] as (a: number, b: number) => boolean)(member(query, 'amount'), n),
    })),
  name.map((value) => ({
    text: `(context.args has note && context.args.note == ${quoted(value)})`,
    holds: (query: PolicyQuery) => member(query, 'note') === value,
  })),
  name.map((value) => ({
    text: `(context.args has tags && context.args.tags.contains(${quoted(value)}))`,
    holds: (query: PolicyQuery) => member(query, 'tags')?.includes(value) === true,
  })),
  fc.constant({
    text: '(context.args has sure && context.args.sure)',
    holds: (query: PolicyQuery) => member(query, 'sure') === true,
  }),
  fc.constant({
    text: '(context.args has price && context.args.price.lessThan(decimal("0.5")))',
    holds: (query: PolicyQuery) => Number(member(query, 'price')) < 0.5,
  }),
  fc.integer({ min: -2, max: 2 }).map((n) => ({
    text: `(context.args has "/deep/0/n" && context.args["/deep/0/n"] >= ${n})`,
    holds: (query: PolicyQuery) => (deep(query) as number) >= n,
  })),
  fc
    .tuple(fc.constantFrom(...Object.keys(COMPARE)), fc.integer({ min: -3, max: 3 }))
    .map(([op, n]) => ({
      text: `(${PAYS} && context.call["bank.pay"].cents ${op} ${n})`,
      holds: (query: PolicyQuery) => {
        const input = inputOf(query, 'bank.pay');
        return (
          input !== undefined && (COMPARE[op] as (a: number, b: number) => boolean)(input.cents, n)
        );
      },
    })),
  fc.constantFrom('ada', 'eve').map((value) => ({
    text: `(${PAYS} && context.call["bank.pay"] has "/to/name" && context.call["bank.pay"]["/to/name"] == "${value}")`,
    holds: (query: PolicyQuery) => inputOf(query, 'bank.pay')?.to?.name === value,
  })),
  // The amounts are there because Cedar refuses a policy that can never apply.
  fc.constant({
    text: '(context has call && context.call has "mail.send" && context.args.amount < 3)',
    holds: (query: PolicyQuery) =>
      inputOf(query, 'mail.send') !== undefined && member(query, 'amount') < 3,
  }),
  fc.constant({
    text: '!(context has call && context.args.amount < 3)',
    holds: (query: PolicyQuery) => query.calls?.length === 0 || member(query, 'amount') >= 3,
  }),
  name.map((value) => ({
    text: `context.role == ${quoted(value)}`,
    holds: ({ role }: PolicyQuery) => role.name === value,
  })),
  name.map((value) => ({
    text: `context.scopes.contains(${quoted(value)})`,
    holds: ({ scopes }: PolicyQuery) => scopes.includes(value),
  })),
);

const scope = <T extends string>(
  always: string,
  ...some: fc.Arbitrary<Part>[]
): fc.Arbitrary<Part> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Part>({ text: always as T, holds: () => true }) },
    ...some,
  );

const rule = fc.record({
  effect: fc.constantFrom('permit', 'permit with approval', 'forbid'),
  principal: scope(
    'principal',
    name.map((id) => ({
      text: `principal == Principal::${quoted(id)}`,
      holds: ({ principal }) => principal === id,
    })),
    name.map((id) => ({
      text: `principal in Role::${quoted(id)}`,
      holds: ({ role }) => role.name === id,
    })),
  ),
  action: scope(
    'action',
    fc
      .constantFrom('spend', 'refund')
      .map((id) => ({ text: `action == Action::"${id}"`, holds: ({ action }) => action === id })),
    fc.constant<Part>({ text: 'action in Action::"any"', holds: () => true }),
  ),
  resource: scope(
    'resource',
    name.map((id) => ({
      text: `resource == Trajectory::${quoted(id)}`,
      holds: (query) => query.trajectory_id === id,
    })),
  ),
  when: fc.array(part, { maxLength: 3 }),
  unless: fc.option(part, { nil: undefined, freq: 3 }),
});
type Rule = typeof rule extends fc.Arbitrary<infer R> ? R : never;

function textOf(
  { effect, principal, action, resource, when, unless }: Rule,
  index: number,
): string {
  const approval = effect === 'permit with approval' ? '@approval("required") ' : '';
  const conditions =
    when.length === 0 ? '' : ` when { ${when.map(({ text }) => text).join(' && ')} }`;
  const exception = unless === undefined ? '' : ` unless { ${unless.text} }`;
  return `@id("r${index}") ${approval}${effect === 'forbid' ? 'forbid' : 'permit'}(${principal.text}, ${action.text}, ${resource.text})${conditions}${exception};`;
}

function applies({ principal, action, resource, when, unless }: Rule, query: PolicyQuery): boolean {
  return (
    [principal, action, resource, ...when].every(({ holds }) => holds(query)) &&
    unless?.holds(query) !== true
  );
}

/** Every declared argument that is there is of its kind. */
function isShowable(query: PolicyQuery): boolean {
  const text = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed();
  const kinds: readonly [unknown, (value: any) => boolean][] = [
    [member(query, 'note'), text],
    [member(query, 'tags'), (value) => Array.isArray(value) && value.every(text)],
    [member(query, 'sure'), (value) => typeof value === 'boolean'],
    [member(query, 'price'), isDecimal],
    [deep(query), Number.isSafeInteger],
  ];
  return (
    isPlain(query.args) &&
    deepOf(query).fits &&
    Number.isSafeInteger(member(query, 'amount')) &&
    kinds.every(([value, is]) => value === undefined || is(value))
  );
}

/** Every call is of a declared tool, and its declared places are of their kind. */
function isShowableCall({ tool, input }: Call): boolean {
  if (tool === 'mail.send') return true;
  if (tool !== 'bank.pay' || !isPlain(input)) return false;
  const { cents, to } = input as any;
  const isTo =
    to === undefined || (isPlain(to) && (to.name === undefined || typeof to.name === 'string'));
  return Number.isSafeInteger(cents) && isTo;
}

type Call = NonNullable<PolicyQuery['calls']>[number];

function isDecimal(value: unknown): boolean {
  if (typeof value === 'string') return /^-?\d{1,15}\.\d{1,4}$/.test(value);
  return (
    typeof value === 'number' &&
    Math.abs(value) < 1e15 &&
    Number(value.toFixed(4)) === value &&
    (value === 0 || Math.abs(value) >= 1e-4)
  );
}

function expected(
  rules: readonly Rule[],
  query: PolicyQuery,
): Pick<PolicyDecision, 'decision' | 'rule'> & { isError: boolean } {
  const { calls = [] } = query;
  const isAskable =
    ['spend', 'refund'].includes(query.action) && isShowable(query) && calls.every(isShowableCall);
  if (!isAskable) return { decision: 'deny', isError: true };
  // Each call is asked for alone, and each must be permitted.
  const asked =
    calls.length === 0 ? [query] : calls.map((one): PolicyQuery => ({ ...query, calls: [one] }));
  const applied = (effect: string): number =>
    rules.findIndex((one) => one.effect === effect && asked.some((each) => applies(one, each)));
  const named = (index: number) => ({ rule: `r${index}`, isError: false });
  if (applied('forbid') >= 0) return { decision: 'deny', ...named(applied('forbid')) };
  const isPermitted = (each: PolicyQuery): boolean =>
    rules.some((one) => one.effect !== 'forbid' && applies(one, each));
  if (!asked.every(isPermitted)) return { decision: 'deny', isError: false };
  if (applied('permit with approval') >= 0)
    return { decision: 'needs_approval', ...named(applied('permit with approval')) };
  return { decision: 'allow', ...named(applied('permit')) };
}

const small = fc.integer({ min: -3, max: 3 });
/** Arguments that a domain would take. */
const goodArgs = fc.record(
  {
    amount: small,
    note: name,
    tags: fc.array(name, { maxLength: 3 }),
    sure: fc.boolean(),
    price: fc.constantFrom<unknown>(0, 0.25, 1, 0.5, '0.4', '7.0'),
    deep: fc.array(fc.record({ n: small }), { maxLength: 2 }),
  },
  { requiredKeys: ['amount'] },
);
const ESCAPES = [
  { __entity: { type: 'Role', id: 'ada' } },
  { __extn: { fn: 'decimal', arg: '0.1' } },
  { __expr: 'true' },
  Number.MAX_SAFE_INTEGER + 1,
  0.1 + 0.2,
  -0,
  1e300,
  null,
  '\ud800',
  'x'.repeat(200_000),
  Array.from({ length: 50_000 }, (_, i) => i),
  deepList(3_000),
];
const odd = fc.oneof(jsonValue, fc.constantFrom<unknown>(...ESCAPES));
const KEYS = [
  'amount',
  'note',
  'tags',
  'sure',
  'price',
  'deep',
  'more',
  '__entity',
  '__extn',
  '/deep/0/n',
  'args',
  'role',
];
/** The same with anything at all put somewhere, or anything at all. */
const hostileArgs: fc.Arbitrary<any> = fc.oneof(
  { weight: 1, arbitrary: odd },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        goodArgs,
        fc.array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS), oddKey), odd), {
          minLength: 1,
          maxLength: 3,
        }),
      )
      .map(([args, members]) => {
        const changed = { ...args };
        for (const [key, value] of members) setMember(changed, key, value);
        return changed;
      }),
  },
);

function deepList(levels: number): unknown {
  let value: unknown = { __entity: { type: 'Role', id: 'ada' } };
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { __entity: value };
  return value;
}

const call = (hostile: boolean): fc.Arbitrary<Call> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        tool: fc.constant('bank.pay'),
        input: fc.record(
          {
            cents: small,
            to: fc.record({ name: fc.constantFrom('ada', 'eve') }, { requiredKeys: [] }),
          },
          { requiredKeys: ['cents'] },
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        tool: fc.constant('mail.send'),
        input: jsonValue as fc.Arbitrary<any>,
      }),
    },
    {
      weight: hostile ? 1 : 0,
      arbitrary: fc.record({
        tool: fc.constantFrom('bank.pay', 'bank.wire', '__proto__', ''),
        input: fc.constantFrom<any>(
          null,
          [1],
          {},
          { cents: '1' },
          { cents: 1, to: ['eve'] },
          { cents: 1, to: null },
        ),
      }),
    },
  );

const query = (args: fc.Arbitrary<any>, hostile = false): fc.Arbitrary<PolicyQuery> =>
  fc.record({
    action: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('spend', 'refund') },
      { weight: 1, arbitrary: fc.constantFrom('any', 'steal', '__proto__') },
    ),
    role: fc.record({ name, params: fc.constant({}) }),
    args,
    scopes: fc.array(name, { maxLength: 2 }),
    principal: name,
    writ_id: fc.constant('f'.repeat(64)),
    trajectory_id: name,
    at: fc.constant('2026-01-01T00:00:00.000000Z'),
    calls: fc.array(call(hostile), { maxLength: 3 }),
  });

async function compare(rules: readonly Rule[], queries: readonly PolicyQuery[]): Promise<void> {
  const policy = await cedarPolicy({ policies: rules.map(textOf).join('\n'), schema: SCHEMA });
  for (const asked of queries) {
    const { decision, rule: named, errors } = policy.evaluate(asked);
    expect({ decision, rule: named, isError: errors.length > 0 }).toEqual({
      rule: undefined,
      ...expected(rules, asked),
    });
  }
}

describe('policies in Cedar decide as they say', () => {
  const rules = fc.array(rule, { maxLength: 6 });

  test('for arguments that a domain accepts', () =>
    fc.assert(
      fc.asyncProperty(rules, fc.array(query(goodArgs), { minLength: 10, maxLength: 20 }), compare),
      {
        numRuns: cases(200),
      },
    ));

  test('for any input: nothing throws, and arguments are only data', () =>
    fc.assert(
      fc.asyncProperty(
        rules,
        fc.array(query(hostileArgs, true), { minLength: 10, maxLength: 20 }),
        compare,
      ),
      {
        numRuns: cases(200),
      },
    ));

  test('a denied request stays denied, with any value next to the denied one', () =>
    fc.assert(
      fc.asyncProperty(
        query(goodArgs),
        fc.array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS.slice(1)), oddKey), odd), {
          minLength: 1,
          maxLength: 4,
        }),
        async (asked, members) => {
          const policies =
            '@id("all") permit(principal, action, resource); @id("no") forbid(principal, action, resource) when { context.args.amount > 0 };';
          const policy = await cedarPolicy({ policies, schema: SCHEMA });
          const args = clone(asked.args as never) as any;
          args.amount = 1;
          for (const [key, value] of members) setMember(args, key, value);
          expect(policy.evaluate({ ...asked, args }).decision).toBe('deny');
        },
      ),
      { numRuns: cases(500) },
    ));

  test('a name forbidden at a path is never allowed by the shape of its parents', async () => {
    let caught = 0;
    const run = fc.asyncProperty(path, shapes, async (keys, drawn) => {
      const policy = await cedarPolicy(forbiddenAt(keys));
      const decisionOf = (args: any): string => policy.evaluate({ ...QUERY, args }).decision;
      const args = shaped(keys, drawn, 'eve');
      if (catches(args, keys)) {
        caught++;
        expect(decisionOf(args)).toBe('deny');
      }
      expect(decisionOf(shaped(keys, [], 'eve'))).toBe('deny');
      expect(decisionOf(shaped(keys, [], 'bob'))).toBe('allow');
    });
    await fc.assert(run, { numRuns: cases(1_000) });
    expect(caught).toBeGreaterThan(cases(500));
  });
});

/** Where a forbidden name is looked for. */
const path = fc.array(fc.constantFrom('to', 'name', '0', '1', '__proto__'), {
  minLength: 1,
  maxLength: 3,
});

const QUERY = {
  action: 'spend',
  role: { name: 'r', params: {} },
  scopes: [],
  principal: 'p',
  writ_id: 'f'.repeat(64),
  trajectory_id: 't',
  at: '2026-01-01T00:00:00.000000Z',
};

function forbiddenAt(keys: readonly string[]) {
  const pointer = JSON.stringify(keys.map((key) => `/${key}`).join(''));
  return {
    policies: `permit(principal, action, resource);
      forbid(principal, action, resource) when { context.args has ${pointer} && context.args[${pointer}] == "eve" };`,
    schema: `entity Principal; entity Trajectory;
      action spend appliesTo { principal: Principal, resource: Trajectory, context: { args: { ${pointer}?: String } } };`,
  };
}

/**
 * The shape of a path step in the request: a container with the next step at its key, or another
 * shape with it.
 */
const SHAPES = [
  'as it is',
  'as it is',
  'without it',
  'in a list',
  'in two lists',
  'as an object',
  'as a list',
] as const;
const shapes = fc.array(fc.constantFrom(...SHAPES), { minLength: 4, maxLength: 4 });

function shaped(
  keys: readonly string[],
  drawn: readonly (typeof SHAPES)[number][],
  leaf: unknown,
): unknown {
  const [key, ...rest] = keys;
  const [shape, ...more] = drawn;
  if (key === undefined) return shape === 'in a list' ? [leaf] : leaf;
  const next = shaped(rest, more, leaf);
  const asObject = Object.fromEntries([[key, next]]);
  const asList = key === '1' ? ['x', next] : [next];
  const usual = /^\d$/.test(key) ? asList : asObject;
  switch (shape) {
    case 'without it':
      return next;
    case 'in a list':
      return [usual];
    case 'in two lists':
      return [[usual]];
    case 'as an object':
      return asObject;
    case 'as a list':
      return asList;
    default:
      return usual;
  }
}

/**
 * Whether a lenient reader finds the name at the path. Such a reader takes a single value for a
 * list of one, and a list for each of its items. Such a reader also takes a value without parts for
 * the part itself.
 */
function catches(value: any, keys: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return value === 'eve';
  const [key, ...rest] = keys;
  const has = key !== undefined && Object.hasOwn(value, key);
  if (has && catches(value[key], rest)) return true;
  const isIndex = key !== undefined && /^\d$/.test(key);
  if (Array.isArray(value)) return !isIndex && value.some((item) => catches(item, keys));
  return isIndex && !has && catches(value, rest);
}
