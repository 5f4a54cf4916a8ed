import type { MemoryStore } from '@assize/testing/memory';

/** The same store, as if a writer of the database had changed the payload of `main@2`. */
export function damaged(memory: MemoryStore): MemoryStore {
  return new Proxy(memory, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (name !== 'entries') return typeof member === 'function' ? member.bind(target) : member;
      return async (...args: Parameters<MemoryStore['entries']>) =>
        (await target.entries(...args)).map((row) =>
          row.trajectory_id === 'main' && row.seq === 2
            ? { ...row, payload: row.payload.replace('"a"', '"b"') }
            : row,
        );
    },
  });
}
