/** `assize-experiments` in a clone that lacks packages of some experiments. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyClone } from '../../../tests/support/process/repository-copy.ts';

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-lacking-')));
  copyClone(folder, ['pg', 'smtp-server', 'nodemailer', 'echarts']);
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: readonly string[]): {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
} {
  const given = [join(folder, 'labs/cli/main.ts'), ...args];
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, given, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

test('an experiment without its packages is refused before it measures', () => {
  const url = ['--postgres', 'postgres://nobody@127.0.0.1:1/none'];
  const gate = run('effects', 'gate');
  expect([gate.status, gate.out]).toEqual([2, '']);
  expect(gate.err).toMatch(
    /it needs the packages smtp-server and nodemailer\. Run npm install smtp-server n/,
  );
  for (const args of [
    ['effects', 'crash-windows-postgres'],
    ['memory', 'lattice'],
  ]) {
    const { status, out, err } = run(...args, ...url);
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/it needs the package pg. Run npm install pg\./);
  }
});

test('the experiments that need no package run', () => {
  const { status, out } = run('memory', 'weakening');
  expect([status, out]).toEqual([0, expect.stringContaining('Table 9')]);
});
