/** Who uses something, and who waits for it. */
const queues = new WeakMap<object, Promise<unknown>>();

/** Does it when all that came before it at the same thing is over. */
export function inTurn<T>(what: object, make: () => Promise<T>): Promise<T> {
  const before = queues.get(what) ?? Promise.resolve();
  const done = before.then(make, make);
  queues.set(what, done);
  return done;
}
