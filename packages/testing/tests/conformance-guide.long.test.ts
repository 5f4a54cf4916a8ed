/** docs/reference/conformance.md, run as it stands: a driver in TypeScript, and one in Python. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guideDriver } from './support/conformance/guide-driver.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/reference/conformance.md'), 'utf8');
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, info = '', text = '']) => ({ info, text }),
);
const consoles = blocks
  .filter(({ info }) => info === 'console')
  .map(({ text }) => text.trimEnd().split('\n'));

/** Runs the command of a console block, and returns what it prints with what the page shows. */
function ran(of: string): {
  readonly printed: readonly string[];
  readonly shown: readonly string[];
} {
  const [command = '', ...shown] = consoles.find(([first]) => first?.includes(of)) ?? [];
  const { folder } = guideDriver();
  mkdirSync(join(folder, 'bin'));
  const assize = join(folder, 'bin/assize');
  writeFileSync(
    assize,
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'packages/cli/src/main.ts')}" "$@"\n`,
  );
  chmodSync(assize, 0o755);
  for (const { info, text } of blocks) {
    const [, file] = info.split(' ');
    if (file !== undefined) writeFileSync(join(folder, file), text);
  }
  const printed = execFileSync('sh', ['-eu', '-c', command.slice(2)], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${join(process.execPath, '..')}:${process.env['PATH']}`,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return { printed: printed.trimEnd().split('\n'), shown };
}

test('the driver of the guide passes as the page shows', () => {
  const { printed, shown } = ran('node driver.ts');
  expect(shown.length).toBeGreaterThan(2);
  expect(printed).toEqual(shown);
});

test.skipIf(spawnSync('python3', ['--version']).status !== 0)(
  'the driver in Python passes as the page shows',
  () => {
    const { printed, shown } = ran('python3 driver.py');
    expect(shown.length).toBeGreaterThan(2);
    expect(printed).toEqual(shown);
  },
);

test('a program that checks its driver says nothing if all is well', { timeout: 600_000 }, () => {
  const program =
    blocks.find(({ info, text }) => info === 'ts' && text.includes('runConformance'))?.text ?? '';
  const { folder } = guideDriver();
  writeFileSync(join(folder, 'check.ts'), program);
  const { status, stderr } = spawnSync(process.execPath, ['check.ts'], {
    ...{
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` },
    },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
