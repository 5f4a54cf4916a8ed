import type { Json } from 'assize/internal/base';
import { expect, onTestFinished, test } from 'vitest';
import { SchemaThread } from './schema-thread.ts';

test('a schema that takes too much memory is unusable, and the next is not', async () => {
  const thread = new SchemaThread(60_000);
  onTestFinished(() => thread.close());
  // Each of the 50 choices leaves an error for each item.
  const schema: Json = {
    contains: { anyOf: Array.from({ length: 50 }, (_, n) => ({ const: n })) },
  };
  const value = Array.from({ length: 30_000 }, () => 'x');
  const usable = { key: 'other', schema: { type: 'string' }, value: 1 };
  const answers = [thread.check({ key: 'much', schema, value }), thread.check(usable)];
  expect(await Promise.all(answers)).toEqual([
    { unusable: 'it takes more than 128 MB to check', fault: undefined },
    { unusable: undefined, fault: 'must be string' },
  ]);
});
