import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from 'assize/internal/base';
import { afterAll, expect, test } from 'vitest';
import { isUnder } from '#gateway';
import { reachesOf } from './reached.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-reach-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inPart = (below: string, patterns: readonly string[]) => {
  const args = { paths: [below], below: [below] } as Json;
  return reachesOf({ spec: { name: 'shell/x', reads: ['/paths'] }, args, isPart: true }, patterns);
};

test('with too many names below a folder, each pattern counts as found', async () => {
  const many = join(folder, 'many');
  mkdirSync(many);
  for (let i = 0; i < 50; i++) {
    mkdirSync(join(many, `${i}`));
    for (let j = 0; j < 1_000; j++) symlinkSync('x', join(many, `${i}`, `${j}`));
  }
  const patterns = ['**/.env', `${folder}/many/*/x.pem`, '/elsewhere/**/x'];
  expect(await inPart(folder, patterns)).toEqual([`${folder}/**/.env`, `${folder}/many/*/x.pem`]);
  expect(await inPart(many, patterns)).toEqual([`${many}/**/.env`, `${many}/*/x.pem`]);
  for (const path of await inPart(many, patterns))
    expect(patterns.some((pattern) => isUnder(path, pattern))).toBe(true);
});
