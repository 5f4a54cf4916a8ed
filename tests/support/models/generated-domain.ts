import fc from 'fast-check';
import { z } from 'zod';
import { escapeSegment } from '#canon';
import {
  type Domain,
  defineDomain,
  each,
  escalate,
  type Invariant,
  type InvariantResult,
  invariant,
  pass,
  reject,
} from '#kernel';
import { digest } from './digest.ts';
import {
  figuresOf,
  groupAnswer,
  groupPlaces,
  groupRule,
  groupSpec,
  type IndexSpec,
  indexOf,
  indexSpec,
  naiveFigures,
} from './generated-groups.ts';
import { clone, isContainer } from './json.ts';

// Domains made of data. A test can check a state independently, on plain objects, without view,
// footprint or index.

/**
 * Keys with a different order as text, as pointers and in JavaScript, and one key that lists have
 * too.
 */
export const KEYS = ['a', 'length', 'a/b', 'a!', '10', '9'] as const;

export interface ShopState {
  n: { [key: string]: number };
  orders: { [key: string]: { user: string; total: number; tags?: string[] } };
  users: { [key: string]: { limit: number; spent: number } };
  /** Now by name, now a list. */
  deep: { [key: string]: { [key: string]: { v: number } } | { v: number }[] };
  log: number[];
  approvals: { [rule: string]: string };
}

const int = z.number().int();
const leaf = z.object({ v: int });
const stateSchema = z.object({
  n: z.record(z.string(), int),
  orders: z.record(
    z.string(),
    z.object({ user: z.string(), total: int, tags: z.array(z.string()).optional() }),
  ),
  users: z.record(z.string(), z.object({ limit: int, spent: int })),
  deep: z.record(z.string(), z.union([z.record(z.string(), leaf), z.array(leaf)])),
  log: z.array(int),
  approvals: z.record(z.string(), z.string()),
});
const key = fc.constantFrom(...KEYS);
const small = fc.integer({ min: -2, max: 4 });
const dictionary = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<{ [key: string]: T }> =>
  fc.dictionary(key, value, { maxKeys: 4 });

export const shopState: fc.Arbitrary<ShopState> = fc.record({
  n: dictionary(small),
  orders: dictionary(fc.record({ user: key, total: small })),
  users: dictionary(fc.record({ limit: small, spent: small })),
  deep: dictionary(
    fc.oneof(
      dictionary(fc.record({ v: small })),
      fc.array(fc.record({ v: small }), { maxLength: 3 }),
    ),
  ),
  log: fc.array(small, { maxLength: 3 }),
  approvals: fc.constant({}),
});

// ── rules ──

/** The behaviour of a rule on a state that it does not pass. */
export type Otherwise =
  | 'reject'
  | 'escalate'
  | 'throw'
  | 'nonsense'
  | 'promise'
  | 'mutate'
  | 'peek';

export interface RuleSpec {
  readonly kind: 'plain' | 'each' | 'unique' | 'sum' | 'count';
  /** For a plain rule what it reads; for the others the path of its members, alone. */
  readonly reads: readonly string[];
  readonly with: 'nothing' | 'user' | 'peer' | 'inside' | 'outside';
  readonly otherwise: Otherwise;
  /** Number of states in 16 that the rule does not pass. The digest of its reads selects them. */
  readonly refuses: number;
  readonly salt: number;
  /** Of rules over groups: by groups, and not all as one. */
  readonly per?: boolean;
  /** Some members can't be counted. */
  readonly odd?: boolean;
  /** The index of a plain rule. */
  readonly index?: IndexSpec;
}

const PLAIN_READS = [
  '/n',
  '/n/a',
  '/n/*',
  '/orders',
  '/orders/*/total',
  '/orders/a~1b',
  '/orders/*/tags',
  '/users/*/limit',
  '/users/length',
  '/deep/*/a',
  '/deep/10',
  '/deep/*/0',
  '/deep/a/length',
  '/log',
  '/approvals',
];
const MEMBERS = [
  '/n/*',
  '/orders/*',
  '/orders/*',
  '/users/*',
  '/deep/*',
  '/deep/*/*',
  '/log/*',
  '/orders/*/tags/*',
];

