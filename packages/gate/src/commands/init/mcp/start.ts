import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { installedVersion, note } from '@assize/command';
import { upstreamOf } from '#mcp';
import type { Members } from './wrap.ts';

/** Starts a command of an entry as its client would, and lists the tools. @throws McpError */
export async function toolsOf({
  command,
  args = [],
  cwd,
  env,
  envFile,
}: Members): Promise<readonly string[]> {
  const folder = resolve(filled(cwd ?? '.'));
  const given = Object.entries((env ?? {}) as object).map(([name, text]) => [name, filled(text)]);
  const file = typeof envFile === 'string' ? resolve(folder, filled(envFile)) : '';
  const spec = {
    command: filled(command),
    args: (args as readonly unknown[]).map(filled),
    env: {
      ...ownEnvironment(),
      ...(existsSync(file) && (parseEnv(readFileSync(file, 'utf8')) as Record<string, string>)),
      ...Object.fromEntries(given),
    },
    cwd: folder,
  };
  const upstream = upstreamOf(spec, { version: installedVersion(), onWarning: note });
  try {
    return [...(await upstream.tools()).keys()];
  } finally {
    await upstream.close();
  }
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, text]) =>
      text === undefined || name.startsWith('ASSIZE_') ? [] : [[name, text]],
    ),
  );
}

/** Fills in the variables that clients know: `${NAME}`, `${NAME:-default}`, `${env:NAME}`. */
function filled(text: unknown): string {
  const places: Readonly<Record<string, string>> = {
    workspaceFolder: resolve('.'),
    userHome: homedir(),
  };
  return String(text).replace(
    /\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g,
    (all, name: string, otherwise?: string) => {
      return places[name] ?? process.env[name] ?? otherwise ?? all;
    },
  );
}
