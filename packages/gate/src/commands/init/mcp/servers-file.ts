import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CliError } from '@assize/command';
import { isRecord } from 'assize/internal/base';
import { applyEdits, modify } from 'jsonc-parser';
import { BYTE_ORDER_MARK, foreignObject } from '../foreign-json.ts';
import type { Members } from './wrap.ts';

/** A server in a file of a client. */
export interface ServerEntry {
  readonly name: string;
  /** The members that lead to the entry. */
  readonly at: readonly string[];
  readonly value: Members;
}

/** Clients read such files with comments. */
const parsed = (path: string, text: string) => foreignObject(path, text, { comments: true });

/**
 * The servers of a file with `mcpServers`: those of the file, and those that Claude Code keeps for
 * the project of this folder.
 *
 * @throws CliError `bad_input`
 */
export function serversIn(path: string, text: string): readonly ServerEntry[] {
  const root = parsed(path, text);
  return [['mcpServers'], ['projects', resolve('.'), 'mcpServers']].flatMap((place) => {
    const servers = place.reduce<unknown>(
      (value, name) => (isRecord(value) ? value[name] : undefined),
      root,
    );
    return Object.entries(isRecord(servers) ? servers : {}).flatMap(([name, value]) =>
      isRecord(value) ? [{ name, at: [...place, name], value }] : [],
    );
  });
}

/**
 * The text with other members of some servers. Comments, and members that stay, are left as they
 * are.
 *
 * @throws CliError `bad_input` if the changed text would mean something else than intended
 */
export function withServers(
  path: string,
  text: string,
  changes: ReadonlyMap<ServerEntry, Members>,
): string {
  const [mark = ''] = BYTE_ORDER_MARK.exec(text) ?? [];
  const formattingOptions = layoutOf(text);
  let after = text.slice(mark.length);
  const wanted = parsed(path, text);
  for (const [{ at, value }, next] of changes) {
    for (const name of new Set([...Object.keys(value), ...Object.keys(next)]))
      if (!isDeepStrictEqual(value[name], next[name]))
        after = applyEdits(after, modify(after, [...at, name], next[name], { formattingOptions }));
    const holder = at.slice(0, -1).reduce((members, name) => members[name], wanted);
    holder[at.at(-1) as string] = JSON.parse(JSON.stringify(next));
  }
  if (isDeepStrictEqual(parsed(path, after), wanted)) return mark + after;
  throw new CliError(
    'bad_input',
    `${path} has a form that the command cannot follow, and was left as it is. Correct it, and repeat.`,
  );
}

function layoutOf(text: string): {
  readonly eol: string;
  readonly insertSpaces: boolean;
  readonly tabSize: number;
} {
  const [, indent = '  '] = /\n([ \t]+)"/.exec(text) ?? [];
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    insertSpaces: !indent.includes('\t'),
    tabSize: indent.length,
  };
}
