import { arg, checkArgument, type Json } from '#base';
import { escapeSegment, parsePointer, unescapeSegment } from '#canon';
import { KernelError } from '../errors.ts';
import type { Change } from './change.ts';
import type { RoleParams } from './role.ts';

/** Stands for any key in a pattern. */
export const ANY: unique symbol = Symbol('*');

export type PatternSegment = string | typeof ANY;

/**
 * One JSON-pointer prefix of a footprint with its parameters filled in. `append` marks a path that
 * ended in `/-`: the list there can only grow.
 */
export interface Pattern {
  readonly segments: readonly PatternSegment[];
  readonly append: boolean;
}

/** A pattern with open parameters: segments are literal, `*` or `{param}`. */
export interface PatternTemplate {
  readonly source: string;
  readonly segments: readonly (string | typeof ANY | { readonly param: string })[];
  readonly append: boolean;
}

/** Parses `/spent/{agent}`, `/orders/*`, `/log/-`. Refuses a text that is not a JSON pointer. */
export function parseTemplate(source: string): PatternTemplate {
  const raw = parsePointer(source);
  const append = raw.at(-1) === '-';
  const segments = (append ? raw.slice(0, -1) : raw).map((segment) => {
    if (segment === '*') return ANY;
    const param = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(segment)?.[1];
    return param === undefined ? segment : { param };
  });
  if (append && segments.length === 0) {
    throw new KernelError(
      'invalid_domain',
      `The footprint ${source} appends to the whole state. Name a list.`,
    );
  }
  return { source, segments, append };
}

/** The names of the parameters that a template needs. */
export function templateParams(template: PatternTemplate): string[] {
  return template.segments.flatMap((segment) =>
    typeof segment === 'object' ? [segment.param] : [],
  );
}

export function bindTemplate(template: PatternTemplate, params: RoleParams): Pattern {
  const segments = template.segments.map((segment) => {
    if (typeof segment !== 'object') return segment;
    const value = Object.hasOwn(params, segment.param) ? params[segment.param] : undefined;
    if (value === undefined) {
      throw new KernelError(
        'invalid_domain',
        `The footprint ${template.source} needs the parameter ${segment.param}.`,
      );
    }
    return value;
  });
  return { segments, append: template.append };
}

/**
 * The pattern as text: a JSON pointer with `*` for any key and a last `-` for a list that can only
 * grow. A key that would be read as one of these is written after `~2`. No JSON pointer has `~2`.
 * `patternFromText` reads the text back.
 */
export function patternText({ segments, append }: Pattern): string {
  const keys = segments
    .map((segment) => (segment === ANY ? '/*' : `/${literalText(segment)}`))
    .join('');
  return append ? `${keys}/-` : keys;
}

function literalText(key: string): string {
  return key === '*' || key === '-' ? `${LITERAL}${key}` : escapeSegment(key);
}

const LITERAL = '~2';

/** @throws ArgumentError `bad_argument` */
export function patternFromText(text: string): Pattern {
  checkArgument(arg.text, text, 'text');
  const raw = text.split('/').slice(1);
  const append = raw.at(-1) === '-';
  const segments = (append ? raw.slice(0, -1) : raw).map((segment) => {
    if (segment === '*') return ANY;
    return segment.startsWith(LITERAL) ? segment.slice(LITERAL.length) : unescapeSegment(segment);
  });
  return { segments, append };
}

/**
 * Whether some path lies under both patterns: one is a prefix of the other, and stars match
 * anything.
 */
export function overlaps(a: Pattern, b: Pattern): boolean {
  const shared = Math.min(a.segments.length, b.segments.length);
  for (let i = 0; i < shared; i++) {
    const left = a.segments[i];
    const right = b.segments[i];
    if (left !== right && left !== ANY && right !== ANY) return false;
  }
  return true;
}

/** The part of `pattern` that also lies under `by`. The two patterns must overlap. */
export function narrowed(pattern: Pattern, by: Pattern): Pattern {
  const segments = pattern.segments.map((segment, i) =>
    segment === ANY ? (by.segments[i] ?? ANY) : segment,
  );
  return { ...pattern, segments };
}

/** Whether every path under `inner` lies under a pattern of `outer`. */
export function contains(outer: readonly Pattern[], inner: Pattern): boolean {
  return outer.some(
    (pattern) =>
      pattern.segments.length <= inner.segments.length &&
      (!pattern.append || (inner.append && pattern.segments.length === inner.segments.length)) &&
      pattern.segments.every((segment, i) => segment === ANY || segment === inner.segments[i]),
  );
}

/** A footprint compiled for walking down key by key. */
export interface Scope {
  /** Everything from here down belongs to the footprint. */
  readonly all: boolean;
  /** The list here can grow. */
  readonly append: boolean;
  readonly keys: ReadonlyMap<string, Scope>;
  /** The scope of every key that is not in `keys`. */
  readonly any: Scope | undefined;
}

/** The pattern that contains every path. */
export const WHOLE_STATE: Pattern = { segments: [], append: false };

/** The scope of a state without restrictions. */
export const EVERYTHING: Scope = { all: true, append: true, keys: new Map(), any: undefined };