export const ruleSpec: fc.Arbitrary<RuleSpec> = fc.oneof(
  fc.record({
    kind: fc.constant('plain' as const),
    reads: fc.uniqueArray(fc.constantFrom(...PLAIN_READS), { maxLength: 3 }),
    with: fc.constant('nothing' as const),
    otherwise: fc.constantFrom<Otherwise[]>(
      'reject',
      'reject',
      'escalate',
      'escalate',
      'throw',
      'nonsense',
      'promise',
      'mutate',
      'peek',
    ),
    refuses: fc.integer({ min: 0, max: 4 }),
    salt: fc.nat(1000),
  }),
  fc.record({
    kind: fc.constant('each' as const),
    reads: fc.constantFrom(...MEMBERS).map((path) => [path]),
    with: fc.constantFrom<RuleSpec['with'][]>(
      'nothing',
      'user',
      'user',
      'user',
      'user',
      'peer',
      'peer',
      'peer',
      'peer',
      'inside',
      'outside',
    ),
    otherwise: fc.constantFrom<Otherwise[]>('reject', 'reject', 'escalate', 'throw', 'nonsense'),
    refuses: fc.integer({ min: 1, max: 4 }),
    salt: fc.nat(1000),
  }),
  fc.record({
    kind: fc.constant('plain' as const),
    reads: fc.uniqueArray(fc.constantFrom(...PLAIN_READS), { maxLength: 2 }),
    with: fc.constant('nothing' as const),
    otherwise: fc.constantFrom<Otherwise[]>('reject', 'reject', 'throw', 'nonsense'),
    refuses: fc.integer({ min: 0, max: 4 }),
    salt: fc.nat(1000),
    index: indexSpec,
  }),
  groupSpec,
);

/** A rule that often escalates, and passes after the approval. */
export const askingRule: fc.Arbitrary<RuleSpec> = fc.record({
  kind: fc.constant('plain' as const),
  reads: fc.uniqueArray(fc.constantFrom('/n', '/log', '/orders', '/users', '/deep/*/a'), {
    minLength: 2,
    maxLength: 3,
  }),
  with: fc.constant('nothing' as const),
  otherwise: fc.constant('escalate' as const),
  refuses: fc.integer({ min: 4, max: 10 }),
  salt: fc.nat(1000),
});

export function idOf(index: number): string {
  return `RULE_${index}`;
}

/** A rule's answer. For a throw or nonsense, `detail` is the start of the reported text. */
export type Answer =
  | { readonly result: 'pass' }
  | { readonly result: 'reject' | 'escalate'; readonly detail: string };

export interface NaiveFinding {
  readonly id: string;
  readonly keys: readonly string[];
  readonly answer: Exclude<Answer, { result: 'pass' }>;
}

/** The first rule that does not pass, judged on plain objects from the specification alone. */
export function naiveFirst(specs: readonly RuleSpec[], state: ShopState): NaiveFinding | undefined {
  return naiveAll(specs, state)[0];
}

/** All rules, and members of `each` rules, that do not pass, in order. */
export function naiveAll(specs: readonly RuleSpec[], state: ShopState): NaiveFinding[] {
  return specs.flatMap((spec, index) =>
    placesOf(spec, state).flatMap((keys): NaiveFinding[] => {
      const answer = naiveAnswer(spec, index, state, keys);
      return answer.result === 'pass' ? [] : [{ id: idOf(index), keys, answer }];
    }),
  );
}

function placesOf(spec: RuleSpec, state: ShopState): string[][] {
  if (spec.kind === 'plain') return [[]];
  if (spec.kind !== 'each') return groupPlaces(spec, state);
  const stars = (spec.reads[0] as string).split('/').slice(1);
  return expand(state, stars).map(({ keys }) => keys);
}

