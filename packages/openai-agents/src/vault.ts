import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CallError } from '@assize/gate/internal/calls';
import { type Agent, RunContext, RunState } from '@openai/agents';
import { type ArgumentSchema, arg, checkArgument, isInstance } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { takeAnswersTo } from './answers.ts';
import { STATE } from './held-calls.ts';

export interface RunStateVaultOptions {
  /** The folder of the states. It is created, and only its owner may read it. */
  readonly folder: string;
}

/** Keeps paused runs at the program, so that a client carries a token in place of the state. */
export interface RunStateVault {
  /**
   * Keeps a state. Returns its token: the hash of the state and of a random number.
   *
   * @throws ArgumentError `bad_argument`; the errors of the file system
   */
  put(state: RunState<any, any>): Promise<string>;
  /**
   * Takes a state back. Of several takers, in any process, one gets it.
   *
   * @throws CallError `not_found`, `wrong_state`, `damaged`; ArgumentError `bad_argument`;
   * the errors of `RunState.fromString` and of the file system
   */
  take<Context, A extends Agent<any, any>>(
    agent: A,
    token: string,
    options?: {
      /** A context in place of the kept one. */
      readonly context?: RunContext<Context>;
    },
  ): Promise<RunState<Context, A>>;
}

/**
 * A vault in a folder. All processes that use the folder share it.
 *
 * @throws ArgumentError `bad_argument`
 */
export function runStateVault(options: RunStateVaultOptions): RunStateVault {
  checkArgument(VAULT, options, 'options');
  return new FolderVault(options.folder);
}

class FolderVault implements RunStateVault {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put(state: RunState<any, any>): Promise<string> {
    checkArgument(STATE, state, 'state');
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const kept = `${randomBytes(32).toString('hex')}\n${state.toString()}`;
    const token = hashText(kept);
    const draft = this.#path(`${token}.new`);
    try {
      await writeNew(draft, kept);
      await rename(draft, this.#path(token));
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    await this.#sync();
    return token;
  }

  async take<Context, A extends Agent<any, any>>(
    agent: A,
    token: string,
    { context }: { readonly context?: RunContext<Context> } = {},
  ): Promise<RunState<Context, A>> {
    checkArgument(arg.object, agent, 'agent');
    checkArgument(arg.text, token, 'token');
    checkArgument(arg.optional(CONTEXT), context, 'options.context');
    const text = await this.#read(token);
    const state =
      context === undefined
        ? await RunState.fromString<Context, A>(agent, text)
        : await RunState.fromStringWithContext<Context, A>(agent, text, context, {
            contextStrategy: 'replace',
          });
    await this.#claim(token);
    takeAnswersTo(state);
    return state;
  }

  async #read(token: string): Promise<string> {
    const kept = TOKEN.test(token) ? await readIfThere(this.#path(token)) : undefined;
    if (kept === undefined) {
      const isTaken =
        TOKEN.test(token) && (await readIfThere(this.#path(`${token}.taken`))) !== undefined;
      if (isTaken) throw taken();
      throw new CallError(
        'not_found',
        'The vault has no state for this token. Pass one that `put` returned.',
      );
    }
    if (hashText(kept) !== token)
      throw new CallError(
        'damaged',
        `The state ${token} is not as it was put, so it is not resumed. Find the program that changed the folder.`,
      );
    return kept.slice(kept.indexOf('\n') + 1);
  }

  /** The mark stays, so that a state which returns to the folder is not taken again. */
  async #claim(token: string): Promise<void> {
    try {
      await writeNew(this.#path(`${token}.taken`), '');
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw taken();
      throw error;
    }
    await this.#sync();
    await rm(this.#path(token), { force: true });
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  /** A new name is durable once its folder is synced. */
  async #sync(): Promise<void> {
    const folder = await open(this.#folder, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function taken(): CallError {
  return new CallError(
    'wrong_state',
    'The state was taken already, and a state is taken once. Put the state of the newer run.',
  );
}

function codeOf(error: unknown): unknown {
  return isInstance(error, Error) ? (error as Error & { readonly code?: unknown }).code : undefined;
}

const TOKEN = /^[0-9a-f]{64}$/;

const CONTEXT: ArgumentSchema = arg.of('a RunContext of @openai/agents', (value) =>
  isInstance(value, RunContext),
);

const VAULT: ArgumentSchema = arg.options<RunStateVaultOptions>({ folder: arg.text });
