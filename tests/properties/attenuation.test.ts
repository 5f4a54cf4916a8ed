/**
 * A child writ is never wider than its parent, on any axis, down any tree. For any input, the
 * functions that make writs return a writ or throw an `AuthorityError`. An oracle that shares no
 * code with them states the permissions of a writ. The oracle enumerates a small universe of uses,
 * with its own matcher.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AuthorityError,
  type Axis,
  attenuate,
  createWritVerifier,
  delegateWrit,
  issueWrit,
  parseWrit,
  type Writ,
  widening,
  writId,
} from '#authority';
import { addMicros } from '#canon';
import { cases } from '../support/cases.ts';
import { keysOf } from '../support/ledger/rows.ts';

type Body = Omit<Writ, 'signature'>;

// ── the universe, and the uses that a writ permits in it ──

const START = '2026-01-01T00:00:00.000000Z';
const NAMES = [
  'a',
  'a:b',
  'a:b:c',
  'a:/b',
  'a:/b/c',
  'a:/b/c/d',
  'b',
  'b:a',
  'c',
  'a:/bc',
  'ab',
  'a:b:/c',
];
const PATTERNS = [
  ...NAMES,
  ...[
    '*',
    '**',
    'a:*',
    'a:**',
    'a:/*',
    'a:/**',
    'a:/b/*',
    'a:/b/**',
    'a:b:**',
    '*:a',
    '*:*',
    'b:**',
    'a:*:c',
    'a:/*/c',
  ],
];
const TIMES = Array.from({ length: 8 }, (_, n) => addMicros(START, n));
const TRAJECTORIES = ['t1', 't2'];
const UNITS = ['calls', 'usd'];
const AMOUNT_MAX = 4;

/** A name in steps, each with the separator that it stands behind. */
function stepsOf(text: string): string[] {
  return text.split(':').flatMap((part) =>
    part.startsWith('/')
      ? part
          .slice(1)
          .split('/')
          .map((step) => `/${step}`)
      : [`:${part}`],
  );
}

/**
 * Matches by search. A star takes one step of its kind. Two stars at the end take all remaining
 * steps, if these begin with that kind.
 */
function matches([step, ...more]: readonly string[], name: readonly string[]): boolean {
  const [first, ...rest] = name;
  if (step === undefined || first === undefined) return step === undefined && first === undefined;
  if (step === ':**') return true;
  if (step === '/**')
    return (
      first.startsWith('/') && name.every((part) => part.startsWith('/') || name.indexOf(part) > 0)
    );
  if (step !== first && !(step === `${first[0]}*`)) return false;
  return matches(more, rest);
}

/** The names that a list of patterns stands for, a bit each. */
const masks = new Map(
  PATTERNS.map((pattern) => [
    pattern,
    NAMES.reduce(
      (mask, name, n) => mask | (matches(stepsOf(pattern), stepsOf(name)) ? 1 << n : 0),
      0,
    ),
  ]),
);
const maskOf = (patterns: readonly string[] = []): number =>
  patterns.reduce((mask, pattern) => mask | (masks.get(pattern) as number), 0);
const bits = (all: readonly unknown[], holds: (item: any, n: number) => boolean): number =>
  all.reduce<number>((mask, item, n) => mask | (holds(item, n) ? 1 << n : 0), 0);

/** The permissions on each axis separately. A use is permitted when every axis permits it. */
interface Permitted {
  readonly actions: number;
  /** Actions that no person has to approve. */
  readonly freely: number;
  readonly scopes: number;
  readonly times: number;
  readonly trajectories: number;
  readonly amounts: number;
  readonly levels: number;
}

function permittedBy(writ: Body): Permitted {
  const {
    actions,
    scopes,
    budget = {},
    require_approval,
    trajectory,
    not_before,
    expires,
    max_depth,
  } = writ;
  const granted = maskOf(actions);
  return {
    actions: granted,
    freely: granted & ~maskOf(require_approval),
    scopes: maskOf(scopes),
    times: bits(TIMES, (at) => at >= not_before && at < expires),
    trajectories: bits(TRAJECTORIES, (name) => trajectory === undefined || trajectory === name),
    amounts: bits(
      UNITS.flatMap((unit) => Array.from({ length: AMOUNT_MAX }, (_, n) => [unit, n + 1] as const)),
      ([unit, amount]) => amount <= (budget[unit] ?? 0),
    ),
    levels: (1 << max_depth) - 1,
  };
}

