import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keptPlaces } from '#hooks';
import { mountPoints } from './mount-points.ts';

function repository(): string {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'assize-mounts-')));
  onTestFinished(() => rmSync(project, { recursive: true }));
  spawnSync('git', ['init', '-q'], { cwd: project });
  return project;
}

test('git overlooks what a sandbox mounts, and nothing else', () => {
  const project = repository();
  const at = (name: string): string => join(project, name);
  for (const name of ['.env', 'made', 'package.json']) writeFileSync(at(name), '');
  const unreadable = [at('.env'), at('**/*.pem')];
  const unwritable = [at('.envrc'), at('a/b/.husky'), at('package.json'), at('**/.env')];
  const list = mountPoints(project, { unreadable, unwritable }, []);
  expect(list?.text.split('\n').slice(-5)).toEqual(['/.envrc', '/a', '/.env', '/**/*.pem', '']);
  writeFileSync(at('.git/list'), list?.text ?? '');
  const words = ['-c', `core.excludesFile=${at('.git/list')}`, 'status', '--short'];
  expect(spawnSync('git', words, { cwd: project, encoding: 'utf8' }).stdout).toBe(
    '?? made\n?? package.json\n',
  );
});

test('a file HEAD is kept free only where no repository is', async () => {
  const project = repository();
  expect(await keptPlaces(project)).not.toContain(join(project, 'HEAD'));
  rmSync(join(project, '.git'), { recursive: true });
  expect(await keptPlaces(project)).toContain(join(project, 'HEAD'));
});