function naiveAnswer(
  spec: RuleSpec,
  index: number,
  state: ShopState,
  keys: readonly string[],
): Answer {
  if (spec.kind === 'plain') {
    const seen = readAll(spec.reads, state);
    if (spec.index !== undefined) {
      const figures = naiveFigures(spec, state);
      if ('thrown' in figures)
        return {
          result: 'reject',
          detail: `the check of the invariant failed: it threw: ${figures.thrown}`,
        };
      return refuses(spec, [seen, figures]) ? otherwise(spec) : { result: 'pass' };
    }
    if (!refuses(spec, seen)) return { result: 'pass' };
    if (spec.otherwise === 'escalate' && state.approvals[idOf(index)] === tagOf(spec, seen))
      return { result: 'pass' };
    return otherwise(spec);
  }
  if (spec.kind !== 'each') return groupAnswer(spec, state, keys);
  const path = fill(spec.reads[0] as string, keys);
  const member = at(state, path);
  const pointer = otherPointer(spec, member, keys);
  if (pointer !== undefined && spec.with === 'outside') {
    return {
      result: 'reject',
      detail: `the check of the invariant failed: ${pointer} is outside the footprint`,
    };
  }
  const other = pointer === undefined ? undefined : at(state, pointer);
  return refuses(spec, [member, other ?? null, keys]) ? otherwise(spec) : { result: 'pass' };
}

export function otherwise(spec: RuleSpec): Answer {
  switch (spec.otherwise) {
    case 'throw':
      return { result: 'reject', detail: 'the check of the invariant failed: it threw: no idea' };
    case 'promise':
      return { result: 'reject', detail: 'the invariant returned a promise; make it synchronous' };
    case 'nonsense':
      return { result: 'reject', detail: 'the invariant did not return pass, reject or escalate' };
    case 'mutate':
      return {
        result: 'reject',
        detail: 'the check of the invariant failed: /n is read-only here',
      };
    case 'peek':
      return {
        result: 'reject',
        detail: 'the check of the invariant failed: /secret is outside the footprint',
      };
    default:
      return { result: spec.otherwise, detail: `salt ${spec.salt}` };
  }
}

export function refuses(spec: RuleSpec, seen: unknown): boolean {
  return digest([spec.salt, seen]) >>> 28 < spec.refuses;
}

function tagOf(spec: RuleSpec, seen: unknown): string {
  return digest([spec.salt, 'approved', seen]).toString(16);
}

/** The values that a rule reads, without the paths that it may read only to check its approval. */
function readAll(reads: readonly string[], state: object): unknown[] {
  return reads.map((pointer) =>
    expand(state, pointer.split('/').slice(1)).map(({ keys, value }) => [keys, value ?? null]),
  );
}

/** All places that a pointer leads to, by its segments, with the keys that stand for its stars. */
export function expand(value: unknown, segments: readonly string[]): Place[] {
  const found: Place[] = [];
  follow(value, segments, 0, [], found);
  return found;
}

interface Place {
  readonly keys: string[];
  readonly value: unknown;
}

function follow(
  value: unknown,
  segments: readonly string[],
  at: number,
  keys: string[],
  found: Place[],
): void {
  const segment = segments[at];
  if (segment === undefined) {
    found.push({ keys, value });
    return;
  }
  if (!isContainer(value)) return;
  if (segment === '*') {
    for (const name of Object.keys(value).sort())
      follow((value as never)[name], segments, at + 1, [...keys, name], found);
    return;
  }
  const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  if (Array.isArray(value) && !/^(0|[1-9][0-9]*)$/.test(name)) return;
  if (Object.hasOwn(value, name)) follow((value as never)[name], segments, at + 1, keys, found);
}

export function fill(path: string, keys: readonly string[]): string {
  let star = 0;
  return path.replaceAll('*', () => escapeSegment(keys[star++] as string));
}

export function at(state: unknown, pointer: string): unknown {
  return expand(state, pointer.split('/').slice(1))[0]?.value;
}

