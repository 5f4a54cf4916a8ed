import { resolve } from 'node:path';
import { isAssizeError } from 'assize/internal/base';
import { type EffectPhase, requireOwnTool, type Tool } from 'assize/internal/effects';
import type { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import { CliError, note } from '../errors.ts';
import { importModule, lookedAt } from '../files/module-file.ts';
import { project } from './project.ts';

/**
 * The tools of the config, and those that the files export, separately or in lists.
 * @throws CliError; DuplicatePackageError `duplicate_package`
 */
export async function loadTools(files: readonly string[]): Promise<Tool[]> {
  const found = await Promise.all(
    files.map(async (file) => {
      const module = await importModule(
        file,
        'tools',
        'Name a module that exports results of declareTool',
      );
      const tools = lookedAt(file, 'tools', () => {
        const found = Object.values(module).flat().filter(isTool);
        for (const tool of found) requireOwnTool(tool);
        return found;
      });
      if (tools.length > 0) return tools;
      throw new CliError(
        'bad_input',
        `The file ${resolve(file)} exports no tool. Export a result of declareTool, or a list of results.`,
      );
    }),
  );
  // A tool may be exported both separately and in a list.
  return [...new Set([...(project()?.tools ?? []), ...found.flat()])];
}

/**
 * Runs work that needs the effects of a store, as soon as no other process holds them.
 * @throws CliError `effects_busy`
 */
export async function whenEffectsFree<T>(
  interruption: AbortSignal,
  waitSeconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const patience = AbortSignal.timeout(waitSeconds * 1_000);
  try {
    return await work(AbortSignal.any([interruption, patience]));
  } catch (error) {
    if (error !== patience.reason || !patience.aborted) throw error;
    throw new CliError(
      'effects_busy',
      'Another process runs the effects of this store. Run the command there, or end that process first.',
      { cause: error },
    );
  }
}

/**
 * Milliseconds before the awaited calls are printed, also after an interruption, and between two
 * checks of them.
 */
const SAID_AFTER_MS = 1_000;
const SAID_AGAIN_MS = 10_000;
/** Maximum number of awaited calls that are named. */
const NAMED = 3;

/** Whether this process waits for another process. It runs one command at a time. */
let waitsElsewhere = false;

/** The same store. It prints that it waits for another process's effects. */
export function reportingWaits<S extends Store>(store: S, waitSeconds: number): S {
  const said =
    (wait: (...given: any[]) => Promise<unknown>) =>
    async (...given: unknown[]) => {
      waitsElsewhere = true;
      const saying = setTimeout(
        () =>
          note(
            `Waiting up to ${waitSeconds} s (--wait) for another process that runs the effects of this store.`,
          ),
        SAID_AFTER_MS,
      );
      try {
        return await wait.apply(store, given);
      } finally {
        waitsElsewhere = false;
        clearTimeout(saying);
      }
    };
  return new Proxy(store, {
    get: (_store, name) => {
      const member: unknown = Reflect.get(store, name);
      if (typeof member !== 'function') return member;
      return name === 'leaseEffects' || name === 'joinEffects'
        ? said(member as never)
        : member.bind(store);
    },
  });
}

/** Phases of calls that are in flight, or are to be called or retried. */
const CALLED: ReadonlySet<EffectPhase> = new Set(['intended', 'due', 'applying', 'undoing']);

/**
 * Prints the awaited calls while work is in progress: only those of these tools, because this
 * process runs no others. Callers must call the returned function at the end.
 */
function saysWhatItWaitsFor(assize: Assize, tools: readonly Tool[]): () => void {
  if (tools.length === 0) return () => undefined;
  const here = new Set(tools.map(({ name }) => name));
  let before = '';
  const say = async (): Promise<void> => {
    if (waitsElsewhere) return;
    const transactions = await assize.effects();
    const calls = transactions.flatMap(({ epoch, effects }) =>
      effects
        .filter(({ tool, phase }) => here.has(tool) && CALLED.has(phase))
        .map(({ tool, phase }) => `${tool} of transaction ${epoch} (${phase})`),
    );
    const more = calls.length > NAMED ? `, and ${counted(calls.length - NAMED, 'more call')}` : '';
    const text = calls.slice(0, NAMED).join(', ') + more;
    if (text !== '' && text !== before && !isOver) note(`Waiting for ${text}.`);
    before = text;
  };
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = (ms: number): void => {
    timer = setTimeout(async () => {
      // An error here also affects the awaited work, and that work reports it.
      await say().catch(() => undefined);
      if (!isOver) look(SAID_AGAIN_MS);
    }, ms);
  };
  look(SAID_AFTER_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/**
 * Resumes unresolved effects with these tools. An interruption closes the runtime before the next
 * call. A call in flight at its sink is awaited, because its outcome would be unknown otherwise.
 *
 * @throws Interrupted, if the interruption prevented any work
 */
export async function untilStopped<T>(
  assize: Assize,
  tools: readonly Tool[],
  interruption: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  let closing: Promise<void> | undefined;
  let saying: NodeJS.Timeout | undefined;
  const isOver = saysWhatItWaitsFor(assize, tools);
  const stop = (): void => {
    isOver();
    closing = assize.close({ recover: false });
    closing.catch(() => undefined);
    saying = setTimeout(
      () => note('Waiting for running tools. A second signal stops immediately.'),
      SAID_AFTER_MS,
    );
  };
  interruption.addEventListener('abort', stop, { once: true });
  try {
    interruption.throwIfAborted();
    return await work();
  } catch (error) {
    if (interruption.aborted && isAssizeError(error, 'closed')) throw interruption.reason;
    throw error;
  } finally {
    isOver();
    interruption.removeEventListener('abort', stop);
    try {
      await closing;
    } finally {
      clearTimeout(saying);
    }
  }
}

/** Checks the fields, so a tool from another copy of the package gets its own error. */
function isTool(value: unknown): value is Tool {
  const { name, spec, parse, claims } = (value ?? {}) as Partial<Tool>;
  return (
    typeof name === 'string' &&
    typeof spec === 'object' &&
    typeof parse === 'function' &&
    typeof claims === 'function'
  );
}
