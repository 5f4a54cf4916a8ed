import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceFile } from './replace-file.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-replaced-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file gets its text, and one that is there keeps its mode', () => {
  replaceFile(at('a'), 'one');
  chmodSync(at('a'), 0o600);
  replaceFile(at('a'), 'two');
  expect([
    readFileSync(at('a'), 'utf8'),
    statSync(at('a')).mode & 0o777,
    readdirSync(folder),
  ]).toEqual(['two', 0o600, ['a']]);
});

test('through a link its target is replaced', () => {
  writeFileSync(at('a'), 'one');
  symlinkSync('a', at('link'));
  replaceFile(at('link'), 'two');
  expect(readFileSync(at('a'), 'utf8')).toBe('two');
});

test('a device is written in place, and a folder is refused', () => {
  replaceFile('/dev/null', 'one');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  mkdirSync(at('folder'));
  expect(() => replaceFile(at('folder'), 'one')).toThrow(/it is a folder/);
  expect(() => replaceFile(at('none/a'), 'one')).toThrow(/the folder does not exist/);
  expect(readdirSync(folder)).toEqual(['folder']);
});