function isWithin(narrow: Permitted, wide: Permitted): boolean {
  return (Object.keys(narrow) as (keyof Permitted)[]).every(
    (axis) => (narrow[axis] & ~wide[axis]) === 0,
  );
}

/** Every use: action, scope, time, trajectory, cost, and whether an approver approves it. */
function* usesOf(writ: Body): Iterable<string> {
  const { actions, freely, scopes, times, trajectories, amounts } = permittedBy(writ);
  for (const [a, action] of NAMES.entries())
    for (const [s, scope] of NAMES.entries())
      for (const at of TIMES.keys())
        for (const t of TRAJECTORIES.keys())
          for (let cost = 0; cost < UNITS.length * AMOUNT_MAX; cost++)
            for (const isApproved of [true, false]) {
              const granted =
                (isApproved ? actions : freely) & (1 << a) &&
                scopes & (1 << s) &&
                times & (1 << at);
              if (granted && trajectories & (1 << t) && amounts & (1 << cost))
                yield `${action} ${scope} ${at} ${t} ${cost} ${isApproved}`;
            }
}

// ── trees ──

const patterns = fc.array(fc.constantFrom(...PATTERNS), { maxLength: 3 });
const amounts = fc.dictionary(fc.constantFrom(...UNITS), fc.nat(AMOUNT_MAX), { maxKeys: 2 });
const moment = fc.constantFrom(...TIMES);
const AXES: { readonly [A in Axis]: fc.Arbitrary<Partial<Body>> } = {
  actions: fc.record({ actions: patterns }),
  scopes: fc.record({ scopes: patterns }),
  require_approval: fc.record({ require_approval: patterns }),
  budget: fc.record({ budget: amounts }),
  not_before: fc.record({ not_before: moment }),
  expires: fc.record({ expires: moment }),
  max_depth: fc.record({ max_depth: fc.nat(8) }),
  trajectory: fc.record({ trajectory: fc.constantFrom(...TRAJECTORIES) }),
  issuer: fc.record({ issuer: fc.constantFrom('e'.repeat(64), 'd'.repeat(64)) }),
  parent: fc.record({ parent: fc.constantFrom('0'.repeat(64), null) }),
};
const own = (['issuer', 'parent'] as const).map((axis) => ({ weight: 1, arbitrary: AXES[axis] }));
const others = (Object.keys(AXES) as Axis[])
  .filter((axis) => axis !== 'issuer' && axis !== 'parent')
  .map((axis) => ({ weight: 4, arbitrary: AXES[axis] }));
const changes = fc
  .array(fc.oneof(...others, ...own), { minLength: 1, maxLength: 2 })
  .map((some) => Object.assign({}, ...some) as Partial<Body>);
/**
 * A root, and children. Each child has its parent, counted down the tree, and its changes, mostly
 * on one or two axes.
 */
const tree = fc.tuple(
  fc.record({
    actions: patterns,
    scopes: patterns,
    require_approval: patterns,
    budget: amounts,
    isBound: fc.boolean(),
  }),
  fc.array(fc.record({ of: fc.nat(3), changes }), { minLength: 1, maxLength: 4 }),
);

const keys = Array.from({ length: 10 }, (_, level) => keysOf(100 + level));

/** Not signed: that is another matter, and would take most of the time. */
function unsigned(body: Body): Writ {
  return parseWrit({ ...body, signature: '0'.repeat(128) });
}

function rootOf({
  isBound,
  budget,
  ...lists
}: typeof tree extends fc.Arbitrary<[infer R, unknown]> ? R : never): Body {
  return {
    v: 1,
    issuer: keys[0]!.publicKey,
    subject: keys[1]!.publicKey,
    parent: null,
    ...(isBound ? { trajectory: 't1', budget } : { budget: {} }),
    ...lists,
    actions: [...lists.actions, 'a:**'],
    not_before: TIMES[1] as string,
    expires: TIMES[6] as string,
    max_depth: 5,
    nonce: 'root',
  };
}

interface Node {
  readonly writ: Writ;
  readonly level: number;
  readonly line: readonly Permitted[];
}

