/**
 * Values that a hostile or ignorant caller passes in place of the expected one. Each try
 * creates new ones.
 */

/**
 * The error that hostile code throws itself. It is the caller's own error, and may come back to the
 * caller unchanged.
 */
export class Hostile extends Error {}

function refuse(): never {
  throw new Hostile('a getter of the caller threw');
}

class Point {
  x = 1;
}

function cyclic(): object {
  const self: Record<string, unknown> = {};
  self['self'] = self;
  return self;
}

const throwing: ProxyHandler<object> = {
  get: refuse,
  has: refuse,
  ownKeys: refuse,
  getPrototypeOf: refuse,
  getOwnPropertyDescriptor: refuse,
};

export const HOSTILE: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['NaN', () => Number.NaN],
  ['-1', () => -1],
  ['a fraction', () => 0.5],
  ['2^53', () => 2 ** 53],
  ['a bigint', () => 1n],
  ['a negative bigint', () => -1n],
  ['a symbol', () => Symbol('hostile')],
  ['no text', () => ''],
  ['a lone surrogate', () => 'a\ud800'],
  ['a text with NUL', () => 'a\0b'],
  ['a long text', () => 'x'.repeat(100_000)],
  ['another word', () => 'xyzzy'],
  ['{}', () => ({})],
  ['[]', () => []],
  ['a list of null', () => [null]],
  ['a list with a hole', () => new Array(2)],
  ['an own __proto__', () => JSON.parse('{"__proto__":{"x":1}}')],
  ['no prototype', () => Object.create(null)],
  ['a class instance', () => new Point()],
  ['a date', () => new Date(Number.NaN)],
  ['a map', () => new Map([['a', 1]])],
  ['bytes', () => new Uint8Array(3)],
  ['a function', () => () => undefined],
  ['a promise', () => Promise.resolve({})],
  ['cyclic', cyclic],
  ['what has no text', () => ({ toString: refuse, [Symbol.toPrimitive]: refuse })],
  ['a getter that throws', () => Object.defineProperty({}, 'x', { get: refuse, enumerable: true })],
  ['a proxy that throws', () => new Proxy({}, throwing)],
];

/**
 * The values for nested fields. Each nested path is tried with fewer values than a whole argument.
 */
const INSIDE = HOSTILE.filter(([name]) =>
  [
    'undefined',
    'null',
    'NaN',
    '-1',
    '2^53',
    'a symbol',
    'no text',
    'a lone surrogate',
    '{}',
    '[]',
    'a list of null',
    'a function',
    'cyclic',
    'a proxy that throws',
  ].includes(name),
);

const DEPTH = 3;

export interface Mutant {
  /** The path of the replaced value. */
  readonly place: string;
  readonly what: string;
  /** Made of a value of the same form as the one that the mutants were listed for. */
  readonly make: (valid: any) => unknown;
}

/**
 * The wrong versions of a value: another value in its place. For plain data, each field is also
 * replaced, missing, and unreadable, and one extra field is added. Code (a function, a class
 * instance) is trusted and left alone.
 */
export function mutantsOf(
  valid: unknown,
  path: string,
  isTrusted: (path: string) => boolean,
  depth = 0,
): Mutant[] {
  if (isTrusted(path) || isCode(valid)) return [];
  const whole = isDomain(valid);
  const instead = (depth === 0 ? HOSTILE : INSIDE).map(([what, make]) => ({
    place: path,
    what: `${path}: ${what}`,
    make,
  }));
  if (whole || !isPlain(valid) || depth === DEPTH) return instead;
  const list = Array.isArray(valid);
  const copy = (of: any): any => (list ? [...of] : { ...of });
  const members = Object.keys(valid).slice(0, list ? 1 : undefined);
  const inside = members.flatMap((name): Mutant[] => {
    const at = `${path}.${name}`;
    const changed = mutantsOf((valid as any)[name], at, isTrusted, depth + 1).map(
      ({ place, what, make }) => ({
        place,
        what,
        make: (of: any) => Object.assign(copy(of), { [name]: make(of[name]) }),
      }),
    );
    if (changed.length === 0) return [];
    const without = (of: any): unknown => {
      const rest = copy(of);
      if (list) rest.shift();
      else delete rest[name];
      return rest;
    };
    const unreadable = (of: any): unknown =>
      Object.defineProperty(copy(of), name, { get: refuse, enumerable: true });
    return [
      ...changed,
      { place: at, what: `${at}: missing`, make: without },
      { place: at, what: `${at}: can’t be read`, make: unreadable },
    ];
  });
  const more = (of: any): unknown => (list ? [...of, undefined] : { ...of, xyzzy: 1 });
  return [...instead, ...inside, { place: path, what: `${path}: one more`, make: more }];
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const proto: unknown = Object.getPrototypeOf(value);
  return proto === Object.prototype || proto === Array.prototype;
}

/** A domain is the frozen result of `defineDomain`: only another value can be in its place. */
function isDomain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'rulesByPath' in value;
}

/** A function, or an instance of a class; bytes are data. */
function isCode(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return (
    typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !isPlain(value)
  );
}
