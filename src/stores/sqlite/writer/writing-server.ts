import type { DatabaseSync } from 'node:sqlite';
import type { MessagePort } from 'node:worker_threads';
import type { CommitResult } from '#ledger';
import { checkBatch } from '../../input.ts';
import { connectToWrite } from '../connection/connect.ts';
import { whenUnlocked } from '../connection/retry.ts';
import { HashIndex } from '../ledger/hash-index.ts';
import { batchOfFlat } from './batch-message.ts';
import { checkStep, type StepName, type Steps } from './steps.ts';
import { type Answers, type Ask, packed, type WritingTask } from './threaded-writer.ts';
import { WritingHere } from './writer.ts';

/**
 * The other side of `WritingAside`: writes what is asked for on that port, until it is asked to end or a write fails. What one message
 * asks for waits together, and so do messages that have come together.
 */
export async function serveWriting(port: MessagePort, task: WritingTask): Promise<void> {
  const { path, durability, openWithinMs } = task;
  try {
    await whenUnlocked(() => connectToWrite(path, durability, (db) => serve(port, task, db)), path, openWithinMs);
  } catch (error) {
    port.postMessage({ answers: [], failure: packed(error) } satisfies Answers);
    port.close();
  }
}

function serve(port: MessagePort, { path, lockTimeoutMs }: WritingTask, db: DatabaseSync): void {
  let answers: unknown[] = [];
  let isOver = false;
  const post = (): void => {
    if (isOver) return;
    const { failure } = writing;
    port.postMessage({ answers, ...(failure && { failure: packed(failure) }) } satisfies Answers);
    answers = [];
    if (failure !== undefined) over();
  };
  const over = (): void => {
    isOver = true;
    port.close();
  };
  const indexes = { ids: new HashIndex(db, 'entry'), blobs: new HashIndex(db, 'blob') };
  // After what was answered before it.
  const onFailure = (): void => void setImmediate(post);
  const writing = new WritingHere(db, indexes, { path, lockTimeoutMs, onFailure });
  /** All that one group answers goes in one message. */
  const answer = (id: number, isError: boolean, value: unknown): void => {
    if (answers.length === 0) process.nextTick(post);
    answers.push(id, isError, value);
  };
  const end = async (): Promise<void> => {
    try {
      await writing.end();
    } finally {
      if (db.isOpen) db.close();
      // After the answer, which is posted in the next tick.
      setImmediate(over);
    }
  };
  const asked = async (name: Ask[1], given: readonly unknown[]): Promise<unknown> => {
    // Since a write failed that nobody waited for.
    if (writing.failure !== undefined) throw writing.failure;
    if (name === 'end') return end();
    if (name === 'index' || name === 'scrub' || name === 'idle') return writing[name]();
    // Again: what is no plain value may have been another one when it was sent.
    if (name === 'commit') {
      const batch = batchOfFlat(given[0] as readonly unknown[]);
      checkBatch(batch);
      return crossing(await writing.commit(batch));
    }
    const step = given as Parameters<Steps[StepName]>;
    checkStep(name, step);
    return writing.step(name, ...step);
  };
  port.on('message', (asks: readonly Ask[]) => {
    for (const [id, name, ...given] of asks) {
      asked(name, given).then(
        (value) => answer(id, false, value),
        (error: unknown) => answer(id, true, packed(error)),
      );
    }
  });
  port.postMessage({ answers: [] } satisfies Answers);
}

function crossing(result: CommitResult): unknown {
  return result.status === 'unknown' ? { status: 'unknown', cause: packed(result.cause) } : result;
}
