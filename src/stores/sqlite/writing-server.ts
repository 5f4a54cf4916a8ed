import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import type { Batch, CommitResult } from '#ledger';
import { connectToWrite } from './connect.ts';
import { HashIndex } from './hash-index.ts';
import { whenUnlocked } from './retry.ts';
import type { StepName, Steps } from './steps.ts';
import { WritingHere } from './writing.ts';
import { type Answers, type Ask, packed, type WritingTask } from './writing-aside.ts';

/**
 * The other side of `WritingAside`: writes what is asked for on that port, until it is asked to end or a write fails. What one message
 * asks for waits together, and so do messages that have come together.
 */
export async function serveWriting(port: MessagePort, task: WritingTask): Promise<void> {
  const { path, durability, lockTimeoutMs } = task;
  try {
    serve(port, task, await whenUnlocked(() => connectToWrite(path, durability), path, lockTimeoutMs));
  } catch (error) {
    port.postMessage({ answers: [], failure: packed(error) } satisfies Answers);
    port.close();
  }
}

function serve(port: MessagePort, options: WritingTask, db: DatabaseSync): void {
  const indexes = { ids: new HashIndex(db, 'entry'), blobs: new HashIndex(db, 'blob') };
  const writing = new WritingHere(db, indexes, options);
  let answers: unknown[] = [];
  const post = (): void => {
    const { failure } = writing;
    port.postMessage({ answers, ...(failure && { failure: packed(failure) }) } satisfies Answers);
    answers = [];
    if (failure !== undefined) port.close();
  };
  /** All that one group answers goes in one message. */
  const answer = (id: number, isError: boolean, value: unknown): void => {
    if (answers.length === 0) process.nextTick(post);
    answers.push(id, isError, value);
  };
  const end = async (): Promise<void> => {
    try {
      await writing.end();
    } finally {
      db.close();
      // After the answer, which is posted in the next tick.
      setImmediate(() => port.close());
    }
  };
  const asked = ([, name, ...given]: Ask): Promise<unknown> => {
    // Since a write failed that nobody waited for.
    if (writing.failure !== undefined) return Promise.reject(writing.failure);
    if (name === 'commit') return writing.commit(given[0] as Batch).then(crossing);
    if (name === 'end') return end();
    if (name === 'index' || name === 'scrub' || name === 'idle') return writing[name]();
    return writing.step(name, ...(given as Parameters<Steps[StepName]>));
  };
  port.on('message', (asks: readonly Ask[]) => {
    for (const ask of asks) {
      asked(ask).then(
        (value) => answer(ask[0], false, value),
        (error: unknown) => answer(ask[0], true, packed(error)),
      );
    }
  });
  port.postMessage({ answers: [] } satisfies Answers);
}

function crossing(result: CommitResult): unknown {
  return result.status === 'unknown' ? { status: 'unknown', cause: packed(result.cause) } : result;
}
