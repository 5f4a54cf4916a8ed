import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError } from '@assize/command';
import { isInstance } from 'assize/internal/base';
import { isGlob, type SandboxProfile } from '#gateway';
import { commandLine } from '../init/agents/hook-command.ts';
import { mountPoints, writeList } from './mount-points.ts';

/** The used part of the optional package `@anthropic-ai/sandbox-runtime`. */
interface Manager {
  checkDependencies(): { readonly errors: readonly string[] };
  isSupportedPlatform(): boolean;
  initialize(config: RuntimeConfig): Promise<void>;
  wrapWithSandboxArgv(command: string): Promise<{
    readonly argv: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  }>;
  cleanupAfterCommand(): void;
  reset(): Promise<void>;
}

/** A place that is never read as a pattern, or a pattern. */
type Entry = string | { readonly path: string; readonly literal: true };

export interface RuntimeConfig {
  readonly network: {
    readonly allowedDomains: readonly string[];
    readonly deniedDomains: readonly string[];
    readonly strictAllowlist: true;
  };
  readonly filesystem: {
    readonly denyRead: readonly Entry[];
    readonly allowRead: readonly Entry[];
    readonly allowWrite: readonly Entry[];
    readonly denyWrite: readonly Entry[];
  };
}

/** A command in the sandbox, ready to be started. */
export interface Started {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Sandbox {
  /** `names`: of more variables that the command gets. */
  wrap(command: readonly string[], names?: readonly string[]): Promise<Started>;
  close(): Promise<void>;
}

/**
 * The profile for the runtime. On Linux it takes no patterns for what stays as it is, so these are
 * searched for here.
 */
export function runtimeConfig(profile: SandboxProfile, platform: NodeJS.Platform): RuntimeConfig {
  const { unreadable, readable, writable, unwritable, hosts, refusedHosts } = profile;
  const isLinux = platform === 'linux';
  return {
    network: { allowedDomains: hosts, deniedDomains: refusedHosts, strictAllowlist: true },
    filesystem: {
      denyRead: unreadable.map(entryOf),
      allowRead: readable.filter((path) => !isLinux || existsSync(path)).map(entryOf),
      allowWrite: writable.map(entryOf),
      denyWrite: [...unwritable, ...ownFolders(writable)]
        .flatMap((path) => (isLinux && isGlob(path) ? globSync(path) : [path]))
        .map(entryOf),
    },
  };
}

function entryOf(path: string): Entry {
  return isGlob(path) ? path : { path, literal: true };
}

/** A program in the sandbox must not change what starts the next one. */
function ownFolders(writable: readonly string[]): readonly string[] {
  if (!writable.some((top) => import.meta.dirname.startsWith(`${top}/`))) return [];
  const runtime = fileURLToPath(import.meta.resolve(RUNTIME));
  return [runtime, import.meta.filename].map((file) => dirname(file));
}

const RUNTIME = '@anthropic-ai/sandbox-runtime';

/**
 * Starts what commands in the sandbox need outside of it, and tries it with a command that does
 * nothing.
 *
 * @throws CliError `missing_package`: nothing runs without the sandbox
 */
export async function openSandbox(profile: SandboxProfile, project: string): Promise<Sandbox> {
  const manager = await loadManager();
  if (!manager.isSupportedPlatform())
    throw new CliError('missing_package', 'This system has no sandbox. Use Linux, WSL 2 or macOS.');
  const { errors } = manager.checkDependencies();
  if (errors.length > 0)
    throw new CliError(
      'missing_package',
      `The sandbox lacks a program: ${errors.join(', ')}. On Debian run apt-get install bubblewrap socat ripgrep.`,
    );
  await manager.initialize(runtimeConfig(profile, process.platform));
  const forGit = writeList(mountPoints(project, profile));
  const wrap: Sandbox['wrap'] = async (command, names = []) => {
    const { argv, env } = await manager.wrapWithSandboxArgv(commandLine(command, []));
    const [program = '', ...args] = argv;
    const handed = Object.entries({ ...env, ...forGit }).filter(
      ([name, value]) =>
        value !== undefined &&
        (value !== process.env[name] || HARMLESS.test(name) || names.includes(name)),
    );
    return { program, args, env: Object.fromEntries(handed) as Started['env'] };
  };
  const close = async (): Promise<void> => {
    manager.cleanupAfterCommand();
    await manager.reset();
  };
  const { program, args, env } = await wrap(['true']);
  const tried = spawnSync(program, args, { env, encoding: 'utf8' });
  // The mount points of one command would stand in the way of the next one.
  manager.cleanupAfterCommand();
  if (tried.status === 0) return { wrap, close };
  await close();
  const why = tried.stderr?.trim() || String(tried.error ?? tried.signal);
  throw new CliError('missing_package', `The sandbox does not start on this system: ${why}`);
}

/** Variables that tell nothing. The command also gets those that the runtime sets. */
const HARMLESS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|(?:NO|FORCE)_COLOR|LANG|LC_\w+|TZ|PWD|TMPDIR|EDITOR|PAGER|CI|NODE_ENV|NVM_DIR|VIRTUAL_ENV|GOPATH|\w+_(?:HOME|ROOT))$/;

async function loadManager(): Promise<Manager> {
  try {
    const { SandboxManager } = (await import(RUNTIME)) as { readonly SandboxManager: Manager };
    return SandboxManager;
  } catch (cause) {
    if (!isInstance(cause, Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND')
      throw cause;
    throw new CliError(
      'missing_package',
      `The package ${RUNTIME} is not installed. Run npm install ${RUNTIME}.`,
      { cause },
    );
  }
}
