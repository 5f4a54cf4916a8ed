import { isDeepStrictEqual } from 'node:util';
import { CallError, ofPlain } from '@assize/gate/internal/calls';
import { isInstance, type Json } from 'assize/internal/base';
import { present } from './present.ts';

/** A part of a streamed answer. */
export interface StreamPart {
  readonly type: string;
}

export type ModelStream = ReadableStream<StreamPart>;

/** A question to a model whose answer is streamed. */
export interface StreamedQuestion {
  readonly ask: () => Promise<ModelStream>;
  /** Records the parts of an answer, and returns the recorded ones. They are gathered if needed. */
  readonly record: (gather: () => Promise<readonly StreamPart[]>) => Promise<Json>;
  /** The answer is not recorded. */
  readonly failed: () => void;
  readonly model: string;
}

/** The parts that nothing acts on. Others wait until the whole answer is recorded. */
const SHOWN: ReadonlySet<string> = new Set([
  ...['stream-start', 'response-metadata', 'ping', 'raw'],
  ...[
    'text-start',
    'text-delta',
    'text-end',
    'reasoning-start',
    'reasoning-delta',
    'reasoning-end',
  ],
  ...['tool-input-start', 'tool-input-delta', 'tool-input-end'],
]);

/** The parts that are of one connection. */
const FLEETING: ReadonlySet<string> = new Set(['ping', 'raw']);

/** An answer with an error, or without an end. It is not recorded. */
class FailedAnswer extends Error {
  override readonly name = 'FailedAnswer';
}

/**
 * The stream of an answer, from the model or from the log. Texts are shown while they come. A tool
 * call, and the end, come after the answer is recorded. An answer with an error, or without an end,
 * is shown, and not recorded.
 *
 * @throws the error of the model before its first part
 */
export async function recordedStream({
  ask,
  record,
  failed,
  model,
}: StreamedQuestion): Promise<ModelStream> {
  const started = Promise.withResolvers<void>();
  const stopped = new AbortController();
  let out: ReadableStreamDefaultController<StreamPart> | undefined;
  const shown: StreamPart[] = [];
  const show = (part: StreamPart): void => {
    if (!stopped.signal.aborted) out?.enqueue(part);
    if (!FLEETING.has(part.type)) shown.push(part);
  };
  const gather = async (): Promise<readonly StreamPart[]> => {
    const source = await ask();
    started.resolve();
    return gathered(source, stopped.signal, show);
  };
  const stream = new ReadableStream<StreamPart>({
    start: (controller) => {
      out = controller;
    },
    cancel: (reason) => stopped.abort(reason),
  });
  const end = (async () => {
    try {
      const parts = ofPlain(await record(gather)) as readonly StreamPart[];
      started.resolve();
      if (stopped.signal.aborted) return;
      if (!isDeepStrictEqual(shown, parts.slice(0, shown.length))) throw answeredBefore(model);
      for (const part of parts.slice(shown.length)) out?.enqueue(part);
      out?.close();
    } catch (error) {
      failed();
      started.reject(error);
      if (stopped.signal.aborted) return;
      if (isInstance(error, FailedAnswer)) out?.close();
      else out?.error(error);
    }
  })();
  end.catch(() => undefined);
  await started.promise;
  return stream;
}

/** Reads an answer to its end. */
async function gathered(
  source: ModelStream,
  stopped: AbortSignal,
  show: (part: StreamPart) => void,
): Promise<readonly StreamPart[]> {
  const parts: StreamPart[] = [];
  const held: StreamPart[] = [];
  let isFailed = false;
  const reader = source.getReader();
  const stop = (): void => void reader.cancel(stopped.reason).catch(() => undefined);
  stopped.addEventListener('abort', stop, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = present(next.value);
      isFailed ||= part.type === 'error';
      if (!FLEETING.has(part.type)) parts.push(part);
      // The order stays: behind a part that waits, all wait.
      if (!isFailed && (held.length > 0 || !SHOWN.has(part.type))) held.push(part);
      else for (const each of [...held.splice(0), part]) show(each);
    }
  } finally {
    stopped.removeEventListener('abort', stop);
  }
  stopped.throwIfAborted();
  if (!isFailed && parts.at(-1)?.type === 'finish') return parts;
  for (const each of held) show(each);
  throw new FailedAnswer('The answer has an error, or no end.');
}

function answeredBefore(model: string): CallError {
  const text = `Another process has recorded another answer of ${model}. Run again: the recorded answer counts.`;
  return new CallError('conflict', text, { evidence: { model }, retryable: true });
}
