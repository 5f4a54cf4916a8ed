import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endOf, nextFrom } from './child.ts';
import type { MemoryContents, Reviser } from './drift.ts';
import { beside } from './loading.ts';
import type { Mem0Place } from './mem0-memory.ts';

/** The commands of a writing process, one after the other. */
export type WriterCommand =
  | { readonly open: Mem0Place }
  | { readonly read: true }
  | { readonly revise: readonly [who: string, confidence: number] }
  | { readonly believe: string };

/** The answer to each command. */
export type WriterReply =
  | { readonly held: MemoryContents }
  | { readonly done: true }
  | { readonly failed: string };

/** A process of its own that works with a memory of mem0. */
export interface Mem0Writer extends Reviser {
  open(place: Mem0Place): Promise<void>;
  end(): Promise<void>;
}

export function startMem0Writer(): Mem0Writer {
  const child = fork(fileURLToPath(beside('mem0-writer-process')), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = endOf(child);
  return {
    open: async (open) => void (await tell(child, ended, { open })),
    read: async () => {
      const heard = await tell(child, ended, { read: true });
      if (!('held' in heard)) throw new Error('A reading process returned an unexpected answer.');
      return heard.held;
    },
    revise: async (...revise) => void (await tell(child, ended, { revise })),
    believe: async (believe) => void (await tell(child, ended, { believe })),
    end: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function tell(
  child: ChildProcess,
  ended: Promise<string>,
  told: WriterCommand,
): Promise<WriterReply> {
  const answered = nextFrom<WriterReply>(child);
  const failed = ended.then((end): WriterReply => ({ failed: `Its process ended with ${end}.` }));
  child.send(told);
  const heard = await Promise.race([answered, failed]);
  if ('failed' in heard) throw new Error(heard.failed);
  return heard;
}
