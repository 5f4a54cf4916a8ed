import type { Tool } from 'assize/effects';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../tests/support/process/errors.ts';
import { type BrowserContext, browserTools, submitTool } from './index.ts';

const context = (): Promise<BrowserContext> => Promise.reject(new Error('there is no browser'));
const site = { context, allow: ['https://x.example'] };
const form = {
  ...site,
  ...{
    name: 'x.do',
    input: z.strictObject({}),
    writes: ['x:y'],
    url: 'https://x.example',
    fields: () => [],
  },
  button: { css: 'button' },
};
const MAKERS: readonly [string, (rest: object) => readonly Tool[]][] = [
  ['submitTool', (rest) => [submitTool({ ...form, ...rest } as never)]],
  ['browserTools', (rest) => browserTools({ ...site, ...rest } as never)],
];

test.each(MAKERS)(
  '%s passes on options of every class, and refuses an unknown one by name',
  (_, make) => {
    for (const { spec } of make({ sensitive: true, parallel: false }))
      expect([spec.sensitive, spec.parallel]).toEqual([true, false]);
    for (const { spec } of make({}))
      expect(Object.hasOwn(spec, 'sensitive') || Object.hasOwn(spec, 'parallel')).toBe(false);
    for (const member of ['sensitiv', 'retries', '__proto', 'together'])
      expect(errorOf(() => make({ [member]: true }))).toMatchObject({
        reason: 'invalid_tool',
        message: expect.stringContaining(member),
      });
  },
);

test.each(MAKERS)('%s may name the approver of a button', (_, make) => {
  expect(make({ channel: 'boss' }).at(-1)?.spec.channel).toBe('boss');
  expect(make({}).at(-1)?.spec.channel).toBe(undefined);
  expect(() => make({ channel: 'a b' })).toThrow('a counselor kind');
});

test('submitTool passes on the mitigation of a compensation’s residue', () => {
  const mitigate = () => null;
  const compensate = { url: 'https://x.example/', button: { css: 'b' } };
  const sort = { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' };
  const [tool] = MAKERS[0]![1]({ class: sort, compensate, mitigate });
  expect(tool?.spec.mitigate).toBe(mitigate);
});
