import { expect, test } from 'vitest';
import { z } from 'zod';
import { declaredTool } from './declared/index.ts';
import { httpTool } from './http/index.ts';
import { shellTool } from './shell/index.ts';
import { sqlTool } from './sql/index.ts';

// The author of a tool may name the approver of an effect that can be neither compensated nor
// buffered.

const input = z.strictObject({});
const sort = { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' } as const;
const writes = ['x:y'];
const shared = { name: 'x.send', input, writes } as const;

test.each([
  [
    'a request',
    (channel?: string) =>
      httpTool({ ...shared, class: sort, url: 'https://x.example', channel } as never),
  ],
  [
    'a command',
    (channel?: string) =>
      shellTool({
        ...shared,
        class: sort,
        command: ['true'],
        keyVariable: 'KEY',
        channel,
      } as never),
  ],
  [
    'a declaration',
    (channel?: string) =>
      declaredTool({ ...shared, class: sort, execute: { call: 'f' }, channel } as never, {
        f: () => null,
      }),
  ],
  [
    'a statement',
    (channel?: string) =>
      sqlTool({
        ...shared,
        database: { connect: async () => Promise.reject(new Error('there is no database')) },
        statements: () => [],
        delivery: 'externalised',
        channel,
      } as never),
  ],
])('%s', (_, made) => {
  expect(made('boss').spec.channel).toBe('boss');
  expect(made().spec.channel).toBe(undefined);
  expect(() => made('a b')).toThrow('a counselor kind');
});