/** The other place that a member is judged with. */
function otherPointer(
  spec: RuleSpec,
  member: unknown,
  keys: readonly string[],
): string | undefined {
  switch (spec.with) {
    case 'nothing':
      return undefined;
    case 'user': {
      const user = isContainer(member) ? (member as { user?: unknown }).user : undefined;
      return `/users/${escapeSegment(typeof user === 'string' ? user : (keys[0] as string))}`;
    }
    case 'peer':
      return `/n/${escapeSegment(KEYS[(KEYS.indexOf(keys[0] as never) + 1 + spec.salt) % KEYS.length] as string)}`;
    case 'inside':
      return insideOf(spec, keys[0] as string);
    case 'outside':
      return '/secret/place';
  }
}

/**
 * A path below a place that is sometimes a record and sometimes a list. Only the record can have a
 * field `length`.
 */
export function insideOf({ salt }: RuleSpec, key: string): string {
  return `/deep/${escapeSegment(key)}/${['length', '0', 'a'][salt % 3]}`;
}

/** Where a rule may look beside its members. */
export function othersOf(spec: RuleSpec): string[] {
  if (spec.with === 'nothing') return [];
  return spec.with === 'peer' ? ['/n/*'] : spec.with === 'inside' ? ['/deep'] : ['/users/*'];
}

function ruleOf(spec: RuleSpec, index: number, promises: Promise<unknown>[]): Invariant<any> {
  const id = idOf(index);
  if (spec.kind === 'each') {
    const path = spec.reads[0] as string;
    const options =
      spec.with === 'nothing'
        ? {}
        : {
            reads: othersOf(spec),
            with: (member: unknown, keys: readonly string[]) => ({
              other: otherPointer(spec, member, keys) as `/${string}`,
            }),
          };
    return each<any, string, any>(
      id,
      path,
      options,
      (member: unknown, { other }: any, keys: readonly string[]) =>
        refuses(spec, [member, other ?? null, keys]) ? answerOf(spec, undefined, promises) : pass,
    );
  }
  if (spec.kind !== 'plain')
    return groupRule(spec, id, (asked) => answerOf(asked, undefined, promises), pass);
  if (spec.index !== undefined) {
    const check = (state: any, index: any): InvariantResult =>
      refuses(spec, [readAll(spec.reads, state), figuresOf(index)])
        ? answerOf(spec, state, promises)
        : pass;
    return invariant<any, any>(id, spec.reads, check, { index: indexOf(spec) });
  }
  if (spec.otherwise !== 'escalate') {
    return invariant<any>(id, spec.reads, (state) =>
      refuses(spec, readAll(spec.reads, state)) ? answerOf(spec, state, promises) : pass,
    );
  }
  return invariant<any>(
    id,
    [...spec.reads, `/approvals/${id}`],
    (state) => {
      const seen = readAll(spec.reads, state);
      if (!refuses(spec, seen)) return pass;
      // Where the footprint begins at a deeper place, there may be no approvals to look into.
      return state.approvals?.[id] === tagOf(spec, seen) ? pass : escalate(`salt ${spec.salt}`);
    },
    {
      onApprove: (state) => {
        // The mark must not depend on a value that the mark itself changes.
        if (spec.reads.includes('/approvals')) return;
        state.approvals[id] = tagOf(spec, readAll(spec.reads, state));
      },
    },
  );
}

function answerOf(spec: RuleSpec, state: any, promises: Promise<unknown>[]): InvariantResult {
  switch (spec.otherwise) {
    case 'reject':
      return reject(`salt ${spec.salt}`);
    case 'escalate':
      return escalate(`salt ${spec.salt}`);
    case 'throw':
      throw new Error('no idea');
    case 'nonsense':
      return { result: 'maybe' } as never;
    case 'promise': {
      const later = Promise.reject(new Error('later'));
      promises.push(later);
      return later as never;
    }
    case 'mutate':
      state.n = {};
      return pass;
    case 'peek':
      return state.secret;
  }
}

// ── actions ──

