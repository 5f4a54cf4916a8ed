import { expect, test } from 'vitest';
import { pageHref } from './report-scope.ts';

test('the address of a report has its scope and the size of the log', () => {
  expect(pageHref('eu-ai-act', {}, 7)).toBe('/v1/reports/eu-ai-act/page?size=7');
  expect(
    pageHref('a b', { since: '2026-03-01T00:00:00Z', until: undefined, trajectory: 'x&y' }, 7),
  ).toBe('/v1/reports/a%20b/page?since=2026-03-01T00%3A00%3A00Z&trajectory=x%26y&size=7');
  expect(pageHref('eu-ai-act', {}, 0)).toBe('/v1/reports/eu-ai-act/page?');
});
