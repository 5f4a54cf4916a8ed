import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIBRARY } from '../../tests/support/process/guide-files.ts';
import { parse } from '../parse.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';
import { assemble, fragmentsOf, literalSource } from './assemble.ts';
import { derive } from './holes.ts';

const derived = derive(parse(LIBRARY));

test('each fragment stands in the module at its span, once and in order', () => {
  const fragments = fragmentsOf(LIBRARY_ANSWER as never);
  const { text, spans } = assemble(derived, LIBRARY_ANSWER as never, fragments);
  expect(spans.map(({ where }) => where).sort()).toEqual(fragments.map(({ where }) => where).sort());
  for (const { where, from, to } of spans)
    expect(text.slice(from, to)).toBe(fragments.find((one) => one.where === where)?.source);
  for (const [i, { from }] of spans.entries()) expect(from).toBeGreaterThanOrEqual(spans[i - 1]?.to ?? 0);
  expect(text).not.toContain('unwritten');
});

test('a literal has the value that it was made of', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      const read: unknown = new Function(`return ${literalSource(plain)}`)();
      expect(JSON.stringify(read)).toBe(JSON.stringify(plain));
    }),
  );
  expect(literalSource(JSON.parse('{"__proto__":{"a":1}}'))).toBe("{ ['__proto__']: { a: 1 } }");
});
