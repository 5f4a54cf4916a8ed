import { expect, test } from 'vitest';
import { z } from 'zod';
import { issueText, issueWords, type RawIssue } from './schema-issues.ts';

/** The words for a value that does not fit. */
function wordsFor(schema: z.ZodType, value: unknown): string {
  const parsed = schema.safeParse(value, { error: (issue) => issueWords(issue as RawIssue) });
  return parsed.success ? '' : issueText(parsed.error);
}

test.each<[string, z.ZodType, string]>([
  ['a pattern', z.string().regex(/^[a-z]+$/), 'it must match the regular expression /^[a-z]+$/'],
  ['an e-mail address', z.email(), 'it must be an e-mail address, such as ada@example.com'],
  ['a URL', z.url(), 'it must be a URL, such as https://example.com/a'],
  ['a UUID', z.uuid(), 'it must be a UUID, such as 123e4567-e89b-42d3-a456-426614174000'],
  ['an instant', z.iso.datetime(), 'it must be a date with a time, such as 2026-03-01T09:00:00Z'],
  ['a day', z.iso.date(), 'it must be a day, such as 2026-03-01'],
  ['a beginning', z.string().startsWith('agent:'), 'it must start with "agent:"'],
  ['an end', z.string().endsWith('.ts'), 'it must end with ".ts"'],
  ['a part', z.string().includes('@'), 'it must contain "@"'],
  ['a format without words', z.cuid2(), 'it must be a string of the form cuid2'],
  ['the words of the author', z.string().regex(/^x$/, 'write x'), 'write x'],
])('the issue of a text that is not %s names the expected form', (_, schema, expected) => {
  expect(wordsFor(schema, 'NO!')).toBe(expected);
});
