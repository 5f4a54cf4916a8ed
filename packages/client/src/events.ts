import type { components } from './openapi.d.ts';
import { PAUSE_MS, pause } from './pause.ts';
import { isWithoutAnswer } from './problem.ts';

/** An entry of the log as an event. `id` is its place in the log. */
export interface EntryEvent {
  readonly id: number;
  readonly kind: string;
  readonly entry: components['schemas']['EntrySummary'] & { readonly trajectory_id: string };
}

export interface Following {
  readonly trajectory?: string;
  readonly kind?: string;
  /** The id of the last event that was seen. -1: from the first entry. Default: from now on. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

type Open = (
  query: Readonly<Record<string, string | undefined>>,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
) => Promise<Response>;

/** Follows the stream, and opens it again after its last event when it breaks. */
export async function* entryEvents(
  open: Open,
  { trajectory, kind, after, signal }: Following,
): AsyncGenerator<EntryEvent, void, undefined> {
  let last = after;
  while (true) {
    const headers: Record<string, string> =
      last === undefined ? {} : { 'last-event-id': String(last) };
    const response = await open({ trajectory, kind }, headers, signal);
    try {
      for await (const { id, event, data } of blocksOf(response.body!)) {
        // A sign of life has no place in the log.
        if (id === '') continue;
        // Also `ready` has one: a stream that breaks before its first entry loses none.
        last = Number(id);
        if (event !== 'ready') yield { id: last, kind: event, entry: JSON.parse(data) };
      }
    } catch (error) {
      if (!isWithoutAnswer(error) || signal?.aborted === true) throw error;
    }
    await pause(PAUSE_MS, signal);
  }
}

interface Block {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Block> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    let rest = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const blocks = (rest + decoder.decode(read.value, { stream: true })).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks)
        yield {
          id: fieldOf(block, 'id'),
          event: fieldOf(block, 'event'),
          data: fieldOf(block, 'data'),
        };
    }
  } finally {
    await reader.cancel();
  }
}

function fieldOf(block: string, name: string): string {
  return new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? '';
}
