import { CliError } from '@assize/command';
import { isRecord } from 'assize/internal/base';
import {
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { jsonOrUndefined } from './json-or-undefined.ts';

/** The mark that some editors put before a text. */
export const BYTE_ORDER_MARK = /^\uFEFF?/;

/**
 * The object of a JSON text that another program keeps. `comments`: whether it may have comments
 * and a comma after the last member.
 *
 * @throws CliError `bad_input` for another text, and for one with a member twice
 */
export function foreignObject(
  path: string,
  text: string,
  { comments }: { readonly comments: boolean },
): Record<string, any> {
  const errors: ParseError[] = [];
  const options = { allowTrailingComma: comments, disallowComments: !comments };
  const plain = text.replace(BYTE_ORDER_MARK, '');
  const tree = parseTree(plain, errors, options);
  const [error] = errors;
  const repeated = tree === undefined ? undefined : repeatedIn(tree);
  const why =
    error !== undefined
      ? `${printParseErrorCode(error.error)} at ${error.offset}`
      : repeated !== undefined
        ? `the member ${JSON.stringify(repeated)} stands there twice, or may not have this name`
        : undefined;
  const value: unknown = jsonOrUndefined(
    comments && tree !== undefined ? JSON.stringify(getNodeValue(tree)) : plain,
  );
  if (why === undefined && isRecord(value)) return value;
  throw new CliError(
    'bad_input',
    `${path} is not valid JSON: ${why ?? 'it is not an object'}. Correct it, and repeat the command.`,
  );
}

/** A name that stands twice in one object, or that no object of JavaScript keeps as a member. */
function repeatedIn({ type, children = [] }: Node): string | undefined {
  const names = new Set<unknown>(['__proto__']);
  if (type === 'object')
    for (const { children: [name] = [] } of children) {
      if (names.has(name?.value)) return String(name?.value);
      names.add(name?.value);
    }
  for (const child of children) {
    const found = repeatedIn(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The text of a value in such a file. Empty if the value is not a text. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