/** A child as its parent's holder would write it, whether it is narrower or not. */
function childOf({ writ, level }: Node, changed: Partial<Body>): Body {
  const { signature: _none, ...inherited } = writ;
  const subject = keys[level + 2]!.publicKey;
  const max_depth = Math.max(0, writ.max_depth - 1);
  return {
    ...inherited,
    issuer: writ.subject,
    subject,
    parent: writId(writ),
    max_depth,
    nonce: `n${level}`,
    ...changed,
  };
}

/** Returns undefined for a malformed writ: it is refused before the attenuation check. */
function formed(body: Body): Writ | undefined {
  try {
    return unsigned(body);
  } catch (error) {
    if (error instanceof AuthorityError) return undefined;
    throw error;
  }
}

test('100,000 trees: children permit only as ancestors do; forgeries fail', () => {
  const refused = new Map<string, number>();
  const accepted = new Map<string, number>();
  let trees = 0;
  const count = (of: Map<string, number>, axes: readonly string[]): void => {
    for (const axis of axes) of.set(axis, (of.get(axis) ?? 0) + 1);
  };
  const run = fc.property(tree, ([first, steps]) => {
    trees++;
    const root = rootOf(first);
    const nodes: Node[] = [{ writ: unsigned(root), level: 0, line: [permittedBy(root)] }];
    for (const { of, changes: changed } of steps) {
      const above = nodes[of % nodes.length] as Node;
      const body = childOf(above, changed);
      const wider = widening(above.writ, body);
      const permitted = permittedBy(body);
      if (wider !== undefined) {
        count(refused, [wider.axis]);
        continue;
      }
      // Outside of `expect`: that takes longer than all the rest.
      if (!above.line.every((wide) => isWithin(permitted, wide)))
        throw new Error(`wider: ${JSON.stringify(body)}`);
      if ('issuer' in changed || 'parent' in changed)
        throw new Error(`not a child: ${JSON.stringify(body)}`);
      if (body.max_depth >= above.writ.max_depth)
        throw new Error(`as deep as its parent: ${JSON.stringify(body)}`);
      count(accepted, Object.keys(changed));
      const writ = formed(body);
      if (writ !== undefined)
        nodes.push({ writ, level: above.level + 1, line: [permitted, ...above.line] });
    }
    if (trees % 500 > 0) return;
    for (const { writ } of nodes.slice(1)) {
      const parent = nodes.find((node) => writId(node.writ) === writ.parent) as Node;
      const above = new Set(usesOf(parent.writ));
      for (const use of usesOf(writ))
        if (!above.has(use)) throw new Error(`permits ${use}: ${JSON.stringify(writ)}`);
    }
  });
  fc.assert(run, { numRuns: cases(100_000) });
  for (const axis of Object.keys(AXES)) {
    expect([axis, (refused.get(axis) ?? 0) > cases(500)]).toEqual([axis, true]);
    const isKept = axis !== 'issuer' && axis !== 'parent';
    expect([axis, (accepted.get(axis) ?? 0) > cases(500)]).toEqual([axis, isKept]);
  }
});

test('a child narrower on every axis is accepted if the parent has one pattern', () => {
  let narrower = 0;
  for (const [wide, narrow] of PATTERNS.flatMap((wide) =>
    PATTERNS.map((narrow) => [wide, narrow] as const),
  )) {
    const root = rootOf({
      actions: [],
      scopes: [wide],
      require_approval: [],
      budget: {},
      isBound: false,
    });
    const above: Node = { writ: unsigned(root), level: 0, line: [] };
    const body = childOf(above, { scopes: [narrow] });
    // The universe has a name that distinguishes any two of these patterns, except longer patterns.
    const isNarrower = wide === narrow || wide === '**' || NAMES.includes(narrow);
    if (!isNarrower || !isWithin(permittedBy(body), permittedBy(root))) continue;
    narrower++;
    expect(widening(above.writ, body), `${narrow} within ${wide}`).toBeUndefined();
  }
  expect(narrower).toBeGreaterThan(50);
});

