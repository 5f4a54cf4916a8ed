import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isUnder, mayBeUnder, readPath } from '../../packages/gate/src/gateway/judge/path-name.ts';
import { TOOL } from '../../packages/gate/src/gateway/names.ts';
import { judgeablePath } from '../../packages/gate/src/hooks/calls/judgeable-path.ts';
import { programTool } from '../../packages/gate/src/hooks/calls/shell/program.ts';

const name = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'A',
    '*',
    'a.',
    'a ',
    'a\\b',
    '%2f',
    '%2e%2e',
    'a:b',
    'é',
    '\n',
    '**',
    'x'.repeat(600),
  ),
  fc.string({ minLength: 1, maxLength: 4 }).map((text) => text.replaceAll(/[/\0]/g, 'a')),
);
const path = fc
  .array(name, { maxLength: 4 })
  .map((names) => `/${names.filter((each) => each !== '.' && each !== '..').join('/')}`);

test('a path that rules can judge is its own judgeable path, and no other is', () => {
  fc.assert(
    fc.property(path, (given) => {
      expect(judgeablePath(given) === given).toBe('value' in readPath(given));
      expect('value' in readPath(judgeablePath(given))).toBe(true);
    }),
  );
});

test('a rule about a folder holds for a path as for its judgeable path', () => {
  const folder = path.filter((each) => 'value' in readPath(each) && !each.includes(':'));
  fc.assert(
    fc.property(folder, path, (prefix, below) => {
      const given = `${prefix === '/' ? '' : prefix}${below}`.replace(/\/$/, '') || '/';
      for (const rule of [prefix, '/a', '/a/b', '/b'])
        expect(isUnder(judgeablePath(given), normal(rule))).toBe(isBelow(given, rule));
      expect(mayBeUnder(judgeablePath(given), normal(prefix))).toBe(true);
    }),
  );
});

test('the name of a program is the name of a tool, or no part has it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\w.:-]{1,201}$/)), (program) => {
      const tool = programTool(program);
      if (tool !== undefined) expect(tool).toMatch(TOOL);
    }),
  );
  expect(
    [`a${'b'.repeat(199)}`, `a${'b'.repeat(200)}`, 'a:b', 'g++'].map(
      (each) => programTool(each)?.length,
    ),
  ).toEqual([...[200, undefined, undefined, undefined]]);
});

/** The plain comparison of names. */
function isBelow(given: string, folder: string): boolean {
  const [names, prefix] = [given, folder].map((each) =>
    each
      .normalize()
      .split('/')
      .filter((part) => part !== ''),
  ) as [string[], string[]];
  return prefix.every((part, i) => names[i] === part);
}

function normal(given: string): string {
  const read = readPath(given);
  return 'value' in read ? read.value : given;
}
