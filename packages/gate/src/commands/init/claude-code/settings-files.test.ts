import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { settingsFaults, settingsFiles } from './settings-files.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-settings-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const files = (env = {}) =>
  settingsFiles({
    home: join(folder, 'home'),
    project: join(folder, 'project'),
    platform: 'linux',
    env,
  });

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test.each([
  'home/.claude/settings.json',
  'project/.claude/settings.json',
  'project/.claude/settings.local.json',
])('a line in %s that switches the hooks off is reported', (path) => {
  for (const text of ['{"disableAllHooks":true}', '\uFEFF{ "disableAllHooks": true, } // off']) {
    const file = write(path, text);
    expect(settingsFaults(files())).toEqual([
      `${file} has disableAllHooks, so no hook of Assize runs; take it out`,
    ]);
  }
  write(path, '{"disableAllHooks":false}');
  expect(settingsFaults(files())).toEqual([]);
});

test('the settings of another folder and of an organisation count', () => {
  const own = write('own/settings.json', '{"disableAllHooks":true}');
  expect(settingsFaults(files({ CLAUDE_CONFIG_DIR: join(folder, 'own') }))).toHaveLength(1);
  const managed = write('managed-settings.json', '{"allowManagedHooksOnly":true}');
  expect(settingsFaults([own, managed])).toEqual([
    expect.stringContaining(`${own} has disableAllHooks`),
    expect.stringContaining(`${managed} has allowManagedHooksOnly`),
  ]);
});

test('a file that cannot be read is reported, and an empty one is not', () => {
  const file = write('project/.claude/settings.json', '[]');
  expect(settingsFaults(files())).toEqual([`${file} cannot be read; correct it`]);
  write('project/.claude/settings.json', ' ');
  expect(settingsFaults(files())).toEqual([]);
});
