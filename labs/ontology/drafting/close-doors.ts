import { Socket as UdpSocket } from 'node:dgram';
import { Server, Socket } from 'node:net';
import { runInNewContext } from 'node:vm';

/** Globals of Node that the checks of a domain use. They lead to no file, process or socket. */
const KEPT: ReadonlySet<string> = new Set(['Buffer', 'structuredClone']);
/** Globals of the language that make code or wait. */
const REMOVED: ReadonlySet<string> = new Set([
  'eval',
  'Function',
  'WebAssembly',
  'console',
  'Atomics',
]);
/** `checkDomain` watches `Math.random`, so the functions of `Math` stay exchangeable. */
const OPEN: ReadonlySet<unknown> = new Set([globalThis, Math]);

/**
 * Takes from this process, for good, the ways by which code could leave it: the globals of Node,
 * the functions that make code of text, and the objects of the language that Node's own code reads.
 * These can get no further property and no accessor, so that no object of Node falls into one.
 *
 * Every module that the process needs must be loaded before. No stream of `process` may be open,
 * because a stream leads to its handle, and a handle to a socket.
 */
export function closeDoors(): void {
  refuseConnections();
  const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (const one of kinds)
    Reflect.deleteProperty(Object.getPrototypeOf(one) as object, 'constructor');
  const language = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[]);
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (REMOVED.has(name) || !(language.has(name) || KEPT.has(name)))
      Reflect.deleteProperty(globalThis, name);
  const globals = Object.getOwnPropertyNames(globalThis).map((name): unknown =>
    Reflect.get(globalThis, name),
  );
  sealAll([...globals, ...kinds, ...iterators()]);
  // `checkDomain` watches `process.env`.
  Object.defineProperty(globalThis, 'process', { value: { env: {} } });
}

/**
 * Node's permission model has no rule for the network, so the functions that open a connection
 * throw.
 */
function refuseConnections(): void {
  const refuse = (): never => {
    throw new Error('A draft opens no connection.');
  };
  Object.assign(Socket.prototype, { connect: refuse });
  Object.assign(Server.prototype, { listen: refuse });
  Object.assign(UdpSocket.prototype, { bind: refuse, connect: refuse, send: refuse });
}

/** One value of each kind whose prototype no global leads to. */
function iterators(): unknown[] {
  const { from } = Reflect.get(globalThis, 'Iterator') as {
    from(list: object): { map(make: unknown): unknown };
  };
  const wrapped = from({ next: () => ({ done: true }) });
  const made = [
    [].values(),
    new Map().values(),
    new Set().values(),
    ''[Symbol.iterator](),
    ''.matchAll(/./g),
  ];
  return [...made, wrapped, wrapped.map(String)];
}

/**
 * Freezes the functions and seals the objects among the values and all that their properties and
 * prototypes lead to. A frozen prototype would refuse the names of its members to other objects.
 */
function sealAll(values: readonly unknown[]): void {
  const seen = new Set<unknown>(OPEN);
  const waiting = [...values];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (
      (typeof value !== 'object' && typeof value !== 'function') ||
      value === null ||
      seen.has(value)
    )
      continue;
    seen.add(value);
    if (typeof value === 'function') Object.freeze(value);
    else if (!ArrayBuffer.isView(value)) Object.seal(value);
    waiting.push(Object.getPrototypeOf(value));
    for (const found of Object.values(Object.getOwnPropertyDescriptors(value)))
      waiting.push(found.value, found.get, found.set);
  }
}
