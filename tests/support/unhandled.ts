import { setImmediate as nextTurn } from 'node:timers/promises';

/** What nobody has handled while this was done: a process would end by it. */
export async function unhandledIn(does: () => Promise<unknown>): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => unhandled.push(error));
  try {
    await does();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  }
  return unhandled;
}