export function compileScope(patterns: readonly Pattern[]): Scope {
  if (patterns.every(isPlace)) return placesScope(patterns);
  let scope = NOTHING;
  for (const pattern of patterns) scope = union(scope, single(pattern));
  return scope;
}

const NO_KEYS: ReadonlyMap<string, Scope> = new Map();
const NOTHING: Scope = { all: false, append: false, keys: NO_KEYS, any: undefined };
const GROWING: Scope = { all: false, append: true, keys: NO_KEYS, any: undefined };

function isPlace({ segments, append }: Pattern): boolean {
  return !append && !segments.includes(ANY);
}

/**
 * The same for patterns without stars, the most frequent case for a proposal: one tree, grown in
 * place.
 */
function placesScope(patterns: readonly Pattern[]): Scope {
  if (patterns.some(({ segments }) => segments.length === 0)) return EVERYTHING;
  const root = new Map<string, Scope>();
  for (const { segments } of patterns) grow(root, segments as readonly string[]);
  return { all: false, append: false, keys: root, any: undefined };
}

function grow(root: Map<string, Scope>, path: readonly string[]): void {
  let keys = root;
  for (let i = 0; i < path.length - 1; i++) {
    const key = path[i] as string;
    const next = keys.get(key);
    if (next?.all) return;
    const below = (next?.keys as Map<string, Scope> | undefined) ?? new Map<string, Scope>();
    if (next === undefined)
      keys.set(key, { all: false, append: false, keys: below, any: undefined });
    keys = below;
  }
  keys.set(path.at(-1) as string, EVERYTHING);
}

/** The scope of one pattern: a single path from the root down. */
function single({ segments, append }: Pattern): Scope {
  let scope = append ? GROWING : EVERYTHING;
  for (let i = segments.length - 1; i >= 0; i--) {
    const segment = segments[i] as PatternSegment;
    scope =
      segment === ANY
        ? { all: false, append: false, keys: NO_KEYS, any: scope }
        : { all: false, append: false, keys: new Map([[segment, scope]]), any: undefined };
  }
  return scope;
}

/** The union of two scopes. A key named in one also lies under the star of the other. */
function union(a: Scope, b: Scope): Scope {
  if (a === NOTHING || b.all) return b;
  if (a.all) return a;
  const keys = new Map<string, Scope>();
  for (const [key, scope] of a.keys) keys.set(key, both(scope, scopeAt(b, key)));
  for (const [key, scope] of b.keys) if (!keys.has(key)) keys.set(key, both(scope, a.any));
  const any = a.any === undefined ? b.any : both(a.any, b.any);
  return { all: false, append: a.append || b.append, keys, any };
}

function both(a: Scope, b: Scope | undefined): Scope {
  return b === undefined ? a : union(a, b);
}

/** The scope one key further down, or undefined if that key is outside. */
export function scopeAt(scope: Scope, key: string): Scope | undefined {
  return scope.all ? scope : (scope.keys.get(key) ?? scope.any);
}

/** Whether nothing below is hidden. */
export function isWhole({ all, any, keys }: Scope): boolean {
  return all || (any !== undefined && isWhole(any) && [...keys.values()].every(isWhole));
}

/**
 * Whether the patterns permit a change. Under an append-only list, only a new last element is
 * permitted, or a new list where none exists. Above a pattern, an object can be created where
 * nothing exists. It can hold only what the patterns permit.
 */
function permits(
  patterns: readonly Pattern[],
  change: Pick<Change, 'op' | 'keys' | 'value' | 'appends'>,
): boolean {
  const { op, keys, value, appends } = change;
  let leads = false;
  for (let i = 0; i < patterns.length; i++) {
    const { segments, append } = patterns[i] as Pattern;
    if (segments.length > keys.length) leads ||= leadsTo(keys, segments);
    else if (isUnder(keys, segments)) {
      if (!append) return true;
      const below = keys.length - segments.length;
      if (op === 'add' && ((below === 1 && appends) || (below === 0 && Array.isArray(value))))
        return true;
    }
  }
  return leads && op === 'add' && !appends && isObject(value) && holdsOnly(patterns, keys, value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function holdsOnly(
  patterns: readonly Pattern[],
  keys: readonly string[],
  object: Record<string, unknown>,
): boolean {
  return Object.entries(object).every(([key, value]) =>
    permits(patterns, { op: 'add', keys: [...keys, key], value: value as Json, appends: false }),
  );
}

function isUnder(path: readonly string[], segments: readonly PatternSegment[]): boolean {
  if (segments.length > path.length) return false;
  for (let i = 0; i < segments.length; i++)
    if (segments[i] !== ANY && segments[i] !== path[i]) return false;
  return true;
}

function leadsTo(path: readonly string[], segments: readonly PatternSegment[]): boolean {
  for (let i = 0; i < path.length; i++)
    if (segments[i] !== ANY && segments[i] !== path[i]) return false;
  return true;
}

/** The first change that no pattern permits. */
export function changeOutside(
  patterns: readonly Pattern[],
  changes: readonly Change[],
): Change | undefined {
  return changes.find((change) => !permits(patterns, change));
}

/** The patterns of several templates bound to one role. */
export function bindAll(templates: readonly PatternTemplate[], params: RoleParams): Pattern[] {
  return templates.map((template) => bindTemplate(template, params));
}
