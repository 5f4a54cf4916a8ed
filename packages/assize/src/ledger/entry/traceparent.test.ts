import { describe, expect, test } from 'vitest';
import { traceparentOf } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('a traceparent is read', () => {
  test.each([
    ['as it is', `00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    ['with unknown flags', `00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-ff`],
    [
      'of a later version, without its further fields',
      `01-${TRACE}-${SPAN}-00-more`,
      `01-${TRACE}-${SPAN}-00`,
    ],
  ])('%s', (_, given, read) => {
    expect(traceparentOf(given)).toBe(read);
  });

  test.each([
    ['no text', 5],
    ['an empty text', ''],
    ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the version ff', `ff-${TRACE}-${SPAN}-01`],
    ['a fifth field in version 00', `00-${TRACE}-${SPAN}-01-more`],
    ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a line after it', `00-${TRACE}-${SPAN}-01\n`],
    ['a secret before it', `secret 00-${TRACE}-${SPAN}-01`],
  ])('never with %s', (_, given) => {
    expect(traceparentOf(given)).toBeUndefined();
  });
});
