import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { apiToken } from './api-token.ts';

function tokenFile(mode: number, text = 'secret\n'): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-token-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'agent.token');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

test('a token is read from a file that only its owner can read', () => {
  expect(apiToken(tokenFile(0o600))).toBe('secret');
  expect(apiToken(tokenFile(0o400))).toBe('secret');
});

test('a file with the header line for curl has the same token', () => {
  for (const text of [
    'Authorization: Bearer secret\n',
    ' authorization:bearer  secret',
    'AUTHORIZATION: BEARER secret\r\n',
  ])
    expect(apiToken(tokenFile(0o600, text))).toBe('secret');
  expect(() => apiToken(tokenFile(0o600, 'Authorization: Bearer \n'))).toThrow(
    'The token is missing',
  );
  expect(apiToken(tokenFile(0o600, 'Basic secret'))).toBe('Basic secret');
});

test.each([0o644, 0o640, 0o602])('a file of the mode %o is refused', (mode) => {
  const file = tokenFile(mode);
  expect(() => apiToken(file)).toThrow(
    `Others can read the token in ${file}. Run chmod 600 ${file}.`,
  );
});

test('the error about a missing file names the command that makes it', () => {
  expect(() => apiToken('/nowhere/agent.token')).toThrow('assize token create');
});
