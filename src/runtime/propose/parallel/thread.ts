import { Worker } from 'node:worker_threads';
import type { FromThread, ToThread } from './replica.ts';

/** Another thread, as the runtime needs it. */
export interface Thread {
  post(message: ToThread): void;
  /** Before anything is posted. `ended` is called once, however it ends. */
  listen(listener: { readonly said: (message: FromThread) => void; readonly ended: (why: string) => void }): void;
  /** Whether the process has to wait for it. */
  hold(isHeld: boolean): void;
  /** Ends it, whatever it is doing. */
  end(): Promise<void>;
}

/** What a thread is begun with. */
export interface ThreadTask {
  readonly module: string;
  /** The domain's export in it. */
  readonly name: string;
}

/** A thread of this process that has imported the module by itself (`worker.ts`). */
export function workerThread(task: ThreadTask): Thread {
  const worker = new Worker(workerFile(), { workerData: task, execArgv: [] });
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    listen: ({ said, ended }) => {
      let why = 'it ended';
      worker.on('message', said);
      worker.on('messageerror', () => void worker.terminate());
      worker.on('error', (error) => {
        why = error instanceof Error ? error.message : String(error);
      });
      worker.on('exit', () => ended(why));
    },
    hold: (isHeld) => (isHeld ? worker.ref() : worker.unref()),
    end: async () => void (await worker.terminate()),
  };
}

/** The worker beside this file: a source in the repository, JavaScript in the package. */
function workerFile(): URL {
  return new URL(`./worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
