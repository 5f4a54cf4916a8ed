import { isDeepStrictEqual } from 'node:util';
import { isRecord } from 'assize/internal/base';
import type { SandboxProfile } from '#gateway';

/** The sandbox in the settings of Claude Code (version 2.1.332). */
export type ClaudeSandbox = Readonly<Record<string, unknown>>;

/** The sandbox of Assize always has these members. Other values open it. */
const FIXED: ClaudeSandbox = {
  enabled: true,
  failIfUnavailable: true,
  allowUnsandboxedCommands: false,
};

/** Members that only take something away, in any settings file. */
const NARROWING =
  /^(?:filesystem\.deny(?:Read|Write)|network\.deniedDomains|credentials\.|autoAllowBash)/;

/** Lists that another file would add to. */
const LISTS = /^(?:filesystem\.allow(?:Read|Write)|network\.allowedDomains)$/;

/** The profile of the rules as settings of Claude Code. `secrets`: names of variables. */
export function claudeSandbox(
  { unreadable, readable, writable, unwritable, hosts, refusedHosts }: SandboxProfile,
  secrets: readonly string[],
): ClaudeSandbox {
  return {
    ...FIXED,
    filesystem: {
      denyRead: unreadable,
      allowRead: readable,
      allowWrite: writable,
      denyWrite: unwritable,
    },
    network: { allowedDomains: hosts, deniedDomains: refusedHosts },
    credentials: { envVars: secrets.map((name) => ({ name, mode: 'deny' })) },
  };
}

/** A settings file, as its JSON. Undefined: it cannot be read. */
export interface ReadSettings {
  readonly path: string;
  readonly settings: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The settings that open the sandbox which the file `own` turns on. Any file that Claude Code reads
 * can do so, and the rules let a call through for its sandbox.
 */
export function sandboxFaults(files: readonly ReadSettings[], own: string): string[] {
  const there = membersOf(files.find(({ path }) => path === own));
  const isOn = Object.entries(FIXED).every(([name, value]) => there.get(name) === value);
  return [
    ...(isOn ? [] : [`${own} does not turn the sandbox on; run assize init claude-code --sandbox`]),
    ...files.flatMap((file) =>
      [...membersOf(file)]
        .filter(([name, value]) => value !== FIXED[name] && !NARROWING.test(name))
        .filter(([name]) => file.path !== own || !LISTS.test(name))
        .map(([name]) => `${file.path} has sandbox.${name}, and it opens the sandbox; remove it`)
        .concat(
          grantsIn(file).map(
            (grant) => `${file.path} has ${grant}, and it opens the sandbox; write it as a rule`,
          ),
        ),
    ),
  ];
}

/** Whether the sandbox in a settings file is another one than that of the rules. */
export function isOtherSandbox(found: unknown, { credentials: _, ...expected }: ClaudeSandbox) {
  const { credentials: __, ...sandbox } = isRecord(found) ? found : {};
  return !isDeepStrictEqual(sandbox, expected);
}

/** The members of `sandbox` by their path, each a list or a value. */
function membersOf(file: ReadSettings | undefined): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  const walk = (value: unknown, names: readonly string[]): void => {
    if (!isRecord(value)) found.set(names.join('.'), value);
    else for (const [name, each] of Object.entries(value)) walk(each, [...names, name]);
  };
  walk(file?.settings?.['sandbox'] ?? {}, []);
  return found;
}

/** Permissions that Claude Code also adds to its sandbox. */
function grantsIn({ settings }: ReadSettings): readonly string[] {
  const permissions = settings?.['permissions'];
  if (!isRecord(permissions)) return [];
  const { allow, additionalDirectories: more } = permissions;
  const texts = Array.isArray(allow) ? allow.map(String) : [];
  return [
    ...texts.filter((text) => /^(?:Edit|Write|MultiEdit|NotebookEdit|WebFetch)\(/.test(text)),
    ...(Array.isArray(more) && more.length > 0 ? ['permissions.additionalDirectories'] : []),
  ];
}
