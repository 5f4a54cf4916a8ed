import { type Mem0Memory, openMem0 } from './mem0-memory.ts';
import type { WriterCommand, WriterReply } from './mem0-writer.ts';

/** The process that `mem0-writer.ts` starts. It ends when its parent ends. */
let memory: Mem0Memory | undefined;

process.on('message', async (told: WriterCommand) => {
  let heard: WriterReply;
  try {
    heard = await done(told);
  } catch (error) {
    heard = { failed: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(heard);
});

async function done(told: WriterCommand): Promise<WriterReply> {
  if ('open' in told) memory = openMem0(told.open);
  if (memory === undefined) throw new Error('No memory was opened.');
  if ('read' in told) return { held: await memory.read() };
  if ('revise' in told) await memory.revise(...told.revise);
  if ('believe' in told) await memory.believe(told.believe);
  return { done: true };
}
