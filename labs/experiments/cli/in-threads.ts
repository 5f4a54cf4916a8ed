import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Session } from '@assize/command';
import { AssizeError } from 'assize';
import type { Experiment, Running } from '../effects/index.ts';
import type { Table } from '../tables/index.ts';
import { runExperiment } from './experiments.ts';

/** The common options of all experiments of one command line. */
export type Settings = Pick<Running, 'seed' | 'scale' | 'data' | 'postgres'>;

export type ToThread = 'stop' | { readonly name: string; readonly settings: Settings };

export type FromThread =
  | { readonly done: number; readonly of: number }
  | { readonly tables: readonly Table[] }
  | { readonly failed: Failed };

/**
 * The thrown error. `code` comes from assize or from the system; a system error also has the failed
 * call.
 */
export interface Failed {
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
  readonly syscall?: string;
}

/** The tables of an experiment, or the error that ended it. */
export type Outcome = { readonly tables: readonly Table[] } | { readonly error: unknown };

/**
 * Runs experiments, each processor one at a time. Experiments that measure only time run first,
 * each alone. `told` receives the outcomes in the order of the given experiments. One that fails
 * ends no other. Ctrl-C ends all experiments between two runs.
 */
export async function runExperiments(
  session: Session,
  experiments: readonly Experiment[],
  settings: Settings,
  told: (experiment: Experiment, outcome: Outcome) => void,
): Promise<void> {
  const found = new Map<Experiment, Outcome>();
  let next = 0;
  const tell = (experiment: Experiment, outcome: Outcome): void => {
    found.set(experiment, outcome);
    for (
      let first = experiments[next];
      first !== undefined && found.has(first);
      first = experiments[++next]
    )
      told(first, found.get(first)!);
  };
  const aside = experiments.filter(({ isTimed }) => isTimed !== true);
  const lanes = Math.min(availableParallelism(), aside.length);
  for (const each of lanes > 1
    ? experiments.filter(({ isTimed }) => isTimed === true)
    : experiments)
    tell(
      each,
      await outcomeOf(
        session,
        runExperiment(session, each, (watched) => each.run({ ...watched, ...settings })),
      ),
    );
  if (lanes > 1) await runAside(session, aside, settings, lanes, tell);
}

async function outcomeOf(
  { interruption }: Session,
  made: Promise<readonly Table[]>,
): Promise<Outcome> {
  try {
    return { tables: await made };
  } catch (error) {
    interruption.throwIfAborted();
    return { error };
  }
}

async function runAside(
  session: Session,
  experiments: readonly Experiment[],
  settings: Settings,
  lanes: number,
  tell: (experiment: Experiment, outcome: Outcome) => void,
): Promise<void> {
  const { interruption, progress } = session;
  const threads = Array.from({ length: lanes }, newThread);
  const stop = (): void => {
    for (const thread of threads) thread.postMessage('stop' satisfies ToThread);
  };
  interruption.addEventListener('abort', stop);
  const waiting = [...experiments];
  const underWay = new Map<string, { readonly done: number; readonly of: number }>();
  const report = (name: string, how: { readonly done: number; readonly of: number }): void => {
    underWay.set(name, how);
    const all = [...underWay.values()];
    const sum = (of: (each: typeof how) => number): number =>
      all.reduce((total, each) => total + of(each), 0);
    progress.report(
      [...underWay.keys()].join(', '),
      sum(({ done }) => done),
      sum(({ of }) => of),
    );
  };
  const lane = async (n: number): Promise<void> => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      const experiment = each;
      interruption.throwIfAborted();
      const thread = threads[n]!;
      const answer = answerOf(thread, { name: experiment.name, settings }, (how) =>
        report(experiment.name, how),
      );
      const outcome = await outcomeOf(session, answer);
      underWay.delete(experiment.name);
      progress.end();
      tell(experiment, outcome);
      // The thread of a failed experiment may be at its end.
      if ('error' in outcome) {
        await thread.terminate();
        threads[n] = newThread();
      }
    }
  };
  try {
    const ended = threads.map((_, n) =>
      lane(n).catch((error: unknown) => {
        waiting.length = 0;
        stop();
        throw error;
      }),
    );
    // Each is let end in order: it may have files and servers of its own.
    const failures = (await Promise.allSettled(ended)).filter((each) => each.status === 'rejected');
    interruption.throwIfAborted();
    if (failures[0] !== undefined) throw failures[0].reason;
  } finally {
    interruption.removeEventListener('abort', stop);
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

function answerOf(
  thread: Worker,
  asked: ToThread,
  progress: (how: { readonly done: number; readonly of: number }) => void,
): Promise<readonly Table[]> {
  return new Promise((resolve, reject) => {
    const over = (settle: () => void): void => {
      for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event);
      settle();
    };
    thread.on('message', (said: FromThread) => {
      if ('done' in said) progress(said);
      else if ('tables' in said) over(() => resolve(said.tables));
      else over(() => reject(errorOf(said.failed)));
    });
    thread.on('error', (error) => over(() => reject(error)));
    thread.on('exit', (code) =>
      over(() => reject(new Error(`A thread of an experiment ended with ${code}.`))),
    );
    thread.postMessage(asked);
  });
}

/** The part of the error of the thread that can be cloned. */
function errorOf({ message, stack, code, syscall }: Failed): Error {
  if (syscall !== undefined) return Object.assign(new Error(message), { stack, code, syscall });
  return code === undefined
    ? Object.assign(new Error(message), { stack })
    : new AssizeError(code, message);
}

function newThread(): Worker {
  return new Worker(threadFile(), { execArgv: [] });
}

function threadFile(): URL {
  return new URL(
    `./experiment-thread${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`,
    import.meta.url,
  );
}
