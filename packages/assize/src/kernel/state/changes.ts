import type { Json } from '#base';
import { sortKeys, toPointer } from '#canon';
import type { Change } from '../domain/change.ts';
import { ValueFault } from '../errors.ts';
import { ABSENT, type Draft, type Rec } from './draft.ts';
import type { SmallMap } from './small-map.ts';
import type { Container } from './view.ts';

/**
 * The changes of a draft, as the RFC 6902 operations from the old state to the new. They depend on
 * those two states alone, so two implementations produce the same id
 * (docs/decisions/002-ids-digests-patches.md).
 *
 * - Members in UTF-16 order of their keys. A container of the same kind on both sides is compared
 *   inside.
 * - Elements of a list one by one in ascending order. Then new elements added at the end,
 *   ascending, or superfluous ones removed from the end, descending. (RFC 6902 has no `length`, so
 *   a list that shifts is a list of replacements.)
 *
 * Only touched places are inspected.
 */
export function changesOf(draft: Draft): Change[] {
  const changes: Change[] = [];
  const root = draft.records.get(draft.state);
  if (root !== undefined) inPlace(draft, root, [], changes);
  return changes;
}

/** A container that stayed in its place and changed inside. */
function inPlace(draft: Draft, record: Rec, path: readonly string[], out: Change[]): void {
  const { container, old, below } = record;
  const list = Array.isArray(container);
  const before = list ? oldLength(record) : 0;
  const suspects = either(old, below);
  const ordered = list ? indices(suspects, Math.min(before, container.length)) : sorted(suspects);
  for (let i = 0; i < ordered.length; i++) {
    const key = ordered[i] as string;
    const now = Object.hasOwn(container, key)
      ? (container as Record<string, unknown>)[key]
      : ABSENT;
    const was = old.has(key) ? old.get(key) : now;
    if (list && now === ABSENT) throw gap([...path, key]);
    if (was !== now) {
      compare(draft, was, now, path, key, out);
      continue;
    }
    const child = below.get(key);
    if (child !== undefined && child.container === now) inPlace(draft, child, [...path, key], out);
  }
  if (list) grownOrShrunk(container, before, path, out);
}

/** The keys of both, each once. Mostly one of them is empty. */
function either(old: SmallMap<unknown>, below: SmallMap<unknown>): readonly string[] {
  if (below.size === 0) return old.keys;
  if (old.size === 0) return below.keys;
  return [...new Set([...old.keys, ...below.keys])];
}

function sorted(keys: readonly string[]): readonly string[] {
  if (keys.length < 2) return keys;
  const copy = [...keys];
  sortKeys(copy);
  return copy;
}

/** Two different values at one place. */
function compare(
  draft: Draft,
  was: unknown,
  now: unknown,
  parent: readonly string[],
  key: string,
  out: Change[],
): void {
  if (was === now) return;
  const keys = [...parent, key];
  if (now === ABSENT) out.push({ op: 'remove', keys, parent, value: undefined, appends: false });
  else if (was === ABSENT) {
    out.push({ op: 'add', keys, parent, value: whole(now, keys), appends: false });
  } else if (isContainer(was) && isContainer(now) && Array.isArray(was) === Array.isArray(now)) {
    exchanged(draft, was, now, keys, out);
  } else {
    out.push({ op: 'replace', keys, parent, value: whole(now, keys), appends: false });
  }
}

/** A container that replaced another. */
function exchanged(
  draft: Draft,
  was: Container,
  now: Container,
  path: readonly string[],
  out: Change[],
): void {
  const record = draft.records.get(was);
  const before = Array.isArray(was) ? (record === undefined ? was.length : oldLength(record)) : 0;
  const valueBefore = (key: string): unknown => {
    if (record?.old.has(key)) return record.old.get(key);
    return Object.hasOwn(was, key) ? (was as Record<string, unknown>)[key] : ABSENT;
  };
  if (Array.isArray(now)) {
    for (let i = 0; i < Math.min(before, now.length); i++) {
      if (!(i in now)) throw gap([...path, String(i)]);
      compare(draft, valueBefore(String(i)), now[i], path, String(i), out);
    }
    grownOrShrunk(now, before, path, out);
    return;
  }
  const names = new Set([...Object.keys(was), ...(record?.old.keys ?? []), ...Object.keys(now)]);
  for (const key of [...names].sort()) {
    const value = Object.hasOwn(now, key) ? now[key] : ABSENT;
    compare(draft, valueBefore(key), value, path, key, out);
  }
}

function grownOrShrunk(
  list: unknown[],
  before: number,
  path: readonly string[],
  out: Change[],
): void {
  for (let i = before; i < list.length; i++) {
    const keys = [...path, String(i)];
    if (!(i in list)) throw gap(keys);
    out.push({ op: 'add', keys, parent: path, value: whole(list[i], keys), appends: true });
  }
  for (let i = before - 1; i >= list.length; i--) {
    out.push({
      op: 'remove',
      keys: [...path, String(i)],
      parent: path,
      value: undefined,
      appends: false,
    });
  }
}

/**
 * A value for a patch. It was copied whole before, so its only possible fault is a gap in a list.
 */
function whole(value: unknown, keys: readonly string[]): Json {
  if (isContainer(value)) assertDense(value, keys);
  return value as Json;
}

function assertDense(value: Container, keys: readonly string[]): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!(i in value)) throw gap([...keys, String(i)]);
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    if (isContainer(member)) assertDense(member, [...keys, key]);
  }
}

function gap(keys: readonly string[]): ValueFault {
  return new ValueFault(`${toPointer(keys)}: a list cannot have gaps`);
}

function oldLength({ container, old }: Rec): number {
  return (old.get('length') as number | undefined) ?? (container as unknown[]).length;
}

function indices(keys: Iterable<string>, below: number): string[] {
  return [...keys]
    .filter((key) => key !== 'length' && Number(key) < below)
    .sort((a, b) => Number(a) - Number(b));
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
