import fc from 'fast-check';
import { canonicalize } from '#canon';
import {
  type Container,
  clone,
  isContainer,
  jsonValue,
  oddKey,
  setMember,
  type Value,
} from './json.ts';

/** Where a mutation acts: from the root, the n-th container below, and so on. */
type Walk = readonly number[];

/** One statement that domain code might write. */
export type Mutation =
  | { readonly do: 'set'; readonly at: Walk; readonly key: string; readonly value: Value }
  | { readonly do: 'delete'; readonly at: Walk; readonly key: string }
  | {
      readonly do: 'deleteNth' | 'pop' | 'shift' | 'sort' | 'reverse';
      readonly at: Walk;
      readonly n: number;
    }
  | { readonly do: 'push' | 'unshift'; readonly at: Walk; readonly values: readonly Value[] }
  | {
      readonly do: 'splice';
      readonly at: Walk;
      readonly n: number;
      readonly count: number;
      readonly values: readonly Value[];
    }
  | { readonly do: 'truncate' | 'hold'; readonly at: Walk; readonly n: number }
  | {
      readonly do: 'fill' | 'heldSet';
      readonly at: Walk;
      readonly n: number;
      readonly value: Value;
    }
  | {
      readonly do: 'assign' | 'assignInside' | 'spread' | 'copyOver';
      readonly at: Walk;
      readonly key: string;
      readonly from: Walk;
    }
  | { readonly do: 'assignHeld'; readonly at: Walk; readonly key: string; readonly n: number }
  | { readonly do: 'heldDelete'; readonly at: Walk; readonly key: string; readonly n: number };

const walk = fc.array(fc.nat(5), { maxLength: 4 });
const small = fc.nat(5);
const values = fc.array(jsonValue, { maxLength: 3 });

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ do: fc.constant('set' as const), at: walk, key: oddKey, value: jsonValue }),
  fc.record({ do: fc.constant('delete' as const), at: walk, key: oddKey }),
  fc.record({
    do: fc.constantFrom('deleteNth', 'pop', 'shift', 'sort', 'reverse'),
    at: walk,
    n: small,
  }),
  fc.record({ do: fc.constantFrom('push', 'unshift'), at: walk, values }),
  fc.record({ do: fc.constant('splice' as const), at: walk, n: small, count: small, values }),
  fc.record({ do: fc.constantFrom('truncate', 'hold'), at: walk, n: small }),
  fc.record({ do: fc.constantFrom('fill', 'heldSet'), at: walk, n: small, value: jsonValue }),
  fc.record({
    do: fc.constantFrom('assign', 'assignInside', 'spread', 'copyOver'),
    at: walk,
    key: oddKey,
    from: walk,
  }),
  fc.record({ do: fc.constant('assignHeld' as const), at: walk, key: oddKey, n: small }),
  fc.record({ do: fc.constant('heldDelete' as const), at: walk, key: oddKey, n: small }),
);

export const program: fc.Arbitrary<Mutation[]> = fc.array(mutation, { maxLength: 14 });

/** Statements run on anything that behaves like JSON: a draft, as domain code would write them. */
export function runOnDraft(root: Container, statements: readonly Mutation[]): void {
  const held: Container[] = [];
  for (const statement of statements) {
    const at = find(root, statement.at);
    switch (statement.do) {
      case 'set':
        assign(at, statement.key, statement.value);
        break;
      case 'delete':
        if (!Array.isArray(at)) delete at[statement.key];
        break;
      case 'deleteNth':
        if (!Array.isArray(at)) delete at[nth(Object.keys(at), statement.n) as string];
        break;
      case 'pop':
      case 'shift':
      case 'reverse':
        if (Array.isArray(at)) at[statement.do]();
        break;
      case 'sort':
        if (Array.isArray(at)) at.sort(byText);
        break;
      case 'push':
      case 'unshift':
        if (Array.isArray(at)) at[statement.do](...statement.values);
        break;
      case 'splice':
        if (Array.isArray(at)) at.splice(statement.n, statement.count, ...statement.values);
        break;
      case 'truncate':
        if (Array.isArray(at)) at.length = Math.min(at.length, statement.n);
        break;
      case 'fill':
        if (Array.isArray(at)) at.fill(statement.value, statement.n);
        break;
      case 'hold':
        held.push(at);
        break;
      case 'heldSet': {
        const kept = nth(held, statement.n);
        if (kept !== undefined) assign(kept, Array.isArray(kept) ? '0' : 'held', statement.value);
        break;
      }
      case 'heldDelete': {
        const kept = nth(held, statement.n);
        if (kept !== undefined && !Array.isArray(kept)) delete kept[statement.key];
        break;
      }
      case 'assign':
        assign(at, statement.key, find(root, statement.from));
        break;
      case 'assignInside': {
        const part = find(root, statement.from);
        assign(at, statement.key, { once: part, twice: [1, part] });
        break;
      }
      case 'spread': {
        const part = find(root, statement.from);
        assign(at, statement.key, Array.isArray(part) ? [...part] : { ...part });
        break;
      }
      case 'copyOver': {
        const part = find(root, statement.from);
        if (!Array.isArray(at) && !Array.isArray(part)) Object.assign(at, part);
        break;
      }
      case 'assignHeld': {
        const kept = nth(held, statement.n);
        if (kept !== undefined) assign(at, statement.key, kept);
        break;
      }
    }
  }
}

