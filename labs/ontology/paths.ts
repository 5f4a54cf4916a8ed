import { isAssizeError } from 'assize/internal/base';
import {
  contains,
  overlaps,
  type Pattern,
  parseTemplate,
  patternFromText,
} from 'assize/internal/kernel';

/**
 * The pattern of a path with any values of its parameters. As a field, the path is one field for
 * all values (Definition A.1).
 */
export function openPattern(path: string): Pattern {
  return patternFromText(openPath(path));
}

/** The path with every `{param}` as `*`, except those that keep one value. */
export function openPath(path: string, kept: readonly string[] = []): string {
  return path
    .split('/')
    .map((segment) =>
      /^\{.*\}$/.test(segment) && !kept.includes(segment.slice(1, -1)) ? '*' : segment,
    )
    .join('/');
}

/**
 * Everything below the path for one value of each of the parameters, and for all values of the
 * others. The name in braces stands for the one value.
 */
export function boundPattern(path: string, bound: readonly string[]): Pattern {
  return { ...patternFromText(openPath(path, bound)), append: false };
}

/** The names in braces, in order, each once. */
export function paramsOf(paths: readonly string[]): string[] {
  return [
    ...new Set(
      paths.flatMap((path) =>
        [...path.matchAll(/\/\{([^/{}]+)\}/g)].map(([, name]) => name as string),
      ),
    ),
  ];
}

/** The kernel's objection to a path. Undefined if the kernel accepts it. */
export function pathFault(path: string): string | undefined {
  try {
    parseTemplate(path);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return error.message;
  }
  const odd = path
    .split('/')
    .find((segment) => /[{}]/.test(segment) && !/^\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(segment));
  return odd === undefined ? undefined : `${odd} is not a parameter. Write {name}.`;
}

/**
 * Whether all paths under the path are under one of the others. An append-only list counts as the
 * same list.
 */
export function liesUnder(path: string, others: readonly string[]): boolean {
  return contains(others.map(wholePattern), wholePattern(path));
}

/** Whether some place lies under both. */
export function meets(a: string, b: string): boolean {
  return overlaps(wholePattern(a), wholePattern(b));
}

/** Everything below the path, for all parameters. An append-only list is the same list. */
export function wholePattern(path: string): Pattern {
  return { ...openPattern(path), append: false };
}
