import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from 'assize/internal/base';
import { parse } from 'jsonc-parser';
import { BYTE_ORDER_MARK } from '../foreign-json.ts';
import { type Settings, termsIn } from './hooks.ts';
import { type ReadSettings, sandboxFaults } from './sandbox.ts';

export interface Places {
  readonly home: string;
  readonly project: string;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The settings files that Claude Code reads in a project: those of an organisation come last. */
export function settingsFiles(places: Places): readonly string[] {
  const { project, home, env } = places;
  const user = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
  return [
    join(user, 'settings.json'),
    join(project, '.claude', 'settings.json'),
    join(project, '.claude', 'settings.local.json'),
    ...managedFiles(places),
  ].filter((path) => existsSync(path));
}

/** The settings files of an organisation. */
export function managedFiles(places: Pick<Places, 'platform' | 'env'>): readonly string[] {
  const managed = managedFolder(places);
  const parts = join(managed, 'managed-settings.d');
  return [
    join(managed, 'managed-settings.json'),
    ...(existsSync(parts) ? readdirSync(parts).filter((name) => name.endsWith('.json')) : []).map(
      (name) => join(parts, name),
    ),
  ].filter((path) => existsSync(path));
}

/** The hooks of Assize that an organisation has installed: no other settings switch them off. */
export function managedHooks(
  places: Pick<Places, 'platform' | 'env'>,
): { readonly path: string; readonly settings: Settings } | undefined {
  for (const path of managedFiles(places)) {
    const settings = settingsIn(path);
    if (settings !== undefined && termsIn(settings) !== undefined) return { path, settings };
  }
  return undefined;
}

function managedFolder({ platform, env }: Pick<Places, 'platform' | 'env'>): string {
  if (platform === 'darwin') return '/Library/Application Support/ClaudeCode';
  if (platform === 'win32') return join(env['PROGRAMFILES'] ?? 'C:\\Program Files', 'ClaudeCode');
  return '/etc/claude-code';
}

/**
 * The settings in any of the files that keep the hooks from running. A commit, a branch or an
 * administrator can change each of them.
 */
export function settingsFaults(files: readonly string[], isManaged: boolean = false): string[] {
  return readAll(files).flatMap(({ path, settings }) => {
    if (settings === undefined) return [`${path} cannot be read; correct it`];
    return (isManaged ? ['disableAllHooks'] : ['disableAllHooks', 'allowManagedHooksOnly'])
      .filter((name) => settings[name] === true)
      .map((name) => `${path} has ${name}, so no hook of Assize runs; take it out`);
  });
}

/** The settings in any of the files that open the sandbox which the file `own` turns on. */
export function openedSandbox(files: readonly string[], own: string): string[] {
  return sandboxFaults(readAll(files), own);
}

function readAll(files: readonly string[]): readonly ReadSettings[] {
  return files.map((path) => ({ path, settings: settingsIn(path) }));
}

/** Undefined for a file that cannot be read. Comments are read over: Claude Code may do so too. */
function settingsIn(path: string): Readonly<Record<string, unknown>> | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  const settings: unknown = parse(text.replace(BYTE_ORDER_MARK, ''), [], {
    allowTrailingComma: true,
  });
  if (text.trim() === '') return {};
  return isRecord(settings) ? settings : undefined;
}
