import { expect, test } from 'vitest';
import { fileOfStore } from './file-of-store.ts';

test('the cells of one file share the file of their root key', () => {
  for (const url of ['cells:a.yaml', 'cells:a.yaml?cell=one', 'cells:a.yaml?cell='])
    expect(fileOfStore(url)).toBe('a.yaml');
  expect(fileOfStore('cells:/b/a?cell=x.yaml?cell=one')).toBe('/b/a?cell=x.yaml');
});

test('a SQLite store has its own file, and other stores have none', () => {
  expect(fileOfStore('sqlite:./a.db?cell=one')).toBe('./a.db?cell=one');
  for (const url of ['postgres://db/a', 'memory:', 'scells:a'])
    expect(fileOfStore(url)).toBeUndefined();
});
