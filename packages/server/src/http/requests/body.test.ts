import { expect, test } from 'vitest';
import { readBody } from './body.ts';

const BYTES_MAX = 1_000;

function bodyOf(text: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return readBody(
    new Request('http://127.0.0.1/', { method: 'POST', headers, body: text }),
    BYTES_MAX,
  );
}

test('a body that is not strict JSON is refused with its place', async () => {
  await expect(bodyOf('{"a":')).rejects.toMatchObject({
    code: 'syntax',
    pointer: '/a',
    message: 'The body is not JSON at column 6: Expected a value.',
  });
  await expect(bodyOf('{"a":1,\n"a":2}')).rejects.toMatchObject({
    code: 'bad_input',
    message: expect.stringContaining(
      'The body is not accepted at line 2, column 1: The object has this name twice',
    ),
  });
  await expect(bodyOf('{"a":1}')).resolves.toEqual({ a: 1 });
});
