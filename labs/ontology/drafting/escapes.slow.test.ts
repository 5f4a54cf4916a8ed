/** Ways out of a draft: each is refused by its source, and gets nowhere if its source passed. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { parse } from '../parse.ts';
import { ESCAPES, type Escape } from '../testing/escapes.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';
import { WAYS_OUT, wayOut } from '../testing/ways-out.ts';
import { allowedSource, fragmentFile } from './allowed-source.ts';
import { typedFaults } from './allowed-types.ts';
import { type Assembled, assemble, fragmentsOf } from './assemble.ts';
import { Compiler } from './compiler.ts';
import { derive } from './holes.ts';
import { runTrial } from './trial.ts';

const SOUND = "({ funds }) => (funds >= 0 ? pass : reject('less than nothing'))";
const ontology = parse(LIBRARY);
const derived = derive(ontology);
const folder = mkdtempSync(join(tmpdir(), 'assize-escapes-'));
const places = {
  served: join(folder, 'served'),
  socket: join(folder, 'socket'),
  file: join(folder, 'file'),
};
let connections = 0;
const server = createServer((socket) => {
  connections++;
  socket.destroy();
});
const compiler = new Compiler();

beforeAll(() => new Promise<void>((resolve) => server.listen(places.served, resolve)));
beforeEach(() => {
  connections = 0;
  for (const path of [places.socket, places.file]) rmSync(path, { force: true });
});
afterAll(async () => {
  server.close();
  await compiler.close();
  rmSync(folder, { recursive: true, force: true });
});

function moduleWith(place: Escape['place'], source: string): Assembled {
  const answer = structuredClone(LIBRARY_ANSWER) as any;
  if (place === 'check') answer.invariants.WITHIN_FUNDS.check = source;
  else answer.actions[1].apply = source;
  return assemble(derived, answer, fragmentsOf(answer));
}

/** The faults of the syntax, or of the types where the syntax has none. */
async function faultsOf(escapes: readonly Escape[]): Promise<readonly string[][]> {
  const fragments = await compiler.compile(
    new Map(escapes.map(({ source }, i) => [`${i}.ts`, fragmentFile(source)])),
  );
  const syntax = escapes.map((_, i): string[] => {
    const wrong = fragments.syntax.filter(({ file }) => file === `${i}.ts`).map(({ says }) => says);
    const allowed = allowedSource(fragments.sources.get(`${i}.ts`)!, 'function');
    return 'fault' in allowed ? [...wrong, allowed.fault] : wrong;
  });
  const left = new Map(
    escapes.flatMap(({ place, source }, i) =>
      syntax[i]!.length > 0 ? [] : [[`${i}.ts`, moduleWith(place, source)]],
    ),
  );
  const texts = new Map([...left].map(([file, { text }]) => [file, text]));
  const { types, inspected } = await compiler.compile(texts, (file, source, checker) =>
    typedFaults(source, left.get(file)!.spans.filter(isFunction), checker),
  );
  expect(types).toEqual([]);
  return syntax.map((faults, i) => [
    ...faults,
    ...inspected.filter((one) => one.file === `${i}.ts`).map((one) => one.says),
  ]);
}

function isFunction({ where }: Assembled['spans'][number]): boolean {
  return !where.startsWith('schema') && !where.endsWith('args');
}

test('every way out that is known is refused by its source', async () => {
  const known = WAYS_OUT.map(
    (name): Escape => ({ name, place: 'check', source: wayOut(name, places) }),
  );
  const escapes = [...ESCAPES, ...known];
  const faults = await faultsOf(escapes);
  expect(escapes.filter((_, i) => faults[i]!.length === 0).map(({ name }) => name)).toEqual([]);
});

test('a function without a fault has none', async () => {
  expect(await faultsOf([{ name: 'a sound function', place: 'check', source: SOUND }])).toEqual([
    [],
  ]);
});

const trial = (text: string) =>
  runTrial({ text }, ontology, LIBRARY_ANSWER as never, { timeMs: 120_000, memoryMb: 1_024 });

test.each(WAYS_OUT)(
  'a check that %s gets nowhere without the check of its source',
  async (name) => {
    const { text } = moduleWith('check', wayOut(name, places));
    await trial(
      `${text}\nlibrary.rules.find(({ id }) => id === 'WITHIN_FUNDS').check({ funds: 77 });\n`,
    );
    await trial(text);
    expect([connections, existsSync(places.socket), existsSync(places.file)]).toEqual([
      0,
      false,
      false,
    ]);
  },
);

