import type { Json } from 'assize/internal/base';
import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';

/** A place in a text, from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A fault of a text. */
export interface TextFault extends Place {
  readonly problem: string;
}

/** A YAML text as JSON, with the place of each part. */
export interface YamlText {
  readonly value: Json;
  /** The place of a part, or of the closest part above it. `isKey`: of the part's name. */
  readonly placeOf: (path: readonly (string | number)[], isKey?: boolean) => Place;
}

/**
 * Reads one YAML document. Refused: a name twice, an anchor, an alias, a tag, and a key that is not
 * text. So a part of the text has one meaning and one place.
 */
export function readYaml(text: string): YamlText | { readonly faults: readonly TextFault[] } {
  const lines = new LineCounter();
  const doc = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    uniqueKeys: true,
    merge: false,
  });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const faults: TextFault[] = [...doc.errors, ...doc.warnings].map(({ pos, message }) => ({
    ...placeAt(pos[0]),
    problem: `is not YAML: ${message.split(' at line ')[0]?.split('\n')[0]}`,
  }));
  const refuse = (
    node: { readonly range?: readonly number[] | null | undefined },
    problem: string,
  ): void => {
    faults.push({ ...placeAt(node.range?.[0] ?? 0), problem });
  };
  visit(doc, {
    Alias: (_, node) => refuse(node, 'is an alias; write the value out'),
    Node: (_, node) => {
      if (!isAlias(node) && (node as { anchor?: string }).anchor !== undefined)
        refuse(node, 'has an anchor; write the value out where it is needed');
      if (node.tag !== undefined && !PLAIN.has(node.tag))
        refuse(node, `has the tag ${node.tag}; write the plain value`);
      if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value))
        refuse(node, 'is not a finite number');
      if (isScalar(node) && typeof node.value === 'bigint') refuse(node, 'is too large a number');
    },
    Pair: (_, { key }) => {
      if (isNode(key) && !(isScalar(key) && typeof key.value === 'string'))
        refuse(key, 'is not text; quote the name');
    },
  });
  if (faults.length > 0) return { faults };
  return {
    value: (doc.toJS({ maxAliasCount: 0 }) ?? {}) as Json,
    placeOf: (path, isKey = false) => placeAt(offsetOf(doc.contents, path, isKey)),
  };
}

const PLAIN: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);

function offsetOf(
  contents: Node | null,
  path: readonly (string | number)[],
  isKey: boolean,
): number {
  let node: unknown = contents;
  let offset = startOf(contents) ?? 0;
  for (const [depth, part] of path.entries()) {
    const isLast = depth === path.length - 1;
    let next: unknown;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === part);
      if (!isPair(pair)) return offset;
      next = pair.value;
      offset = startOf(pair.key) ?? offset;
      if (!(isLast && isKey)) offset = startOf(pair.value) ?? offset;
    } else if (isSeq(node)) {
      next = node.items[Number(part)];
      if (next === undefined) return offset;
      offset = startOf(next) ?? offset;
    } else return offset;
    node = next;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