test('in a signed chain the verifier allows a use exactly if every link does', () => {
  const verifier = createWritVerifier({ anchors: [keys[0]!.publicKey] });
  const use = fc.record({
    action: fc.nat(NAMES.length - 1),
    scope: fc.nat(NAMES.length - 1),
    at: fc.nat(TIMES.length - 1),
    trajectory: fc.nat(TRAJECTORIES.length - 1),
  });
  let [allowed, links] = [0, 0];
  const run = fc.property(
    tree,
    fc.array(use, { minLength: 20, maxLength: 20 }),
    ([first, steps], uses) => {
      const { v: _v, parent: _p, ...grant } = rootOf(first);
      let line: Writ[] = [issueWrit(grant, keys[0]!.privateKey)];
      for (const { changes: changed } of steps) {
        const { issuer: _i, parent: _p, ...terms } = changed;
        const subject = keys[line.length + 1]!.publicKey;
        const made = attempt(() =>
          attenuate(
            line[0] as Writ,
            { nonce: 'n', ...(terms as object), subject },
            keys[line.length]!.privateKey,
          ),
        );
        if (made === undefined) continue;
        line = [made, ...line];
        links++;
      }
      const [writ, ...chain] = line as [Writ, ...Writ[]];
      const permitted = line.map(permittedBy);
      const every = (axis: keyof Permitted, n: number): boolean =>
        permitted.every((of) => (of[axis] & (1 << n)) !== 0);
      for (const { action, scope, at, trajectory } of uses) {
        const answer = verifier.check({
          writ,
          chain,
          principal: writ.subject,
          trajectory: TRAJECTORIES[trajectory] as string,
          at: TIMES[at] as string,
          action: NAMES[action] as string,
          scopes: [NAMES[scope] as string],
          revoked: new Set(),
        });
        const granted = every('actions', action) && every('scopes', scope) && every('times', at);
        expect(answer.ok).toBe(granted && every('trajectories', trajectory));
        if (!answer.ok) continue;
        allowed++;
        expect(answer.requiresApproval).toBe(!every('freely', action));
      }
    },
  );
  fc.assert(run, { numRuns: cases(1_000) });
  expect(Math.min(allowed, links)).toBeGreaterThan(cases(200));
});

// ── junk ──

function attempt(step: () => Writ): Writ | undefined {
  try {
    return step();
  } catch (error) {
    if (error instanceof AuthorityError) return undefined;
    throw error;
  }
}

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
  key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toJSON', 'budget')),
} as fc.ObjectConstraints);
/** An object that throws on every inspection. */
const trap = new Proxy(
  {},
  {
    get: () => {
      throw new TypeError('do not look');
    },
    ownKeys: () => {
      throw new TypeError('do not look');
    },
  },
);
const junk = fc.oneof(
  { weight: 6, arbitrary: anything },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      trap,
      Symbol('x'),
      () => 1,
      '\ud800',
      '\u0000',
      -0,
      Number.NaN,
      Number.POSITIVE_INFINITY,
    ),
  },
);
const root = issueWrit(
  (({ v: _v, parent: _p, ...grant }) => grant)(
    rootOf({
      actions: [],
      scopes: ['**'],
      require_approval: [],
      budget: { usd: 3 },
      isBound: true,
    }),
  ),
  keys[0]!.privateKey,
);
const names = [...Object.keys(root), 'unknown', '__proto__'];
/** A writ, or what is asked of a child, with some of its members made into junk. */
const spoilt = fc
  .array(fc.tuple(fc.constantFrom(...names), junk), { maxLength: 3 })
  .map((spoils) => ({ ...root, ...Object.fromEntries(spoils) }) as unknown);
const given = fc.oneof(junk, spoilt);
const key = fc.oneof(
  junk,
  fc.constantFrom<unknown>(
    keys[0]!.privateKey,
    keys[1]!.privateKey,
    'f'.repeat(64),
    keys[0]!.publicKey,
  ),
);

test('with junk in any argument, writ functions throw only AuthorityError', () => {
  let made = 0;
  const run = fc.property(given, given, key, (one, other, privateKey) => {
    for (const step of [
      () => issueWrit(one as never, privateKey as never),
      () => attenuate(one as never, other as never, privateKey as never),
      () => attenuate(root, other as never, privateKey as never),
      () => delegateWrit(one as never, other as never, privateKey as never),
      () => delegateWrit(root, other as never, privateKey as never),
      () => parseWrit(one),
    ])
      if (attempt(step) !== undefined) made++;
  });
  fc.assert(run, { numRuns: cases(10_000) });
  expect(made).toBeGreaterThan(cases(100));
});