/** One plain statement of an action. */
export interface Edit {
  readonly do:
    | 'setN'
    | 'addN'
    | 'deleteN'
    | 'setOrder'
    | 'setTotal'
    | 'tag'
    | 'untag'
    | 'deleteOrder'
    | 'setUser'
    | 'spend'
    | 'deleteUser'
    | 'setDeep'
    | 'listDeep'
    | 'deleteDeep'
    | 'clearDeep'
    | 'push'
    | 'pop'
    | 'swap'
    | 'copyOrders'
    | 'noop';
  readonly key: string;
  readonly other: string;
  readonly value: number;
}

export const edit: fc.Arbitrary<Edit> = fc.record({
  do: fc.constantFrom<Edit['do'][]>(
    'setN',
    'setN',
    'addN',
    'deleteN',
    'setOrder',
    'setOrder',
    'setOrder',
    'setTotal',
    'tag',
    'untag',
    'deleteOrder',
    'setUser',
    'setUser',
    'setUser',
    'spend',
    'spend',
    'deleteUser',
    'setDeep',
    'listDeep',
    'listDeep',
    'deleteDeep',
    'clearDeep',
    'push',
    'pop',
    'swap',
    'copyOrders',
    'noop',
  ),
  key,
  other: key,
  value: small,
});

/** Runs on a draft and on plain objects alike. Throws where there is nothing to work on. */
export function runEdit(state: ShopState, { do: what, key: name, other, value }: Edit): void {
  switch (what) {
    case 'setN':
      state.n[name] = value;
      break;
    case 'addN':
      state.n[name] = (state.n[name] ?? 0) + value;
      break;
    case 'deleteN':
      delete state.n[name];
      break;
    case 'setOrder':
      state.orders[name] = { user: other, total: value };
      break;
    case 'setTotal':
      if (state.orders[name] !== undefined) state.orders[name].total = value;
      else if (value > 2) throw new Error(`no order ${name}`);
      break;
    case 'tag': {
      const order = state.orders[name];
      if (order === undefined) break;
      order.tags = [...(order.tags ?? []), other];
      break;
    }
    case 'untag':
      state.orders[name]?.tags?.shift();
      break;
    case 'deleteOrder':
      delete state.orders[name];
      break;
    case 'setUser':
      state.users[name] = { limit: value, spent: 0 };
      break;
    case 'spend': {
      const user = state.users[name];
      if (user !== undefined) user.spent += value;
      else if (value > 2) throw new Error(`no user ${name}`);
      break;
    }
    case 'deleteUser':
      delete state.users[name];
      break;
    case 'setDeep': {
      if (state.deep[name] === undefined || Array.isArray(state.deep[name])) state.deep[name] = {};
      (state.deep[name] as Record<string, { v: number }>)[other] = { v: value };
      break;
    }
    case 'listDeep': {
      const list = state.deep[name];
      if (Array.isArray(list)) list.push({ v: value });
      else state.deep[name] = Array.from({ length: Math.abs(value) }, () => ({ v: value }));
      break;
    }
    case 'deleteDeep': {
      const deep = state.deep[name];
      if (Array.isArray(deep)) deep.pop();
      else delete deep?.[other];
      break;
    }
    case 'clearDeep':
      if (value > 0) delete state.deep[name];
      else state.deep = {};
      break;
    case 'push':
      state.log.push(value);
      break;
    case 'pop':
      state.log.pop();
      break;
    case 'swap': {
      const { [name]: left, [other]: right } = state.users;
      if (left === undefined || right === undefined) break;
      state.users[name] = right;
      state.users[other] = left;
      break;
    }
    case 'copyOrders':
      state.orders = { ...state.orders, [name]: { user: other, total: value } };
      break;
    case 'noop':
      break;
  }
}

/** Faults and attacks of a domain's author, or of an attacker with access to the domain's code. */
export type Evil =
  | 'nothing'
  | 'throws'
  | 'throws nobody knows what'
  | 'throws half a character'
  | 'writes outside'
  | 'reads outside'
  | 'deletes outside'
  | 'returns a promise'
  | 'is async and fails'
  | 'returns a thenable'
  | 'writes NaN'
  | 'writes a date'
  | 'writes undefined'
  | 'writes another type'
  | 'writes an unknown member'
  | 'removes what must be there'
  | 'leaves a gap'
  | 'keeps the draft'
  | 'writes to a kept draft'
  | 'changes its arguments'
  | 'changes its observations'
  | 'changes its role'
  | 'puts its arguments into the state';

