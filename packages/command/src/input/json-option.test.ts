import { expect, test } from 'vitest';
import { jsonOption } from './json-option.ts';

const EXAMPLE = `Write it in single quotes, such as '{"to":"ada","cents":500}'.`;

test.each<[string, string]>([
  ['{"a":1', 'It is not JSON at column 7: Expected a comma or the end of the object. '],
  ["{'a':1}", 'It is not JSON at column 2: Expected a name in double quotes. '],
  ['{"a":\n  b}', 'It is not JSON at line 2, column 3: Expected a value. '],
  ['{"a":1,"a":2}', 'It is not accepted at column 8: The object has this name twice, '],
])('%s is refused with the place and an example', (text, expected) => {
  const refused = (): unknown => jsonOption(text);
  expect(refused).toThrow(expected);
  expect(refused).toThrow(EXAMPLE);
});
