/** docs/design/effects.md names all that there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/design/effects.md'), 'utf8');

/** The literals of a type, as its file declares it. */
function literals(file: string, type: string): string[] {
  const text = readFileSync(join(root, 'src/effects', file), 'utf8');
  const declared = new RegExp(`^export type ${type} =([\\s\\S]*?);$`, 'm').exec(text)?.[1] ?? '';
  return [...declared.matchAll(/'([a-z_]+)'/g)].map(([, name]) => name as string);
}

test.each([
  ['error', 'errors.ts', 'EffectErrorCode', 17],
  ['phase of an effect', 'protocol.ts', 'EffectPhase', 11],
  ['phase of a transaction', 'protocol.ts', 'TransactionPhase', 6],
  ['part of a class', 'protocol.ts', 'Reversibility', 3],
  ['part of a class', 'protocol.ts', 'Delivery', 2],
  ['sort of sink', 'protocol.ts', 'Sink', 3],
  ['decision', 'protocol.ts', 'Decision', 4],
])('each %s stands there: %s %s', (_, file, type, least) => {
  const names = literals(file, type);
  expect(names.length).toBeGreaterThanOrEqual(least);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});

test('each record of the effect log stands there, with its members', () => {
  const log = readFileSync(join(root, 'src/effects/log.ts'), 'utf8');
  const declared = /^export type LogRecord =([\s\S]*?^ {2}\| \{ readonly is: 'settled'.*?;)$/m.exec(log)?.[1] ?? '';
  const names = [...declared.matchAll(/is: ((?:'[a-z_]+'(?: \| )?)+)/g)].flatMap(([, is]) => is!.match(/[a-z_]+/g)!);
  expect(names).toHaveLength(19);
  const section = page.slice(page.indexOf('## The effect log'), page.indexOf('Appendix C.1'));
  expect(names.filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  const members = [...declared.matchAll(/readonly ([a-z]+)\??:/g)].map(([, name]) => name as string);
  expect(members.filter((name) => name !== 'is' && !section.includes(`\`${name}\``))).toEqual([]);
});