export const EVILS: readonly Evil[] = [
  'throws',
  'throws nobody knows what',
  'throws half a character',
  'writes outside',
  'reads outside',
  'deletes outside',
  'returns a promise',
  'is async and fails',
  'returns a thenable',
  'writes NaN',
  'writes a date',
  'writes undefined',
  'writes another type',
  'writes an unknown member',
  'removes what must be there',
  'leaves a gap',
  'keeps the draft',
  'writes to a kept draft',
  'changes its arguments',
  'changes its observations',
  'changes its role',
  'puts its arguments into the state',
];

/** The reason of the refusal for each fault. Undefined: the action runs like any other. */
export const REFUSED: { readonly [E in Evil]?: string } = {
  throws: 'precondition_failed',
  'throws nobody knows what': 'precondition_failed',
  'throws half a character': 'precondition_failed',
  'writes outside': 'invalid_authority',
  'reads outside': 'invalid_authority',
  'deletes outside': 'invalid_authority',
  'returns a promise': 'type_mismatch',
  'is async and fails': 'type_mismatch',
  'returns a thenable': 'type_mismatch',
  'writes NaN': 'type_mismatch',
  'writes a date': 'type_mismatch',
  'writes undefined': 'type_mismatch',
  'writes another type': 'type_mismatch',
  'writes an unknown member': 'type_mismatch',
  'removes what must be there': 'type_mismatch',
  'leaves a gap': 'type_mismatch',
  'changes its arguments': 'precondition_failed',
  'changes its observations': 'precondition_failed',
  'changes its role': 'precondition_failed',
};

/** Drafts that got away, of one domain. */
export interface Loot {
  readonly drafts: any[];
  /** Writes to all drafts, and ignores the errors. */
  plunder(): void;
}

function lootBag(): Loot {
  const drafts: any[] = [];
  return {
    drafts,
    plunder: () => {
      for (const draft of drafts) {
        for (const write of [
          () => (draft.n.a = 99),
          () => (draft.n = { stolen: 1 }),
          () => draft.log.push(99),
          () => delete draft.users.a,
          () => Object.assign(draft.orders, { b: { user: 'thief', total: 1 } }),
        ]) {
          try {
            write();
          } catch {
            // An ended draft refuses the write. The attacker ignores that, and the state shows
            // whether it did.
          }
        }
      }
    },
  };
}

function doEvil(what: Evil, state: any, args: any, context: any, loot: Loot): unknown {
  switch (what) {
    case 'throws':
      throw new Error('it can’t be done');
    case 'throws nobody knows what':
      throw Object.create(null);
    case 'throws half a character':
      throw new Error('half: \ud83d');
    case 'writes outside':
      state.secret = 1;
      return undefined;
    case 'reads outside':
      return state.secret.x;
    case 'deletes outside':
      delete state.secret;
      return undefined;
    case 'returns a promise':
      return Promise.resolve().then(() => {
        state.n.late = 1;
      });
    case 'is async and fails':
      return (async () => {
        await undefined;
        state.n = {};
      })();
    case 'returns a thenable':
      // biome-ignore lint/suspicious/noThenProperty: that is the point
      return { then: () => undefined };
    case 'writes NaN':
      state.n.a = Number.NaN;
      return undefined;
    case 'writes a date':
      state.n.a = new Date(0);
      return undefined;
    case 'writes undefined':
      state.n.a = undefined;
      return undefined;
    case 'writes another type':
      state.n.a = 'one';
      return undefined;
    case 'writes an unknown member':
      state.users.a = { limit: 1, spent: 1, admin: true };
      return undefined;
    case 'removes what must be there':
      delete state.log;
      return undefined;
    case 'leaves a gap':
      state.log.push(1);
      delete state.log[0];
      return undefined;
    case 'keeps the draft':
      loot.drafts.push(state, state.n, state.log);
      return undefined;
    case 'writes to a kept draft':
      loot.plunder();
      return undefined;
    case 'changes its arguments':
      args.edits.push({ do: 'noop', key: 'a', other: 'a', value: 0 });
      return undefined;
    case 'changes its observations':
      context.observations[0].value.seen = 'something else';
      return undefined;
    case 'changes its role':
      context.role.name = 'someone else';
      return undefined;
    case 'puts its arguments into the state':
      state.orders.mine = args.order;
      return undefined;
    case 'nothing':
      return undefined;
  }
}

