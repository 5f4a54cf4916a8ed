import { setImmediate as nextTurn } from 'node:timers/promises';

/** The unhandled rejections during the call. Any of them would end a process. */
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
