import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

/** Programs that start MCP servers, and the files that name these servers. */
export const CLIENTS = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex'] as const;
export type ClientName = (typeof CLIENTS)[number] | 'other';

/** One file with the servers of a client. */
export interface ClientFile {
  readonly client: ClientName;
  readonly path: string;
  /** The folder in which the client starts the servers of this file. */
  readonly folder: string;
}

export interface Places {
  readonly home: string;
  readonly project: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function ownPlaces(): Places {
  return { home: homedir(), project: resolve('.'), platform: process.platform, env: process.env };
}

/** The files of a client, whether they exist or not: those of the project first. */
export function filesOf(client: (typeof CLIENTS)[number], places: Places): readonly ClientFile[] {
  const { home, project, env } = places;
  const own = (path: string): ClientFile => ({ client, path, folder: project });
  switch (client) {
    case 'claude-code': {
      const folder = env['CLAUDE_CONFIG_DIR'];
      return [own(join(project, '.mcp.json')), own(join(folder ?? home, '.claude.json'))];
    }
    case 'claude-desktop':
      return [{ client, path: join(appData(places), 'Claude', 'claude_desktop_config.json'), folder: home }];
    case 'cursor':
      return [own(join(project, '.cursor', 'mcp.json')), own(join(home, '.cursor', 'mcp.json'))];
    case 'vscode':
      return [own(join(project, '.vscode', 'mcp.json')), own(join(appData(places), 'Code', 'User', 'mcp.json'))];
    case 'codex':
      return [
        own(join(project, '.codex', 'config.toml')),
        own(join(env['CODEX_HOME'] ?? join(home, '.codex'), 'config.toml')),
      ];
  }
}

/** Where programs of a desktop keep their settings. */
function appData({ home, platform, env }: Places): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] ?? join(home, '.config');
}

/** A file that a person named. Its client is told by its name, and else by its members. */
export function namedFile(path: string, client: ClientName | undefined, places: Places): ClientFile {
  const file = resolve(path);
  return { client: client ?? clientOf(file), path: file, folder: places.project };
}

function clientOf(path: string): ClientName {
  if (path.endsWith('.toml')) return 'codex';
  const name = basename(path);
  if (name === '.mcp.json' || name === '.claude.json') return 'claude-code';
  if (name === 'claude_desktop_config.json') return 'claude-desktop';
  const folder = basename(dirname(path));
  if (folder === '.cursor') return 'cursor';
  return folder === '.vscode' || hasServers(path) ? 'vscode' : 'other';
}

function hasServers(path: string): boolean {
  return existsSync(path) && /"servers"\s*:/.test(readFileSync(path, 'utf8'));
}
