import { specTypeSchemas } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { issueOf } from './definitions.ts';

test('a value that the SDK cannot check has an issue, and rejects nothing', async () => {
  const { validate } = specTypeSchemas.Tool['~standard'];
  const inputSchema = JSON.parse(
    `{"type":"object","properties":${'{"a":'.repeat(5_000)}{}${'}'.repeat(5_000)}}`,
  );
  // The schema of the SDK falls back to an answer that comes later.
  expect(issueOf(validate, { name: 'a', inputSchema })).toBe('the SDK cannot check it');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const failing = () => {
    throw new RangeError('too deep');
  };
  expect(issueOf(failing, {})).toBe('the SDK cannot check it: too deep');
  expect(issueOf(validate, { name: 1, inputSchema: { type: 'object' } })).toContain('name: ');
  expect(issueOf(validate, { name: 'a', inputSchema: { type: 'object' } })).toBeUndefined();
});
