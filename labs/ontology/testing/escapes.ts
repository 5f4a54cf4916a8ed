/**
 * Functions that a draft must not have. Each leads from a pure function to code of its own choice,
 * or to a value whose type lies. All of them but those named otherwise compile.
 */
export interface Escape {
  readonly name: string;
  /** The check of WITHIN_FUNDS, or what the action admit applies. */
  readonly place: 'check' | 'apply';
  readonly source: string;
}

const check = (name: string, body: string, parameter = '{ funds, limits, loans }'): Escape => ({
  ...{ name, place: 'check' },
  source: `(${parameter}) => { ${body} return funds >= 0 ? pass : reject('less than nothing'); }`,
});
const apply = (name: string, body: string): Escape => ({
  ...{ name, place: 'apply' },
  source: `(state, { limit, standing }, { role: { member } }) => { ${body} state.limits[member] = limit; state.standing[member] = standing; }`,
});

const OWN = 'const own: Record<string, string> = {};';
const KEY = "const key = ['con', 'structor'].join('');";

export const ESCAPES: readonly Escape[] = [
  check('a joined key', `${OWN}${KEY} const found = own[key];`),
  check('a key of a template', `${OWN} const found = own[\`\${'con'}\${'structor'}\`];`),
  check('a key of characters', `${OWN} const found = own[String.fromCharCode(99, 111)];`),
  check('a key of the state', `${OWN} const found = own[Object.keys(limits)[0] ?? ''];`),
  check('a key of a number', `${OWN} const found = own[(12345).toString(36)];`),
  check('a key of a cut text', `${OWN} const found = own['xconstructor'.slice(1)];`),
  check('a key of a message', `${OWN} const found = own[new Error('con' + 'structor').message];`),
  check(
    'a key of a reversed text',
    `${OWN} const found = own[[...'rotcurtsnoc'].toReversed().join('')];`,
  ),
  check('a key of a replaced text', `${OWN} const found = own['c0nstructor'.replace('0', 'o')];`),
  check('an optional computed key', `${OWN}${KEY} const found = own?.[key];`),
  check(
    'two computed keys',
    `const own: Record<string, Record<string, string>> = {};${KEY} const found = own[key]?.[key];`,
  ),
  check('a key of a list', `${KEY} const found = Object.keys(limits)[Number(key)];`),
  check('a computed pattern', `${OWN}${KEY} const { [key]: found } = own;`),
  check(
    'a computed pattern of a parameter',
    `${OWN}${KEY} const read = ({ [key]: found }: Record<string, string>) => found; read(own);`,
  ),
  check(
    'an assigned pattern',
    `${OWN}${KEY} let found: string | undefined; ({ [key]: found } = own);`,
  ),
  check('an assigned list', `let a = 1; let b = 2; [a, b] = [b, a];`),
  check('a pattern in a loop', `let a = 1; for ([a] of [[1]]) { }`),
  check('a default for the state', `${KEY} const found = all[key];`, '{ funds, limits: all = {} }'),
  check(
    'the rest of the state',
    `${KEY} const found = rest.limits[key]; const other = Object.values(rest);  ${OWN} own[key] = '';`,
    '{ funds, ...rest }',
  ),
  check(
    'another value under the name of the state',
    `${OWN}${KEY} let all = { ...limits }; const found = all[key];`,
  ),
  check(
    'an assigned name of the state',
    `${KEY} let all = limits; all = { ...limits }; const found = all[key];`,
  ),
  check(
    'a parameter that is assigned',
    `${KEY} limits = { ...limits }; const found = limits[key];`,
  ),
  check(
    'one name for two values',
    `${KEY} { const all = limits; } { const all = { ...limits }; const found = all[key]; }`,
  ),
  check('a choice of two values', `${KEY} const found = (limits ?? {})[key];`),
  check(
    'a copy of the state',
    `${KEY} const found = Object.fromEntries(Object.entries(limits))[key];`,
  ),
  check('a written computed key', `${OWN}${KEY} own[key] = '';`),
  check('a deleted computed key', `${OWN}${KEY} delete own[key];`),
  check('typeof of a function', `${OWN} if (typeof own.a === 'function') throw own.a;`),
  check('typeof that is kept', `const kind = typeof funds;`),
  check(
    'typeof in a switch',
    `switch (typeof funds) { case 'number': break; default: throw new Error('no'); }`,
  ),
  check(
    'typeof of a computed text',
    `if (typeof funds === ['func', 'tion'].join('')) throw new Error('no');`,
  ),
  check('instanceof', `if (limits instanceof Object) throw new Error('no');`),
  check('an unknown type', `const any: Record<string, unknown> = {};`),
  check('a list of anything', `const all = Object.values({}); const found = all[0];`),
  check('a map of anything', `const all = new Map(); all.set('a', funds);`),
  check('a set of anything', `const all = new Set(); all.add(funds);`),
  check('an empty list', `const all = []; all.push(funds);`),
  check('an object of anything', `const all = Object.fromEntries([['a'], ['b']]);`),
  check('a replacer', `const text = JSON.stringify(limits, (_, value) => value);`),
  check('the rest of a match', `const text = 'a'.replace(/a/, (found, ...rest) => rest[0]);`),
  check('an item of anything', `const all = Array.from({ length: 2 }); const found = all[0];`),
  check('a function in an object', `const one = { run: () => 1 }; one.run();`),
  check('valueOf', `const one = { valueOf: () => 1 }; const sum = Number(one);`),
  check('toString', `const one = { toString: () => 'a' }; const text = \`\${one}\`;`),
  check('toJSON', `const one = { toJSON: () => 'a' }; const text = JSON.stringify(one);`),
  check('a thenable', `const one = { then: (done: string) => done };`),
  check('a getter', `const one = { get a() { return 1; } };`),
  check('a setter', `const one = { set a(value: number) { } };`),
  check('a method', `const one = { run() { return 1; } };`),
  check('a generator method', `const one = { *run() { yield 1; } };`),
  check('an iterator of its own', `const one = { [Symbol.iterator]: () => [].values() };`),
  check('Symbol.species', `const one = Array[Symbol.species];`),
  check('Symbol.toPrimitive', `const one = { [Symbol.toPrimitive]: () => 1 };`),
  check('a proxy', `const one = new Proxy({}, {});`),
  check('Reflect', `const found = Reflect.get({}, 'a');`),
  check('a generator', `const run = function* () { yield 1; };`),
  check('an async function', `const run = async () => 1;`),
  check(
    'a tagged template',
    'const run = (parts: ReadonlyArray<string>) => parts.length; const found = run`a`;',
  ),
  check('arguments.callee', `const run = () => arguments.callee;`),
  check('prepareStackTrace', `Error.prepareStackTrace = () => 1;`),
  check('a dynamic import', `const found = import('data:text/javascript,1');`),
  check('bind', `const run = () => 1; const other = run.bind(undefined);`),
  check('call', `const run = () => 1; run.call(undefined);`),
  check('a member of a function', `const run = () => 1; const found = run.name;`),
  check('a method as a value', `const run = 'a'.at;`),
  check('a method of a global as a value', `const run = Object.keys;`),
  check('a replaced global', `Math.max = (a: number) => a;`),
  check('a replaced method', `const all = [1]; all.push = (a: number) => a;`),
  check('a list of functions', `const runs = [() => 1]; runs.at(0)?.();`),
  check('a map of functions', `const runs = new Map([['a', () => 1]]); runs.get('a')?.();`),
  check('a returned function', `const make = (a: number) => (b: number) => a + b; make(1)(2);`),
  check('a chosen function', `const run = funds > 0 ? () => 1 : () => 2; run();`),
  check('a function of let', `let run = () => 1; run();`),
  check('a function in brackets', `(() => 1)();`),
  check('a function after a comma', `const run = () => 1; (0, run)();`),
  check('a function that cannot be undefined', `const run = () => 1; run!();`),
  check('a method by its text', `const found = [1]['at'](0);`),
  check('a method of a computed name', `const found = [1]['at'.slice(0)](0);`),
  check('a prototype in an object', `const one = { __proto__: limits };`),
  check('a prototype in quotes', `const one = { '__proto__': limits };`),
  check('a prototype in escapes', `const one = { '\\x5f_proto__': limits };`),
  check('a prototype as a key', `const found = limits['__proto__'];`),
  check('a spread global', `const one = { ...Object };`),
  check('a label', `again: for (const a of [1]) { continue again; }`),
  check('a locale', `const order = 'a'.localeCompare('b');`),
  check('a name of using', `using one = undefined;`),
  check('a schema', `const one = z.string();`),
  check('a type of functions', `const run: (a: number) => number = (a) => a;`),
  check('a non-null lie', `const run: { (): void }[] = [];`),
  check('a big number', `const one = 1n;`),
  check('a loop over keys', `for (const key in limits) throw new Error(key);`),
  check('a caught error', `try { throw new Error('a'); } catch (error) { throw error; }`),
  apply(
    'a polluted prototype',
    `const own: Record<string, { shell: string }> = {}; own['__pro' + 'to__'] = { shell: 'a' };`,
  ),
  apply(
    'a deeply polluted prototype',
    `const own: Record<string, Record<string, string>> = {}; for (const name of ['__pro' + 'to__']) { const one = own[name]; if (one !== undefined) one.shell = 'a'; }`,
  ),
  apply(
    'a computed key of the arguments',
    `const given = { limit, standing }; const found = [given].map((one) => one)[member.length];`,
  ),
  apply('a key of the role', `const own = { member }; const found = Object.entries(own)[limit];`),
];
