import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type UpstreamSpec, upstreamOf } from '@assize/gate/internal/mcp';
import { note } from '../../../errors.ts';
import { installedVersion } from '../../../files/installed-package.ts';
import type { Members } from './formats/entries.ts';
import { formatOf } from './formats/format-of.ts';
import type { Original } from './originals.ts';

/** A tool, with the hints of its server. */
export interface ListedTool {
  readonly name: string;
  readonly isRead: boolean;
}

/**
 * Starts the server of an entry as its client would, and lists its tools. `text`: the entry, with
 * the gateway or without it.
 *
 * @throws McpError; SyntaxError
 */
export async function toolsOf(original: Original, text: string): Promise<readonly ListedTool[]> {
  const value = formatOf({ path: original.file }).valueOf(text);
  const upstream = upstreamOf(specOf(value, original.folder), { version: installedVersion(), onWarning: note });
  try {
    const tools = [...(await upstream.tools()).values()];
    return tools.map(({ tool }) => ({ name: tool.name, isRead: tool.annotations?.readOnlyHint === true }));
  } finally {
    await upstream.close();
  }
}

function specOf(value: Members, folder: string): UpstreamSpec {
  const filled = (text: unknown): string => fillIn(String(text), folder);
  const texts = (given: unknown): Record<string, string> =>
    Object.fromEntries(Object.entries((given ?? {}) as object).map(([name, text]) => [name, filled(text)]));
  if (typeof value['url'] === 'string') {
    const { headers, http_headers, env_http_headers, bearer_token_env_var: bearer } = value;
    const named = Object.entries(texts(env_http_headers)).map(([name, from]) => [name, process.env[from] ?? '']);
    const token = bearer === undefined ? {} : { authorization: `Bearer ${process.env[String(bearer)] ?? ''}` };
    return {
      url: filled(value['url']),
      headers: { ...texts(headers), ...texts(http_headers), ...Object.fromEntries(named), ...token },
    };
  }
  const args = ((value['args'] ?? []) as readonly unknown[]).map(filled);
  const cwd = value['cwd'] === undefined ? folder : resolve(folder, filled(value['cwd']));
  const env = { ...ownEnvironment(), ...fromFile(value['envFile'], filled, folder), ...texts(value['env']) };
  return { command: filled(value['command']), args, env, cwd };
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, text]) =>
      text === undefined || name.startsWith('ASSIZE_') ? [] : [[name, text]],
    ),
  );
}

function fromFile(name: unknown, filled: (text: unknown) => string, folder: string): Record<string, string> {
  if (typeof name !== 'string') return {};
  const path = resolve(folder, filled(name));
  return existsSync(path) ? (parseEnv(readFileSync(path, 'utf8')) as Record<string, string>) : {};
}

/** Fills in the variables that clients know: `${NAME}`, `${NAME:-default}`, `${env:NAME}`. */
function fillIn(text: string, folder: string): string {
  const places: Readonly<Record<string, string>> = { workspaceFolder: folder, userHome: homedir() };
  return text.replace(/\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g, (all, name: string, otherwise?: string) => {
    return places[name] ?? process.env[name] ?? otherwise ?? all;
  });
}
