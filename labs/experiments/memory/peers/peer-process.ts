import { judgeMem0 } from './mem0.ts';
import type { PeerAnswer, PeerTask } from './peer.ts';
import { judgeServerMemory } from './server-memory.ts';

/** The process of one peer. It receives the peer's name and answers once. Its parent ends it. */
process.once('message', async (task: PeerTask) => {
  let answer: PeerAnswer;
  try {
    answer = {
      found: await (task.peer === 'server-memory' ? judgeServerMemory(task) : judgeMem0(task)),
    };
  } catch (error) {
    answer = { failed: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(answer);
});
