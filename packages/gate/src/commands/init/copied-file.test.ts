import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { copyOf, putBack, writeCopied } from './copied-file.ts';

let folder: string;
let path: string;
const read = (): string => readFileSync(path, 'utf8');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  path = join(folder, 'a [1].json');
});

test('the text of before lies beside a changed file, and is put back', () => {
  writeFileSync(path, 'mine');
  writeCopied(path, 'mine', 'one', undefined);
  writeCopied(path, 'mine', 'two', copyOf(path, 'one'));
  const copy = copyOf(path, read())!;
  expect(copy).toMatchObject({ text: 'mine', isCurrent: true });
  expect([readdirSync(folder).length, statSync(copy.path).mode & 0o777]).toEqual([2, 0o600]);
  putBack(path, copy.text, copy);
  expect([read(), readdirSync(folder)]).toEqual(['mine', ['a [1].json']]);
});

test('the copy of a file that was changed since stays', () => {
  writeFileSync(path, 'mine');
  writeCopied(path, 'mine', 'one', undefined);
  const copy = copyOf(path, 'one and more')!;
  expect(copy.isCurrent).toBe(false);
  putBack(path, 'and more', copy);
  expect([read(), readFileSync(copy.path, 'utf8')]).toEqual(['and more', 'mine']);
});

test('a file that the command has made is removed again', () => {
  writeCopied(path, '', 'one', undefined);
  const copy = copyOf(path, 'one')!;
  putBack(path, copy.text, copy);
  expect([existsSync(path), readdirSync(folder)]).toEqual([false, []]);
});