export interface EditArgs {
  readonly edits: readonly Edit[];
  readonly evil: Evil;
  readonly order: { readonly user: string; readonly total: number };
}

export interface Generated {
  readonly domain: Domain<any, any>;
  readonly specs: readonly RuleSpec[];
  readonly loot: Loot;
  /** The promises that asynchronous rules left. */
  readonly promises: readonly Promise<unknown>[];
}

const argsSchema = z.object({
  edits: z.array(z.object({ do: z.string(), key: z.string(), other: z.string(), value: int })),
  evil: z.string(),
  order: z.object({ user: z.string(), total: int }),
});

/**
 * A domain with these rules, one role that may do everything except `approvals`, and one role that
 * works for one user.
 */
export function generatedDomain(
  specs: readonly RuleSpec[],
  freeze: 'world' | 'footprint' | 'reserve' = 'world',
): Generated {
  const loot = lootBag();
  const promises: Promise<unknown>[] = [];
  const apply = (state: any, args: any, context: any): unknown => {
    for (const one of args.edits) runEdit(state, one);
    return doEvil(args.evil, state, args, context, loot);
  };
  const domain = defineDomain<any, any>({
    name: 'generated',
    version: '1',
    state: stateSchema,
    processes: {
      edit: { writes: ['/n', '/orders', '/users', '/deep', '/log'] },
      count: { reads: ['/users/{user}'], writes: ['/n/{user}'] },
      note: { writes: ['/log/-'] },
      own: { writes: ['/orders/{user}', '/users/{user}'] },
    },
    roles: {
      worker: { processes: ['edit'] },
      clerk: { params: ['user'], processes: ['count'] },
      logger: { processes: ['note'] },
      owner: { params: ['user'], processes: ['own'] },
    },
    actions: {
      edit: { process: 'edit', args: argsSchema, apply: apply as never },
      count: {
        process: 'count',
        args: int,
        apply: (state: any, by: number, { role }: any) => {
          const { limit } = state.users[role.user] ?? { limit: 0 };
          state.n[role.user] = (state.n[role.user] ?? 0) + by + limit;
        },
      },
      note: {
        process: 'note',
        args: int,
        apply: (state: any, line: number) => {
          state.log.push(line);
        },
      },
      own: {
        process: 'own',
        args: int,
        apply: (state: any, total: number, { role }: any) => {
          state.orders[role.user] = { user: role.user, total };
          state.users[role.user] = { limit: total, spent: 0 };
        },
      },
    },
    // The rest of the domain is the rules.
    invariants: specs.map((spec, index) => ({
      ...ruleOf(spec, index, promises),
      overridable: true,
    })),
    counselors: { doctor: (principal: string) => principal.startsWith('doc') },
    freeze,
  });
  return { domain, specs, loot, promises };
}

/** The state that an action returns, on plain objects. Undefined if the action throws. */
export function naiveResult(state: ShopState, action: NaiveAction): ShopState | undefined {
  const result = clone(state);
  try {
    if (action.name === 'edit') {
      for (const one of action.edits) runEdit(result, one);
    } else if (action.name === 'note') result.log.push(action.by);
    else if (action.name === 'own') {
      result.orders[action.user] = { user: action.user, total: action.by };
      result.users[action.user] = { limit: action.by, spent: 0 };
    } else {
      const { limit } = result.users[action.user] ?? { limit: 0 };
      result.n[action.user] = (result.n[action.user] ?? 0) + action.by + limit;
    }
  } catch {
    return undefined;
  }
  // The state has copies: two edits never share one object.
  return clone(result);
}

