import { isAssizeError, isInstance } from 'assize/internal/base';
import type { Store, StoreOptions } from 'assize/internal/stores';
import type { Command } from 'commander';
import { CliError } from '../errors.ts';
import type { ExitCode } from '../exit-codes.ts';
import { DEFAULT_STORE } from '../files/options.ts';
import { Interrupted, interruption } from '../terminal/interrupt.ts';
import { Output } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { missingStore } from './missing-store.ts';
import { openByUrl } from './open-by-url.ts';
import { openProject } from './project.ts';

/** The options of a command that opens no store. */
export interface StorelessOptions {
  readonly json?: boolean;
  readonly config?: string;
}

/** The options that every other command has. */
export interface SharedOptions extends StorelessOptions {
  readonly store: string;
  readonly archive?: string;
}

/** The resources of a command. */
export interface Session {
  /** Whether to print one JSON document on standard output instead of text. */
  readonly json: boolean;
  readonly storeUrl: string;
  /**
   * The options of the store, its archive and the config, if the command line has them:
   * ` --store URL`. For the next commands that a command prints.
   */
  readonly again: string;
  readonly out: Output;
  readonly progress: Progress;
  readonly interruption: AbortSignal;
  /**
   * Opens the store, and always closes it. `readonly` requires an existing store and changes
   * nothing, `existing` writes to an existing store, `create` creates one. A store that is behind
   * its last checkpoint is refused, unless `checkpoint` is false, for inspection. `root`: the store
   * of the root log, if the URL names a cell.
   */
  withStore<T>(
    mode: 'readonly' | 'existing' | 'create',
    work: (store: Store) => Promise<T>,
    options?: Pick<StoreOptions, 'checkpoint' | 'vectors' | 'archive'> & {
      readonly root?: boolean;
    },
  ): Promise<T>;
}

/**
 * Makes a command's action from a function that receives a session, the options and the arguments,
 * and returns the exit code. `store`: the command reads the config only if no other place names its
 * store.
 */
export function inSession<Options extends StorelessOptions>(
  action: (session: Session, options: Options, ...args: any[]) => Promise<ExitCode>,
  needs: 'project' | 'store' = 'project',
): (...given: any[]) => Promise<void> {
  return async (...given) => {
    const [parsed, command] = given.splice(-2) as [Options, Command];
    const options = await openProject(command, parsed, needs);
    const session = openSession(options, command);
    // A signal that came while modules were loaded is heard before a step that can block.
    await new Promise((resolve) => setImmediate(resolve));
    session.interruption.throwIfAborted();
    try {
      process.exitCode = await action(session, options, ...given);
    } finally {
      session.progress.end();
    }
  };
}

function openSession(
  { json = false, store: storeUrl = DEFAULT_STORE, archive }: Partial<SharedOptions>,
  command: Command,
): Session {
  if (storeUrl === '')
    throw new CliError(
      'usage',
      'The name of the store is empty. Pass --store URL, or unset ASSIZE_STORE.',
    );
  return {
    json,
    storeUrl,
    again: givenAgain(command),
    out: new Output(),
    progress: new Progress(),
    interruption,
    withStore: async (mode, work, options = {}) => {
      const { store, explained } = await openByUrl(storeUrl, { archive, ...options, mode }).catch(
        (error: unknown) => {
          throw mode === 'create' ? error : inOurWords(error);
        },
      );
      try {
        return await work(store);
      } catch (error) {
        throw isInstance(error, Interrupted) && mode !== 'readonly'
          ? new Interrupted(error.signal, true, error.done)
          : explained(error);
      } finally {
        await store.close();
      }
    },
  };
}

/** A URL of a server can have a password, and is not repeated. */
function givenAgain(command: Command): string {
  return ['store', 'archive', 'config']
    .filter((name) => command.getOptionValueSource(name) === 'cli')
    .map((name) => {
      const value = String(command.getOptionValue(name));
      return ` --${name} ${/^postgres(?:ql)?:/.test(value) ? 'URL' : value}`;
    })
    .join('');
}

/** The store's message names modes. The command line does not have them. */
function inOurWords(error: unknown): unknown {
  if (!isAssizeError(error, 'store_not_found')) return error;
  return missingStore(String(error.evidence['path']), error);
}
