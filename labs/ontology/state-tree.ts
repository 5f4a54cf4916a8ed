import { escapeSegment, parsePointer } from 'assize/internal/canon';
import type { Component } from './ontology.ts';

/**
 * The state as the components' paths describe it: fields by name, any key (`*`, `{param}`), the
 * items of a list.
 */
export interface StateTree {
  readonly members: Map<string, StateTree>;
  /** The schema of every key. */
  any: StateTree | undefined;
  /** It is a list that grows. */
  list: boolean;
  /** The definitions of the components at this place. */
  readonly says: string[];
}

export function stateTree(components: readonly Component[]): StateTree {
  const root = leaf();
  for (const { paths, definition } of components)
    for (const path of paths) {
      const here = reach(root, parsePointer(path));
      if (!here.says.includes(definition)) here.says.push(definition);
    }
  return root;
}

function reach(from: StateTree, keys: readonly string[]): StateTree {
  let here = from;
  for (const [i, key] of keys.entries()) {
    if (key === '-' && i === keys.length - 1) here.list = true;
    else if (key === '*' || /^\{.*\}$/.test(key)) here = here.any ??= leaf();
    else {
      const next = here.members.get(key) ?? leaf();
      here.members.set(key, next);
      here = next;
    }
  }
  return here;
}

function leaf(): StateTree {
  return { members: new Map(), any: undefined, list: false, says: [] };
}

/**
 * The zod schema of a state, as source. Parts that the ontology omits stay open: `schemaAt` gives
 * the source of the schema at their places, pointers in which `*` is any key and `-` any item.
 */
export function schemaSource(
  tree: StateTree,
  schemaAt: (place: string) => string,
  place = '',
  depth = 0,
): string {
  const at = (part: StateTree, key: string, below = depth): string =>
    schemaSource(part, schemaAt, `${place}/${key}`, below);
  if (tree.list)
    return `z.array(${tree.any === undefined ? schemaAt(`${place}/-`) : at(tree.any, '-')})`;
  if (tree.any !== undefined && tree.members.size === 0)
    return `z.record(z.string(), ${at(tree.any, '*')})`;
  if (tree.members.size === 0) return depth === 0 ? 'z.object({})' : schemaAt(place);
  const indent = '  '.repeat(depth + 1);
  const members = [...tree.members].flatMap(([name, below]) => [
    ...wordsOf(below).map((text) => `${indent}/** ${commentText(text)} */`),
    `${indent}${keySource(name)}: ${at(below, escapeSegment(name), depth + 1)},`,
  ]);
  const object = `z.object({\n${members.join('\n')}\n${'  '.repeat(depth)}})`;
  return tree.any === undefined ? object : `${object}.catchall(${at(tree.any, '*')})`;
}

/** The comment of a field, or of each item below it. */
function wordsOf({ says, any, members }: StateTree): readonly string[] {
  return says.length > 0 || any === undefined || members.size > 0 ? says : wordsOf(any);
}

/** A state with nothing in it, as source. */
export function emptySource(tree: StateTree): string {
  if (tree.list) return '[]';
  if (tree.any !== undefined && tree.members.size === 0) return '{}';
  if (tree.members.size === 0) return tree.says.length > 0 ? 'null' : '{}';
  return `{ ${[...tree.members].map(([name, below]) => `${keySource(name)}: ${emptySource(below)}`).join(', ')} }`;
}

export function keySource(name: string): string {
  // In quotes it would still name the prototype; as it is computed, it is a member.
  if (name === '__proto__') return `[${textSource(name)}]`;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : textSource(name);
}

/** A text as a literal in source. */
export function textSource(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A text that can't end the comment that it stands in. */
export function commentText(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('*/', '*∕').trim();
}
