import { setImmediate as nextTurn } from 'node:timers/promises';

/** The error that a call throws. */
export function errorOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
}

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

/** Values that code may throw, and that cause another error when inspected. */
export function oddErrors(): readonly (readonly [string, unknown])[] {
  const refuse = (): never => {
    throw new Error('a trap');
  };
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable(new Error('gone'), {});
    revoke();
    return proxy;
  };
  return [
    ['a Proxy that was revoked', revoked()],
    ['an object that inherits from one', Object.create(revoked())],
    [
      'a Proxy that says nothing of its prototype',
      new Proxy(new Error('sly'), { getPrototypeOf: refuse }),
    ],
    ['a Proxy that says nothing of its members', new Proxy(new Error('sly'), { get: refuse })],
    [
      'an error whose code throws',
      Object.defineProperty(new Error('sly'), 'code', { get: refuse }),
    ],
    [
      'an error whose message throws',
      Object.defineProperty(new Error(), 'message', { get: refuse }),
    ],
    [
      'an error whose message is not text',
      Object.defineProperty(new Error(), 'message', { value: 5 }),
    ],
  ];
}
