import { stripTypeScriptTypes } from 'node:module';
import { compileFunction } from 'node:vm';
import { expect, test } from 'vitest';
import { errorOf } from '../../tests/support/process/errors.ts';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { exportName } from './module-source.ts';
import { parse } from './parse.ts';
import { scaffold } from './scaffold.ts';

const named = (name: string) => parse(LIBRARY.replace('a:domain "library"', `a:domain "${name}"`));

test.each(['eval', 'arguments', 'enum', 'id', 'blocks', 'passes', 'state', 'z'])(
  'a domain called %s is exported under a valid name that no file shadows',
  (name) => {
    expect(exportName(name)).toBe(`domain${name}`);
    for (const [file, text] of scaffold(named(name)))
      if (file.endsWith('.ts')) expect(stripTypeScriptTypes(text)).toContain(`domain${name}`);
  },
);

test.each(['Library', '1st', 'é', 'a b', '-'])(
  'a domain named %s is refused, because its scaffold would not load',
  (name) => {
    expect(errorOf(() => named(name))).toMatchObject({
      code: 'no_ontology',
      message: expect.stringMatching(/a:domain ".*" .*lower case letters, digits, - and _/),
    });
  },
);

test('a process or role called __proto__ is a field like any other', () => {
  const text = LIBRARY.replaceAll('"lending"', '"__proto__"').replace(
    'a:role "Desk"',
    'a:role "__proto__"',
  );
  const source = stripTypeScriptTypes(scaffold(parse(text)).get('index.ts') ?? '');
  const body = source.replace(/^import .*$/gm, '').replace(/export const \w+ =/, 'return');
  const z: unknown = new Proxy(() => z, { get: () => z, apply: () => z });
  const made = compileFunction(body, ['defineDomain', 'reject', 'escalate', 'z'])(
    (spec: object) => spec,
    null,
    null,
    z,
  ) as {
    readonly [part in 'processes' | 'roles' | 'actions']: object;
  };
  expect(Object.keys(made.processes)).toEqual(['buying', 'admission', '__proto__', 'returning']);
  expect(Object.keys(made.roles)).toEqual(['__proto__', 'Office', 'Buyer']);
  expect(Object.keys(made.actions)).toContain('__proto__');
});