/** Expressions that are true if they got out. An exception is an end as well. */
const ATTEMPTS: Readonly<Record<string, string>> = {
  'code by a list': `[].constructor.constructor('return 1')()`,
  'code by a function': `(() => 1).constructor('return 1')()`,
  'code by an async function': `Object.getPrototypeOf(async () => 1).constructor('return 1')()`,
  'code by a generator': `Object.getPrototypeOf(function* () {}).constructor('yield 1')().next().value`,
  'code by an async generator': `Object.getPrototypeOf(async function* () {}).constructor('yield 1')()`,
  'code by Reflect': `Reflect.construct(Object.getPrototypeOf(class {}).constructor, ['return 1'])() === 1`,
  'code by a class': `new (class extends Object.getPrototypeOf(class {}).constructor {})('return 1')() === 1`,
  'code by a bound function': `(() => 1).bind().constructor('return 1')()`,
  'code by a proxy': `new Proxy(() => 1, {}).constructor('return 1')()`,
  'code by a replacer': `'return 1'.replace(/.*/, (() => 1).constructor) !== '' && (() => 1).constructor('return 1')()`,
  'code by eval': `eval('1')`,
  'code by another eval': `(0, globalThis.eval)('1')`,
  'code by a timer': `setTimeout('1', 0)`,
  'code by WebAssembly': `typeof WebAssembly === 'object'`,
  'a stream of the process': `process.stdout.write('')`,
  'a handle of the process': `process._getActiveHandles().length`,
  'a binding of the process': `process.binding('pipe_wrap')`,
  'a built-in module': `process.getBuiltinModule('node:net')`,
  'the main module': `process.mainModule.require('node:net')`,
  'the environment': `Object.keys(process.env).length > 0`,
  'the stream of the console': `console._stdout`,
  require: `require('node:fs')`,
  'the loader of the module': `import.meta.resolve('node:fs')`,
  fetch: `fetch`,
  'a socket of the web': `WebSocket ?? EventSource`,
  'a channel': `new BroadcastChannel('a')`,
  'a port': `new MessageChannel().port1`,
  'an accessor for a handle': `Object.defineProperty(Object.prototype, 'handle', { set() {}, configurable: true })`,
  'an accessor by the older way': `(Object.prototype.__defineSetter__('oncomplete', () => 1), true)`,
  'an accessor of a list': `Object.defineProperty(Array.prototype, 0, { set() {}, configurable: true })`,
  'an accessor of a function': `Object.defineProperty(Function.prototype, 'then', { get: () => 1 })`,
  'an accessor of a promise': `Object.defineProperty(Promise.prototype, 'then', { get: () => 1 })`,
  'an accessor of an iterator': `Object.defineProperty(Object.getPrototypeOf([].values()), 'next', { get: () => 1 })`,
  'an accessor in place of a method': `Object.defineProperty(Object.prototype, 'toString', { get: () => 1 })`,
  'a property of all objects': `((Object.prototype.shell = 1), true)`,
  'a member of all lists': `((Array.prototype[0] = 1), true)`,
  'toJSON of all objects': `((Object.prototype.toJSON = () => 1), true)`,
  'another prototype of all objects': `Object.setPrototypeOf(Object.prototype, { shell: 1 })`,
  'another prototype of lists': `Object.setPrototypeOf(Array.prototype, { handle: 1 })`,
  'the species of lists': `Object.defineProperty(Array, Symbol.species, { value: class {} })`,
  'instances of all': `Object.defineProperty(Object, Symbol.hasInstance, { value: () => true })`,
  'the frames of a stack': `((Error.prepareStackTrace = (_, frames) => frames[0].getThis()), new Error('a').stack)`,
  'the limit of a stack': `((Error.stackTraceLimit = 1_000), true)`,
  'a replaced function of the language': `((Object.keys = () => []), true)`,
  'the callee of a sloppy function': `(function () { return arguments.callee; })()`,
  'the caller of a function': `(function f() { return f.caller; })()`,
  'a module of the domain': `Object.values(library).some((one) => one?.constructor?.name === 'Socket')`,
};

test('code that no source may have gets nowhere in the process of a trial', async () => {
  const { text } = moduleWith('check', SOUND);
  const tried = Object.entries(ATTEMPTS).map(
    ([name, source]) => `out(${JSON.stringify(name)}, () => (${source}));`,
  );
  const [found] = await trial(`${text}
    const reached: string[] = [];
    const out = (name: string, attempt: () => unknown): void => {
      try { if (attempt()) reached.push(name); } catch { }
    };
    out('a true expression', () => 1);
    ${tried.join('\n')}
    throw new Error(reached.join('; '));`);
  expect(found).toMatchObject({ check: 'definition', says: 'a true expression' });
  expect([connections, existsSync(places.file)]).toEqual([0, false]);
});
