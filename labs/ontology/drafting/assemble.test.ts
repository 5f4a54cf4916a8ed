import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { parse } from '../parse.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';
import { assemble, fragmentsOf, literalSource } from './assemble.ts';
import { Compiler } from './compiler.ts';
import { derive } from './holes.ts';

const derived = derive(parse(LIBRARY));

test('each fragment stands in the module at its span, once and in order', () => {
  const fragments = fragmentsOf(LIBRARY_ANSWER as never);
  const { text, spans } = assemble(derived, LIBRARY_ANSWER as never, fragments);
  expect(spans.map(({ where }) => where).sort()).toEqual(
    fragments.map(({ where }) => where).sort(),
  );
  for (const { where, from, to } of spans)
    expect(text.slice(from, to)).toBe(fragments.find((one) => one.where === where)?.source);
  for (const [i, { from }] of spans.entries())
    expect(from).toBeGreaterThanOrEqual(spans[i - 1]?.to ?? 0);
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

test('the scaffold of every shipped ontology has holes that make a module', async () => {
  const root = join(import.meta.dirname, '../../..');
  const files = globSync('{packages/cli/src,examples}/domains/*/ontology.ttl', { cwd: root });
  expect(files.length).toBeGreaterThanOrEqual(7);
  const modules = files.map((file): readonly [string, string] => {
    const shipped = derive(parse(readFileSync(join(root, file), 'utf8')));
    const { places, processes, invariants } = shipped.holes;
    const answer = {
      schemas: Object.fromEntries(places.map((place) => [place, 'z.string()'])),
      initial: {},
      actions: processes.map((process, i) => ({
        name: `a${i}`,
        process,
        args: 'z.object({})',
        apply: '() => {}',
      })),
      invariants: Object.fromEntries(
        invariants.map(({ id, escalates }) => [
          id,
          {
            check: '() => pass',
            ...(escalates && { onApprove: '() => {}' }),
            blocks: [],
            passes: [],
          },
        ]),
      ),
    };
    const fragments = fragmentsOf(answer);
    const { text, spans } = assemble(shipped, answer, fragments);
    expect(spans.map(({ where }) => where).sort()).toEqual(
      fragments.map(({ where }) => where).sort(),
    );
    return [`${file.replaceAll('/', '-')}.ts`, text];
  });
  const compiler = new Compiler();
  expect((await compiler.compile(new Map(modules))).syntax).toEqual([]);
  await compiler.close();
});
