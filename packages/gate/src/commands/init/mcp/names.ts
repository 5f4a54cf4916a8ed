import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '@assize/command';
import { z } from 'zod';
import { jsonOrUndefined } from '../json-or-undefined.ts';

/** Names that rules know as parts of calls of coding agents. */
const RESERVED: ReadonlySet<string> = new Set([
  'files',
  'shell',
  'web',
  'claude-code',
  'codex',
  'unknown-mcp',
]);

/** The servers that have a name in the rules, each with its identity. */
export type Names = Readonly<Record<string, string>>;

const form = z.record(z.string(), z.string());

export function namesFile(server: string): string {
  return join(server, 'mcp-servers.json');
}

/** @throws CliError `bad_input` */
export function readNames(server: string): Names {
  const path = namesFile(server);
  if (!existsSync(path)) return {};
  const { success, data } = form.safeParse(jsonOrUndefined(readFileSync(path, 'utf8')));
  if (success) return data;
  throw new CliError(
    'bad_input',
    `${path} does not list MCP servers by their names. Restore it, or move it away.`,
  );
}

/**
 * The name of a server in the rules: its name in the file, without characters that rules do not
 * know. Trust is by this name, so another server that has it already gives this one a number.
 */
export function serverNameOf(wanted: string, identity: string, taken: Names): string {
  const plain =
    wanted
      .replace(/[^A-Za-z0-9_@-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 90) || 'server';
  const first = RESERVED.has(plain.toLowerCase()) ? `mcp-${plain}` : plain;
  for (let number = 1; ; number++) {
    const name = number === 1 ? first : `${first}-${number}`;
    if (!Object.hasOwn(taken, name) || taken[name] === identity) return name;
  }
}