function assign(at: Container, key: string, value: Value): void {
  if (Array.isArray(at)) at[at.length === 0 ? 0 : key.length % (at.length + 1)] = value;
  else at[key] = value;
}

/**
 * The same statements on plain objects, with the draft's promise beyond JavaScript: every value put
 * into the state is a copy. So an object that a list method moves is a new object afterwards. An
 * earlier reference holds the detached object.
 */
export function runOnModel(root: Container, statements: readonly Mutation[]): void {
  const held: Container[] = [];
  for (const statement of statements) {
    const at = find(root, statement.at);
    switch (statement.do) {
      case 'set':
        put(at, statement.key, statement.value);
        break;
      case 'delete':
        if (!Array.isArray(at)) delete at[statement.key];
        break;
      case 'deleteNth':
        if (!Array.isArray(at)) delete at[nth(Object.keys(at).sort(), statement.n) as string];
        break;
      case 'pop':
        if (Array.isArray(at)) at.pop();
        break;
      case 'shift':
        if (Array.isArray(at)) become(at, clone(at.slice(1)));
        break;
      case 'reverse':
        if (Array.isArray(at)) {
          const middle = at.length % 2 === 1 ? (at.length - 1) / 2 : -1;
          become(
            at,
            at.map((item, i) => (i === middle ? item : clone(at[at.length - 1 - i] as Value))),
          );
        }
        break;
      case 'sort':
        // V8 writes nothing to a list that is too short to sort.
        if (Array.isArray(at) && at.length > 1) become(at, clone([...at].sort(byText)));
        break;
      case 'push':
        if (Array.isArray(at)) at.push(...clone(statement.values));
        break;
      case 'unshift':
        if (Array.isArray(at) && statement.values.length > 0)
          become(at, clone([...statement.values, ...at]));
        break;
      case 'splice':
        if (Array.isArray(at)) {
          const from = Math.min(statement.n, at.length);
          const gone = Math.min(statement.count, at.length - from);
          const tail = at.slice(from + gone);
          const moved = gone === statement.values.length ? tail : clone(tail);
          become(at, [...at.slice(0, from), ...clone(statement.values), ...moved]);
        }
        break;
      case 'truncate':
        if (Array.isArray(at)) become(at, at.slice(0, statement.n));
        break;
      case 'fill':
        if (Array.isArray(at))
          become(
            at,
            at.map((item, i) => (i < statement.n ? item : clone(statement.value))),
          );
        break;
      case 'hold':
        held.push(at);
        break;
      case 'heldSet': {
        const kept = nth(held, statement.n);
        if (kept !== undefined) put(kept, Array.isArray(kept) ? '0' : 'held', statement.value);
        break;
      }
      case 'heldDelete': {
        const kept = nth(held, statement.n);
        if (kept !== undefined && !Array.isArray(kept)) delete kept[statement.key];
        break;
      }
      case 'assign':
        put(at, statement.key, find(root, statement.from));
        break;
      case 'assignInside': {
        const part = find(root, statement.from);
        put(at, statement.key, { once: clone(part), twice: [1, clone(part)] });
        break;
      }
      case 'spread':
        put(at, statement.key, find(root, statement.from));
        break;
      case 'copyOver': {
        const part = find(root, statement.from);
        if (!Array.isArray(at) && !Array.isArray(part)) {
          for (const key of Object.keys(part).sort()) {
            // The source of a copy may be the value that was just copied.
            setMember(at, key, clone(part[key] as Value));
          }
        }
        break;
      }
      case 'assignHeld': {
        const kept = nth(held, statement.n);
        if (kept !== undefined) put(at, statement.key, kept);
        break;
      }
    }
  }
}

function put(at: Container, key: string, value: Value): void {
  if (Array.isArray(at)) at[at.length === 0 ? 0 : key.length % (at.length + 1)] = clone(value);
  else setMember(at, key, clone(value));
}

function become(list: Value[], items: Value[]): void {
  list.length = 0;
  list.push(...items);
}

function find(root: Container, walk: Walk): Container {
  let here = root;
  for (const step of walk) {
    const below = Object.keys(here)
      .sort()
      .map((key) => (here as Record<string, Value>)[key])
      .filter((member) => isContainer(member));
    if (below.length === 0) break;
    here = below[step % below.length] as Container;
  }
  return here;
}

function nth<T>(list: readonly T[], n: number): T | undefined {
  return list.length === 0 ? undefined : list[n % list.length];
}

function byText(a: Value, b: Value): number {
  const [left, right] = [canonicalize(a), canonicalize(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}