export type NaiveAction =
  | { readonly name: 'edit'; readonly edits: readonly Edit[] }
  | { readonly name: 'count' | 'own'; readonly user: string; readonly by: number }
  | { readonly name: 'note'; readonly by: number };

export const naiveAction: fc.Arbitrary<NaiveAction> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constant('edit' as const),
      edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom('count' as const, 'own' as const),
      user: key,
      by: small,
    }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('note' as const), by: small }) },
);

/** The action as an intent. */
export function intentOf(
  action: NaiveAction,
  evil: Evil = 'nothing',
): { action: string; role: { name: string; params: Record<string, string> }; args: any } {
  switch (action.name) {
    case 'edit':
      return {
        action: 'edit',
        role: { name: 'worker', params: {} },
        args: { edits: clone(action.edits), evil, order: { user: 'a', total: 1 } },
      };
    case 'count':
      return {
        action: 'count',
        role: { name: 'clerk', params: { user: action.user } },
        args: action.by,
      };
    case 'own':
      return {
        action: 'own',
        role: { name: 'owner', params: { user: action.user } },
        args: action.by,
      };
    case 'note':
      return { action: 'note', role: { name: 'logger', params: {} }, args: action.by };
  }
}

/**
 * The pointers that an action may read or write, and the pointers that it may write, with `*` for
 * any key.
 */
export function touchedBy(action: NaiveAction): {
  readonly touched: readonly string[];
  readonly written: readonly string[];
} {
  const user = 'user' in action ? escapeSegment(action.user) : '';
  const written = {
    edit: ['/n', '/orders', '/users', '/deep', '/log'],
    count: [`/n/${user}`],
    note: ['/log'],
    own: [`/orders/${user}`, `/users/${user}`],
  }[action.name];
  return { written, touched: action.name === 'count' ? [...written, `/users/${user}`] : written };
}

/** Everything that a rule may look at. */
export function readBy(spec: RuleSpec, index: number): readonly string[] {
  if (spec.kind !== 'plain') return [...spec.reads, ...othersOf(spec)];
  if (spec.index !== undefined) return [...spec.reads, spec.index.path];
  return spec.otherwise === 'escalate' ? [...spec.reads, `/approvals/${idOf(index)}`] : spec.reads;
}

/** Whether some place lies under both. */
export function meet(left: string, right: string): boolean {
  const [a, b] = [left.split('/'), right.split('/')];
  return a
    .slice(0, b.length)
    .every((segment, i) => segment === '*' || b[i] === '*' || segment === b[i]);
}

/** The words of a finding, as an entry has them. */
export function detailOf(
  { keys, answer }: NaiveFinding,
  specs: readonly RuleSpec[],
  id: string,
): string {
  const spec = specs[Number(id.slice('RULE_'.length))] as RuleSpec;
  return spec.kind !== 'each'
    ? answer.detail
    : `${fill(spec.reads[0] as string, keys)}: ${answer.detail}`;
}

/** The first answer of every rule, in order: the detection vector. */
export function naiveVector(
  specs: readonly RuleSpec[],
  state: ShopState,
): { invariant_id: string; result: string; detail?: string }[] {
  const findings = naiveAll(specs, state);
  return specs.map((_, index) => {
    const found = findings.find(({ id }) => id === idOf(index));
    if (found === undefined) return { invariant_id: idOf(index), result: 'pass' };
    return {
      invariant_id: found.id,
      result: found.answer.result,
      detail: detailOf(found, specs, found.id),
    };
  });
}

/** The state with the mark of an escalated rule's approval. */
export function naiveMark(specs: readonly RuleSpec[], state: ShopState, id: string): ShopState {
  const spec = specs[Number(id.slice('RULE_'.length))] as RuleSpec;
  if (spec.kind !== 'plain' || spec.reads.includes('/approvals')) return state;
  return {
    ...state,
    approvals: { ...state.approvals, [id]: tagOf(spec, readAll(spec.reads, state)) },
  };
}
